"""OSU micro-benchmarks: osu_latency, osu_bw, osu_bibw and osu_mbw_mr, as versions 5 and 7 do them."""

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
    message_rate,
    middle_of,
    through,
)

if TYPE_CHECKING:
    from wulf.core.records import Param

VERSIONS = {"osu5": "5.9", "osu7": "7.4"}
"""The name that `--as` takes → what is printed."""

LONG = 8192
"""A message above counts as long, and is repeated less often [B]."""

LATENCY = {False: {"iterations": 10_000, "warmup": 100}, True: {"iterations": 1000, "warmup": 10}}
BANDWIDTH = {False: {"iterations": 100, "warmup": 10}, True: {"iterations": 20, "warmup": 2}}
"""Whether a message is long → repetitions (of windows), and those before that warm up."""

WINDOW = 64
SIZES = tuple(1 << n for n in range(23))
"""1 B to 4 MiB. Version 5's latency begins with 0."""


def latency_repeats(size: int) -> dict[str, Param]:
    """Round trips of a size [B]."""
    return dict(LATENCY[size > LONG])


def bandwidth_repeats(size: int) -> dict[str, Param]:
    """Windows of a size [B]."""
    return dict(BANDWIDTH[size > LONG])


def _head(tool: str, title: str, columns: str) -> list[str]:
    datatype = ["# Datatype: MPI_CHAR."] if tool == "osu7" else []
    return [f"# OSU MPI {title} Test v{VERSIONS[tool]}", *datatype, columns]


def _latency_text(tool: str) -> Callable[[Measurement], str]:
    columns = "# Size       Avg Latency(us)" if tool == "osu7" else "# Size          Latency (us)"

    def text(measured: Measurement) -> str:
        rows = [
            f"{cell.params['bytes']:<10d}{middle_of(measured, cell, half_mean) * 1e6:18.2f}" for cell in measured.cells
        ]
        return "\n".join([*_head(tool, "Latency", columns), *rows])

    return text


def _bandwidth_text(tool: str, title: str) -> Callable[[Measurement], str]:
    def text(measured: Measurement) -> str:
        rows = []
        for cell in measured.cells:
            size = int(cell.params["bytes"] or 0)
            rows.append(f"{size:<10d}{middle_of(measured, cell, message_rate) * size / 1e6:18.2f}")
        return "\n".join([*_head(tool, title, "# Size      Bandwidth (MB/s)"), *rows])

    return text


def _rate_text(tool: str) -> Callable[[Measurement], str]:
    def text(measured: Measurement) -> str:
        pairs = len(measured.loops[0]["info"]["pairs"])
        head = _head(tool, "Multiple Bandwidth / Message Rate", "# Size                  MB/s        Messages/s")
        head.insert(-1, f"# [ pairs: {pairs} ] [ window size: {WINDOW} ]")
        rows = []
        for cell in measured.cells:
            size, messages = int(cell.params["bytes"] or 0), middle_of(measured, cell, message_rate)
            rows.append(f"{size:<10d}{messages * size / 1e6:18.2f}{messages:18.2f}")
        return "\n".join([*head, *rows])

    return text


def _command(program: str) -> Callable[[Measurement], str]:
    def command(measured: Measurement) -> str:
        ranks = 2 * len((measured.loops[0]["info"] or {}).get("pairs", [None]))
        return f"mpirun -n {ranks} {program} -m :{measured.cells[-1].params['bytes']}"

    return command


def _latency(tool: str) -> Loop:
    sizes = SIZES if tool == "osu7" else (0, *SIZES)
    clock = "the clock is read around the loop, not around each round trip; " if tool == "osu7" else ""
    return Loop(
        tool=tool, pattern="pingpong", transport="", command=_command("osu_latency"), seconds=WHOLE,
        timing=counted(latency_repeats(sizes[0])), options={"bytes": sizes[0]}, text=_latency_text(tool),
        figure=half_mean, follow=through(sizes, latency_repeats), differs=f"{clock}{MIDDLE}",
    )  # fmt: skip


def _windows(
    tool: str, program: str, probe: str, text: Callable[[Measurement], str], differs: str, **more: Param
) -> Loop:
    return Loop(
        tool=tool, pattern=probe, transport="", command=_command(program), seconds=WHOLE,
        timing=counted(bandwidth_repeats(SIZES[0])), options={"bytes": SIZES[0], "window": WINDOW, **more}, text=text,
        follow=through(SIZES, bandwidth_repeats), differs=f"{differs}{MIDDLE}",
    )  # fmt: skip


TOGETHER = "the time ends when the last pair is done, where it takes the mean of the pairs' times; "


def _loops(tool: str) -> tuple[Loop, ...]:
    return (
        _latency(tool),
        _windows(tool, "osu_bw", "stream", _bandwidth_text(tool, "Bandwidth"), ""),
        _windows(tool, "osu_bibw", "stream", _bandwidth_text(tool, "Bi-Directional Bandwidth"), "", both=True),
        _windows(tool, "osu_mbw_mr", "message-rate", _rate_text(tool), TOGETHER),
    )


MPI_LOOPS = (*_loops("osu5"), *_loops("osu7"))
