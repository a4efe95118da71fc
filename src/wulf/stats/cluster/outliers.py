"""Which of figures that should be alike stands out; who is to blame for slow links says `wulf.stats.cluster.blame`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar, cast

import numpy as np

from wulf.stats.diagnostics import robust_sigma
from wulf.stats.estimates import Estimate
from wulf.stats.samples import Floats

Link = tuple[str, str]
Subject = TypeVar("Subject", bound=Hashable)

LEAST_RATIO = 1.25
"""Worse than the others by less than this is never called out: smaller differences do not hold up a cluster."""

LEAST_SIGMAS = 5.0
"""And it must lie this many robust standard deviations from the others, so that noise among them excuses it."""


class Way(StrEnum):
    """Which way a node, a group or a link is slow."""

    SEND = "send"
    RECEIVE = "receive"
    BOTH = "both"


@dataclass(frozen=True)
class Outlier:
    """One that stands out.

    Attributes
    ----------
    subject
        A node's name, or a link (client, server).
    value, low, high
        Its figure and interval, in the metric's unit. For a node: the middle one of the better half of its links, with
        an interval as wide as is typical of them.
    expected
        The median of the others.
    times
        How many times worse it is, at least 1.
    unsure
        Of a link: those of its nodes that were measured on no other clear link, so that they may as well be the cause.
    way
        Of a node: whether it is slow to send, to receive, or both. Of a link: `SEND` where the way back is not slow.
    partners, slower
        Of a node: how many others it was measured with, and to how many of them it is slow.
    """

    subject: str | Link
    value: float
    low: float
    high: float
    expected: float
    times: float
    unsure: tuple[str, ...] = ()
    way: Way = Way.BOTH
    partners: int = 0
    slower: int = 0


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
    away = abs(float(np.log(max(best_case, np.finfo(float).tiny))) - float(np.median(logs)))
    if away < LEAST_SIGMAS * robust_sigma(logs):
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


def node_reach(links: Mapping[Link, Estimate], *, lower_is_better: bool) -> dict[str, Estimate]:
    """For each node: what it reaches where its partners do not hold it back, the middle of its better links."""
    return {
        node: _better_half(list(own.values()), lower_is_better=lower_is_better) for node, own in _by_node(links).items()
    }
