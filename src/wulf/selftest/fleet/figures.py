"""What a simulated year came to, each figure with its 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from wulf.core.durations import DAY
from wulf.selftest.fleet.watched import Year
from wulf.stats.estimates import Estimate
from wulf.stats.samples import Floats

CONFIDENCE = 0.95

MATURE = 60 * DAY
"""Faults that begin later than so long before the end are in no delay: they had no time to be found."""


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
    half: Estimate
    most: Estimate


def poisson(count: int, per: float = 1.0) -> Estimate:
    """A count of independent events over `per`, exactly (Garwood 1936)."""
    low = float(stats.chi2.ppf(0.025, 2 * count) / 2) if count else 0.0
    return Estimate(count / per, low / per, float(stats.chi2.ppf(0.975, 2 * count + 2) / 2) / per, CONFIDENCE, count)


def quantile(values: Floats, q: float) -> Estimate:
    """A quantile by order statistics, without an assumption about the distribution (Conover 1999, section 3.2)."""
    ordered, n = np.sort(values), len(values)
    low, high = int(stats.binom.ppf(0.025, n, q)) - 1, int(stats.binom.ppf(0.975, n, q))
    return Estimate(
        float(ordered[min(n - 1, int(q * n))]),
        float(ordered[low]) if low >= 0 else 0.0,
        float(ordered[high]) if high < n else np.inf,
        CONFIDENCE,
        n,
    )


def delays(year: Year, kind: int) -> Delays | None:
    """Of the faults of one kind; None where there were too few."""
    faults = year.fleet.faults
    chosen = (faults.kind == kind) & (faults.begins <= year.fleet.days * DAY - MATURE)
    if chosen.sum() < 20:
        return None
    took = (faults.told_at - faults.begins)[chosen] / DAY
    told = np.isfinite(took)
    took = np.where(told, took, np.inf)
    return Delays(int(chosen.sum()), int(told.sum()), quantile(took, 0.5), quantile(took, 0.9))


def false_alarms(year: Year) -> Estimate:
    """In 30 days."""
    return poisson(len(year.false_at), year.fleet.days / 30)


def minutes_for_each(year: Year, minutes: float) -> Estimate:
    """Node-minutes that each fault cost which was found; a test takes so many. Infinite where none was."""
    count = int(np.isfinite(year.fleet.faults.told_at).sum())
    found, spent = poisson(count), year.tests * minutes
    value, most, least = (np.inf if not one else spent / one for one in (found.value, found.low, found.high))
    return Estimate(value, least, most, CONFIDENCE, count)
