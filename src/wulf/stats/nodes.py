"""Which nodes of a cluster deviate from their like, in what, and how small a deviation could have been seen.

Nodes are compared within their hardware class, metric by metric, by median and median absolute deviation, so that a few
bad ones spoil nothing. What the nodes differ in anyway (between) is told from how well each was measured (within).
Hundreds of nodes and metrics are thousands of questions: the share of false accusations is held, not that of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from wulf.stats.comparison import POWER, benjamini_hochberg
from wulf.stats.diagnostics import MAD_TO_SIGMA
from wulf.stats.samples import Floats

FALSE_DISCOVERIES = 0.05
"""Share of accusations that may be false. Where nothing is wrong, it is also the chance that anyone is accused."""

LEAST_DEVIATION = 0.01
"""Smaller deviations hold nobody up."""

LEAST_NODES = 4
"""In a class of fewer, nobody can say which one is odd."""

_MAD_EFFICIENCY = 0.37
"""The MAD of n nodes tells their spread as well as a standard deviation of .37·n would (normal distribution)."""


@dataclass(frozen=True)
class Deviation:
    """A node that deviates in a metric.

    Attributes
    ----------
    node, metric
        Indices into the values.
    ratio, low, high
        Its figure by its class's median, and the 95 % interval.
    p
        One-sided where worse has a direction, else two-sided.
    q
        The share of false discoveries among all that are at least as clear.
    """

    node: int
    metric: int
    ratio: float
    low: float
    high: float
    p: float
    q: float


@dataclass(frozen=True)
class Screening:
    """All nodes and metrics of a cluster.

    Attributes
    ----------
    deviations
        The clearest first.
    visible
        Shape (classes, metrics): the least relative deviation of one node that nine of ten surveys would have found;
        NaN where the class has too few nodes.
    between, within
        Shape (classes, metrics): relative standard deviations, between the nodes' true figures, and of measuring one.
    classes
        The names of the rows of those.
    """

    deviations: list[Deviation]
    visible: Floats
    between: Floats
    within: Floats
    classes: list[str]


def without_passes(samples: ArrayLike) -> Floats:
    """What each pass over the nodes had in common, taken out: drift, a neighbour's job, a clock rate.

    Every pass measures each node once, so that its median over the nodes tells the time it was measured in, and not
    the nodes (one step of Tukey's median polish, on logarithms).

    Parameters
    ----------
    samples
        Shape (nodes, passes), all above zero; NaN where there is none.

    Returns
    -------
    array
        The same shape and unit.
    """
    x = _logs(samples, "samples")
    if x.ndim != 2:
        raise ValueError(f"samples of shape {x.shape} are not (nodes, passes)")
    passes = np.nanmedian(x, axis=0)
    levelled: Floats = np.exp(x - passes + np.nanmedian(passes))
    return levelled


def screen(
    values: ArrayLike,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
    worse: ArrayLike | None = None,
    false_discoveries: float = FALSE_DISCOVERIES,
    least: float = LEAST_DEVIATION,
) -> Screening:
    """Find the nodes that deviate.

    On logarithms, so that a deviation is a ratio. A node's score is its distance from its class's median by the spread
    of the class, from the MAD. A node that was measured worse than usual, to the side of the others, gets its own error
    for the usual one in it: who was as fast as they now and then is hardly slow, even if its median is. (One that
    happens to look better measured earns nothing: an error from few replicates is itself uncertain.) The score
    follows Student's t, with as many degrees of
    freedom as the MAD of so many nodes is worth. The rates of false discoveries are Benjamini and Hochberg's (1995),
    over all nodes and metrics.

    Parameters
    ----------
    values
        Shape (nodes, metrics), all above zero; NaN where there is none.
    low, high
        Each value's 95 % interval, same shape; None or NaN: not known, and taken to be the value.
    classes
        Hardware class of each node; None: all alike.
    worse
        Per metric: +1 where higher is worse (times), -1 where lower is (rates), 0 where both are odd. None: all 0.
    false_discoveries
        Share of false accusations to live with.
    least
        Smaller relative deviations are never reported.

    Raises
    ------
    ValueError
        A value is infinite, zero or negative; shapes do not fit.
    """
    x, lows, highs, direction = _checked(values, low, high, worse)
    names = list(classes) if classes is not None else ["all"] * x.shape[0]
    if len(names) != x.shape[0]:
        raise ValueError(f"{len(names)} classes for {x.shape[0]} nodes")
    kinds = sorted(set(names))
    p = np.full(x.shape, np.nan)
    centre = np.full(x.shape, np.nan)
    between, within, visible = (np.full((len(kinds), x.shape[1]), np.nan) for _ in range(3))
    tests = max(1, int(np.isfinite(x).sum()))
    for row, kind in enumerate(kinds):
        own = np.flatnonzero(np.array(names) == kind)
        counts = np.isfinite(x[own]).sum(axis=0)
        known = np.flatnonzero(counts >= LEAST_NODES)
        if not known.size:
            continue
        cells = np.ix_(own, known)
        found = _compared(x[cells], lows[cells], highs[cells])
        freedom = np.maximum(1.0, _MAD_EFFICIENCY * (counts[known] - 1))
        sign = direction[known]
        p[cells] = np.where(sign == 0, 2 * stdtr(freedom, -np.abs(found.score)), stdtr(freedom, -found.score * sign))
        centre[cells] = found.median
        between[row, known], within[row, known] = found.between, found.within
        needed = -stdtrit(freedom, false_discoveries / tests)
        typical = np.sqrt(found.between**2 + found.within**2)
        slack = float(ndtri(POWER)) * np.sqrt(1 + needed**2 / (2 * freedom))  # of the node, and of the spread itself
        seen = np.expm1(np.maximum(needed * typical, 1.96 * found.within) + slack * typical)
        visible[row, known] = np.maximum(seen, least)
    figures = (x - centre, lows - centre, highs - centre)
    return Screening(_deviations(figures, p, false_discoveries, least), visible, between, within, kinds)


@dataclass(frozen=True)
class _Compared:
    """The nodes of one class; shapes (nodes, metrics) and (metrics,)."""

    score: Floats
    median: Floats
    between: Floats
    within: Floats


def _compared(x: Floats, lows: Floats, highs: Floats) -> _Compared:
    median = np.nanmedian(x, axis=0)
    total = MAD_TO_SIGMA * np.nanmedian(np.abs(x - median), axis=0)
    within = np.nanmedian(highs - lows, axis=0) / (2 * 1.96)
    between = np.sqrt(np.maximum(0.0, total**2 - within**2))
    error = np.where(x > median, x - lows, highs - x) / 1.96  # of the side that looks towards the others
    floor = np.finfo(float).eps ** 0.5  # identical values: whoever differs at all stands out
    scale = np.maximum(np.sqrt(between**2 + error**2), np.maximum(total, floor))
    return _Compared((x - median) / scale, median, between, within)


def _deviations(figures: tuple[Floats, Floats, Floats], p: Floats, fdr: float, least: float) -> list[Deviation]:
    tested = np.argwhere(np.isfinite(p))
    flat = p[tested[:, 0], tested[:, 1]]
    if not flat.size or flat.min() > fdr:
        return []
    q = np.array(benjamini_hochberg(flat.tolist()))
    found = []
    for k in np.flatnonzero(q <= fdr):
        node, metric = (int(i) for i in tested[k])
        ratio, low, high = (float(np.exp(figure[node, metric])) for figure in figures)
        if abs(ratio - 1) >= least:
            found.append(Deviation(node, metric, ratio, low, high, float(flat[k]), float(q[k])))
    return sorted(found, key=lambda deviation: (deviation.p, -abs(np.log(deviation.ratio))))


def _checked(
    values: ArrayLike, low: ArrayLike | None, high: ArrayLike | None, worse: ArrayLike | None
) -> tuple[Floats, Floats, Floats, NDArray[np.int_]]:
    x = _logs(values, "values")
    if x.ndim != 2:
        raise ValueError(f"values of shape {x.shape} are not (nodes, metrics)")
    lows, highs = (x if bound is None else _logs(bound, name) for bound, name in ((low, "low"), (high, "high")))
    direction = np.zeros(x.shape[1], dtype=int) if worse is None else np.asarray(worse, dtype=int)
    if not x.shape == lows.shape == highs.shape or direction.shape != (x.shape[1],):
        raise ValueError(
            f"values {x.shape}, low {lows.shape}, high {highs.shape} and worse {direction.shape} do not fit each other"
        )
    lows, highs = np.where(np.isnan(lows), x, lows), np.where(np.isnan(highs), x, highs)
    if ((lows > x) | (highs < x)).any():
        raise ValueError("a value lies outside its interval")
    return x, lows, highs, direction


def _logs(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=float)
    bad = np.argwhere(np.isinf(array) | (array <= 0))
    if bad.size:
        where = ", ".join(str(index) for index in bad[0])
        raise ValueError(f"{name}[{where}] is {array[tuple(bad[0])]:g}: neither finite and above zero nor NaN")
    logs: Floats = np.log(array)
    return logs
