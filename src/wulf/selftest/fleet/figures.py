"""What a simulated year came to, each figure with its 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from wulf.selftest.fleet.watched import Year
from wulf.selftest.fleet.world import DAY
from wulf.stats.samples import Floats

MATURE = 60 * DAY
"""Faults that begin later than so long before the end are in no delay: they had no time to be found."""


@dataclass(frozen=True)
class Interval:
    """A figure with its interval; infinite: not within the time simulated."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Delays:
    """How long it took until faults of one kind were told, in days; those that never were count as infinite.

    Attributes
    ----------
    faults, found
        How many there were, and were told.
    """

    faults: int
    found: int
    half: Interval
    most: Interval


def poisson(count: int, per: float = 1.0) -> Interval:
    """A count of independent events over `per`, exactly (Garwood 1936)."""
    low = float(stats.chi2.ppf(0.025, 2 * count) / 2) if count else 0.0
    return Interval(count / per, low / per, float(stats.chi2.ppf(0.975, 2 * count + 2) / 2) / per)


def quantile(values: Floats, q: float) -> Interval:
    """A quantile by order statistics, without an assumption about the distribution (Conover 1999, section 3.2)."""
    ordered, n = np.sort(values), len(values)
    low, high = int(stats.binom.ppf(0.025, n, q)) - 1, int(stats.binom.ppf(0.975, n, q))
    return Interval(
        float(ordered[min(n - 1, int(q * n))]),
        float(ordered[low]) if low >= 0 else 0.0,
        float(ordered[high]) if high < n else np.inf,
    )


def delays(year: Year, kind: int) -> Delays | None:
    """Of the faults of one kind; None where there were too few."""
    faults = year.world.faults
    chosen = (faults.kind == kind) & (faults.begins <= year.world.days * DAY - MATURE)
    if chosen.sum() < 20:
        return None
    took = (faults.told_at - faults.begins)[chosen] / DAY
    told = np.isfinite(took)
    took = np.where(told, took, np.inf)
    return Delays(int(chosen.sum()), int(told.sum()), quantile(took, 0.5), quantile(took, 0.9))


def false_alarms(year: Year) -> Interval:
    """In 30 days."""
    return poisson(len(year.false_at), year.world.days / 30)


def minutes_for_each(year: Year, minutes: float) -> Interval:
    """Node-minutes that each fault cost which was found; a test takes so many."""
    found = poisson(int(np.isfinite(year.world.faults.told_at).sum()))
    spent = year.tests * minutes
    return Interval(spent / found.value, spent / found.high, spent / found.low)
