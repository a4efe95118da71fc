"""Which call of MPI each step of a critical path is of: read from the trace, as far as the path needs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.model.foresight.prediction import Step
from wulf.trace.errors import TraceError
from wulf.trace.reader import RankFile

MOST_RECORDS = 2_000_000
"""Records that are read for it, over all ranks: about ten seconds; steps beyond stay without a name."""

COMPUTE = "compute"


def named(path: CriticalPath, folder: Path) -> tuple[CriticalPath, str]:
    """The path with its calls' names, and what to beware of; empty where all have one.

    A stretch of computing is named by the call that ends it.
    """
    wanted: dict[int, set[int]] = {}
    for step in path.steps:
        if step.mark:
            wanted.setdefault(step.rank, set()).add(step.mark)
    names: dict[tuple[int, int], str] = {}
    left = MOST_RECORDS
    for rank, marks in wanted.items():
        try:
            found, read = _names(RankFile(folder / f"rank-{rank:06}.wtr"), marks, left)
        except TraceError as error:
            return path, f"calls on the critical path have no names: {error.what}"
        names |= {(rank, mark): name for mark, name in found.items()}
        left -= read
        if left <= 0:
            break
    steps = tuple(_called(step, names.get((step.rank, step.mark), "")) for step in path.steps)
    lacking = sum(1 for step in steps if step.mark and not step.call)
    note = f"{lacking:,} steps of the critical path have no names: the trace is longer than what is read for them"
    return replace(path, steps=steps), note if lacking else ""


def _names(file: RankFile, marks: Iterable[int], most: int) -> tuple[dict[int, str], int]:
    """Record's number → its call, and how many records were read.

    The replay counts the records that name call sites, too.
    """
    wanted = set(marks)
    last, found, read = max(wanted), {}, 0
    for read, record in enumerate(file.records(), 1):
        number = read + len(file.sites)
        if number in wanted:
            site = file.sites.get(record.site or 0, "")
            found[number] = f"MPI_{record.op}{f' at {site}' if site else ''}" if record.op[0].isupper() else record.op
        if number >= last or read >= most:
            break
    return found, read


def _called(step: Step, name: str) -> Step:
    if not name:
        return step
    return replace(step, call=f"before {name}" if step.kind == COMPUTE else name)
