"""Whether samples are what an interval takes them for: independent, of one kind, from a machine at rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from wulf.stats.samples import Floats, checked, ordered_median

MAD_TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation for a normal distribution: 1/Φ⁻¹(3/4)."""

DRIFT_LEVEL = 0.01
"""Drift is flagged below this p: one cell in a hundred is flagged for nothing."""

MODES_LEVEL = 0.01
"""A second mode is flagged below this p."""

_DIP_MOST = 2000
_DIP_QUANTILES = (0.38, 0.5, 0.61, 0.72)
_DIP_TAILS = (0.5, 0.1, 0.01, 0.001)

DEPENDENCE_LEVEL = 0.05
"""Samples are said to depend on their predecessors below this p."""

CAUTION = 0.5
"""Standard errors by which a short series' autocorrelation is taken for greater than it seems, for an interval."""

_SERIES = 50
"""From so many samples on, the autocorrelation at many lags is worth more than a model of it."""

DEPENDENCE_LEAST = 8
"""Fewer samples say nothing about how they depend on each other."""

TREND_LEAST = 8
"""Fewer samples of a cell show no trend."""

_SIGNIFICANT = 1.96
_TREND_MOST = 1000
"""Longer series are cut into so many blocks, each its median, since the cost is quadratic."""


def robust_sigma(samples: ArrayLike) -> float:
    """σ by the median absolute deviation from the median, in the samples' unit: a few outliers do not move it.

    Samples have shape (n,).

    Raises
    ------
    ValueError
        There are no samples, or one is not finite.
    """
    values = checked(samples)
    if not values.size:
        raise ValueError("no samples: a deviation needs one at least")
    return MAD_TO_SIGMA * float(np.median(np.abs(values - np.median(values))))


def autocorrelation(samples: ArrayLike) -> Floats:
    """Autocorrelation at lags 0 … n-1 (biased estimate, so that it is a correlation), by FFT; zeros for a constant.

    Shape (n,), as the samples.
    """
    values = checked(samples)
    n = int(values.size)
    if n < 2:
        return np.ones(n)
    centred = values - values.mean()
    power = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    covariance = np.fft.irfft(power, 2 * n)[:n]
    if not covariance[0] > 1e-24 * max(1.0, float(np.abs(values).max()) ** 2):
        return np.concatenate([[1.0], np.zeros(n - 1)])
    result: Floats = covariance / covariance[0]
    return result


@dataclass(frozen=True)
class Dependence:
    """Whether neighbours resemble each other.

    Attributes
    ----------
    rho
        Autocorrelation of the ranks at lag 1, as it was found: it is a little below zero where nothing depends.
    p
        One-sided: the chance of neighbours so alike among independent samples.
    """

    rho: float
    p: float

    @property
    def flagged(self) -> bool:
        """Clear enough to be told."""
        return self.p < DEPENDENCE_LEVEL


_INDEPENDENT = Dependence(0.0, 1.0)


def dependence(samples: ArrayLike) -> Dependence:
    """The rank test of serial correlation at lag 1 (Wald & Wolfowitz 1943), so that an outlier hides nothing.

    Normal approximation with the exact mean and variance (Dufour & Roy, Journal of Econometrics 28, 1985), good from
    eight samples on; fewer, and equal ones, show none: p is 1.

    Samples have shape (n,), in the order measured.
    """
    values = checked(samples)
    n = int(values.size)
    if n < DEPENDENCE_LEAST or float(np.ptp(values)) == 0.0:
        return _INDEPENDENT
    rho = _rank_correlation(values)
    variance = (5 * n**4 - 14 * n**3 - 9 * n**2 + 26 * n + 16) / (5 * (n - 1) ** 2 * n**2 * (n + 1))
    return Dependence(rho, float(ndtr(-(rho + 1 / n) / variance**0.5)))


def _rank_correlation(values: Floats) -> float:
    """Lag-1 autocorrelation of the ranks."""
    own = ranks(values)
    centred = own - own.mean()
    return float(centred[1:] @ centred[:-1] / (centred @ centred))


def ranks(values: Floats) -> Floats:
    """Ranks, but for a constant; ties have their mean rank. Shape (n,), as the samples."""
    ordered = np.sort(values)
    found: Floats = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2
    return found


