"""Formats that become a trace: one module each, with `HELP` and `bring`.

`bring(paths, folder)` reads files of its format and writes a trace's files (or one GOAL schedule) into the folder; what
it returns says what they are, and what a reader should know. Formats that are written by libraries of their own are
read from the text of their printing tools, which every site that uses them has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

NAMES = ("goal", "allprof", "dumpi", "otf2", "simgrid", "paraver", "chakra")

OPTIONS = {"simgrid": frozenset({"flops"})}
"""Format → what its `bring` may be told besides, as keywords."""

EXPANDED = frozenset({"chakra"})
"""Formats whose collectives wulf-replay carries out: their `bring` is given `expand`, which asks it."""


@dataclass(frozen=True)
class Imported:
    """What was brought in: how many ranks, as what it lies in the folder (`manifest.RANKS` or `GOAL`), and notes."""

    ranks: int
    kind: str
    notes: Sequence[str] = ()


class Import(Protocol):
    """A format that is read."""

    HELP: str

    def bring(self, paths: Sequence[Path], folder: Path, **options: Any) -> Imported:
        """Read the files, write the folder's; options are those that OPTIONS and EXPANDED have for it.

        Raises
        ------
        FormatError
            A file is not as its format wants it: names file and line.
        TraceError
            The disk is full.
        """
        ...


def import_named(name: str) -> Import:
    """The module of that name."""
    module: Import = import_module(f"{__name__}.{name}")
    return module
