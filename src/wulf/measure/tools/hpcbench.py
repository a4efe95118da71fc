"""Hpcbench: tcptest and udptest, throughput and round trip (`-a`), repeated ten times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wulf.measure.tool import Loop, Measurement, Timing, mean, nodelay, throughput, value

if TYPE_CHECKING:
    from wulf.core.records import Param
    from wulf.measure.engine.collect import Replicate

REPEATS = 10
MESSAGE = 64 << 10
"""tcptest's -m; it is written in pieces (-d)."""

PIECE = 8192
DATAGRAM = 1460
ROUND_TRIP = 64
"""Its -A [B]."""

PRETEST_S = 0.1
"""tcptest sends until this long, to learn how many messages fill the test time: a warm-up."""

RTT_S = {"tcp": 0.1, "udp": 0.2}
"""A round-trip test doubles its count until it takes so long."""


def _mbps(rate: float) -> float:
    return rate * 8e-6


def _cpu(loop: Replicate, side: str) -> tuple[float, float]:
    """Seconds of user and of system time on a host, interrupts among the latter."""
    used: Mapping[str, float | None] = (loop["counters"] or {}).get(side, {}).get("cpu", {}).get("all", {})

    def spent(*kinds: str) -> float:
        return sum(used.get(kind) or 0.0 for kind in kinds)

    return spent("user", "nice"), spent("system", "irq", "softirq")


def _cpu_columns(loop: Replicate) -> tuple[float, ...]:
    """Elapsed, user and system seconds of the client, then of the server."""
    return (loop["seconds"], *_cpu(loop, "client"), loop["seconds"], *_cpu(loop, "server"))


def _average(figures: Sequence[float]) -> float:
    """Without the least and the greatest, where more than three are left to speak of."""
    kept = sorted(figures)[1:-1] if len(figures) > 3 else figures
    return sum(kept) / len(kept)


def _onoff(on: object) -> str:
    return "ON" if on else "OFF"


def _ends(info: Mapping[str, Any], name: str, show: Callable[[Any], object] = lambda x: x) -> str:
    """A socket option at both ends."""
    return f"client: {show(info.get(name))}  server: {show(info.get('server', {}).get(name))}"


def _tcp_head(measured: Measurement) -> list[str]:
    cell, middle = measured.cell, measured.middle(throughput)
    info, piece = middle["info"], int(cell.params["bytes"] or PIECE)
    message = max(MESSAGE, piece)
    total = throughput(middle) * middle["seconds"]
    return [
        f"TCP communication test -- {middle['at']}",
        f"Hosts: {cell.client} (client) <----> {cell.server} (server)",
        "TCP test mode: stream(unidirectional) throughput test",
        f"Socket Recv-buffer (Bytes) -- {_ends(info, 'rcvbuf')}",
        f"Socket Send-buffer (Bytes) -- {_ends(info, 'sndbuf')}",
        "Socket blocking option -- client: ON  server: ON",
        f"TCP_NODELAY option -- {_ends(info, 'nodelay', _onoff)}",
        "TCP_CORK option -- client: OFF  server: OFF",
        f"TCP Maximum-segment-size(MSS) (Bytes) -- {_ends(info, 'mss')}",
        "IP TOS type -- client: Default server: Default",
        f"Data size of each read/write (Bytes): {piece}",
        f"Total data size sent of each test (Bytes): {round(total)}",
        f"Message size (Bytes): {message}",
        f"Iteration: {round(total / message)}",
        f"Test Repetition: {len(measured.loops)}",
    ]


_TCP_COLUMNS = (
    "        Network      Client     C-process   C-process      Server     S-process   S-process",
    "      Throughput  Elapsed-time  User-mode  System-mode  Elapsed-time  User-mode  System-mode",
    "         (Mbps)    (Seconds)    (Seconds)   (Seconds)    (Seconds)    (Seconds)   (Seconds)",
)


def _tcp_text(measured: Measurement) -> str:
    rates = [_mbps(throughput(loop)) for loop in measured.loops]
    rows = [
        "{:<4d}{:12.3f}{:12.2f}{:13.2f}{:12.2f}{:13.2f}{:13.2f}{:12.2f}".format(i, rate, *_cpu_columns(loop))
        for i, (rate, loop) in enumerate(zip(rates, measured.loops, strict=True), 1)
    ]
    return "\n".join(
        [
            *(f" ({i}) : {rate:f} Mbps" for i, rate in enumerate(rates, 1)),
            "Test done!",
            *(f"# {line}" for line in _tcp_head(measured)),
            "",
            *(f"#{line}" for line in _TCP_COLUMNS),
            *rows,
            "",
            f"# Throughput statistics : Average {_average(rates):8.4f}   Minimum {min(rates):8.4f}   "
            f"Maximum {max(rates):8.4f}",
        ]
    )


def _udp_head(measured: Measurement) -> list[str]:
    cell, info = measured.cell, measured.middle(throughput)["info"]
    size = cell.params["bytes"]
    both = {"Client": info, "Server": info.get("server", {})}
    buffers = [
        f"{side} UDP socket buffer size (Bytes) -- SNDBUF: {its.get('sndbuf')} RCVBUF: {its.get('rcvbuf')}"
        for side, its in both.items()
    ]
    return [
        f"UDP communication test -- {measured.loops[0]['at']}",
        "Fixed packet size unidirectional stream test",
        f"Hosts: {cell.client} (client) <--> {cell.server} (server)",
        *buffers,
        "Client IP TOS type: Default",
        "Server IP TOS type: Default",
        f"UDP datagram (packet) size (Bytes) -- Client: {size} Server: {size}",
        f"Data size of each read/write (Bytes) -- Client: {size} Server: {size}",
        f"Test time (Second): {float(cell.params['seconds'] or 0):f}",
        f"Test repeat: {len(measured.loops)}",
    ]


