"""Whether a series stepped, or wandered so that some split of it looks like a step.

The permutation test of `changes` takes runs for exchangeable where nothing changed. Runs that drift, or that
resemble their neighbours for longer than the blocks in which they are permuted, are not: a change found in them is a
candidate, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from wulf.stats.diagnostics import dependence, drift
from wulf.stats.samples import Floats, checked
from wulf.stats.series.changes import Change

_RESEMBLE = 0.1
"""Between the changes, neighbours resemble each other below this p: twice as many doubts as at 5 %, found sooner."""

_TREND = 0.05
"""Between the changes, there is a trend below this p, over all segments."""

_CLEARLY = 1.15
"""A step must leave so many times less of the variation than a straight line does."""

_FENCE = 2.0
"""Interquartile ranges beyond the quartiles at which an outlier counts as lying, so that one does not decide."""


def doubt(values: ArrayLike, changes: Sequence[Change]) -> str | None:
    """Why the changes found in a series, shape (n,), may be none, in words; None: it stepped.

    A change is claimed where what lies between the changes is at rest, and where the latest step fits its two segments
    clearly better than a straight line through both.
    """
    if not changes:
        return None
    x = checked(values)
    parts = np.split(x, [change.at for change in changes])
    found = dependence(np.concatenate([part - np.median(part) for part in parts]))
    if found.p < _RESEMBLE:
        return f"neighbouring runs resemble each other (p {found.p:.2g})"
    trend = min(1.0, len(parts) * min(drift(part).p for part in parts))
    if trend < _TREND:
        return f"the runs drift between the changes (p {trend:.2g})"
    directions = [change.direction for change in changes]
    if any(one == other != 0 for one, other in pairwise(directions)):
        return "several steps go the same way, as those of a drift do"
    if _line_against_step(parts[-2], parts[-1]) < _CLEARLY:
        return "a straight line fits about as well as a step"
    return None


def _line_against_step(before: Floats, after: Floats) -> float:
    """The variation that a straight line leaves of both segments, by what a step leaves."""
    levels = np.concatenate([np.full(part.size, np.median(part)) for part in (before, after)])
    around = np.concatenate([before, after]) - levels
    low, high = np.quantile(around, [0.25, 0.75])
    y = levels + np.clip(around, low - _FENCE * (high - low), high + _FENCE * (high - low))
    t = np.arange(y.size) - (y.size - 1) / 2
    centred = y - y.mean()
    line = float(np.sum((centred - t * (t @ centred) / (t @ t)) ** 2))
    step = sum(float(np.sum((part - part.mean()) ** 2)) for part in np.split(y, [before.size]))
    return line / step if step > 0 else np.inf
