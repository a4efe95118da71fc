"""Which node, and which link, stands out over all pairs of a cluster.

A node is blamed before its links: one slow node makes N-1 slow links, and naming all of them hides the cause. So a
node stands out when even the *better half* of its links is worse than what the other nodes reach; only links that
neither of their nodes explains are blamed by themselves.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np

from wulf.stats.diagnostics import MAD_TO_SIGMA
from wulf.stats.intervals import Estimate
from wulf.stats.samples import Floats

Link = tuple[str, str]
Subject = TypeVar("Subject", bound=Hashable)

LEAST_RATIO = 1.25
"""Worse than the others by less than this is never called out: smaller differences do not hold up a cluster."""

LEAST_PARTNERS = 2
"""With one partner alone, a node can't be told from its link."""

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
    unsure
        Of a link: those of its nodes that were measured on no other clear link, so that they may as well be the cause.
    """

    subject: str | Link
    value: float
    low: float
    high: float
    expected: float
    times: float
    unsure: tuple[str, ...] = ()


def _worse(value: float, expected: float, *, lower_is_better: bool) -> float:
    """How many times worse, below 1 when it is better."""
    if min(value, expected) <= 0:
        return float("inf") if value != expected else 1.0
    return value / expected if lower_is_better else expected / value


def _stands_out(own: Estimate, others: Floats, *, lower_is_better: bool) -> tuple[float, float] | None:
    """`(expected, times worse)` if the whole interval is clearly worse than the others, else None."""
    if own.value is None or own.low is None or own.high is None or not len(others):
        return None
    expected = float(np.median(others))
    best_case = own.low if lower_is_better else own.high
    if _worse(best_case, expected, lower_is_better=lower_is_better) < LEAST_RATIO:
        return None
    logs = np.log(np.maximum(others, np.finfo(float).tiny))
    spread = MAD_TO_SIGMA * float(np.median(np.abs(logs - np.median(logs))))
    if abs(float(np.log(max(best_case, np.finfo(float).tiny))) - float(np.median(logs))) < LEAST_SIGMAS * spread:
        return None
    return expected, _worse(own.value, expected, lower_is_better=lower_is_better)


def _better_half(estimates: Sequence[Estimate], *, lower_is_better: bool) -> Estimate:
    """The middle link of the better half: what a node reaches when its partners do not hold it back."""
    ordered = sorted(estimates, key=lambda e: e.value or 0.0, reverse=not lower_is_better)
    return ordered[(len(ordered) - 1) // 4]


def _suspicious(values: Floats, best_cases: Floats, *, lower_is_better: bool, skip: int) -> list[int]:
    """Where it is worth looking: those that may be `LEAST_RATIO` worse than the median of the others.

    Leaving out `skip` values moves a median by so many places at most: whoever is not worse than the most lenient of
    these is not asked further. So a healthy cluster of any size costs one sort.
    """
    ordered = np.sort(values)
    middle = len(ordered) / 2
    place = int(middle - 1 - skip) if lower_is_better else int(middle + 1 + skip)
    lenient = ordered[min(max(place, 0), len(ordered) - 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        worse = best_cases / lenient if lower_is_better else lenient / best_cases
    return [int(i) for i in np.flatnonzero((worse >= LEAST_RATIO) | (best_cases <= 0) | (lenient <= 0))]


def odd_ones(figures: Mapping[Subject, Estimate], *, lower_is_better: bool) -> list[tuple[Subject, Outlier]]:
    """Of figures that should be alike, those that are clearly worse than the others, as they stand."""
    known = [(subject, own) for subject, own in figures.items() if own.value is not None]
    values = np.array([own.value for _, own in known], dtype=float)
    bests = np.array([(own.low if lower_is_better else own.high) or 0.0 for _, own in known], dtype=float)
    found = []
    for place in _suspicious(values, bests, lower_is_better=lower_is_better, skip=1) if len(known) > 1 else []:
        subject, own = known[place]
        verdict = _stands_out(own, np.delete(values, place), lower_is_better=lower_is_better)
        if verdict is not None and own.value is not None and own.low is not None and own.high is not None:
            found.append((subject, Outlier(cast(str | Link, subject), own.value, own.low, own.high, *verdict)))
    return found


def _by_node(links: Mapping[Link, Estimate]) -> dict[str, dict[Link, Estimate]]:
    per_node: dict[str, dict[Link, Estimate]] = {}
    for link, estimate in links.items():
        if estimate.value is not None:
            for node in set(link):
                per_node.setdefault(node, {})[link] = estimate
    return per_node


def _partners(node: str, links: Iterable[Link]) -> set[str]:
    """With whom a node was measured, whichever way."""
    return {other for link in links for other in link if other != node}


def node_reach(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> dict[str, Estimate]:
    """For each node: what it reaches where its partners do not hold it back, the middle of its better links."""
    return {
        node: _better_half(list(own.values()), lower_is_better=lower_is_better) for node, own in _by_node(links).items()
    }


def slow_nodes(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> list[Outlier]:
    """The nodes whose links are nearly all worse than the other nodes' links, the worst first.

    One at a time: the node that most links speak against is blamed, and its links are taken out before the next is
    looked for. So a node of which only the link to a slow one could be measured is not blamed for it; and nobody is
    blamed on the word of one partner alone, since that may as well be the link (`slow_links` tells it).

    Parameters
    ----------
    links
        (client, server) → estimate, one metric, one unit. Links without a value are left out. Any part of all pairs:
        a sample in which each node has a few links will do.
    lower_is_better
        True for times, False for rates.

    Returns
    -------
    list of Outlier
        Empty with fewer than three nodes: of two, nobody can say which one it is.
    """
    found: list[Outlier] = []
    per_node = _by_node(links)
    reach = node_reach(links, lower_is_better=lower_is_better)
    while len(reach) >= 3:
        suspects = [
            (len(per_node[node]), outlier, node)
            for node, outlier in odd_ones(reach, lower_is_better=lower_is_better)
            if len(_partners(node, per_node[node])) >= LEAST_PARTNERS
        ]
        if not suspects:
            break
        _, worst, blamed = max(suspects, key=lambda suspect: (suspect[0], suspect[1].times))
        found.append(worst)
        _take_out(blamed, per_node, reach, lower_is_better=lower_is_better)
    return sorted(found, key=lambda outlier: -outlier.times)


def _take_out(
    blamed: str, per_node: dict[str, dict[Link, Estimate]], reach: dict[str, Estimate], *, lower_is_better: bool
) -> None:
    """Remove a node with its links, in place; only its partners have to be looked at anew."""
    gone = per_node.pop(blamed)
    del reach[blamed]
    for partner in _partners(blamed, gone):
        left = {link: estimate for link, estimate in per_node[partner].items() if link not in gone}
        per_node[partner] = left
        if left:
            reach[partner] = _better_half(list(left.values()), lower_is_better=lower_is_better)
        else:
            del per_node[partner], reach[partner]


def slow_links(
    links: Mapping[Link, Estimate], *, lower_is_better: bool, explained: frozenset[str] = frozenset()
) -> list[Outlier]:
    """The links that are worse than the others and touch no node in `explained`, the worst first.

    Needs three other links to compare with. Where one of the nodes has no other clear link, it may as well be that
    node that is slow: it then stands in the outlier's `unsure`.
    """
    clear = {
        link: estimate
        for link, estimate in links.items()
        if estimate.value is not None and not explained.intersection(link)
    }
    all_links = list(clear)
    values = np.array([clear[link].value for link in all_links], dtype=float)
    bests = np.array([(clear[k].low if lower_is_better else clear[k].high) or 0.0 for k in all_links], dtype=float)
    place = {link: i for i, link in enumerate(all_links)}
    per_node = _by_node(clear)
    found = []
    for i in _suspicious(values, bests, lower_is_better=lower_is_better, skip=2) if len(values) else []:
        link, own = all_links[i], clear[all_links[i]]
        others = np.delete(values, [place[same] for same in {link, link[::-1]} if same in place])
        if len(others) < 3:
            continue
        verdict = _stands_out(own, others, lower_is_better=lower_is_better)
        if verdict is not None and own.value is not None and own.low is not None and own.high is not None:
            unsure = tuple(node for node in link if len(_partners(node, per_node[node])) < LEAST_PARTNERS)
            found.append(Outlier(link, own.value, own.low, own.high, *verdict, unsure))
    return sorted(found, key=lambda outlier: -outlier.times)