def _udp_row(number: int, loop: Replicate, size: int) -> str:
    loss = loop["metrics"]["loss"]
    sent, received = loss["sent"], loss["received"]
    rates = f"{_mbps(throughput(loop)):13.4f}{_mbps(value(loop, 'sent')):12.4f}"
    packets = f"{sent:11d}{sent * size:12d}{received:11d}{received * size:12d}"
    return f"{number:<3d}{rates}{packets}{sent - received:10d}{loss['value']:10.3f}"


def _udp_text(measured: Measurement) -> str:
    loops, size = measured.loops, int(measured.cell.params["bytes"] or DATAGRAM)
    network = [_mbps(throughput(loop)) for loop in loops]
    local = [_mbps(value(loop, "sent")) for loop in loops]
    sums = [
        f"# {name} Average: {_average(rates):10f}  Minimum: {min(rates):10f}  Maximum: {max(rates):10f}"
        for name, rates in (("Local", local), ("Network", network))
    ]
    done = [
        f" ({i}) Throughput: {rate:f}  Loss-rate: {loop['metrics']['loss']['value']:f}"
        for i, (rate, loop) in enumerate(zip(network, loops, strict=True), 1)
    ]
    columns = "#   Network(Mbps) Local(Mbps) SentPkg(C) SentByte(C) RecvPkg(S) RecvByte(S)  LostPkg  LossRate"
    rows = [_udp_row(i, loop, size) for i, loop in enumerate(loops, 1)]
    return "\n".join([*done, "Test done!", *(f"# {h}" for h in _udp_head(measured)), "", columns, *rows, "", *sums])


def _rtt_text(measured: Measurement) -> str:
    name, size = measured.cell.transport.upper(), measured.cell.params["bytes"]
    times = [mean(loop) * 1e6 for loop in measured.loops]
    scale, unit = (1000.0, "msec") if sum(times) / len(times) > 1000 else (1.0, "usec")
    lines = [
        f"{name} Round Trip Time ({i}) : " + (f"{t / 1000:6.3f} msec" if t > 1000 else f"{t:6.3f} usec")
        for i, t in enumerate(times, 1)
    ]
    three = "/".join(f"{t / scale:6.3f}" for t in (min(times), sum(times) / len(times), max(times)))
    sums = f"{name} RTT ({size}-byte) min/avg/max = {three} {unit}"
    return "\n".join([*lines, f"{len(times)} trials with message size {size} Bytes.", sums])


def _stream_timing(warmup: float) -> Callable[[float, float], Timing]:
    return lambda seconds, scale: Timing({"seconds": seconds * scale, "warmup_seconds": warmup * scale}, REPEATS)


def _rtt_timing(seconds: float, scale: float) -> Timing:
    return Timing({"seconds": seconds * scale, "warmup_seconds": seconds * scale}, REPEATS)


def _command(measured: Measurement) -> str:
    cell = measured.cell
    test, size, timed = f"{cell.transport}test", cell.params["bytes"], float(cell.params["seconds"] or 0.0)
    if cell.pattern == "pingpong":
        return f"{test} -h {cell.server} -A {size} -r {len(measured.loops)}"
    return f"{test} -h {cell.server} -t {timed:.3g} {'-l' if cell.transport == 'udp' else '-d'} {size}"


def _loop(transport: str, pattern: str, seconds: float, text: Callable[[Measurement], str], differs: str) -> Loop:
    streams = pattern == "stream"
    size = (PIECE if transport == "tcp" else DATAGRAM) if streams else ROUND_TRIP
    own: dict[str, Param] = {"gather": False} if streams else {}
    warmup = PRETEST_S if transport == "tcp" else 0.0
    return Loop(
        tool="hpcbench", pattern=pattern, transport=transport, command=_command, seconds=seconds, text=text,
        timing=_stream_timing(warmup) if streams else _rtt_timing,
        options={"bytes": size, **nodelay(transport, on=False), **own},
        differs=differs, figure=None if streams else mean,
    )  # fmt: skip


_RTT_DIFFERS = (
    "time ends a test, not a count found by doubling; every round trip reads the clock; each test has a connection of "
    "its own, without a second's rest between them"
)
_STREAM_DIFFERS = (
    "time ends a test, not a count from the pre-test, and the receiver's clock times it; each test has a connection of "
    "its own"
)
LOOPS = (
    _loop("tcp", "stream", 5.0, _tcp_text, f"{_STREAM_DIFFERS}; user and system time are the hosts', interrupts "
          "included, not the processes'"),
    _loop("udp", "stream", 5.0, _udp_text, f"{_STREAM_DIFFERS}; rates are of the test time, packets of all that was "
          "sent; no table of process times"),
    *(_loop(transport, "pingpong", RTT_S[transport], _rtt_text, _RTT_DIFFERS) for transport in RTT_S),
)  # fmt: skip
