"""Which nodes of a cluster deviate from their like, in what, and how small a deviation could have been seen.

Nodes are compared within their hardware class, metric by metric. A node is accused when two things hold, which guard
against different errors:

- **It is odd**: its distance from the median of the others is at least `LEAST_SPREADS` of their spread (from their
  median absolute deviation, never less than a figure's own error or a clock's tick), or more where of so many figures
  one would lie further away by chance; and its own error does not take any of so many so far (Student's t, Bonferroni).
  So where nodes differ anyway, or where measuring is worse than it seems, no one is picked out.
- **It matters, surely**: it is worse by more than a practical margin, and its error does not explain that. Each
  accusation has a chance `p` of being false, in that the node is within the margin in truth; the clearest are taken as
  long as the sum of their p stays below `FALSE_ACCUSATIONS`. The sum is the number of false accusations to be expected,
  over all nodes and metrics of a cluster, and bounds the chance that there is any.

No tail is estimated: of 10,000 nodes with heavy-tailed spread some lie ten spreads away, and a score by spread alone
accuses them. With the margin they are named only if they truly are so far off, which depends on the errors of measuring
alone. These are known from each node's replicates (`wulf.stats.cluster.levelling`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from wulf.stats.comparison import POWER
from wulf.stats.diagnostics import MAD_TO_SIGMA, robust_sigma
from wulf.stats.samples import Floats

MARGIN = 0.03
"""Deviations up to this hold nobody up."""

FALSE_ACCUSATIONS = 0.025
"""To be expected in a cluster. Half of the promised 5 %: where many nodes lie just within the margin and few beyond it,
those that seem to be just beyond are more often of the former."""

LEAST_SPREADS = 4.0
"""Nearer than that to the others, in robust standard deviations of theirs, nobody is odd."""

LEAST_NODES = 4
"""In a class of fewer, nobody can say which one is odd."""

_DRAWS, _MOST_DRAWN, _SEED = 2000, 256, 21
_LEAST_SCALE = np.finfo(float).eps ** 0.5


@dataclass(frozen=True)
class Deviation:
    """A node that deviates in a metric.

    Attributes
    ----------
    node, metric
        Indices into the values.
    ratio, low, high
        Its figure by the median of the others of its class, and the 95 % interval.
    p
        The chance that it is within the margin in truth.
    """

    node: int
    metric: int
    ratio: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Screening:
    """All nodes and metrics of a cluster.

    Attributes
    ----------
    deviations
        The clearest first.
    between, within
        Shape (classes, metrics): relative standard deviations, between the nodes' true figures, and of measuring one;
        NaN where the class has too few nodes.
    classes
        The names of the rows of those.
    sizes
        Nodes that have a figure, same shape.
    resolution
        By metric.
    margin
        Beyond which nodes were accused.
    """

    deviations: list[Deviation]
    between: Floats
    within: Floats
    classes: list[str]
    sizes: NDArray[np.int_]
    resolution: Floats
    margin: float

    @property
    def visible(self) -> Floats:
        """Shape (classes, metrics): the least relative deviation of one node that nine of ten surveys would find."""
        found = np.full(self.between.shape, np.nan)
        ticks = np.broadcast_to(self.resolution, found.shape)
        for size in np.unique(self.sizes[np.isfinite(self.between)]):
            at = (self.sizes == size) & np.isfinite(self.between)
            found[at] = visible_from(
                int(size),
                self.between[at],
                self.within[at],
                resolution=ticks[at],
                margin=self.margin,
                figures=int(self.sizes.sum()),
            )
        return found


def screen(
    values: ArrayLike,
    *,
    errors: ArrayLike | None = None,
    freedom: ArrayLike | None = None,
    resolution: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
    worse: ArrayLike | None = None,
    margin: float = MARGIN,
) -> Screening:
    """Find the nodes that deviate, by the rule of this module's docstring, on logarithms: a deviation is a ratio.

    Parameters
    ----------
    values
        Shape (nodes, metrics), all above zero; NaN where there is none.
    errors
        Each value's relative standard error, same shape; None or NaN: not known, and taken to be the nodes' spread.
    freedom
        Degrees of freedom of the errors, same shape; None: they are exact.
    resolution
        Per metric: relative step below which values can't be told apart (a clock's tick); None: 0.
    classes
        Hardware class of each node; None: all alike.
    worse
        Per metric: +1 where higher is worse (times), -1 where lower is (rates), 0 where both are odd. None: all 0.
    margin
        Relative deviations up to this are never reported.

    Raises
    ------
    ValueError
        A value is infinite, zero or negative; shapes do not fit.
    """
    x = _logs(values)
    nodes, metrics = x.shape
    names = list(classes) if classes is not None else ["all"] * nodes
    if len(names) != nodes:
        raise ValueError(f"{len(names)} classes for {nodes} nodes")
    error, degrees = _like(x, errors, np.nan, "errors"), _like(x, freedom, np.inf, "freedom")
    ticks, direction = _each(metrics, resolution, "resolution"), _each(metrics, worse, "worse")
    kinds = sorted(set(names))
    p, ratio, half = (np.full(x.shape, np.nan) for _ in range(3))
    between, within = (np.full((len(kinds), metrics), np.nan) for _ in range(2))
    sizes = np.zeros(between.shape, dtype=int)
    members, figures = np.array(names), int(np.isfinite(x).sum())
    for row, kind in enumerate(kinds):
        of_kind = np.flatnonzero(members == kind)
        for metric in range(metrics):
            own = of_kind[np.isfinite(x[of_kind, metric])]
            sizes[row, metric] = own.size
            if own.size < LEAST_NODES:
                continue
            found = _compared(x[own, metric], error[own, metric], degrees[own, metric], ticks[metric])
            p[own, metric] = found.chances(direction[metric], margin, figures)
            ratio[own, metric], half[own, metric] = found.distances, found.half
            between[row, metric], within[row, metric] = found.between, found.within
    return Screening(_accused(p, ratio, half), between, within, kinds, sizes, ticks, margin)


def least_spreads(figures: int) -> float:
    """How many spreads away a node has to be to be odd, of so many figures of all nodes and metrics (Bonferroni)."""
    return max(LEAST_SPREADS, float(-ndtri(FALSE_ACCUSATIONS / max(1, figures))))


def visible_from(
    nodes: int,
    between: ArrayLike,
    within: ArrayLike,
    *,
    resolution: ArrayLike = 0.0,
    margin: float = MARGIN,
    figures: int = 0,
) -> Floats:
    """The least deviation of one of so many like nodes that nine of ten surveys would find.

    By the rule itself, over drawn medians and spreads of the other nodes (normal), since those of a few vary much.

    Parameters
    ----------
    between
        Relative standard deviation between the nodes' true figures.
    within
        Relative standard error of each figure.
    resolution, margin
        As for `screen`.
    figures
        Of all nodes and metrics that are judged together; 0: one of each node.

    Returns
    -------
    array
        Of the shape of the arguments.
    """
    spread, error, tick = (a[..., None] for a in np.broadcast_arrays(*map(_floats, (between, within, resolution))))
    medians, spreads = _drawn(nodes - 1)
    total = np.maximum(np.hypot(spread, error), _LEAST_SCALE)
    scales = np.maximum(total * spreads, np.maximum(error, tick))
    sure = np.log1p(margin) + tick + float(-ndtri(FALSE_ACCUSATIONS)) * _joint(error, error, nodes - 1)
    needed = np.maximum(least_spreads(figures or nodes) * scales, sure) + total * medians
    low, high = np.zeros(total.shape), needed.max(axis=-1, keepdims=True) + 10 * total
    for _ in range(30):
        middle = (low + high) / 2
        enough = ndtr((middle - needed) / total).mean(axis=-1, keepdims=True) >= POWER
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found: Floats = np.expm1(high[..., 0])
    return found


@dataclass(frozen=True)
class _Compared:
    """The nodes of one class in one metric; shape (nodes,) each."""

    distances: Floats
    scales: Floats
    errors: Floats
    freedom: Floats
    tick: float
    between: float
    within: float

    @property
    def half(self) -> Floats:
        """Half of the 95 % interval."""
        found: Floats = stdtrit(self.freedom, 0.975) * self.errors + self.tick
        return found

    def chances(self, worse: float, margin: float, figures: int) -> Floats:
        """Of being within the margin in truth; 1 for who is not odd among so many figures."""
        towards = self.distances * worse if worse else np.abs(self.distances)
        beyond = towards - np.log1p(margin) - self.tick
        errors = -stdtrit(self.freedom, FALSE_ACCUSATIONS / figures) * self.errors
        odd = towards >= np.maximum(least_spreads(figures) * self.scales, errors)
        found: Floats = np.where(odd, stdtr(self.freedom, -beyond / self.errors), 1.0)
        return found


def _compared(x: Floats, errors: Floats, freedom: Floats, tick: float) -> _Compared:
    medians, deviations = without_own(x)
    spreads = MAD_TO_SIGMA * deviations / _bias(x.size - 1)
    total = robust_sigma(x) / _bias(x.size)
    known = errors[np.isfinite(errors)]
    within = float(np.median(known)) if known.size else total
    own = np.maximum(np.where(np.isfinite(errors), errors, np.maximum(spreads, within)), _LEAST_SCALE)
    scales = np.maximum(spreads, max(within, tick, _LEAST_SCALE))
    between = float(np.sqrt(max(0.0, total**2 - within**2)))
    joint = _joint(own, within, x.size - 1)
    return _Compared(x - medians, scales, joint, np.maximum(freedom, 1.0), tick, between, within)


def _joint(own: ArrayLike, within: ArrayLike, others: int) -> Floats:
    """The error of a figure's distance from the median of so many others."""
    medians, _ = _drawn(others)
    found: Floats = np.sqrt(_floats(own) ** 2 + medians.var() * _floats(within) ** 2)
    return found


