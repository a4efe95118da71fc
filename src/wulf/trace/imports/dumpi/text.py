"""The text of dumpi2ascii: a block of lines a call, and what it says of the host and of types elsewhere.

MPI_Isend entering at walltime 1296777956.739674000, cputime 0.008347000 seconds in thread 0.
int count=1
MPI_Datatype datatype=9 (MPI_INT)
int dest=1
int tag=1337
MPI_Comm comm=2 (MPI_COMM_WORLD)
MPI_Request request=[2]
MPI_Isend returning at walltime 1296777956.739689000, cputime 0.008362000 seconds in thread 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from wulf.trace.errors import FormatError
from wulf.trace.imports.building import lines_of

_EDGE = re.compile(
    r"MPI_(\w+) (entering|returning) at walltime (\d{1,18})\.(\d{9}), cputime \S+ seconds in thread (\d{1,9})\.",
    re.ASCII,
)
_VALUE = re.compile(r"(?:int|int64_t|MPI_\w+) (\w+)(?:\[\d+\])*=(.*)")
_STATUS = re.compile(r"\{bytes=(-?\d+), cancelled=(-?\d+), source=(-?\d+), tag=(-?\d+), error=-?\d+\}")
_NUMBER = re.compile(r"-?\d+")
_SIZE = re.compile(r"Datatype (\d{1,9}) \(.*\) has size (\d{1,18})")
"""A line that -X prints after all calls."""

GROUPS = frozenset({
    "Comm_group", "Group_incl", "Group_excl", "Group_range_incl", "Group_range_excl", "Group_union",
    "Group_intersection", "Group_difference",
})  # fmt: skip
"""Calls that make a group."""

COMMUNICATORS = frozenset({"Comm_dup", "Comm_create", "Comm_split", "Cart_create"})
"""Calls that make a communicator whose members can be told. DUMPI knows nothing of MPI 3."""

_MAKING = frozenset(f"MPI_{name}" for name in GROUPS | COMMUNICATORS)
_PREFIXES = ("MPI_Comm_", "MPI_Group_", "MPI_Cart_")

Numbered = Iterable[tuple[int, str]]


class Block(NamedTuple):
    """A call as the text has it."""

    name: str
    begin: int
    end: int
    thread: int
    values: dict[str, str]
    line: int

    def number(self, name: str, default: int | None = None) -> int:
        """An integer, or a handle's number. KeyError where it is not there and has no default."""
        if name not in self.values and default is not None:
            return default
        match = _NUMBER.match(self.values[name].lstrip("["))
        if match is None:
            raise ValueError(f"{name} is no number")
        return int(match[0])

    def numbers(self, name: str) -> list[int]:
        """A list, of lists too; empty where the text ignored it."""
        return [int(text) for text in _NUMBER.findall(self.values.get(name, ""))]

    def statuses(self, name: str) -> list[tuple[int, int, int, int]]:
        """(bytes, cancelled, source, tag) of each; empty where the text ignored them."""
        return [tuple(map(int, found)) for found in _STATUS.findall(self.values.get(name, ""))]  # type: ignore[misc]


def blocks(lines: Numbered, path: Path) -> Iterator[Block]:
    """The calls in the order of the text. FormatError where one returns that was not entered."""
    open_: tuple[str, int, int, dict[str, str]] | None = None
    for number, line in lines:
        edge = _EDGE.match(line)
        if edge is None:
            value = _VALUE.match(line)
            if value and open_ is not None:
                open_[3][value[1]] = value[2]
            continue
        at = int(edge[3]) * 10**9 + int(edge[4])
        if edge[2] == "entering":
            open_ = (edge[1], at, number, {})
        elif open_ is None or open_[0] != edge[1]:
            raise FormatError(f"{path}:{number}: MPI_{edge[1]} returns that was not entered",
                              "is it dumpi2ascii's whole output?")  # fmt: skip
        else:
            yield Block(edge[1], open_[1], at, int(edge[5]), open_[3], open_[2])
            open_ = None


class Text(NamedTuple):
    """A rank's text, and what has to be known before its calls are read.

    Attributes
    ----------
    sizes
        Type → bytes; those that the text calls 0 bytes long were never asked for.
    making
        The calls that make groups and communicators.
    """

    path: Path
    host: str
    sizes: dict[int, int]
    making: list[Block]


def ahead(path: Path) -> Text:
    """Read a text once, for what stands behind the calls and what other ranks have to know of it."""
    host, sizes, making = "", dict[int, int](), list[tuple[int, str]]()
    inside = False
    for number, line in lines_of(path):
        if line.startswith(_PREFIXES):
            name, _, rest = line.partition(" ")
            inside = name in _MAKING and rest.startswith("entering")
            if name in _MAKING:
                making.append((number, line))
        elif inside:
            making.append((number, line))
        elif line.startswith("Datatype "):
            size = _SIZE.match(line)
            if size and size[2] != "0":
                sizes[int(size[1])] = int(size[2])
        elif line.startswith("hostname="):
            host = line.partition("=")[2]
    return Text(path, host, sizes, list(blocks(making, path)))


def unreadable(path: Path, block: Block, error: Exception) -> FormatError:
    """Of a call that lacks a value, or has one that can't be."""
    return FormatError(
        f"{path}:{block.line}: MPI_{block.name} can't be read ({error})", "is it dumpi2ascii's whole output?"
    )
