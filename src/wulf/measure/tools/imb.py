"""Intel MPI Benchmarks: PingPong, PingPing, Uniband and Biband (IMB 2021.2 and later, `IMB-MPI1`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wulf.measure.tool import (
    MIDDLE,
    WHOLE,
    Loop,
    Measurement,
    counted,
    half_mean,
    mean_of,
    message_rate,
    middle_of,
    through,
)

if TYPE_CHECKING:
    from wulf.core.records import Param
    from wulf.measure.engine.collect import Replicate

SIZES = (0, *(1 << n for n in range(23)))
"""0, 1, 2, 4 … 4 MiB."""

MOST = 1000
"""Repetitions of a short message (-iter)."""

VOLUME = 40 << 20
"""Bytes that all repetitions of a size may move (-msglog's default volume)."""

WARMUPS = 10
"""It warms up with a tenth of the repetitions, but at least so many."""

WINDOW = 256
"""Messages of Uniband and Biband under way at once; 64 before 2021.2."""

LINE = "#---------------------------------------------------"

CAP = "the 10 s that a size may take at most are not looked at"


def repeats(size: int) -> dict[str, Param]:
    """Repetitions of a size [B], and those before that warm up."""
    count = min(MOST, max(VOLUME // max(size, 1), 1))
    return {"iterations": count, "warmup": max(count // 10, WARMUPS)}


def pingping_time(replicate: Replicate) -> float:
    """The mean time of two messages that cross [s]: not halved."""
    return mean_of(replicate, "time")


def _head(benchmark: str, columns: str) -> list[str]:
    return [LINE, f"# Benchmarking {benchmark} ", "# #processes = 2 ", LINE, columns]


def _row(size: Param, count: Param, *figures: float) -> str:
    return f"{size:13d}{count:13d}" + "".join(f"{figure:13.2f}" for figure in figures)


def _times(benchmark: str, figure: Callable[[Replicate], float]) -> Callable[[Measurement], str]:
    """Microseconds, and 10⁶ B/s."""

    def text(measured: Measurement) -> str:
        lines = _head(benchmark, "       #bytes #repetitions      t[usec]   Mbytes/sec")
        for cell in measured.cells:
            usec = middle_of(measured, cell, figure) * 1e6
            size = cell.params["bytes"]
            lines.append(_row(size, cell.params["iterations"], usec, float(size or 0) / usec))
        return "\n".join(lines)

    return text


def _rates(benchmark: str) -> Callable[[Measurement], str]:
    """10⁶ B/s, and messages a second."""

    def text(measured: Measurement) -> str:
        lines = _head(benchmark, "       #bytes #repetitions   Mbytes/sec      Msg/sec")
        for cell in measured.cells:
            rate, size = middle_of(measured, cell, message_rate), cell.params["bytes"]
            row = _row(size, cell.params["iterations"], rate * float(size or 0) / 1e6)
            lines.append(f"{row}{rate:13.0f}")
        return "\n".join(lines)

    return text


def _command(benchmark: str) -> Callable[[Measurement], str]:
    return lambda _: f"mpirun -n 2 IMB-MPI1 {benchmark}"


def _loop(
    benchmark: str,
    probe: str,
    text: Callable[[Measurement], str],
    *,
    figure: Callable[[Replicate], float] | None = None,
    metric: str = "",
    differs: str = "",
    **options: Param,
) -> Loop:
    return Loop(
        tool="imb", pattern=probe, transport="", command=_command(benchmark), seconds=WHOLE,
        timing=counted(repeats(SIZES[0])), options={"bytes": SIZES[0], **options}, text=text, figure=figure,
        metric=metric, follow=through(SIZES, repeats), differs=f"{differs}{CAP}; {MIDDLE}",
    )  # fmt: skip


def _band(benchmark: str, *, both: bool) -> Loop:
    crossing = "both sides wait for the other's window rather than for acknowledgements; " if both else ""
    # messages of its first size carry nothing: they have a rate, and no throughput
    return _loop(benchmark, "stream", _rates(benchmark), metric="rate", differs=crossing, window=WINDOW, both=both)


MPI_LOOPS = (
    _loop("PingPong", "pingpong", _times("PingPong", half_mean), figure=half_mean),
    _loop("PingPing", "pingping", _times("PingPing", pingping_time), figure=pingping_time),
    _band("Uniband", both=False),
    _band("Biband", both=True),
)
