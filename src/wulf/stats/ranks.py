"""Wilcoxon's two tests with the intervals that belong to them: distribution-free, exact for small samples.

The signed-rank test is the sign-flip (randomisation) test of paired differences with ranks for scores: if the order
within each pair was drawn at random, every sign was a coin's throw, whatever the noise, its drift or its memory. The
rank-sum test is its counterpart for two samples that were not paired. Each rejects a shift exactly when the shift lies
outside the interval between two order statistics: of the Walsh averages (d_i + d_j)/2, or of the differences b_j - a_i
(Hodges & Lehmann 1963; Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3rd ed., sections 3.1-3.3 and
4.1-4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from wulf.stats.samples import Floats, block_means

EXACT_PAIRS = 200
EXACT_PRODUCT = 40_000
"""Above, the normal approximation of the null distribution, whose error is then far below the last digit shown."""

MOST_PAIRS = 2000
"""More pairs or samples are collapsed into so many means of neighbours, since the number of contrasts grows as n²."""


@dataclass(frozen=True)
class Shift:
    """By how much the second lies above the first.

    Attributes
    ----------
    value
        The Hodges-Lehmann estimate: the median of the Walsh averages, or of the differences.
    low, high
        Of the interval; infinite where so few samples can have none at the level.
    p
        Two-sided, of no shift. Ties with zero count against it.
    """

    value: float
    low: float
    high: float
    p: float


@lru_cache(maxsize=512)
def _signed_rank_cdf(n: int) -> Floats:
    """P(W <= w) for w = 0 … n(n+1)/2: W is the sum of those of 1 … n whose coin showed heads."""
    density = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(density.size + rank)
        longer[: density.size] = density / 2
        longer[rank:] += density / 2
        density = longer
    result: Floats = np.cumsum(density)
    return result


@lru_cache(maxsize=512)
def _rank_sum_cdf(m: int, n: int) -> Floats:
    """P(U <= u) for u = 0 … m·n: U counts the pairs in which the second is below the first."""
    counts = np.zeros(m * n + 1)
    counts[0] = 1.0
    for k in range(1, n + 1):  # the Gaussian binomial coefficient, factor by factor: (1 - q^(m+k)) / (1 - q^k)
        above = counts.copy()
        above[m + k :] -= counts[: max(0, counts.size - m - k)]
        for start in range(k):
            above[start::k] = np.cumsum(above[start::k])
        counts = above * (k / (m + k))  # the total stays one
    result: Floats = np.cumsum(counts)
    return result


@dataclass(frozen=True)
class _Null:
    """The null distribution of a rank statistic: exact, or its normal approximation."""

    mean: float
    sd: float
    cdf: Floats | None

    def at_most(self, w: float) -> float:
        """P(W <= w)."""
        if w < 0:
            return 0.0
        if self.cdf is not None:
            return float(min(1.0, self.cdf[min(int(w), self.cdf.size - 1)]))
        return float(ndtr((w + 0.5 - self.mean) / self.sd))

    def last_rank(self, error: float) -> int:
        """The largest c with P(W <= c-1) <= error; 0 where there is none."""
        if self.cdf is not None:
            return int(np.searchsorted(self.cdf, error * (1 + 1e-12), side="right"))
        return max(0, int(np.floor(self.mean + self.sd * float(ndtri(error)) + 0.5)))


def _signed_rank_null(n: int) -> _Null:
    return _Null(
        n * (n + 1) / 4, sqrt(n * (n + 1) * (2 * n + 1) / 24), _signed_rank_cdf(n) if n <= EXACT_PAIRS else None
    )


def _rank_sum_null(m: int, n: int) -> _Null:
    exact = m * n <= EXACT_PRODUCT
    return _Null(m * n / 2, sqrt(m * n * (m + n + 1) / 12), _rank_sum_cdf(m, n) if exact else None)


def signed_rank_level(n: int, level: float) -> float:
    """The greatest two-sided level not above `level` that n pairs can have; 0 where there is none."""
    null = _signed_rank_null(n)
    rank = null.last_rank(level / 2)
    return 2 * null.at_most(rank - 1) if rank else 0.0


def _shift(contrasts: Floats, null: _Null, level: float, scale: float) -> Shift:
    """Estimate, interval and p from all contrasts; `scale` stretches the null distribution's width."""
    values = np.sort(contrasts)
    below, above = int((values < 0).sum()), int((values > 0).sum())
    smaller = values.size - max(below, above)  # zeros count against a shift
    p = min(1.0, 2 * _stretched(null.at_most(smaller), 1 / scale))
    rank = null.last_rank(_stretched(level / 2, scale))
    low, high = (values[rank - 1], values[values.size - rank]) if rank else (-np.inf, np.inf)
    return Shift(float(np.median(values)), float(low), float(high), p)


def _stretched(tail: float, scale: float) -> float:
    """The tail beyond `scale` times as many standard deviations."""
    return tail if scale == 1 else float(ndtr(scale * ndtri(min(tail, 0.5))))


def signed_rank_shift(differences: Floats, level: float) -> Shift:
    """The shift of paired differences, shape (n,), with the sign-flip test's p and interval at a two-sided level."""
    d = block_means(differences, MOST_PAIRS)
    i, j = np.triu_indices(d.size)
    return _shift((d[i] + d[j]) / 2, _signed_rank_null(int(d.size)), level, 1.0)


def rank_sum_shift(first: Floats, second: Floats, level: float, design_effect: float = 1.0) -> Shift:
    """The shift from `first` to `second`, which were not paired. Shapes (n,) and (m,).

    Parameters
    ----------
    design_effect
        n / effective n of samples that depend on each other: the null distribution is that much wider in variance.
    """
    a, b = block_means(first, MOST_PAIRS), block_means(second, MOST_PAIRS)
    contrasts = (b[None, :] - a[:, None]).ravel()
    null = _rank_sum_null(int(a.size), int(b.size))
    return _shift(contrasts, null, level, sqrt(max(1.0, design_effect)))
