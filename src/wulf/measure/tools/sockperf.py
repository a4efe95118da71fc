"""sockperf ping-pong: single round trips, halved, with their percentiles (sockperf 3.7, `sockperf ping-pong`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.core.errors import UsageError
from wulf.measure.tool import MIDDLE, Loop, Measurement, Timing, half_mean, nodelay, value

if TYPE_CHECKING:
    from wulf.measure.engine.collect import Replicate

BYTES = 14
"""The length of its header, and so the least and the default."""

HEAD_S, TAIL_S = 0.4, 0.05
"""What it drops at the beginning and the end of its test time."""

PERCENTILES = ("0.99999", "0.9999", "0.999", "0.99", "0.9", "0.75", "0.5", "0.25")


def _timing(seconds: float, scale: float) -> Timing:
    """Of the test time, the beginning warms up, and the end is not measured."""
    kept = seconds - HEAD_S - TAIL_S
    if kept <= 0:
        raise UsageError(
            f"sockperf drops {HEAD_S + TAIL_S:g} s of its test time: of {seconds:g} s nothing is left",
            "give --seconds more",
        )
    return Timing({"warmup_seconds": HEAD_S * scale, "seconds": kept * scale})


def _command(measured: Measurement) -> str:
    cell = measured.cell
    tcp = " --tcp" if cell.transport == "tcp" else ""
    timed = float(cell.params["seconds"] or 0) + float(cell.params["warmup_seconds"] or 0) + TAIL_S
    return f"sockperf ping-pong -i {cell.server}{tcp} -m {cell.params['bytes']} -t {timed:.3g}"


def _usec(seconds: float) -> float:
    """Half of a round trip in microseconds."""
    return seconds * 1e6 / 2


def _strays(replicate: Replicate) -> str:
    """Lost and late echoes. Where none came late, none came twice or out of order either; else which is not known."""
    late = replicate.get("info", {}).get("late", 0)
    lost = value(replicate, "lost") or 0
    twice = "unknown" if late else "0"
    return f"# dropped messages = {lost}; # duplicated messages = {twice}; # out-of-order messages = {late}"


def _text(measured: Measurement) -> str:
    """The summary of the loop in the middle. A percentile beyond the last sample is the maximum, as there."""
    loop = measured.middle(half_mean)
    rtt: dict[str, Any] = loop["metrics"]["rtt"]
    n, average = rtt["n"], _usec(rtt["mean"])
    sent = n + (value(loop, "lost") or 0)
    lines = [
        f"[Valid Duration] RunTime={loop['seconds']:.3f} sec; SentMessages={sent}; ReceivedMessages={n}",
        f"====> avg-latency={average:.3f} (std-dev={_usec(rtt['deviation']):.3f})",
        _strays(loop),
        f"Summary: Latency is {average:.3f} usec",
        f"Total {n} observations; each percentile contains {n / 100:.2f} observations",
        f"---> <MAX> observation = {_usec(rtt['max']):8.3f}",
        *(
            f"---> percentile {float(name) * 100:.3f} = {_usec(rtt['quantiles'].get(name, rtt['max'])):8.3f}"
            for name in PERCENTILES
        ),
        f"---> <MIN> observation = {_usec(rtt['min']):8.3f}",
    ]
    return "\n".join(f"sockperf: {line}" for line in lines)


def _loop(transport: str) -> Loop:
    return Loop(
        tool="sockperf",
        pattern="pingpong",
        transport=transport,
        command=_command,
        seconds=1.0,
        timing=_timing,
        options={"bytes": BYTES, **nodelay(transport, on=True)},
        text=_text,
        differs=(
            ("both sockets are connected, so that no datagram's address is looked up; " if transport == "udp" else "")
            + "the clock is read once a round trip, not before and after; quantiles come from a histogram of 1/256 "
            f"resolution; the last 50 ms are not run rather than dropped; {MIDDLE}"
        ),
        figure=half_mean,
    )


LOOPS = (_loop("udp"), _loop("tcp"))
