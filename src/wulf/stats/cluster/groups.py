"""Groups of nodes that are fast among themselves and slow to all others: something cuts them off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from wulf.stats.cluster.link_table import Flags, Table
from wulf.stats.cluster.outliers import LEAST_RATIO, Way
from wulf.stats.cluster.parties import LEAST_PARTNERS

LEAST_ACROSS = 4
"""So few links lead out of a group at least: two nodes of four have as many."""

_GAP = 1.1
"""A cut between fast and slow links goes where neighbours in order differ by this ratio at least."""


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


def cut_off(table: Table, open_: Flags) -> tuple[Group, Flags] | None:
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