def without_own(x: Floats) -> tuple[Floats, Floats]:
    """For each value the median of the others, and their median absolute deviation from it.

    A value that is taken out moves a median by one place at most, to one of three: so it costs a few sorts.

    Parameters
    ----------
    x
        Shape (n,), finite, at least two.
    """
    medians = _medians_without_own(x)
    deviations = np.empty_like(x)
    for median in np.unique(medians):
        own = medians == median
        deviations[own] = _medians_without_own(np.abs(x - median))[own]
    return medians, deviations


def _medians_without_own(x: Floats) -> Floats:
    ordered, half = np.sort(x), x.size // 2
    if x.size % 2 == 0:
        others: Floats = np.where(x < ordered[half], ordered[half], ordered[half - 1])
        return others
    below, middle, above = ordered[half - 1], ordered[half], ordered[half + 1]
    others = np.where(x < middle, middle + above, np.where(x > middle, below + middle, below + above))
    return others / 2


@cache
def _drawn(n: int) -> tuple[Floats, Floats]:
    """Medians and robust standard deviations of n normal values, as they scatter; the latter without bias.

    Of many values those of fewer, drawn together by the root of their number.
    """
    few = min(n, _MOST_DRAWN)
    x = np.random.default_rng([_SEED, few]).normal(size=(_DRAWS, few))
    medians = np.median(x, axis=1)
    spreads = MAD_TO_SIGMA * np.median(np.abs(x - medians[:, None]), axis=1)
    nearer = (few / n) ** 0.5
    return medians * nearer, 1 + (spreads / spreads.mean() - 1) * nearer


