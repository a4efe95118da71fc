"""iperf3: a line an interval, then the sums of sender and receiver (iperf3 3.12, `iperf3 -c SERVER`)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from wulf.measure.tool import Loop, Measurement, Timing, nodelay, throughput, value

if TYPE_CHECKING:
    from wulf.measure.engine.collect import Replicate
    from wulf.measure.engine.plan import Cell

INTERVAL_S = 1.0
LEAST = 6
"""Intervals at least: so many give the throughput an interval of its own."""

SIZES = {"tcp": 128 << 10, "udp": 1448}
"""-l: the write, and the datagram that an Ethernet frame carries."""

UDP_RATE = 1 << 20
"""-b of UDP [bit/s], unless told otherwise."""

RULE = "- - - - - - - - - - - - - - - - - - - - - - - - -"
_FIRST_ID = 5
"""iperf3 names its streams by their file descriptors: 5, 7, 9 …"""


def adaptive(figure: float, base: int, unit: str) -> str:
    """Four characters of a figure and its unit, at most 999 of it; bytes by 1024, bits by 1000 a step."""
    step = 0
    prefixes = ("", "K", "M", "G", "T")
    while figure >= base and step < len(prefixes) - 1:
        figure, step = figure / base, step + 1
    digits = 2 if figure < 9.995 else 1 if figure < 99.95 else 0
    return f"{figure:4.{digits}f} {prefixes[step]}{unit}"


def line(name: str, start: float, end: float, rate: float, tail: str) -> str:
    """One line: who, from when to when [s], how much, how fast [B/s], and what else."""
    moved = adaptive(rate * (end - start), 1024, "Bytes")
    return f"[{name:>3}] {start:6.2f}-{end:<6.2f} sec  {moved}  {adaptive(rate * 8, 1000, 'bits/sec')}{tail}"


def _timing(seconds: float, scale: float) -> Timing:
    """As many replicates as there are intervals: of one second, or shorter, so that there are enough."""
    count = max(LEAST, ceil(seconds / INTERVAL_S))
    return Timing({"seconds": seconds * scale / count, "warmup_seconds": 0.0}, count)


def _names(cell: Cell) -> list[str]:
    return [str(_FIRST_ID + 2 * i) for i in range(int(cell.params.get("streams") or 1))]


def _sent(loop: Replicate) -> float:
    return float(value(loop, "sent") or 0.0)


def _interval(cell: Cell, loop: Replicate, start: float, end: float) -> list[str]:
    """What one interval prints: the sender's view; of several streams each as it arrived, and their sum."""
    retr = value(loop, "retransmits") or 0
    cwnd = adaptive(loop["info"]["cwnd"], 1024, "Bytes") if "cwnd" in loop["info"] else f"{'-':>6}"
    names = _names(cell)
    if cell.transport == "udp":
        count = round(_sent(loop) * (end - start) / float(cell.params["bytes"] or 1))
        return [line(names[0], start, end, _sent(loop), f"  {count}  ")]
    if len(names) == 1:
        return [line(names[0], start, end, _sent(loop), f"  {retr:3d}   {cwnd}       ")]
    streams = zip(names, loop["info"]["streams"], strict=True)
    return [
        *(line(name, start, end, rate, f"  {'-':>3}   {'-':>9}       ") for name, rate in streams),
        line("SUM", start, end, _sent(loop), f"  {retr:3d}             "),
    ]


def _average(measured: Measurement, rates: list[float]) -> float:
    """Over all replicates, each as long as the others."""
    return sum(rates) / len(measured.loops)


def _totals(measured: Measurement, end: float) -> list[str]:
    """The sums over all intervals."""
    loops, names = measured.loops, _names(measured.cell)
    retr = sum(value(loop, "retransmits") or 0 for loop in loops)
    sender = line("", 0, end, _average(measured, [_sent(loop) for loop in loops]), f"  {retr:3d}             sender")
    arrived = _average(measured, [throughput(loop) for loop in loops])
    receiver = line("", 0, end, arrived, f"{'':18}receiver")
    if len(names) == 1:
        return [text.replace("[   ]", f"[{names[0]:>3}]") for text in (sender, receiver)]
    each = [
        line(name, 0, end, _average(measured, [loop["info"]["streams"][i] for loop in loops]), f"{'':18}receiver")
        for i, name in enumerate(names)
    ]
    return [*each, *(text.replace("[   ]", "[SUM]") for text in (sender, receiver))]


def _datagrams(measured: Measurement, end: float) -> list[str]:
    """The sums over all intervals, of datagrams; the time between them is not measured."""
    loops, name = measured.loops, _names(measured.cell)[0]
    sent = sum(loop["metrics"]["loss"]["sent"] for loop in loops)
    lost = sent - sum(loop["metrics"]["loss"]["received"] for loop in loops)
    rates = {"sender": [_sent(loop) for loop in loops], "receiver": [throughput(loop) for loop in loops]}
    share = {"sender": f"0/{sent} (0%)", "receiver": f"{lost}/{sent} ({100 * lost / max(sent, 1):.2g}%)"}
    return [
        line(name, 0, end, _average(measured, rate), f"  {'-':>5} ms  {share[side]}  {side}")
        for side, rate in rates.items()
    ]


def _text(measured: Measurement) -> str:
    cell, each = measured.cell, float(measured.cell.params["seconds"] or 0.0)
    udp = cell.transport == "udp"
    lines = [f"Connecting to host {cell.server}"]
    lines.append(
        "[ ID] Interval           Transfer     Bitrate" + (9 * " " + ("Total Datagrams" if udp else "Retr  Cwnd"))
    )
    for number, loop in enumerate(measured.loops):
        lines += _interval(cell, loop, number * each, (number + 1) * each)
        if len(_names(cell)) > 1 and number + 1 < len(measured.loops):
            lines.append(RULE)
    end = each * len(measured.loops)
    tail = "Jitter    Lost/Total Datagrams" if udp else "Retr"
    lines += [RULE, f"[ ID] Interval           Transfer     Bitrate{'':9}{tail}"]
    return "\n".join([*lines, *(_datagrams if udp else _totals)(measured, end), "", "iperf Done."])


def _command(measured: Measurement) -> str:
    params = measured.cell.params
    each = float(params["seconds"] or 0.0)
    streams = f" -P {params['streams']}" if int(params.get("streams") or 1) > 1 else ""
    udp = f" -u -b {float(params['rate'] or 0) * 8:.0f}" if measured.cell.transport == "udp" else ""
    timed = f"-t {each * len(measured.loops):.3g} -i {each:.3g}"
    return f"iperf3 -c {measured.cell.server}{udp} {timed}{streams} -l {params['bytes']}"


def _loop(transport: str) -> Loop:
    rate = {"rate": UDP_RATE / 8} if transport == "udp" else {}
    return Loop(
        tool="iperf3",
        pattern="stream",
        transport=transport,
        command=_command,
        seconds=10.0,
        timing=_timing,
        options={"bytes": SIZES[transport], "streams": 1, "gather": False, **nodelay(transport, on=False), **rate},
        text=_text,
        differs=(
            "each interval is a replicate with connections of its own, so that each slow start counts; the receiver "
            "does not call select() before each read; parallel streams have their receivers' rates, and no "
            "retransmits or window apiece"
            if transport == "tcp"
            else "each interval is a replicate with sockets of its own; jitter is not measured"
        ),
    )


LOOPS = (_loop("tcp"), _loop("udp"))
