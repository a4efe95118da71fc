"""Formats that a trace is written in: one module each, with `NAME`, `HELP` and `write`.

`write(trace, place)` writes a file, or where `FOLDER` is true a folder's files, and returns what a reader should know:
what was left out, what was approximated.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wulf.trace.reader import Trace

NAMES = ("perfetto", "goal", "simgrid")


class Export(Protocol):
    """A format that a trace is written in."""

    HELP: str
    FOLDER: bool

    def write(self, trace: Trace, place: Path) -> list[str]:
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
