"""Which algorithms an MPI has for its collectives, and how it is told to take one (algorithms.toml). Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DEFAULT = "default"
"""The MPI's own choice, in the place of an algorithm's name."""

FILE = "file"
"""The choices of a file, in that place."""

RULES, ENVIRONMENT = "dynamic-rules", "environment"


@dataclass(frozen=True)
class Algorithm:
    """One way to do a collective.

    Attributes
    ----------
    number
        In Open MPI's words; MPICH knows it by its name.
    segment
        Bytes into which it cuts a message; 0: it does not.
    ranks
        The only number of ranks that it is for; None: any.
    """

    name: str
    number: int = 0
    fanout: int = 0
    segment: int = 0
    ranks: int | None = None


@dataclass(frozen=True)
class Collective:
    """What an MPI has for one collective."""

    op: str
    algorithms: tuple[Algorithm, ...]
    id: int = 0
    of: str = "whole"

    def size(self, size: int, ranks: int) -> int:
        """Our size of a message as the MPI's file counts it."""
        return size * ranks if self.of == "ranks" else size

    def find(self, name: str) -> Algorithm:
        """The algorithm of that name. Raises KeyError."""
        return {one.name: one for one in self.algorithms}[name]


@dataclass(frozen=True)
class Choice:
    """What one kind of MPI can be told."""

    kind: str
    file: str
    variables: Mapping[str, str]
    collectives: Mapping[str, Collective]

    def candidates(self, op: str, ranks: int) -> tuple[Algorithm, ...]:
        """The algorithms of a collective for so many ranks; none where it can't be told."""
        known = self.collectives.get(op)
        return () if known is None else tuple(one for one in known.algorithms if one.ranks in (None, ranks))

    def forced(self, op: str, name: str) -> dict[str, str]:
        """The environment in which that collective is done so, whatever the size."""
        one = self.collectives[op].find(name)
        words = {"op": op, "OP": op.upper(), "name": name, "number": one.number, "segment": one.segment}
        words["fanout"] = one.fanout or FANOUT
        return {key.format(**words): value.format(**words) for key, value in self.variables.items()}


FANOUT = 4
"""Open MPI's default of coll_tuned_…_fanout."""


@cache
def choice_of(kind: str) -> Choice | None:
    """What an MPI of that kind can be told; None where it is not known."""
    table: Mapping[str, Any] = tomllib.loads((files("wulf.measure.mpi") / "algorithms.toml").read_text("utf-8"))
    if kind not in table:
        return None
    part = table[kind]
    collectives = {
        op: Collective(
            op, tuple(Algorithm(**each) for each in one["algorithms"]), one.get("id", 0), one.get("of", "whole")
        )
        for op, one in part["collectives"].items()
    }
    return Choice(kind, part["file"], part["variables"], collectives)
