"""Who belongs to the communicators of a run.

Each rank's text has its own colours, keys and groups alone. Calls that make a communicator are collective, so that the
k-th of them on a communicator is the same one for all of its members: there the colours and keys are put together.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from wulf.trace.imports.dumpi.text import COMMUNICATORS, Block, Text, unreadable
from wulf.trace.record import MOST_RANKS

WORLD_HANDLE, SELF_HANDLE, NULL_HANDLE = 2, 3, 1
"""dumpi/common/constants.h: error 0, null 1, then these; of communicators."""

Members = Sequence[int]
"""Ranks in MPI_COMM_WORLD, in the order of their group."""

Made = dict[int, Members]
"""Line of a call → members of the communicator that it made for this rank; none where the rank is not in it."""


class _Communicator(NamedTuple):
    """A communicator, and a key that is the same on all of its ranks."""

    key: Hashable
    members: Members


@dataclass
class _Split:
    """An MPI_Comm_split, until all members of its parent have told: rank → (colour, key, whether it is in one)."""

    told: dict[int, tuple[int, int, bool]] = field(default_factory=dict)
    groups: dict[int, Members] = field(default_factory=dict)

    def settle(self, parent: Members) -> None:
        """Colour → members, by their keys and then by their place in the parent."""
        found: dict[int, list[int]] = {}
        for rank in sorted(parent, key=lambda rank: self.told[rank][1]):
            colour, _, inside = self.told[rank]
            if inside:
                found.setdefault(colour, []).append(rank)
        self.groups = {colour: tuple(ranks) for colour, ranks in found.items()}


def members_of(texts: Sequence[Text]) -> list[Made]:
    """What each rank's calls made; a call whose members can't be told is not in it.

    Raises
    ------
    FormatError
        A call lacks a value, or names a rank that its group does not have.
    """
    splits: dict[Hashable, _Split] = {}
    ranks = [_Rank(rank, len(texts), text) for rank, text in enumerate(texts)]
    moved = True
    while moved:
        moved = False
        for rank in ranks:
            moved |= rank.advance(splits)
    return [rank.made for rank in ranks]


class _Rank:
    """One rank's calls, taken until one waits for what other ranks have to tell."""

    def __init__(self, rank: int, size: int, text: Text) -> None:
        self._rank, self._path, self._calls = rank, text.path, deque(text.making)
        self._groups: dict[int, Members] = {}
        self._calls_on: Counter[Hashable] = Counter()
        self._communicators = {
            WORLD_HANDLE: _Communicator("world", range(size)),
            SELF_HANDLE: _Communicator(("self", rank), (rank,)),
        }
        self.made: Made = {}

    def advance(self, splits: dict[Hashable, _Split]) -> bool:
        """Whether there was a call to take, or something to tell others."""
        moved = False
        while self._calls:
            call = self._calls[0]
            try:
                if call.name in COMMUNICATORS:
                    told, done = self._make(call, splits)
                    moved |= told
                    if not done:
                        break
                else:
                    self._group(call)
            except (ValueError, KeyError, IndexError) as error:
                raise unreadable(self._path, call, error) from error
            self._calls.popleft()
            moved = True
        return moved

    def _make(self, call: Block, splits: dict[Hashable, _Split]) -> tuple[bool, bool]:
        """Whether this rank told others something new, and whether the call is settled (or never will be)."""
        handle = call.number("newcomm")
        parent = self._communicators.get(call.number("oldcomm"))
        if parent is None:
            self._communicators.pop(handle, None)
            return False, True
        place = (parent.key, self._calls_on[parent.key])
        if call.name == "Comm_split":
            split = splits.setdefault(place, _Split())
            first = self._rank not in split.told
            colour = call.number("color")
            split.told[self._rank] = (colour, call.number("key"), handle != NULL_HANDLE)
            if len(split.told) < len(parent.members):
                return first, False
            if not split.groups:
                split.settle(parent.members)
            self._keep(call, handle, place, split.groups.get(colour))
        else:
            self._keep(call, handle, place, self._own(call, parent.members))
        self._calls_on[parent.key] += 1
        return True, True

    def _own(self, call: Block, parent: Members) -> Members | None:
        """Members that a rank knows without the others; a grid's ranks are taken as not put in another order."""
        if call.name == "Comm_create":
            return self._groups.get(call.number("group"))
        if call.name == "Cart_create":
            dims = call.numbers("dims")
            if min(dims, default=1) < 1:
                raise ValueError(f"a grid of {dims}")
            return parent[: prod(dims)]
        return parent

    def _keep(self, call: Block, handle: int, place: Hashable, members: Members | None) -> None:
        """What was made there; of several that were, each is told from the others by its first member."""
        if handle == NULL_HANDLE:
            self.made[call.line] = ()
        elif members is None:
            self._communicators.pop(handle, None)
        else:
            self.made[call.line] = members
            self._communicators[handle] = _Communicator((place, *members[:1]), members)

    def _group(self, call: Block) -> None:
        handle = call.number("group" if call.name == "Comm_group" else "newgroup")
        found = self._grouped(call)
        if found is None:
            self._groups.pop(handle, None)
        else:
            self._groups[handle] = found

    def _grouped(self, call: Block) -> Members | None:
        """The members of the group that a call makes; None where those that it is made of are not known."""
        if call.name == "Comm_group":
            communicator = self._communicators.get(call.number("comm"))
            return None if communicator is None else communicator.members
        first = self._groups.get(call.number("group1" if "group1" in call.values else "group"))
        if first is None:
            return None
        if "group2" in call.values:
            second = self._groups.get(call.number("group2"))
            return None if second is None else _joined(call.name, first, second)
        chosen = _ranges(call.numbers("ranges")) if "range" in call.name else call.numbers("ranks")
        if any(not 0 <= rank < len(first) for rank in chosen):
            raise ValueError(f"a rank of {chosen} is not in a group of {len(first)}")
        if call.name.endswith("incl"):
            return tuple(first[rank] for rank in chosen)
        without = set(chosen)
        return tuple(member for rank, member in enumerate(first) if rank not in without)


def _joined(name: str, first: Members, second: Members) -> Members:
    """Union, intersection or difference: what is of the first group keeps its order and comes first."""
    own, others = set(first), set(second)
    if name == "Group_union":
        return (*first, *(rank for rank in second if rank not in own))
    inside = name == "Group_intersection"
    return tuple(rank for rank in first if (rank in others) is inside)


def _ranges(numbers: Sequence[int]) -> list[int]:
    """Of triples first, last, stride."""
    chosen: list[int] = []
    for first, last, stride in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        ranks = range(first, last + (1 if stride > 0 else -1), stride)
        if len(chosen) + len(ranks) > MOST_RANKS:
            raise ValueError(f"the range {first} to {last} names more than {MOST_RANKS:,} ranks")
        chosen += ranks
    return chosen