@cache
def _bias(n: int) -> float:
    """By how much the median absolute deviation of n normal values falls short, on average."""
    if n > _MOST_DRAWN:
        return 1.0
    x = np.random.default_rng([_SEED, n]).normal(size=(_DRAWS, n))
    deviations = np.abs(x - np.median(x, axis=1, keepdims=True))
    return MAD_TO_SIGMA * float(np.median(deviations, axis=1).mean())


def _accused(p: Floats, ratio: Floats, half: Floats) -> list[Deviation]:
    """Those that are clear, as long as the number of false ones to be expected stays low."""
    nodes, metrics = np.nonzero(p <= FALSE_ACCUSATIONS)
    order = np.lexsort((-np.abs(ratio[nodes, metrics]), p[nodes, metrics]))
    sums = np.cumsum(p[nodes[order], metrics[order]])
    found = []
    for k in order[: int(np.searchsorted(sums, FALSE_ACCUSATIONS, side="right"))]:
        at = (nodes[k], metrics[k])
        low, value, high = (float(np.exp(ratio[at] + side * half[at])) for side in (-1, 0, 1))
        found.append(Deviation(int(at[0]), int(at[1]), value, low, high, float(p[at])))
    return found


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=float)


def _like(x: Floats, values: ArrayLike | None, missing: float, name: str) -> Floats:
    array = np.full(x.shape, missing) if values is None else _floats(values)
    if array.shape != x.shape:
        raise ValueError(f"{name} {array.shape} do not fit values {x.shape}")
    return np.where(np.isnan(array), missing, array)


def _each(metrics: int, values: ArrayLike | None, name: str) -> Floats:
    array = np.zeros(metrics) if values is None else _floats(values)
    if array.shape != (metrics,):
        raise ValueError(f"{name} {array.shape} does not fit {metrics} metrics")
    return array


def _logs(values: ArrayLike) -> Floats:
    array = _floats(values)
    if array.ndim != 2:
        raise ValueError(f"values of shape {array.shape} are not (nodes, metrics)")
    bad: NDArray[np.intp] = np.argwhere(np.isinf(array) | (array <= 0))
    if bad.size:
        where = ", ".join(str(index) for index in bad[0])
        raise ValueError(f"values[{where}] is {array[tuple(bad[0])]:g}: neither finite and above zero nor NaN")
    logs: Floats = np.log(array)
    return logs
