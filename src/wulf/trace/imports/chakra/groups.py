"""Process groups of a Chakra trace: who takes part in a collective."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf.core.given import MOST
from wulf.trace.errors import FormatError, contents


@dataclass(frozen=True, eq=False)
class Group:
    """A process group: its name, and its ranks in order. There is one object of each."""

    name: str
    ranks: tuple[int, ...]


class Groups:
    """The groups, as ranks declare them in a node, or a file for all; without a name, or as "0", it is all ranks."""

    def __init__(self, size: int) -> None:
        self._world = tuple(range(size))
        self._groups: dict[str, dict[tuple[int, ...], Group]] = {}
        self._own: dict[tuple[str, int], Group] = {}
        for name in ("", "0"):
            self._add(name, self._world)

    def _add(self, name: str, ranks: tuple[int, ...]) -> Group:
        return self._groups.setdefault(name, {}).setdefault(ranks, Group(name, ranks))

    def declare(self, name: str, ranks: Sequence[int], by: int | None = None) -> None:
        """A group, by a rank, or for all; no ranks are all. One that has others than there are is none."""
        members = tuple(ranks) or self._world
        if len(set(members)) == len(members) and set(members) <= set(self._world):
            group = self._add(name, members)
            if by is not None:
                self._own[name, by] = group

    def of(self, name: str, rank: int) -> Group | None:
        """What a rank means by a name: what it declares, or else the one that has it; None: it is not known."""
        own = self._own.get((name, rank))
        known = [one for one in self._groups.get(name, {}).values() if rank in one.ranks] if own is None else [own]
        return known[0] if len(known) == 1 and rank in known[0].ranks else None


def declared(text: str) -> Iterator[tuple[str, list[int]]]:
    """Groups, of what PyTorch notes of process_group:init: JSON in a list of Python's. ValueError: it is none."""
    begin, end = text.find("[{"), text.rfind("}]")
    if begin < 0 or end < begin:
        raise ValueError("no list of groups")
    yield from ((str(one["pg_name"]), _ranks(one["ranks"])) for one in _json(text[begin : end + 2]))


def read_groups(path: Path, groups: Groups) -> None:
    """A file of groups, as ASTRA-sim's --comm-group-configuration takes one: JSON of names and lists of ranks.

    Raises
    ------
    FormatError
        It is none.
    """
    try:
        told = _json(contents(path, MOST).decode())
        for name, ranks in told.items():
            groups.declare(name, _ranks(ranks))
    except (ValueError, AttributeError) as error:
        raise FormatError(f"{path} is no file of groups ({error})", 'it is to hold {"name": [rank, …], …}') from error


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _ranks(value: object) -> list[int]:
    if not isinstance(value, list) or not all(isinstance(one, int) for one in value):
        raise ValueError("no list of ranks")
    return value
