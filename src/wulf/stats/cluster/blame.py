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

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from wulf.stats.cluster.groups import Group, cut_off
from wulf.stats.cluster.link_table import table_of
from wulf.stats.cluster.outliers import LEAST_RATIO, LEAST_SIGMAS, Link, Outlier, Way
from wulf.stats.cluster.parties import LEAST_NODES, LEAST_PARTNERS, Parties, slow_parties
from wulf.stats.diagnostics import robust_sigma
from wulf.stats.estimates import Estimate

LEAST_WITHIN = 2.0
"""How many times worse than a slow party's other links one of them must be, to be blamed besides."""


@dataclass(frozen=True)
class Blame:
    """All that stands out in one metric, the worst of each kind first."""

    groups: tuple[Group, ...] = ()
    nodes: tuple[Outlier, ...] = ()
    links: tuple[Outlier, ...] = ()


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
    while (found := cut_off(table, open_)) is not None:
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


def _slow_links(parties: Parties) -> list[Outlier]:
    """Links that neither of their parties explains; both ways of a pair are one."""
    table = parties.table
    left = np.flatnonzero(parties.open)
    found: dict[Link, Outlier] = {}
    if len(left):
        middle, _ = parties.usual()
        least = max(float(np.log(LEAST_RATIO)), LEAST_SIGMAS * robust_sigma(table.bad[left]))
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
        least = max(float(np.log(LEAST_WITHIN)), LEAST_SIGMAS * robust_sigma(beyond))
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
