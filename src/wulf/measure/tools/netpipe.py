"""NetPIPE: round trips over sizes near powers of two, each trial timed as a whole (NetPIPE 3.7.2, `NPtcp`, `NPmpi`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wulf.measure.tool import LOOPS as TRIALS
from wulf.measure.tool import Loop, Measurement, Timing, half_mean

if TYPE_CHECKING:
    from wulf.core.records import Param, Record
    from wulf.measure.engine.plan import Cell

TRIAL_S = 0.25
"""What a trial should take one way, when built as upstream releases it (netpipe.h, FINAL)."""

MOST = 10_000_000
"""Where it ends by itself [B]."""

SLOWEST_S = 1.0
"""It also ends once a message takes so long."""

NEAR = 3
"""How far beside a power of two it looks [B]."""

ESTIMATE = 100
"""Round trips from which it guesses how often to repeat the first size."""

PATIENCE_S = 60.0
"""A trial's time is set by its count; this only ends one that stands still."""


@dataclass(frozen=True)
class Step:
    """One size [B], and the distance between the powers of two about it."""

    bytes: int
    apart: int


def steps(most: int) -> Iterator[Step]:
    """NetPIPE's sizes: 1, 2, 3, then 2ⁿ and 3·2ⁿ⁻¹, from 16 on with 3 B less and more."""
    size, apart, number = 1, 1, 0
    while size <= most:
        if number > 2 and number % 2:
            apart *= 2
        for off in (-NEAR, 0, NEAR) if apart > NEAR + 1 else (0,):
            yield Step(size + off, apart)
        size, number = size + apart, number + 1


def count_for(before: int, apart: int, one_way: float, trial: float) -> int:
    """How often a trial repeats a size, from the size before and its time: longer messages take proportionally longer.

    At least as often as there are trials.
    """
    longer = before / (before - apart + 1.0)
    return max(int(trial / (longer * one_way)), TRIALS)


def follow_mpi(most: int, trial: float, records: Sequence[Record]) -> Mapping[str, Param] | None:
    """The same for the probe of MPI, which counts iterations."""
    more = follow(most, trial, records)
    return None if more is None else {"bytes": more["bytes"], "iterations": more["count"]}


def follow(most: int, trial: float, records: Sequence[Record]) -> Mapping[str, Param] | None:
    """The next size up to `most` (0: its own end), or None after the last, one too slow, or one that failed."""
    sizes = list(steps(most or MOST))
    done = len(records) - 1  # the first is the estimate
    if done >= len(sizes) or not records[-1].samples:
        return None
    one_way = min(records[-1].samples) / 2
    if not 0 < one_way < SLOWEST_S:  # a node that tells of a message in no time has told all that it will
        return None
    before = sizes[done - 1].bytes if done else 1
    return {"bytes": sizes[done].bytes, "count": count_for(before, sizes[done].apart, one_way, trial)}


def _points(measured: Measurement) -> list[tuple[Cell, float]]:
    """Each size with the least of its trials' means [s, one way]; without the estimate."""
    return [(cell, min(map(half_mean, measured.replicates[cell.id]))) for cell in measured.cells if cell.id > 0]


def _count(cell: Cell) -> Param:
    """How often a trial repeats this size; the probes name it differently."""
    return cell.params["count"] if "count" in cell.params else cell.params["iterations"]


def _mbps(size: Param, seconds: float) -> float:
    """Mbps of NetPIPE: 2²⁰ bits."""
    return float(size or 0) * 8 / seconds / 2**20


def _text(measured: Measurement) -> str:
    return "\n".join(
        f"{number:3d}: {cell.params['bytes']:7d} bytes {_count(cell):6d} times --> "
        f" {_mbps(cell.params['bytes'], seconds):8.2f} Mbps in {seconds * 1e6:10.2f} usec"
        for number, (cell, seconds) in enumerate(_points(measured))
    )


def _files(measured: Measurement) -> dict[str, str]:
    lines = (
        f"{cell.params['bytes']:8d} {_mbps(cell.params['bytes'], seconds):f} {seconds:12.8f}\n"
        for cell, seconds in _points(measured)
    )
    return {"np.out": "".join(lines)}


def _command(measured: Measurement) -> str:
    return f"NPtcp -h {measured.cell.server} -u {measured.cells[-1].params['bytes']}"


LOOPS = (
    Loop(
        tool="netpipe",
        pattern="sweep",
        transport="tcp",
        command=_command,
        seconds=TRIAL_S,
        timing=lambda _, __: Timing({"seconds": PATIENCE_S, "warmup_seconds": 0.0}, TRIALS),
        options={"bytes": 1, "count": ESTIMATE, "nodelay": True},
        text=_text,
        differs=(
            f"each of the {TRIALS} trials has a connection of its own; every round trip reads the clock; sizes beyond "
            "4 MiB use a 4 MiB buffer again (a build without FINAL, such as Debian's, does 3 trials of 0.1 s)"
        ),
        figure=half_mean,
        follow=follow,
        files=_files,
    ),
)

MPI_LOOPS = (
    Loop(
        tool="netpipe",
        pattern="pingpong",
        transport="",
        command=lambda measured: f"mpirun -n 2 NPmpi -u {measured.cells[-1].params['bytes']}",
        seconds=TRIAL_S,
        timing=lambda _, __: Timing({"seconds": 0.0, "iterations": ESTIMATE}, TRIALS),
        options={"bytes": 1},
        text=_text,
        differs=(
            f"each of the {TRIALS} trials has buffers of its own (a build without FINAL, such as Debian's, does 3 "
            "trials of 0.1 s)"
        ),
        figure=half_mean,
        follow=follow_mpi,
        files=_files,
    ),
)
