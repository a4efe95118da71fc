"""Formats that a trace is written in: one module each, with `HELP`, `FOLDER` and `write`.

`write(trace, place, lower)` writes a file, or where `FOLDER` is true a folder's files, and returns what a reader should
know: what was left out, what was approximated. `lower` is for formats of messages: it opens the trace as wulf-replay
has it, collectives as messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wulf.model.foresight.prediction import ReplayProgram
    from wulf.trace.reader import Trace

NAMES = ("perfetto", "goal", "simgrid")


@dataclass(frozen=True)
class Lowered:
    """A trace as a program of wulf-replay, which writes it.

    Attributes
    ----------
    write
        Called with the name of a target of wulf-replay, and the path that it is written to.
    """

    program: ReplayProgram
    write: Callable[[str, Path], None]


Lower = Callable[[Mapping[str, str | float]], AbstractContextManager[Lowered]]
"""Called with how collectives are carried out (docs/how-it-works/replay-lowering.md)."""


class Export(Protocol):
    """A format that a trace is written in."""

    HELP: str
    FOLDER: bool

    def write(self, trace: Trace, place: Path, lower: Lower, /) -> list[str]:
        """Write it; notes for the user.

        Raises
        ------
        TraceError
            A rank is missing or torn where the format needs all of them whole; the disk is full.
        """
        ...


def export_named(name: str) -> Export:
    """The module of that name."""
    module: Export = import_module(f"{__name__}.{name}")
    return module


def notes_of(program: ReplayProgram) -> list[str]:
    """What a reader of its messages should know."""
    left = [f"left out: {one.calls} × {one.what} ({one.why})" for one in program.left_out]
    return [*program.notes, *left]
