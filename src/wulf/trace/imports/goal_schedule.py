"""What a GOAL file holds, as a text or binary: counted, and whether every message has a partner."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

ANY = -1

MOST = 5
"""Faults of a kind that a message names."""

MOST_NUMBER = 2**32 - 1
"""The largest tag, rank, CPU or NIC that a schedule may have."""


@dataclass
class Schedule:
    """What a GOAL file holds.

    Attributes
    ----------
    counts
        Rank → how many of calc, send, recv it has.
    bytes
        (sender, receiver) → bytes sent.
    unmatched
        (sender, receiver, tag) → messages sent more often than received (positive), or less often.
    calculated
        Rank → the sum of its calc, in nanoseconds.
    """

    ranks: int = 0
    counts: dict[int, Counter[str]] = field(default_factory=dict)
    bytes: Counter[tuple[int, int]] = field(default_factory=Counter)
    unmatched: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    calculated: Counter[int] = field(default_factory=Counter)
    wildcards: int = 0

    @property
    def messages(self) -> int:
        return sum(counts["send"] for counts in self.counts.values())

    def lonely(self) -> str:
        """The first messages without a partner; "" where there are none."""
        over = sum(self.unmatched.values())
        if over == self.wildcards and (self.wildcards or not self.unmatched):
            return ""
        texts = [
            f"{abs(count)} from {sender} to {receiver} with tag {tag} {'sent' if count > 0 else 'awaited'} too often"
            for (sender, receiver, tag), count in list(self.unmatched.items())[:MOST]
        ]
        return "; ".join(texts) or f"{self.wildcards} receives from anybody have no message"


def waiting_for_itself(
    count: int, before: array[int] | NDArray[np.integer], after: array[int] | NDArray[np.integer]
) -> int | None:
    """One of so many operations that waits for itself, perhaps by way of others; None: none does.

    Parameters
    ----------
    before, after
        Of each dependency the operation that is first, and the one that waits for it.
    """
    first, then = np.asarray(before, np.int64), np.asarray(after, np.int64)
    if (first < then).all():
        return None
    itself = first[first == then]
    if itself.size:
        return int(itself[0])
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    graph = csr_matrix((np.ones(first.size, np.int32), (first, then)), shape=(count, count))
    parts, part_of = connected_components(graph, directed=True, connection="strong")
    if parts == count:
        return None
    return int(np.flatnonzero(np.bincount(part_of)[part_of] > 1)[0])
