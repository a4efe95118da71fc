"""Who is to blame for slow links: a node's sending, its receiving, the whole node, what joins a group, or one link.

Whoever explains most comes first. A group of nodes that are fast among themselves and slow to all others is not slow:
what joins it to the rest is. A node that is slow to send makes all its outgoing links slow and no other, so sending and
receiving are parties of their own: each link has two, and a party is blamed when even the better half of its links is
worse than what the other parties reach. What is blamed takes its links along before the next is looked for. Only a
link that neither of its parties explains is blamed by itself.

The model is that a link is as slow as the slowest of its sender, its receiver and what joins them, which is why a
party is judged by its better links, not by their mean or median as additive effects (median polish) would have it: so
a healthy node is not dragged down by slow partners, however many of its few links lead to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from wulf.stats.diagnostics import MAD_TO_SIGMA
from wulf.stats.intervals import Estimate
from wulf.stats.outliers import LEAST_RATIO, LEAST_SIGMAS, Link, Outlier, Way
from wulf.stats.samples import Floats

Indices = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

LEAST_PARTNERS = 2
"""With one partner alone, a node can't be told from its link."""

LEAST_NODES = 3
"""Of two, nobody can say which one it is."""

LEAST_WITHIN = 2.0
"""How many times worse than a slow party's other links one of them must be, to be blamed besides."""

LEAST_ACROSS = 4
"""So few links lead out of a group at least: two nodes of four have as many."""

_GAP = 1.1
"""A cut between fast and slow links goes where neighbours in order differ by this ratio at least."""

_MANY = 200
"""Among so many parties, leaving out the one in question moves neither median nor spread."""

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Group:
    """Nodes that are fast among themselves, and slow to all others.

    Attributes
    ----------
    nodes, others
        The smaller side, and the rest.
    value, low, high
        Of the links between: their median, and the medians of their intervals' ends.
    expected
        The median of the links on either side.
    way
        `SEND` where only what leaves the group is slow.
    """

    nodes: tuple[str, ...]
    others: tuple[str, ...]
    value: float
    low: float
    high: float
    expected: float
    times: float
    way: Way


@dataclass(frozen=True)
class Blame:
    """All that stands out in one metric, the worst of each kind first."""

    groups: tuple[Group, ...] = ()
    nodes: tuple[Outlier, ...] = ()
    links: tuple[Outlier, ...] = ()


@dataclass(frozen=True)
class Table:
    """The links that have a value, as arrays; badness is the log of a time, or minus the log of a rate.

    Attributes
    ----------
    names
        The nodes.
    ends
        Shape (links, 2): client and server by number.
    bad, best, worst
        Shape (links,): badness, and that of the interval's better and worse end.
    sign
        1 for times, -1 for rates.
    """

    names: list[str]
    ends: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    bad: Floats
    best: Floats
    worst: Floats
    sign: int

    def figure(self, badness: float) -> float:
        """A badness in the metric's unit."""
        return float(np.exp(self.sign * badness))

    def figures(self, bad: float, best: float, worst: float) -> tuple[float, float, float]:
        """Value, low and high in the metric's unit."""
        ends = sorted((self.figure(best), self.figure(worst)))
        return self.figure(bad), ends[0], ends[1]


