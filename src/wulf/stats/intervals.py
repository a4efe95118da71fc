"""Estimates with their intervals: the median's assumes nothing about the distribution."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from wulf.stats.estimates import Estimate, Interval
from wulf.stats.samples import check_confidence, checked


def weighted_sum(parts: Sequence[tuple[float, Interval]]) -> Interval:
    """The sum of weighted, independent figures, its bounds recovered from theirs, which need not be symmetric.

    Variance estimates recovered from the bounds (MOVER): Zou & Donner, Statistics in Medicine 27, 2008.
    """
    ends = [
        (weight, one.value, *((one.low, one.high) if weight >= 0 else (one.high, one.low))) for weight, one in parts
    ]
    value = sum(weight * middle for weight, middle, _, _ in ends)
    below = sqrt(sum((weight * (middle - low)) ** 2 for weight, middle, low, _ in ends))
    above = sqrt(sum((weight * (high - middle)) ** 2 for weight, middle, _, high in ends))
    return Interval(value, value - below, value + above)


def least_samples(confidence: float = 0.95) -> int:
    """How many samples the interval of the median needs: six at 95 % (Hoefler & Belli, SC'15).

    So many that each extreme is beyond the median but for half the error.
    """
    check_confidence(confidence)
    return max(2, ceil(-log2((1 - confidence) / 2)))


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


def median_interval(samples: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The median with the exact interval from order statistics.

    Distribution-free: x_k <= m <= x_(n+1-k) with k from the binomial distribution of how many samples lie below the
    median m (David & Nagaraja, Order Statistics, 3rd ed., section 7.1); at most half the error on either side.

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
    needed = least_samples(confidence)
    values = np.sort(checked(samples))
    n = int(values.size)
    if n < needed:
        return Estimate.unresolved(
            n, f"{n} replicates are too few for a {confidence:.0%} interval of the median: {needed} are needed"
        )
    rank = last_rank(n, 0.5, (1 - confidence) / 2)
    covered = 1 - 2 * float(bdtr(rank - 1, n, 0.5))
    return Estimate(float(np.median(values)), float(values[rank - 1]), float(values[n - rank]), covered, n)


def few_mean_interval(samples: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The mean of a few figures that are themselves sums or means of many, and so nearly normal: Student's t.

    Figures have shape (n,).
    """
    from scipy.special import stdtrit

    check_confidence(confidence)
    values = checked(samples)
    n = int(values.size)
    if n < 2:
        return Estimate.unresolved(n, f"{n} figures have no interval: at least 2 are needed")
    mean = float(values.mean())
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(values.std(ddof=1)) / n**0.5
    return Estimate(mean, mean - half, mean + half, confidence, n)


def ratio_interval(parts: ArrayLike, wholes: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The sum of parts by the sum of wholes, which come in pairs: shape (n,) each, wholes not all 0.

    The jackknife's pseudo-values with Student's t (Miller, Biometrika 61, 1974), which takes into account that a part
    grows with its whole.
    """
    top, bottom = checked(parts), checked(wholes)
    n = int(top.size)
    without = bottom.sum() - bottom
    if n < 2 or not (without > 0).all():
        return Estimate.unresolved(n, f"{n} pairs, of which not two have anything to share, have no interval")
    whole = float(top.sum() / bottom.sum())
    pseudo = n * whole - (n - 1) * (top.sum() - top) / without
    found = few_mean_interval(pseudo, confidence)
    half = ((found.high or 0.0) - (found.low or 0.0)) / 2
    return Estimate(whole, whole - half, whole + half, confidence, n)
