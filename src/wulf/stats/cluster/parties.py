"""Who takes part in links: each node's sending and receiving; and whose better links are worse than the others'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from wulf.stats.cluster.link_table import Flags, Indices, Table
from wulf.stats.cluster.outliers import LEAST_RATIO, LEAST_SIGMAS, Outlier, Way
from wulf.stats.diagnostics import robust_sigma

LEAST_PARTNERS = 2
"""With one partner alone, a node can't be told from its link."""

LEAST_NODES = 3
"""Of two, nobody can say which one it is."""

_MANY = 200
"""Among so many parties, leaving out the one in question moves neither median nor spread."""


class Parties:
    """Who takes part in links: each node's sending and receiving, or, where they can't be told apart, each node.

    Parameters
    ----------
    open_
        Which links nothing explains yet; changed as parties are taken out.
    """

    def __init__(self, table: Table, open_: Flags, *, directed: bool) -> None:
        self.table, self.open, self.directed = table, open_, directed
        self.size = len(table.names)
        self.sides = table.ends + np.array([0, self.size if directed else 0])
        count = self.size * (2 if directed else 1)
        order = np.argsort(self.sides.T.ravel(), kind="stable")
        which = np.sort(self.sides.T.ravel())
        bounds = np.searchsorted(which, np.arange(count + 1))
        rows = order % max(1, len(table.bad))
        self.links = [rows[a:b] for a, b in pairwise(bounds)]
        self.reach = np.full((count, 3), np.nan)  # badness, and that of the better and the worse end
        self.partners = np.zeros(count, dtype=int)
        self.blamed: dict[int, float] = {}  # party → what it reaches
        for party in range(count):
            self.renew(party)

    def left(self, party: int) -> Indices:
        """The party's links that nothing explains yet."""
        own = self.links[party]
        return own[self.open[own]]

    def renew(self, party: int) -> None:
        """What a party reaches when its partners do not hold it back: the middle link of the better half.

        Its better end is the tighter of two bounds: the figure, as far off as links usually are from their better ends;
        and the same place in the order of the links' own better ends. Where losses make links as different as
        replicates, the first, taken from the best link, says next to nothing.
        """
        own = self.left(party)
        self.partners[party] = len(np.unique(self._others(party, own)))
        if not len(own):
            self.reach[party] = np.nan
            return
        bad, best = self.table.bad[own], self.table.best[own]
        middle, at_best = (np.sort(ends)[(len(own) - 1) // 4] for ends in (bad, best))
        better, worse = np.median(bad - best), np.median(self.table.worst[own] - bad)
        self.reach[party] = middle, max(middle - better, at_best), middle + worse

    def _others(self, party: int, own: Indices) -> Indices:
        sides = self.sides[own]
        others: Indices = np.where(sides[:, 0] == party, sides[:, 1], sides[:, 0])
        return others

    def beside(self, party: int, others: float) -> tuple[int, int]:
        """With how many others it was measured, and to how many of them it is slow, whatever explains that."""
        own = self.links[party]
        slow = self.table.bad[own] - others >= np.log(LEAST_RATIO)
        sides = self._others(party, own)
        return len(np.unique(sides)), len(np.unique(sides[slow]))

    def take_out(self, party: int) -> None:
        """Its links are explained; only its partners have to be looked at anew."""
        own = self.left(party)
        self.blamed[party] = float(self.reach[party, 0])
        self.open[own] = False
        for other in {party, *self._others(party, own).tolist()}:
            self.renew(other)

    def twin(self, party: int) -> int | None:
        """The same node's other way."""
        return (party + self.size) % (2 * self.size) if self.directed else None

    def usual(self, but: int | None = None) -> tuple[float, float]:
        """Median and robust standard deviation of what parties reach, one perhaps left out."""
        reach = self.reach[:, 0] if but is None else np.delete(self.reach[:, 0], but)
        reach = reach[~np.isnan(reach)]
        return float(np.median(reach)), robust_sigma(reach)

    def suspects(self) -> list[tuple[int, float]]:
        """(party, what the others reach) of those whose better links are clearly worse."""
        known = ~np.isnan(self.reach[:, 0])
        if len(np.unique(np.flatnonzero(known) % max(1, self.size))) < LEAST_NODES:
            return []
        middle, deviation = self.usual()
        enough = known & (self.partners >= LEAST_PARTNERS)
        found = []
        for party in np.flatnonzero(enough & (np.nan_to_num(self.reach[:, 1], nan=-np.inf) > middle)).tolist():
            others, spread = (middle, deviation) if len(known) > _MANY else self.usual(party)
            excess = self.reach[party, 1] - others
            if excess >= np.log(LEAST_RATIO) and excess >= LEAST_SIGMAS * spread:
                found.append((party, others))
        return found


def slow_parties(parties: Parties) -> list[Outlier]:
    """Blame one party after the other, the one that most links speak against first; both ways of a node are one."""
    found: dict[str, list[Outlier]] = {}
    while suspects := parties.suspects():
        party, others = max(suspects, key=lambda one: (len(parties.left(one[0])), parties.reach[one[0], 0] - one[1]))
        for way, one in _ways(parties, party, others):
            found.setdefault(str(one.subject), []).append(one)
            parties.take_out(way)
    return [_joined(ways) for ways in found.values()]


def _ways(parties: Parties, party: int, others: float) -> list[tuple[int, Outlier]]:
    """The party, and the same node's other way where it is at least half as far off, on a log scale."""
    ways = [party]
    twin = parties.twin(party)
    if twin is not None and parties.partners[twin] >= LEAST_PARTNERS:
        own, other = parties.reach[party, 0] - others, parties.reach[twin, 0] - others
        ways += [twin] if other >= max(own / 2, np.log(LEAST_RATIO)) else []
    return [(way, _outlier(parties, way, others)) for way in ways]


def _outlier(parties: Parties, party: int, others: float) -> Outlier:
    table, reach = parties.table, parties.reach[party]
    way = Way.BOTH if not parties.directed else Way.SEND if party < parties.size else Way.RECEIVE
    partners, slower = parties.beside(party, others)
    return Outlier(
        table.names[party % parties.size], *table.figures(*(float(x) for x in reach)), table.figure(others),
        float(np.exp(min(reach[0] - others, 700.0))), way=way, partners=partners, slower=slower,
    )  # fmt: skip


def _joined(ways: Sequence[Outlier]) -> Outlier:
    """The worse way's figures, and both ways' direction."""
    worse = max(ways, key=lambda one: one.times)
    if len(ways) == 1:
        return worse
    return replace(worse, way=Way.BOTH)
