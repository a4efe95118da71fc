"""Estimates with intervals that assume nothing about the distribution."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, or the reason why there is none.

    Attributes
    ----------
    value, low, high
        In the unit of the samples; None where the samples are too few.
    confidence
        The interval's exact coverage, at least the one asked for.
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
        """Full width of the interval relative to the value; 0 for a constant, infinity around a zero median."""
        if self.value is None or self.low is None or self.high is None:
            return None
        if self.high == self.low:
            return 0.0
        return (self.high - self.low) / abs(self.value) if self.value else float("inf")


def least_samples(confidence: float = 0.95) -> int:
    """How many samples the extremes need to enclose the median at this confidence: 1 - 2^(1-n) >= confidence.

    Six for 95 % (Hoefler & Belli, SC'15: fewer give no interval at all).
    """
    n = 2
    while 1 - 2.0 ** (1 - n) < confidence:
        n += 1
    return n


def _rank_and_coverage(n: int, confidence: float) -> tuple[int, float]:
    """The largest k for which (x_k, x_(n+1-k)) covers the median, and its exact coverage 1 - 2·P(Bin(n, ½) < k)."""
    tail = 0
    k = 0
    total = 2**n
    while True:
        step = comb(n, k)
        if (total - 2 * (tail + step)) / total < confidence:
            return k, (total - 2 * tail) / total
        tail += step
        k += 1


def median_interval(samples: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Median with the exact interval from order statistics.

    Distribution-free: (x_k, x_(n+1-k)) covers the median with probability 1 - 2·P(Bin(n, ½) < k)
    (David & Nagaraja, Order Statistics, 3rd ed., section 7.1).

    Parameters
    ----------
    samples
        Independent values, any order, shape (n,).
    confidence
        Least coverage, between 0 and 1.

    Raises
    ------
    ValueError
        A sample is not finite, or the confidence is outside (0, 1).
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    values = np.sort(np.asarray(samples, dtype=float).ravel())
    if not np.isfinite(values).all():
        raise ValueError("samples hold NaN or infinity; replicates without a value must be left out and counted")
    n = int(values.size)
    needed = least_samples(confidence)
    if n < needed:
        reason = f"{n} replicates are too few for a {confidence:.0%} interval of the median: {needed} are needed"
        return Estimate(None, None, None, None, n, reason)
    k, coverage = _rank_and_coverage(n, confidence)
    return Estimate(float(np.median(values)), float(values[k - 1]), float(values[n - k]), coverage, n)
