"""Nodes that are farther from all their partners than queues explain, by the least round trips of pairs.

The least round trip of a pair whose data always waits has a queue in it, of a length that nobody knows; so one that is
long says nothing by itself. Two things tell more:

- What the nodes have in common outside (who asks them, a file server): such connections carry little, and find queues
  short sooner or later. A node is far where it is from all of those, and none of its pairs contradicts.
- Where nothing outside is known: a queue is as likely to have been short on one node's pairs as on those of all others;
  that none of a node's was, though many of the others' were, has a chance that can be counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, lgamma
from statistics import median

import numpy as np

from wulf.stats.cluster.outliers import LEAST_RATIO, Link, odd_ones
from wulf.stats.cluster.parties import LEAST_NODES, LEAST_PARTNERS
from wulf.stats.estimates import Estimate

CHANCE = 0.02
"""That any node is called far by chance, where nothing outside is known of it."""

TWICE = 2.0
"""And so many times the usual it must be from the nearest: a node's pairs share its own queue, too."""

Outside = Mapping[tuple[str, str], float]
"""(node, address that is no node's) → the least round trip between them."""


def far_nodes(least: Mapping[Link, float], usual: float, outside: Outside) -> dict[str, float]:
    """Far nodes, each with the least round trip that is the path's own.

    Parameters
    ----------
    least
        (sender, receiver) → the least round trip of what it sends.
    usual
        That of pairs whose queues were short.
    outside
        What is known of connections that lead elsewhere.
    """
    of_node: dict[str, list[float]] = {}
    partners: dict[str, set[str]] = {}
    for (sender, receiver), value in least.items():
        for node, other in ((sender, receiver), (receiver, sender)):
            of_node.setdefault(node, []).append(value)
            partners.setdefault(node, set()).add(other)
    excess = _excess(outside)
    every = np.sort(list(least.values()))
    found = {}
    for node, own in of_node.items():
        if len(partners[node]) < LEAST_PARTNERS:
            continue
        if node in excess:
            if excess[node] > 0 and min(own) >= usual + excess[node] / 2:
                found[node] = usual + excess[node]
        elif min(own) >= TWICE * usual and _chance(every, own) * len(of_node) <= CHANCE:
            found[node] = min(own)
    return found


def _excess(outside: Outside) -> dict[str, float]:
    """Node → by how much it is farther than the others from whatever it is nearest to, of what is known of several."""
    by_address: dict[str, dict[str, float]] = {}
    for (node, address), value in outside.items():
        by_address.setdefault(address, {})[node] = value
    found: dict[str, float] = {}
    for values in by_address.values():
        if len(values) < LEAST_NODES:
            continue
        odd = dict(odd_ones({n: Estimate(v, v, v, None, 1) for n, v in values.items()}, lower_is_better=True))
        middle = median(values.values())
        for node, value in values.items():
            own = value - odd[node].expected if node in odd and value >= LEAST_RATIO * middle else 0.0
            found[node] = min(own, found.get(node, own))
    return found


def _chance(every: np.ndarray[tuple[int], np.dtype[np.float64]], own: list[float]) -> float:
    """That all of a node's pairs are as long, whichever queue each met: of all ways to choose as many pairs, those of
    which none is shorter.

    Both ways of a pair count by themselves: they meet their queues at different times.
    """
    as_long = len(every) - int(np.searchsorted(every, min(own), side="left"))
    return exp(_log_ways(as_long, len(own)) - _log_ways(len(every), len(own)))


def _log_ways(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
