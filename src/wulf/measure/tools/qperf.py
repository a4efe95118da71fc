"""qperf: latency and bandwidth of a socket, a figure each (qperf 0.4.11, `qperf SERVER tcp_lat tcp_bw …`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wulf.measure.tool import MIDDLE, Loop, Measurement, half_mean, nodelay, steady, throughput, value

if TYPE_CHECKING:
    from wulf.measure.engine.collect import Replicate

DIGITS = 3
"""Significant digits; those before the decimal point are all printed."""

_TIMES = ("ns", "us", "ms", "sec")
_RATES = ("bytes/sec", "KB/sec", "MB/sec", "GB/sec", "TB/sec")


def scaled(figure: float, units: Sequence[str]) -> tuple[str, str]:
    """The figure with three digits, without the zeros that end it, and its unit, each unit a thousand of the last."""
    step = 0
    while figure >= 1000 and step < len(units) - 1:
        figure, step = figure / 1000, step + 1
    after = DIGITS - len(f"{figure:.0f}")
    text = f"{figure:.{max(after, 0)}f}"
    return (text.rstrip("0").rstrip(".") if after > 0 else text), units[step]


def _table(test: str, rows: dict[str, tuple[str, str]]) -> str:
    """A test's block: names and figures in columns."""
    names = max(map(len, rows))
    figures = max(len(figure) for figure, _ in rows.values())
    lines = [f"    {name:<{names}}  =  {figure:>{figures}} {unit}" for name, (figure, unit) in rows.items()]
    return "\n".join([f"{test}:", *lines])


def _latency(measured: Measurement) -> str:
    seconds = half_mean(measured.middle(half_mean))
    return _table(f"{measured.cell.transport}_lat", {"latency": scaled(seconds * 1e9, _TIMES)})


def _bandwidth(measured: Measurement) -> str:
    loop: Replicate = measured.middle(throughput)
    received = scaled(throughput(loop), _RATES)
    if measured.cell.transport == "tcp":
        return _table("tcp_bw", {"bw": received})
    return _table("udp_bw", {"send_bw": scaled(float(value(loop, "sent") or 0.0), _RATES), "recv_bw": received})


def _command(test: str) -> Callable[[Measurement], str]:
    def command(measured: Measurement) -> str:
        cell = measured.cell
        return f"qperf {cell.server} -t {float(cell.params['seconds'] or 0):.3g} -m {cell.params['bytes']} {test}"

    return command


def _lat(transport: str) -> Loop:
    connected = "the server's socket is connected, too; " if transport == "udp" else ""
    return Loop(
        tool="qperf", pattern="pingpong", transport=transport, command=_command(f"{transport}_lat"), seconds=2.0,
        timing=steady, text=_latency, options={"bytes": 1, **nodelay(transport, on=False)}, figure=half_mean,
        differs=f"{connected}every round trip reads the clock, where qperf lets a timer end the loop; {MIDDLE}",
    )  # fmt: skip


def _bw(transport: str, size: int) -> Loop:
    return Loop(
        tool="qperf", pattern="stream", transport=transport, command=_command(f"{transport}_bw"), seconds=2.0,
        timing=steady, text=_bandwidth, options={"bytes": size, "gather": False, **nodelay(transport, on=False)},
        differs=f"the receiver takes what has come, where qperf collects each message; {MIDDLE}",
    )  # fmt: skip


LOOPS = (_lat("tcp"), _lat("udp"), _bw("tcp", 64 << 10), _bw("udp", 32 << 10))