def effective_size(samples: ArrayLike, caution: float = 0.0) -> float:
    """To how many independent samples the series amounts, between 1 and n.

    From 50 samples on: n / (1 + 2 Σ ρ_k) over Geyer's initial positive sequence (Geyer 1992). Below: n(1-ρ)/(1+ρ) of
    an AR(1) series, its ρ that of the ranks, corrected for the bias of short series, (1+3ρ)/n (Marriott & Pope 1954).
    Negative autocorrelation earns nothing.

    Samples have shape (n,), in the order measured.

    Parameters
    ----------
    caution
        Standard errors, 1/√n each, that a short series' ρ is taken for greater than it seems: an interval needs it,
        since a ρ that is taken for too small costs more coverage than one taken for too great gains.
    """
    values = checked(samples)
    n = int(values.size)
    if n < 4 or float(np.ptp(values)) == 0.0:
        return float(n)
    if n < _SERIES:
        found = _rank_correlation(values)
        rho = min(max(found + (1 + 3 * found) / n + caution / n**0.5, 0.0), 0.99)
        return float(min(max(n * (1 - rho) / (1 + rho), 1.0), n))
    correlations = autocorrelation(values)
    pairs = correlations[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    total = float(pairs[: negative[0] if negative.size else pairs.size].sum())
    return float(np.clip(n / max(2 * total - 1, 1e-12), 1.0, n))


@dataclass(frozen=True)
class Drift:
    """A trend over the order measured.

    Attributes
    ----------
    p
        Of the Mann-Kendall test: the chance of a trend as clear as this where there is none.
    change
        From the first sample to the last, relative to the median (Theil-Sen slope); 0 around a zero median.
    rise
        The same in the samples' unit.
    """

    p: float
    change: float
    rise: float = 0.0

    @property
    def flagged(self) -> bool:
        """Clear enough to be told."""
        return self.p < DRIFT_LEVEL


def drift(samples: ArrayLike, at: ArrayLike | None = None, least: int = TREND_LEAST) -> Drift:
    """The Mann-Kendall trend test (Mann 1945, Kendall 1975), and Theil and Sen's slope.

    Exact where there are fewer than eight, all unequal; else the normal approximation, its variance corrected for ties
    and for what depends on its predecessors (Hamed & Rao, Journal of Hydrology 204, 1998): once the slope is taken off,
    by the autocorrelations of the ranks that are significant at 5 %, where together they are positive.

    Parameters
    ----------
    at
        When each was taken, shape (n,), ascending; by default one after the other.
    least
        Fewer samples show no trend: p is 1.
    """
    values = checked(samples)
    when = np.arange(values.size, dtype=float) if at is None else checked(at)
    if values.size < least or float(np.ptp(values)) == 0.0:
        return Drift(1.0, 0.0)
    if values.size > _TREND_MOST:
        values, when = (
            np.array([float(np.median(part)) for part in np.array_split(x, _TREND_MOST)]) for x in (values, when)
        )
    n = int(values.size)
    i, j = _pairs(n)
    rises = values[j] - values[i]
    slope, s = ordered_median(np.sort(rises / (when[j] - when[i]))), abs(float(np.sign(rises).sum()))
    ordered = np.sort(values)
    ties = np.unique(ordered, return_counts=True)[1] if (ordered[1:] == ordered[:-1]).any() else np.ones(n)
    if n < TREND_LEAST and ties.max() == 1:
        p = min(1.0, 2 * _trend_tail(n, int(s)))
    else:
        variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
        variance *= _trend_inflation(values - slope * when)
        p = min(1.0, 2 * float(ndtr(-max(0.0, s - 1) / variance**0.5)))
    middle, rise = ordered_median(ordered), slope * float(when[-1] - when[0])
    return Drift(p, rise / abs(middle) if middle else 0.0, rise)


def _trend_inflation(residuals: Floats) -> float:
    """By how much dependence widens the trend statistic's variance, at least 1 (Hamed & Rao 1998, equation 4)."""
    n = residuals.size
    if n < TREND_LEAST:
        return 1.0
    lags = np.arange(1, n - 2)
    rho = autocorrelation(ranks(residuals))[lags]
    rho = np.where(np.abs(rho) > _SIGNIFICANT / n**0.5, rho, 0.0)
    weights = (n - lags) * (n - lags - 1) * (n - lags - 2)
    return max(1.0, 1 + 2 * float(weights @ rho) / (n * (n - 1) * (n - 2)))


@lru_cache(maxsize=16)
def _trend_counts(n: int) -> Floats:
    """How many orders of n values have 0, 1 … n(n-1)/2 pairs in falling order (Kendall 1975)."""
    counts = np.ones(1)
    for k in range(2, n + 1):
        counts = np.convolve(counts, np.ones(k))
    return counts


def _trend_tail(n: int, s: int) -> float:
    """The chance of a trend statistic of at least s > 0 among random orders of n values."""
    counts = _trend_counts(n)
    falling = (n * (n - 1) // 2 - s) // 2
    return float(counts[: falling + 1].sum() / counts.sum())


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    i, j = np.triu_indices(n, 1)
    return i, j


def cold_start(samples: ArrayLike) -> int:
    """How many samples at the beginning are beyond the rest: a cache, a route, a clock rate that had to warm up.

    Looks at the first quarter at most: from the first on, as long as each lies farther beyond the extremes of what
    follows the quarter than those lie apart, all on one side. Nothing is left out because of it; it says that measuring
    should go on. Fewer than eight samples show nothing.

    Samples have shape (n,), in the order measured.
    """
    values = checked(samples)
    if values.size < TREND_LEAST:
        return 0
    quarter = int(values.size) // 4
    rest, first = values[quarter:], values[:quarter]
    low, high = float(rest.min()), float(rest.max())
    apart = high - low
    if not apart > 0:
        return 0
    beyond = first > high + apart if first[0] > high else first < low - apart
    return quarter if beyond.all() else int(np.argmin(beyond))


@dataclass(frozen=True)
class Modes:
    """Whether the samples have one mode.

    Attributes
    ----------
    dip
        Hartigan's dip.
    p
        The chance of so great a dip where there is one mode only, at most.
    """

    dip: float
    p: float

    @property
    def flagged(self) -> bool:
        """Clear enough to be told: two states were measured, and one figure stands for neither."""
        return self.p < MODES_LEVEL


def modes(samples: ArrayLike) -> Modes:
    """The dip test of unimodality (Hartigan & Hartigan, The Annals of Statistics 13, 1985). Samples have shape (n,).

    p by interpolation in the null distribution of √n·dip under the uniform distribution, the worst case, which hardly
    depends on n. Fewer than ten samples show no second mode: p is 1.
    """
    values = checked(samples)
    n = int(values.size)
    if n < 10:
        return Modes(dip(values), 1.0)
    found = dip(values)
    log_p = np.interp(found * min(n, _DIP_MOST) ** 0.5, _DIP_QUANTILES, np.log(_DIP_TAILS), left=0.0)
    return Modes(found, float(np.exp(log_p)))


def dip(samples: ArrayLike) -> float:
    """Hartigan and Hartigan's dip: the least distance of the samples' distribution function from a unimodal one.

    By their algorithm: on the modal interval, at first everything, draw the greatest convex minorant of the function's
    steps and their least concave majorant. Where the two are farthest apart lies the next, smaller modal interval; on
    what is cut away, minorant and majorant are the fit, and their greatest gap is kept. It ends when the two are no
    farther apart than that. More than 2,000 samples are thinned to so many quantiles.

    Samples have shape (n,).

    Returns
    -------
    float
        Between 1/(2n) and 1/4; 0 without samples.
    """
    values = np.sort(checked(samples))
    n = int(values.size)
    if n == 0:
        return 0.0
    if n > _DIP_MOST:
        values, n = np.quantile(values, (np.arange(_DIP_MOST) + 0.5) / _DIP_MOST), _DIP_MOST
    x = _spread_ties(values)
    tops = np.arange(1, n + 1) / n
    feet = tops - 1 / n
    low, high, gap = 0, n - 1 if x[-1] > x[0] else 0, 1 / n
    while high > low:
        inside = slice(low, high + 1)
        under = _minorant(x[inside], feet[inside]) + low
        over = high - _minorant(-x[inside][::-1], -tops[inside][::-1])[::-1]
        minorant = np.interp(x[inside], x[under], feet[under])
        majorant = np.interp(x[inside], x[over], tops[over])
        apart = majorant - minorant
        at = low + int(np.argmax(apart))
        if apart[at - low] <= gap:
            break
        left = int(under[np.searchsorted(under, at, side="right") - 1])
        right = int(over[np.searchsorted(over, at, side="left")])
        below = (tops[inside] - minorant)[: left - low + 1]
        above = (majorant - feet[inside])[right - low :]
        gap = max([gap, *(float(part.max()) for part in (below, above) if part.size > 1)])
        if (left, right) == (low, high):
            break
        low, high = left, right
    return gap / 2


def _spread_ties(values: Floats) -> Floats:
    """Sorted values, equal ones spread evenly over the least step between unequal ones: a clock's step is no mode."""
    unique, counts = np.unique(values, return_counts=True)
    if unique.size in (1, values.size):
        return values
    step = float(np.min(np.diff(unique)))
    within = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    repeats = np.repeat(counts, counts)
    spread: Floats = values + step * ((within + 0.5) / repeats - 0.5)
    return spread


def _minorant(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Indices of the corners of the greatest convex minorant (Andrew's monotone chain)."""
    hull: list[int] = []
    for c in range(x.size):
        while len(hull) > 1 and _above_chord(x, y, hull[-2], hull[-1], c):
            hull.pop()
        hull.append(c)
    return np.array(hull, dtype=np.intp)


def _above_chord(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    """Whether b lies on or above the chord from a to c."""
    return bool((y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]))
