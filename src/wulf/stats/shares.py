"""Shares of counts over periods, where what is counted comes in bursts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaincinv

from wulf.stats.estimates import Estimate
from wulf.stats.samples import Floats

CONFIDENCE = 0.95

LEAST_PERIODS = 3
"""In fewer nothing can be seen to last."""

LEAST_HALVED = 4
"""Periods whose quieter half says more than the quietest one."""


def share_of_totals(hits: Sequence[float], of: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The share of all that were hit over all periods, with its interval.

    Poisson's exact interval (Garwood, Biometrika 28, 1936), for hits that come alone. Where they come in bursts, the
    periods' counts scatter more than Poisson's: the interval is that of as many bursts as explain the scatter
    (Pearson's dispersion, as in quasi-Poisson models; McCullagh & Nelder, Generalized Linear Models, 1989, 6.2).

    Parameters
    ----------
    hits, of
        Of each period; periods in which nothing could be hit are left out.

    Raises
    ------
    ValueError
        The two are not alike in number, or a count is below zero.
    """
    events, trials = _counts(hits, of)
    if not trials.size:
        return Estimate.unresolved(0, "nothing was counted")
    total, share = float(trials.sum()), float(events.sum() / trials.sum())
    burst = _dispersion(events, trials * share)
    bursts, tail = float(events.sum()) / burst, (1 - confidence) / 2
    low = float(gammaincinv(bursts, tail)) if bursts else 0.0
    high = float(gammaincinv(bursts + 1, 1 - tail))
    return Estimate(share, low * burst / total, high * burst / total, confidence, int(trials.size))


def lasting_share(hits: Sequence[float], of: Sequence[float]) -> float:
    """The share in the quieter periods, up to half of all that could be hit: what comes in one burst does not last.

    Of few periods that of the quietest one; of fewer than `LEAST_PERIODS` nothing is known to last, so that it is 0.
    """
    events, trials = _counts(hits, of)
    if trials.size < LEAST_PERIODS:
        return 0.0
    if trials.size < LEAST_HALVED:
        return float((events / trials).min())
    order = np.argsort(events / trials)
    half = float(trials.sum()) / 2
    weight = np.clip(half - (np.cumsum(trials[order]) - trials[order]), 0.0, trials[order])
    return float((events[order] / trials[order] * weight).sum() / half)


def _counts(hits: Sequence[float], of: Sequence[float]) -> tuple[Floats, Floats]:
    events, trials = np.asarray(hits, dtype=float), np.asarray(of, dtype=float)
    if events.shape != trials.shape or (events < 0).any() or (trials < 0).any():
        raise ValueError(f"counts {hits} of {of}: two lists of one length, of counts from 0 on")
    return events[trials > 0], trials[trials > 0]


def _dispersion(events: Floats, expected: Floats) -> float:
    """By how much counts scatter more than Poisson's, at least 1; of one period nothing can be said."""
    if events.size < 2 or not expected.all():
        return 1.0
    return max(1.0, float(((events - expected) ** 2 / expected).sum() / (events.size - 1)))
