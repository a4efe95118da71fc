"""Estimates with intervals that assume nothing about the distribution.

Quantiles have exact intervals from order statistics; means, rates and ratios have none, and get BCa bootstrap ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from wulf.stats.samples import Floats, block_means, check_confidence, checked

Side = Literal["both", "upper"]

BOOTSTRAP_LEAST = 15
"""Samples below which a BCa interval covers clearly less than it says (`wulf stats selftest` shows it)."""

BOOTSTRAP_MOST = 20_000
"""Samples above which a mean is as good as normal (the error of the t interval is of order 1/n)."""

_BLOCKS = 2000
"""A ratio of more samples than that is bootstrapped over so many means of neighbours."""

RESAMPLES = 4999


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, or the reason why there is none.

    Attributes
    ----------
    value, low, high
        In the unit of the samples; None where the samples are too few.
    confidence
        The interval's exact coverage, at least the one asked for; the nominal one where none is exact.
    n
        Number of samples.
    reason
        Why there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    confidence: float | None
    n: int
    reason: str | None = None

    @property
    def width(self) -> float | None:
        """Full width of the interval relative to the value; 0 for a constant, infinity around a zero."""
        if self.value is None or self.low is None or self.high is None:
            return None
        if self.high == self.low:
            return 0.0
        return (self.high - self.low) / abs(self.value) if self.value else float("inf")

    @staticmethod
    def unresolved(n: int, reason: str) -> Estimate:
        """Too few samples: no figure, and why."""
        return Estimate(None, None, None, None, n, reason)


def least_samples(confidence: float = 0.95, q: float = 0.5, side: Side = "both") -> int:
    """How many samples the interval of a quantile needs.

    Two sides: so many that each extreme is beyond the quantile but for half the error, six for the median at 95 %
    (Hoefler & Belli, SC'15). Upper: so many that the greatest is above it, 59 for the 95th percentile, 299 for the
    99th.
    """
    _check_quantile(q)
    check_confidence(confidence)
    if side == "upper":
        return max(1, ceil(log(1 - confidence) / log(q)))
    return max(2, ceil(log((1 - confidence) / 2) / log(max(q, 1 - q))))


def _check_quantile(q: float) -> None:
    if not 0 < q < 1:
        raise ValueError(f"quantile {q} is not between 0 and 1")


def last_rank(n: int, q: float, error: float) -> int:
    """The largest k with P(Bin(n, q) < k) <= error: x_k is above the quantile with no greater chance; 0: none is."""
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if bdtr(middle - 1, n, q) <= error:
            low = middle
        else:
            high = middle
    return low


def quantile_interval(samples: ArrayLike, q: float, confidence: float = 0.95, side: Side = "both") -> Estimate:
    """A quantile with the exact interval from order statistics.

    Distribution-free: x_k <= ξ_q <= x_u with k and u from the binomial distribution of how many samples lie below ξ_q
    (David & Nagaraja, Order Statistics, 3rd ed., section 7.1); at most half the error on either side.

    Parameters
    ----------
    samples
        Independent values, any order, shape (n,).
    q
        Between 0 and 1.
    confidence
        Least coverage, between 0 and 1.
    side
        "upper": only the upper bound is wanted, and may be wrong with the whole error; `low` is then the least sample.

    Raises
    ------
    ValueError
        A sample is not finite, or `q` or the confidence is outside (0, 1).
    """
    needed = least_samples(confidence, q, side)
    values = np.sort(checked(samples))
    n = int(values.size)
    if n < needed:
        name = "median" if q == 0.5 else f"{q:.4g} quantile"
        kind = "interval" if side == "both" else "upper bound"
        return Estimate.unresolved(
            n, f"{n} replicates are too few for a {confidence:.0%} {kind} of the {name}: {needed} are needed"
        )
    error = (1 - confidence) / (2 if side == "both" else 1)
    upper = n + 1 - last_rank(n, 1 - q, error)
    lower = last_rank(n, q, error) if side == "both" else 1
    covered = float(bdtr(upper - 1, n, q) - (bdtr(lower - 1, n, q) if side == "both" else 0.0))
    value = float(np.quantile(values, q))
    return Estimate(value, float(values[lower - 1]), float(values[upper - 1]), covered, n)


def median_interval(samples: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The median with its exact interval (see `quantile_interval`)."""
    return quantile_interval(samples, 0.5, confidence)


def _mean(values: Floats, axis: int = -1) -> Any:
    return np.mean(values, axis=axis)


def _harmonic(values: Floats, axis: int = -1) -> Any:
    return 1 / np.mean(1 / values, axis=axis)


def _ratio(first: Floats, second: Floats, axis: int = -1) -> Any:
    return np.mean(first, axis=axis) / np.mean(second, axis=axis)


def mean_interval(samples: ArrayLike, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """The arithmetic mean, for costs: times, bytes, joules. BCa bootstrap interval (Efron 1987)."""
    values = checked(samples)
    if values.size > BOOTSTRAP_MOST:
        return _t_interval(values, confidence)
    return _bca((values,), _mean, confidence, seed)


def rate_interval(rates: ArrayLike, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """The harmonic mean, for rates over equal amounts of work: all work by all time. BCa bootstrap interval.

    Raises
    ------
    ValueError
        A rate is not above zero, or not finite.
    """
    values = checked(rates)
    if (values <= 0).any():
        raise ValueError("a harmonic mean needs rates above zero")
    if values.size > BOOTSTRAP_MOST:
        time = _t_interval(1 / values, confidence)
        assert time.value is not None and time.low is not None and time.high is not None  # noqa: S101 - n is large
        high = 1 / time.low if time.low > 0 else float("inf")
        return Estimate(1 / time.value, 1 / time.high, high, time.confidence, time.n)
    return _bca((values,), _harmonic, confidence, seed)


def ratio_interval(first: ArrayLike, second: ArrayLike, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """The ratio of two independent samples' means, for a speedup (Hoefler & Belli, rule 1). BCa bootstrap interval.

    Raises
    ------
    ValueError
        A sample is not finite, or the second's mean may be zero.
    """
    a, b = checked(first), checked(second)
    if b.size and b.min() <= 0 <= b.max():
        raise ValueError("a ratio needs a denominator whose samples are on one side of zero")
    if max(a.size, b.size) <= BOOTSTRAP_MOST:
        return _bca((a, b), _ratio, confidence, seed)
    found = _bca((block_means(a, _BLOCKS), block_means(b, _BLOCKS)), _ratio, confidence, seed)
    return replace(found, n=int(min(a.size, b.size)))


def few_mean_interval(samples: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The mean of a few figures that are themselves sums or means of many, and so nearly normal: Student's t."""
    values = checked(samples)
    if values.size < 2:
        return Estimate.unresolved(int(values.size), f"{values.size} figures have no interval: at least 2 are needed")
    return _t_interval(values, confidence)


def _t_interval(values: Floats, confidence: float) -> Estimate:
    from scipy.special import stdtrit

    check_confidence(confidence)
    n = int(values.size)
    mean = float(values.mean())
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(values.std(ddof=1)) / n**0.5
    return Estimate(mean, mean - half, mean + half, confidence, n)


def _bca(samples: tuple[Floats, ...], statistic: Any, confidence: float, seed: int) -> Estimate:
    """SciPy's bias-corrected and accelerated bootstrap; a constant is its own interval."""
    check_confidence(confidence)
    n = min(int(values.size) for values in samples)
    if n < BOOTSTRAP_LEAST:
        return Estimate.unresolved(n, f"{n} samples are too few for a bootstrap interval: {BOOTSTRAP_LEAST} are needed")
    value = float(statistic(*samples))
    if all(float(np.ptp(values)) == 0.0 for values in samples):
        return Estimate(value, value, value, confidence, n)
    from scipy.stats import bootstrap

    found = bootstrap(
        samples, statistic, n_resamples=RESAMPLES, confidence_level=confidence, method="BCa",
        vectorized=True, batch=max(1, 2_000_000 // n), rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    return Estimate(value, float(found.low), float(found.high), confidence, n)
