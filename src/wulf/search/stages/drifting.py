"""Whether the machine changed while it was searched: the anchors over time."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from wulf.search.history import ANCHOR, History
from wulf.stats.diagnostics import drift

LEAST = 4
"""Anchors below which nothing is said: with three in a row a trend is no rarer than one in three."""

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class AnchorDrift:
    """The anchors' trend.

    Attributes
    ----------
    ratio
        Cost at the end against the beginning, along the trend (Theil & Sen); None: too few anchors.
    spread
        Standard deviation of the anchors' logarithms: what one run of the smallest size is uncertain by.
    p
        Of no trend (Mann-Kendall, `wulf.stats.diagnostics.drift`).
    found
        Whether it drifted, and by more than counts as no difference.
    """

    anchors: int
    ratio: float | None
    spread: float | None
    p: float | None
    found: bool


def drift_of(history: History) -> AnchorDrift:
    """What the anchors say."""
    anchors = [(t.number, o.cost) for t, o in history.lines if t.stage == ANCHOR and o.cost is not None]
    if len(anchors) < LEAST:
        return AnchorDrift(len(anchors), None, None, None, False)
    at, logs = np.array([n for n, _ in anchors], dtype=float), np.log([cost for _, cost in anchors])
    trend = drift(logs, at, LEAST)
    ratio = exp(trend.rise)
    found = trend.p < SIGNIFICANT and abs(ratio - 1) > history.plan.delta
    return AnchorDrift(len(anchors), ratio, float(np.std(logs, ddof=1)), trend.p, found)
