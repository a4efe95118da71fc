"""Figures of many subjects from replicates that were taken in passes over all of them: levelled, with their errors.

A pass (block) measures each node or link once. What a pass had in common with all of them (drift, a neighbour's job, a
clock rate) is taken out, since every one of them had it; what is left is each one's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, polygamma

from wulf.stats.samples import Floats

MOST_GROUPS = 24
"""More passes than that are taken as so many groups of neighbours, by their medians: pairs go by the square."""

COARSEST = 0.25
"""A gap of more than that between two values is no clock's tick: probes repeat their work until it lasts many."""

_POLISHES = 2
"""Of complete passes the first gives all; the second is for rows that lack some."""

_LEAST_PASSES, _MOST_DEPENDENT, _ONE_SIDED = 6, 0.9, 2.326
"""Fewer passes do not tell how they depend on each other; of the correlation, its lower bound at 99 % counts."""

_HODGES_LEHMANN = np.pi / 3
"""Variance of the pseudomedian by the mean's, for normal noise (Hodges & Lehmann 1963)."""

_LEAST_VARIANCE = np.finfo(float).eps
"""Of logarithms: figures that never differ are known to eight digits."""


@dataclass(frozen=True)
class Figures:
    """One metric of all subjects, by subject.

    Attributes
    ----------
    values
        In the unit of the samples.
    errors
        Relative standard errors; NaN where one replicate says nothing of them.
    freedom
        Degrees of freedom of each error.
    resolution
        The relative step below which values can't be told apart, from a clock's ticks; 0 where they can.
    """

    values: Floats
    errors: Floats
    freedom: Floats
    resolution: float


def by_pass(samples: Sequence[Sequence[float]], passes: Sequence[Sequence[int]]) -> Floats:
    """Each subject's samples by the pass of each, shape (subjects, passes); NaN where there is none.

    A sample that is not above zero has no logarithm, and counts as none.
    """
    columns = {number: column for column, number in enumerate(sorted({number for own in passes for number in own}))}
    matrix = np.full((len(samples), len(columns)), np.nan)
    for row, (own, at) in enumerate(zip(samples, passes, strict=True)):
        matrix[row, [columns[number] for number in at]] = own
    matrix[~(matrix > 0)] = np.nan
    return matrix[:, np.isfinite(matrix).any(axis=0)]


def figures(samples: ArrayLike) -> Figures:
    """Each subject's figure over the passes, with its error.

    The figure is the pseudomedian of the levelled logarithms (Hodges and Lehmann's: the median of all means of two).
    The variance of a subject's replicates is moderated by that of all (Smyth 2004): where all subjects scatter alike
    it is theirs, with many degrees of freedom; where they do not, as with heavy tails, it is mostly its own, with few.

    Parameters
    ----------
    samples
        Shape (subjects, passes), all above zero; NaN where there is none.
    """
    logs = _logs(samples)
    tick = _tick(logs)
    x = _grouped(_levelled(logs))
    values = _pseudomedians(x)
    counts = np.isfinite(x).sum(axis=1)
    rows = max(2, int((counts > 0).sum()))
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = np.nansum((x - np.nansum(x, axis=1, keepdims=True) / counts[:, None]) ** 2, axis=1)
        variances = sums / (counts - 1) * (rows / (rows - 1))  # a row has a part in its passes' medians
        variances = np.where(counts > 1, np.maximum(variances, _LEAST_VARIANCE), np.nan)
    moderated, freedom = _moderated(variances * _dependence(x), counts - 1.0)
    usual = float(np.nanmedian(moderated)) if np.isfinite(moderated).any() else 0.0
    if usual >= tick**2 * (1 / 4 + 1 / 12):
        tick = 0.0  # noise of half a tick and more dithers it: the mean of several tells fractions of a tick
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(_HODGES_LEHMANN * moderated / counts)
    return Figures(np.exp(values), errors, freedom, tick)


def error_of(replicates: int, scatter: float, subjects: int) -> float:
    """The relative standard error that `figures` gives where replicates scatter by so much, relative and normal."""
    return float(scatter * (_HODGES_LEHMANN / replicates * subjects / (subjects - 1)) ** 0.5)


