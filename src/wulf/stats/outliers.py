"""Which node, and which link, stands out over all pairs of a cluster.

A node is blamed before its links: one slow node makes N-1 slow links, and naming all of them hides the cause. So a
node stands out when even the *better half* of its links is worse than what the other nodes reach; only links that
neither of their nodes explains are blamed by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.stats.diagnostics import MAD_TO_SIGMA
from wulf.stats.intervals import Estimate

Link = tuple[str, str]

LEAST_RATIO = 1.25
"""Worse than the others by less than this is never called out: smaller differences do not hold up a cluster."""

LEAST_SIGMAS = 5.0
"""And it must lie this many robust standard deviations from the others, so that noise among them excuses it."""


@dataclass(frozen=True)
class Outlier:
    """One that stands out.

    Attributes
    ----------
    subject
        A node's name, or a link (client, server).
    value, low, high
        Its figure and interval, in the metric's unit. For a node: over the better half of its links.
    expected
        The median of the others.
    times
        How many times worse it is, at least 1.
    """

    subject: str | Link
    value: float
    low: float
    high: float
    expected: float
    times: float


def _worse(value: float, expected: float, *, lower_is_better: bool) -> float:
    """How many times worse, below 1 when it is better."""
    if min(value, expected) <= 0:
        return float("inf") if value != expected else 1.0
    return value / expected if lower_is_better else expected / value


def _stands_out(own: Estimate, others: Sequence[float], *, lower_is_better: bool) -> tuple[float, float] | None:
    """`(expected, times worse)` if the whole interval is clearly worse than the others, else None."""
    if own.value is None or own.low is None or own.high is None or not others:
        return None
    expected = float(np.median(others))
    best_case = own.low if lower_is_better else own.high
    if _worse(best_case, expected, lower_is_better=lower_is_better) < LEAST_RATIO:
        return None
    logs = np.log(np.maximum(np.asarray(others, dtype=float), np.finfo(float).tiny))
    spread = MAD_TO_SIGMA * float(np.median(np.abs(logs - np.median(logs))))
    if abs(float(np.log(max(best_case, np.finfo(float).tiny))) - float(np.median(logs))) < LEAST_SIGMAS * spread:
        return None
    return expected, _worse(own.value, expected, lower_is_better=lower_is_better)


def _better_half(estimates: Sequence[Estimate], *, lower_is_better: bool) -> Estimate:
    """The middle link of the better half: what a node reaches when its partners do not hold it back."""
    ordered = sorted(estimates, key=lambda e: e.value or 0.0, reverse=not lower_is_better)
    return ordered[(len(ordered) - 1) // 4]


def _by_node(links: Mapping[Link, Estimate]) -> dict[str, list[Estimate]]:
    per_node: dict[str, list[Estimate]] = {}
    for link, estimate in links.items():
        if estimate.value is not None:
            for node in set(link):
                per_node.setdefault(node, []).append(estimate)
    return per_node


def node_reach(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> dict[str, Estimate]:
    """For each node: what it reaches where its partners do not hold it back, the middle of its better links."""
    return {node: _better_half(own, lower_is_better=lower_is_better) for node, own in _by_node(links).items()}


def slow_nodes(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> list[Outlier]:
    """The nodes whose links are nearly all worse than the other nodes' links, the worst first.

    One at a time: the node that most links speak against is blamed, and its links are taken out before the next is
    looked for. So a node of which only the link to a slow one could be measured is not blamed for it.

    Parameters
    ----------
    links
        (client, server) → estimate, one metric, one unit. Links without a value are left out.
    lower_is_better
        True for times, False for rates.

    Returns
    -------
    list of Outlier
        Empty with fewer than three nodes: of two, nobody can say which one it is.
    """
    found: list[Outlier] = []
    left = {link: estimate for link, estimate in links.items() if estimate.value is not None}
    while suspects := _suspects(left, lower_is_better=lower_is_better):
        _, worst = max(suspects, key=lambda suspect: (suspect[0], suspect[1].times))
        found.append(worst)
        left = {link: estimate for link, estimate in left.items() if worst.subject not in link}
    return sorted(found, key=lambda outlier: -outlier.times)


def _suspects(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> list[tuple[int, Outlier]]:
    """Nodes that stand out over these links, each with how many links speak against it."""
    per_node = _by_node(links)
    if len(per_node) < 3:
        return []
    reach = node_reach(links, lower_is_better=lower_is_better)
    suspects = []
    for node, own in reach.items():
        others = [other.value for name, other in reach.items() if name != node and other.value is not None]
        verdict = _stands_out(own, others, lower_is_better=lower_is_better)
        if verdict is not None and own.value is not None and own.low is not None and own.high is not None:
            suspects.append((len(per_node[node]), Outlier(node, own.value, own.low, own.high, *verdict)))
    return suspects


def slow_links(
    links: Mapping[Link, Estimate], *, lower_is_better: bool, explained: frozenset[str] = frozenset()
) -> list[Outlier]:
    """The links that are worse than the others and touch no node in `explained`, the worst first.

    Needs three other links to compare with.
    """
    clear = {
        link: estimate
        for link, estimate in links.items()
        if estimate.value is not None and not explained.intersection(link)
    }
    found = []
    for link, own in clear.items():
        others = [e.value for other, e in clear.items() if set(other) != set(link) and e.value is not None]
        if len(others) < 3:
            continue
        verdict = _stands_out(own, others, lower_is_better=lower_is_better)
        if verdict is not None and own.value is not None and own.low is not None and own.high is not None:
            found.append(Outlier(link, own.value, own.low, own.high, *verdict))
    return sorted(found, key=lambda outlier: -outlier.times)