def table_of(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> Table:
    """The links with a value and an interval, between two nodes each."""
    clear = [
        (link, e.value, e.low, e.high)
        for link, e in links.items()
        if e.value is not None and e.low is not None and e.high is not None and link[0] != link[1]
    ]
    names = list(dict.fromkeys(node for link, *_ in clear for node in link))
    place = {name: number for number, name in enumerate(names)}
    ends = np.array([[place[a], place[b]] for (a, b), *_ in clear], dtype=np.int64).reshape(-1, 2)
    figures = np.log(np.maximum(np.array([figures for _, *figures in clear], dtype=float).reshape(-1, 3), _TINY))
    sign = 1 if lower_is_better else -1
    bad, low, high = (sign * figures[:, i] for i in range(3))
    return Table(names, ends, bad, np.minimum(low, high), np.maximum(low, high), sign)


def blame(links: Mapping[Link, Estimate], *, lower_is_better: bool, directed: bool) -> Blame:
    """What stands out over the links of one metric.

    Parameters
    ----------
    links
        (client, server) → estimate, one metric, one unit. Links without a value are left out. Any part of all pairs:
        a sample in which each node has a few links will do.
    lower_is_better
        True for times, False for rates.
    directed
        Data goes from client to server alone, so that sending and receiving can be told apart; False for round trips.
    """
    table = table_of(links, lower_is_better=lower_is_better)
    open_ = np.ones(len(table.bad), dtype=bool)
    groups: list[Group] = []
    while (found := _group(table, open_)) is not None:
        group, across = found
        groups.append(group)
        open_ &= ~across
    parties = Parties(table, open_, directed=directed)
    nodes = slow_parties(parties)
    return Blame(
        tuple(sorted(groups, key=lambda group: -group.times)),
        tuple(sorted(nodes, key=lambda node: -node.times)),
        tuple(sorted(_slow_links(parties), key=lambda link: -link.times)),
    )


# Groups.


def _group(table: Table, open_: Flags) -> tuple[Group, Flags] | None:
    """A group that is cut off by slow links, and which links lead out of it; None where there is none.

    Links without the slow ones hold the healthy part of a cluster together; a slow node falls out by itself, and two or
    more that still hold together are a group. Where fast ends and slow begins is tried at every wide gap in the order
    of all pairs' worse ways.
    """
    if len(table.names) < 2 * LEAST_PARTNERS:
        return None
    kept = np.flatnonzero(open_)
    low, high = table.ends[kept].min(axis=1), table.ends[kept].max(axis=1)
    pairs, of_pair = np.unique(low * len(table.names) + high, return_inverse=True)
    bad = np.full(len(pairs), -np.inf)
    np.maximum.at(bad, of_pair, table.bad[kept])
    first, second = np.divmod(pairs, len(table.names))
    ordered = np.sort(bad)
    gaps = np.diff(ordered)
    for place in sorted(np.flatnonzero(gaps >= np.log(_GAP)), key=lambda i: -gaps[i])[:8]:
        fast = bad <= (ordered[place] + ordered[place + 1]) / 2
        graph = coo_matrix((np.ones(fast.sum()), (first[fast], second[fast])), shape=(len(table.names),) * 2)
        count, part = connected_components(graph, directed=False)
        sizes = np.bincount(part, minlength=count)
        for number in np.argsort(sizes)[:-1]:
            if sizes[number] < LEAST_PARTNERS:
                continue
            inside = part == number
            across = inside[first] != inside[second]
            if across.sum() < LEAST_ACROSS or np.median(bad[across]) - np.median(bad[fast]) < np.log(LEAST_RATIO):
                continue
            beyond = open_ & (inside[table.ends[:, 0]] != inside[table.ends[:, 1]])
            group = _described(table, inside, beyond, float(np.median(bad[fast])))
            if group is not None:
                return group, beyond
    return None


def _described(table: Table, inside: Flags, across: Flags, expected: float) -> Group | None:
    """The group in figures, where the links out of it are clearly worse; which way, where only one is."""
    ways = {}
    for way, end in ((Way.SEND, 0), (Way.RECEIVE, 1)):
        own = across & inside[table.ends[:, end]]
        if own.any():
            ways[way] = tuple(float(np.median(part[own])) for part in (table.bad, table.best, table.worst))
    slow = {way: figures for way, figures in ways.items() if figures[1] - expected >= np.log(LEAST_RATIO)}
    if not slow:
        return None
    bad, best, worst = max(slow.values())
    present = np.zeros(len(table.names), dtype=bool)
    present[np.unique(table.ends)] = True
    return Group(
        tuple(table.names[i] for i in np.flatnonzero(inside)),
        tuple(table.names[i] for i in np.flatnonzero(present & ~inside)),
        *table.figures(bad, best, worst),
        table.figure(expected),
        float(np.exp(bad - expected)),
        Way.BOTH if slow.keys() == ways.keys() else next(iter(slow)),
    )


# Nodes.


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
        """What a party reaches when its partners do not hold it back: the middle link of the better half."""
        own = self.left(party)
        self.partners[party] = len(np.unique(self._others(party, own)))
        if not len(own):
            self.reach[party] = np.nan
            return
        bad = self.table.bad[own]
        middle = np.sort(bad)[(len(own) - 1) // 4]
        better, worse = np.median(bad - self.table.best[own]), np.median(self.table.worst[own] - bad)
        self.reach[party] = middle, middle - better, middle + worse

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
        middle = float(np.median(reach))
        return middle, MAD_TO_SIGMA * float(np.median(np.abs(reach - middle)))

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


# Links.


def _slow_links(parties: Parties) -> list[Outlier]:
    """Links that neither of their parties explains; both ways of a pair are one."""
    table = parties.table
    left = np.flatnonzero(parties.open)
    found: dict[Link, Outlier] = {}
    if len(left):
        middle, _ = parties.usual()
        bad = table.bad[left]
        spread = MAD_TO_SIGMA * float(np.median(np.abs(bad - np.median(bad))))
        least = max(float(np.log(LEAST_RATIO)), LEAST_SIGMAS * spread)
        for row in left[table.best[left] - middle >= least].tolist():
            others = left[(np.sort(table.ends[left], axis=1) != np.sort(table.ends[row])).any(axis=1)]
            if len(others) >= LEAST_NODES:
                one = _link(parties, row, middle, unsure=True)
                found[one.subject[0], one.subject[1]] = one
    for row, expected in _worse_still(parties):
        one = _link(parties, row, expected)
        found.setdefault((one.subject[0], one.subject[1]), one)
    return _both_ways(found)


def _link(parties: Parties, row: int, expected: float, *, unsure: bool = False) -> Outlier:
    table = parties.table
    client, server = (table.names[i] for i in table.ends[row])
    sides = zip((client, server), parties.sides[row], strict=True)
    alone = tuple(node for node, side in sides if _partners(parties, side) < LEAST_PARTNERS) if unsure else ()
    return Outlier(
        (client, server), *table.figures(table.bad[row], table.best[row], table.worst[row]), table.figure(expected),
        float(np.exp(min(table.bad[row] - expected, 700.0))), alone, Way.SEND if parties.directed else Way.BOTH,
    )  # fmt: skip


def _partners(parties: Parties, side: int) -> int:
    """With how many others the node of a party has links that nothing explains, whichever way."""
    node = side % parties.size
    sides = [node, node + parties.size] if parties.directed else [node]
    ends = np.concatenate([parties.table.ends[parties.left(one)] for one in sides])
    return len(np.setdiff1d(ends, [node]))


def _worse_still(parties: Parties) -> list[tuple[int, float]]:
    """(link, what is expected of it) of links that are far worse than their slow party's other links."""
    found: dict[int, float] = {}
    for party, reach in parties.blamed.items():
        own = parties.links[party]
        expected = np.full(len(own), reach)
        for place, row in enumerate(own):
            sides = [side for side in parties.sides[row].tolist() if side in parties.blamed]
            expected[place] = max(parties.blamed[side] for side in sides)
        beyond = parties.table.bad[own] - expected
        spread = MAD_TO_SIGMA * float(np.median(np.abs(beyond - np.median(beyond))))
        least = max(float(np.log(LEAST_WITHIN)), LEAST_SIGMAS * spread)
        excess = parties.table.best[own] - expected
        if len(own) > LEAST_NODES - 1:
            found.update({int(own[i]): float(expected[i]) for i in np.flatnonzero(excess >= least)})
    return list(found.items())


def _both_ways(found: Mapping[Link, Outlier]) -> list[Outlier]:
    """One for each pair: where both ways are slow, the worse one's figures; n2 stands before n10."""
    joined = []
    for link, one in found.items():
        back = found.get(link[::-1])
        if back is None:
            joined.append(one)
        elif (len(link[0]), link[0]) < (len(link[1]), link[1]):
            worse = max(one, back, key=lambda way: way.times)
            unsure = tuple(dict.fromkeys((*one.unsure, *back.unsure)))
            joined.append(replace(worse, subject=link, unsure=unsure, way=Way.BOTH))
    return joined
