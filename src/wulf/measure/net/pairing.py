"""Which pairs of a large cluster to measure, and what a sample of them may miss. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wulf.measure.engine.plan import Pair

ALL_NODES = 64
"""The largest cluster of which all pairs are measured unless another number of rounds is asked for."""

SAMPLED_ROUNDS = 4
"""Rounds beyond that: a node that is slow then is so with four partners, and one bad link leaves three good ones."""


def all_rounds(n: int) -> int:
    """The rounds in which n nodes all meet, each in one pair a round: n-1, or n where one sits out."""
    return max(0, n - 1 if n % 2 == 0 else n)


def matching(number: int, n: int) -> list[tuple[int, int]]:
    """The pairs of nodes 0 … n-1 in one round of the circle method (Kirkman 1847), each node in one pair.

    With an odd n one node sits out. Rounds 0 … `all_rounds(n)`-1 have no pair in common.
    """
    rounds = all_rounds(n)
    pairs = []
    for i in range(n if n % 2 else n - 1):
        j = (number - i) % rounds
        if i < j:
            pairs.append((i, j))
        elif i == j and n % 2 == 0:
            pairs.append((i, n - 1))
    return pairs


def matchings(nodes: Sequence[str], rounds: int, random: np.random.Generator) -> list[list[Pair]]:
    """So many rounds of disjoint pairs, no pair twice, drawn from all rounds over randomly numbered nodes.

    Parameters
    ----------
    rounds
        At most `all_rounds(len(nodes))`; more are as many.
    """
    n = len(nodes)
    place = random.permutation(n).tolist()
    chosen = random.permutation(all_rounds(n))[:rounds]
    return [[_named(nodes, place, i, j) for i, j in matching(int(number), n)] for number in chosen]


def _named(nodes: Sequence[str], place: Sequence[int], i: int, j: int) -> Pair:
    """The pair in the order of the inventory."""
    a, b = sorted((int(place[i]), int(place[j])))
    return nodes[a], nodes[b]


@dataclass(frozen=True)
class Coverage:
    """What a sample of pairs covers.

    Attributes
    ----------
    nodes, pairs, rounds
        How many nodes, pairs measured, and rounds they take.
    least, most
        The least and the most pairs that a node is in.
    uncovered
        Nodes in no pair.
    """

    nodes: int
    pairs: int
    rounds: int
    least: int
    most: int
    uncovered: int

    @property
    def all_pairs(self) -> int:
        """N(N-1)/2."""
        return self.nodes * (self.nodes - 1) // 2

    @property
    def complete(self) -> bool:
        """Whether every pair is measured."""
        return self.pairs >= self.all_pairs

    def miss_links(self, bad: int = 1) -> float:
        """The chance that none of so many bad links is measured: hypergeometric, since the pairs are drawn at random.

        ``C(all - bad, sampled) / C(all, sampled)``, as a product of `bad` factors; for one link 1 - sampled/all.
        """
        unmeasured = self.all_pairs - self.pairs
        if bad > unmeasured:
            return 0.0
        factors = (unmeasured - np.arange(bad)) / (self.all_pairs - np.arange(bad))
        return float(np.prod(factors))

    def links_seen(self, chance: float = 0.95) -> int | None:
        """How many bad links there have to be until one of them is measured with that chance; None: no number is."""
        low, high = 0, self.all_pairs
        if self.pairs == 0:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._log_miss(middle) <= np.log1p(-chance) else (middle, high)
        return high

    def _log_miss(self, bad: int) -> float:
        """log of `miss_links`, from the gamma function: a cluster of 10,000 nodes has 50 million links."""
        from scipy.special import gammaln

        unmeasured = self.all_pairs - self.pairs
        if bad > unmeasured:
            return float("-inf")
        return float(
            gammaln(unmeasured + 1) - gammaln(unmeasured - bad + 1)
            - gammaln(self.all_pairs + 1) + gammaln(self.all_pairs - bad + 1)
        )  # fmt: skip

    @property
    def miss_node(self) -> float:
        """The chance that one bad node is in no pair at all: 0 as soon as every node is in one."""
        return self.uncovered / self.nodes if self.nodes else 0.0


def coverage(nodes: Sequence[str], rounds: Sequence[Sequence[Pair]]) -> Coverage:
    """What these rounds cover of these nodes."""
    times = dict.fromkeys(nodes, 0)
    for pairs in rounds:
        for a, b in pairs:
            times[a] += 1
            times[b] += 1
    counts = list(times.values()) or [0]
    return Coverage(
        len(nodes), sum(map(len, rounds)), len(rounds), min(counts), max(counts), sum(count == 0 for count in counts)
    )