def middles(x: Floats, axis: int) -> Floats:
    """Medians of what is not NaN; NaN where all is. As `numpy.nanmedian`, at a tenth of its time for short rows.

    Values have any shape; that of the result lacks the axis.
    """
    ordered = np.sort(x, axis=axis)
    counts = np.isfinite(x).sum(axis=axis, keepdims=True)
    pair = [np.take_along_axis(ordered, np.maximum(at, 0), axis=axis) for at in ((counts - 1) // 2, counts // 2)]
    found: Floats = np.where(counts > 0, (pair[0] + pair[1]) / 2, np.nan).squeeze(axis)
    return found


def _logs(samples: ArrayLike) -> Floats:
    array = np.asarray(samples, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"samples of shape {array.shape} are not (subjects, passes)")
    bad = np.argwhere(np.isinf(array) | (array <= 0))
    if bad.size:
        row, column = bad[0]
        raise ValueError(f"samples[{row}, {column}] is {array[row, column]:g}: neither finite and above zero nor NaN")
    logs: Floats = np.log(array)
    return logs


def _levelled(x: Floats) -> Floats:
    """What each pass over the subjects had in common, taken out: Tukey's median polish, on logarithms.

    It begins with the median step from each pass to the next over the subjects that have both, so that those that ended
    early are not taken for slower or faster ones.
    """
    if x.shape[1] < 2:
        return x
    steps = np.nan_to_num(middles(np.diff(x, axis=1), axis=0))
    common = np.concatenate([[0.0], np.cumsum(steps)])
    for _ in range(_POLISHES):
        own = middles(x - common, axis=1)
        common = np.nan_to_num(middles(x - own[:, None], axis=0))
    levelled: Floats = x - (common - np.median(common))
    return levelled


def _grouped(x: Floats) -> Floats:
    if x.shape[1] <= MOST_GROUPS:
        return x
    return np.stack([middles(group, axis=1) for group in np.array_split(x, MOST_GROUPS, axis=1)], axis=1)


def _pseudomedians(x: Floats) -> Floats:
    first, second = np.triu_indices(x.shape[1])
    found: Floats = middles((x[:, first] + x[:, second]) / 2, axis=1)
    return found


def _tick(logs: Floats) -> float:
    """The least gap between values that occur more than once, where half of all do: a clock's tick, relative."""
    known = logs[np.isfinite(logs)]
    values, counts = np.unique(np.round(known, 9), return_counts=True)
    if counts[counts > 1].sum() < known.size / 2:
        return 0.0
    common = values[counts > 1]
    gaps = np.diff(common) if common.size > 1 else np.abs(values - common[0])
    gaps = gaps[(gaps > 0) & (gaps <= np.log1p(COARSEST))]
    return float(gaps.min()) if gaps.size else 0.0


def _moderated(variances: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Empirical Bayes variances and their degrees of freedom.

    Smyth, Linear models and empirical Bayes methods for assessing differential expression (2004), section 6.2.
    """
    known = np.isfinite(variances)
    if not known.any():
        return variances, freedom
    d = freedom[known]
    z = np.log(variances[known]) - digamma(d / 2) + np.log(d / 2)
    excess = float(z.var(ddof=1) - polygamma(1, d / 2).mean()) if z.size > 1 else 0.0
    moderated, own = np.full(variances.shape, np.nan), np.full(variances.shape, np.nan)
    if excess <= 0:  # they differ by no more than chance: one variance for all
        pooled = float((variances[known] * d).sum() / d.sum())
        moderated[known], own[known] = pooled, d.sum()
        return moderated, own
    prior = 2 * _trigamma_inverse(excess)
    usual = float(np.exp(z.mean() + digamma(prior / 2) - np.log(prior / 2)))
    moderated[known] = (prior * usual + d * variances[known]) / (prior + d)
    own[known] = np.minimum(prior + d, d.sum())
    return moderated, own


def _dependence(x: Floats) -> float:
    """By how much the variance of a mean exceeds what its replicates' own suggests, as they depend on each other.

    From the correlation of neighbours over all subjects; only what of it is beyond chance counts.
    """
    if x.shape[1] < _LEAST_PASSES:
        return 1.0
    with np.errstate(invalid="ignore"):
        own = x - np.nansum(x, axis=1, keepdims=True) / np.isfinite(x).sum(axis=1, keepdims=True)
    products = own[:, 1:] * own[:, :-1]
    pairs, squares = int(np.isfinite(products).sum()), float(np.nansum(own**2))
    if not pairs or not squares:
        return 1.0
    found = float(np.nansum(products)) / squares - _ONE_SIDED / pairs**0.5
    correlations, excess = _dependent(x.shape[1])
    return float(np.interp(found, correlations, excess))


@cache
def _dependent(n: int) -> tuple[Floats, Floats]:
    """What an AR(1) series of n gives for the correlation of neighbours about its own mean, and for `_dependence`.

    Exactly, from the series' covariances, for ever stronger dependence, beginning with none: so the estimate's bias,
    about (1 + 4ρ) / n (Marriott & Pope 1954), is no matter.
    """
    correlations, excess = [], []
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    centre = np.eye(n) - 1 / n
    for rho in np.linspace(0, _MOST_DEPENDENT, 46):
        covariances = rho**apart
        about = centre @ covariances @ centre
        correlations.append(np.trace(about, 1) / np.trace(about))
        excess.append(covariances.mean() * n * (n - 1) / np.trace(about))
    return np.array(correlations), np.array(excess)


def _trigamma_inverse(y: float) -> float:
    """x with trigamma(x) = y, by Newton's method (Smyth 2004, appendix)."""
    x = 0.5 + 1 / y
    for _ in range(20):
        value = float(polygamma(1, x))
        x += value * (1 - value / y) / float(polygamma(2, x))
    return x
