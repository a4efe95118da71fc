"""Pairs that data goes one way over, by number, and the ports that they share: each node's way out, and its way in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wulf.stats.cluster.outliers import Link
from wulf.stats.samples import Floats

Ends = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""Shape (pairs, 2): sender and receiver by number."""


def numbered(pairs: Iterable[Link]) -> tuple[list[str], Ends]:
    """The nodes of pairs, as they come, and each pair's by their numbers."""
    known = list(pairs)
    names = list(dict.fromkeys(node for pair in known for node in pair))
    place = {name: number for number, name in enumerate(names)}
    return names, np.array([[place[a], place[b]] for a, b in known], dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Directed:
    """Pairs, and what goes over them by figures of those that inherit from it.

    Attributes
    ----------
    names
        The nodes.
    ends
        Sender and receiver of each pair.
    """

    names: list[str]
    ends: Ends

    @cached_property
    def sides(self) -> Ends:
        """Each pair's way out of the sender and into the receiver, of which ways out come first. Shape (pairs, 2)."""
        sides: Ends = self.ends + np.array([0, len(self.names)])
        return sides

    def over_ports(self, values: Floats) -> Floats:
        """Sums over each port's pairs, of one figure a pair or several; shape (ports, …)."""
        total = np.zeros((2 * len(self.names), *values.shape[1:]))
        for place in (0, 1):
            np.add.at(total, self.sides[:, place], values)
        return total
