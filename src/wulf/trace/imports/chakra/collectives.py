"""The collectives of a Chakra trace: which nodes of all ranks are one, and its messages.

The nodes of a group's ranks are the same collective that are the same in number, in the order of their files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wulf.trace.imports.chakra.groups import Group

Round = Sequence[tuple[str, int, int]]
"""Messages that a rank waits for together: "send" or "recv", the other rank's place in the group, bytes."""


Expand = Callable[..., Sequence[Round]]
"""Carries a collective out as wulf-replay does: called with an algorithm, and the fields of `expand` by name
(docs/how-it-works/replay-engine.md).
"""

ALGORITHMS = {
    "ALL_REDUCE": "allreduce/ring",
    "REDUCE": "reduce/binomial",
    "ALL_GATHER": "allgather/ring",
    "GATHER": "gather/linear",
    "SCATTER": "scatter/linear-nb",
    "BROADCAST": "bcast/binomial",
    "ALL_TO_ALL": "alltoall/linear",
    "REDUCE_SCATTER": "reduce_scatter/ring",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter/ring",
    "BARRIER": "barrier/dissemination",
}
"""CollectiveCommType, in the order of its numbers → wulf-replay's algorithm."""

TYPES = tuple(ALGORITHMS)

ROOTED = frozenset({"REDUCE", "GATHER", "SCATTER", "BROADCAST"})
"""Those with a root, which no attribute names."""

OWN_SIZES = frozenset({"ALL_GATHER", "GATHER", "ALL_TO_ALL"})
"""Those to which each rank may bring another size."""

SHORT, OF_SHORT = 2048, "allreduce/recursive-doubling"
"""Bytes up to which an all-reduce hands on the whole, beyond which a part (MPICH's ALLREDUCE_SHORT_MSG_SIZE)."""


def evenly(total: int, parts: int) -> tuple[int, ...]:
    """A sum in parts that differ by 1 at most, the larger first."""
    return tuple(total // parts + (at < total % parts) for at in range(parts))


@dataclass(slots=True)
class Collective:
    """One collective.

    Attributes
    ----------
    size
        What a rank brings in, in bytes, as the inputs of PyTorch's operation are, and as ASTRA-sim takes it: the whole
        of ALL_REDUCE, REDUCE_SCATTER, ALL_TO_ALL and BROADCAST, its own block of ALL_GATHER and GATHER.
    others
        Rank → the same, where it is another.
    """

    type: str
    group: Group
    number: int
    size: int
    others: dict[int, int] = field(default_factory=dict)

    def rounds(self, rank: int, expand: Expand) -> Sequence[Round]:
        """Its rounds of messages on a rank; a peer is its place in the group."""
        ranks = self.group.ranks
        if len(ranks) == 1:
            return []
        most, place = max(self.size, *self.others.values(), 0), ranks.index(rank)
        algorithm, call = ALGORITHMS[self.type], dict[str, Any](bytes=most)
        match self.type:
            case "ALL_REDUCE" if most <= SHORT:
                algorithm = OF_SHORT
            case "ALL_GATHER" | "GATHER":
                call = {"bytes": self._of(rank), "take": tuple(self._of(one) for one in ranks)}
            case "ALL_TO_ALL":
                taken = tuple(evenly(self._of(one), len(ranks))[place] for one in ranks)
                call = {"give": evenly(self._of(rank), len(ranks)), "take": taken}
            case "REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK" | "SCATTER":
                shares = evenly(most, len(ranks))
                call = {"bytes": shares[place], "give": shares}
        return expand(algorithm, ranks=len(ranks), rank=place, **call)

    def _of(self, rank: int) -> int:
        return self.others.get(rank, self.size)


class Collectives:
    """All of them, joined rank by rank, and then gone through once more in the same order."""

    def __init__(self) -> None:
        self._known: dict[tuple[Group, int], Collective] = {}
        self._joined, self._left = Counter[tuple[Group, int]](), Counter[tuple[Group, int]]()

    def join(self, group: Group, rank: int, kind: str, size: int) -> None:
        """A rank's next one on a group. ValueError where another rank has a collective of another type there."""
        number = self._joined[group, rank]
        self._joined[group, rank] += 1
        one = self._known.setdefault((group, number), Collective(kind, group, number, size))
        if one.type != kind:
            raise ValueError(f"is collective {number + 1} of group {group.name!r}, where another rank has {one.type}")
        if size != one.size:
            one.others[rank] = size

    def __len__(self) -> int:
        return len(self._known)

    def check(self) -> None:
        """ValueError where the ranks of a group have not as many."""
        for group in dict.fromkeys(group for group, _ in self._joined):
            counts = {rank: self._joined[group, rank] for rank in group.ranks}
            least, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
            if counts[least] != counts[most]:
                raise ValueError(
                    f"group {group.name!r} has {counts[most]} collectives on rank {most}, and {counts[least]} on rank "
                    f"{least}"
                )

    def next(self, group: Group, rank: int) -> Collective:
        """The same again, in the same order."""
        number = self._left[group, rank]
        self._left[group, rank] += 1
        return self._known[group, number]

    def guesses(self) -> Counter[str]:
        """What of them is not told, and how often."""
        found = Counter[str]()
        for one in self._known.values():
            if one.type in ROOTED and len(one.group.ranks) > 1:
                found[f"the root of {one.type}, taken for the first rank of its group"] += 1
            if one.others and one.type not in OWN_SIZES:
                found[f"the size of {one.type}, of which the ranks have several: the largest"] += 1
        return found
