"""What ranks computed and how long the program took, from traces of one program at several numbers of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.model.speedup.parts import TracedTimes
from wulf.trace.reader import RankFile, open_trace
from wulf.workflow.foresight.traced import NANO, find_trace, read_traced, source_of

MAIN = 0
"""The thread that called MPI_Init: what others do stands beside its own computing."""

_ANEW = "trace the program again: `wulf trace -- mpirun … ./app`"


def times_of(names: Sequence[str], directory: Path | None = None) -> tuple[list[TracedTimes], list[str]]:
    """The times of each trace, and what to beware of.

    Raises
    ------
    UsageError
        There is no such trace, or its program's time is not known: ranks are missing or ended early, or it was imported
        and has no times.
    TraceError
        A trace can't be read.
    """
    runs, commands = [], dict[str, str]()
    for name in names:
        folder = find_trace(name, directory)
        if source_of(folder)[1] == "goal":
            raise UsageError(f"{name} is a schedule, which has no times", _ANEW)
        traced = read_traced(folder)
        if traced.seconds is None:
            raise UsageError(f"{name}: {traced.notes[-1]}", _ANEW)
        files = open_trace(folder).ranks
        computing = [_computing(one) for one in files]
        if min(computing) <= 0:
            raise UsageError(f"{name}: a rank computes nothing outside of MPI", "trace a program that does")
        runs.append(TracedTimes(traced.ranks, traced.seconds, max(computing), sum(computing)))
        commands.setdefault(str(files[0].header.get("command", "")), name)
    if len(commands) == 1:
        return runs, []
    said = ", ".join(f"{command or 'not known'} ({name})" for command, name in commands.items())
    return runs, [f"the traces are of different commands, and are taken for one program's: {said}"]


def _computing(one: RankFile) -> float:
    """Seconds that a rank's main thread spends outside of MPI, from MPI_Init to MPI_Finalize.

    What lies between tests that find nothing counts, too: nobody knows whether that is work or waiting.
    """
    inside = sum(record.call_ns for record in one.records() if record.thread == MAIN)
    return (one.totals.end_ns - inside) * NANO if one.totals is not None else 0.0
