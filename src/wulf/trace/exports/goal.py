"""GOAL, the text that LogGOPSim and its relatives simulate: a schedule of dependencies instead of times.

MPI's own time is not in it: what a call costs is the simulator's business. Computing is in nanoseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from wulf.trace.exports.lowering import Calc, Lowered, Post, Tags, Wait, check_end, notes_of, whole, writing
from wulf.trace.reader import Trace
from wulf.trace.steps import Step

HELP = "GOAL's text, for LogGOPSim and `wulf predict`: one file."
FOLDER = False


def write(trace: Trace, place: Path) -> list[str]:
    """Write the schedule of all ranks."""
    whole(trace, "GOAL")
    tags, left_out = Tags(), Counter[str]()
    with writing(place) as out:
        out.write(f"num_ranks {trace.size}\n")
        for one in trace.ranks:
            lowered = Lowered(one, trace.size, tags)
            out.write(f"\nrank {one.rank} {{\n")
            _Rank(out).write(lowered.steps())
            out.write("}\n")
            check_end(one, "GOAL")
            left_out += lowered.left_out
    return notes_of(left_out, expanded=True)


class _Rank:
    """One rank's operations, each after what it needs: the one before it has begun, or has ended."""

    def __init__(self, out: IO[str]) -> None:
        self._out, self._labels = out, 0
        self._before: tuple[str, str] | None = None
        self._slots: dict[int, str] = {}
        self._awaited: list[str] = []

    def write(self, steps: Iterable[Step]) -> None:
        """All of them."""
        for step in steps:
            if isinstance(step, Wait):
                self._awaited.append(self._slots.pop(step.slot))
                continue
            self._join()
            if isinstance(step, Calc):
                self._before = (self._operation(f"calc {step.ns}"), "requires")
            elif isinstance(step, Post):
                way = f"send {step.bytes}b to" if step.sent else f"recv {step.bytes}b from"
                label = self._operation(f"{way} {step.peer} tag {step.tag}")
                self._slots[step.slot] = label
                self._before = (label, "irequires")
        self._join()

    def _join(self) -> None:
        """Everything that was waited for has ended before what comes."""
        awaited, self._awaited = self._awaited, []
        if not awaited:
            return
        if self._before is not None and awaited == [self._before[0]]:
            self._before = (awaited[0], "requires")
            return
        label = self._operation("calc 0")
        for other in awaited:
            self._out.write(f"{label} requires {other}\n")
        self._before = (label, "requires")

    def _operation(self, text: str) -> str:
        self._labels += 1
        label = f"l{self._labels}"
        self._out.write(f"{label}: {text}\n")
        if self._before is not None:
            self._out.write(f"{label} {self._before[1]} {self._before[0]}\n")
        return label
