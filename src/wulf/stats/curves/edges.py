"""Cache edges: where the latency of a random chase leaves one plateau for the next, as the working set grows.

The median log latency of each size is made monotone (isotonic regression; Barlow, Bartholomew, Bremner & Brunk 1972),
since a larger working set can't be faster but by noise. A **rise** is a stretch over which that curve climbs by more
than `STEEP` an octave; a **plateau** is at least `PLATEAU` octaves without. How many there are is not assumed.

An edge has two figures, since the transition is a point on no machine (colouring of small pages, replacement that is
not LRU, hashed slices, neighbours in a shared cache): the size at which the plateau is *left*, where `LEFT` of the rise
is climbed, and the *half-rise*, where half of it is; both on log scales. Their intervals are of a bootstrap over the
replicates of each size, in which the edges are sought anew, widened to the sizes measured around them: between
neighbouring sizes a sweep knows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, log2

import numpy as np

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats, check_confidence, logs

STEEP = 0.3
"""Log latency an octave: a doubled working set costs 35 % more. Within the last cache, whose slices lie at different
distances, it costs 5 to 20 % more, and that is no edge."""

FLAT, FARTHEST = 0.12, 1.0
"""A rise ends where the curve climbs by less than this an octave, at most so many octaves from its steep part: misses
approach a plateau slowly."""

WINDOW = 0.5
"""Octaves over which the slope is taken."""

PLATEAU = 1.0
"""Octaves that have to be flat between two rises, so that they are two."""

LEAST_RISE = log(1.25)
"""Less of a step than the first level of a TLB makes (7 of 14 cycles) is taken for noise."""

LEFT = 0.1
"""Share of the rise at which the plateau is left: beyond noise, and before the rise is under way."""

WIDEST_RISE = 2.5
"""Octaves from where the plateau is left to where the same share of the rise is still to come, at most: what climbs for
longer is no transition between two plateaus."""

WIDEST_INTERVAL = 1.05
"""Octaves of an interval, at most: a step between two sizes an octave apart is located; a vaguer one is not."""

COLOURED = 1.5
"""With small pages the half-rise comes at 0.64 (latency × 30) to 0.8 (× 3) of the cache: Poisson, eight ways."""

LATE = 1.1
"""Replacement that is not LRU has to miss for a while until the latency shows it: at 1.01 to 1.03 of the cache."""

SUPPORT = 0.9
"""Share of the resamples in which the edge is one edge."""

RESAMPLES = 199
_FINE = 1 / 32
"""Octaves: the grid on which slopes are taken."""

LEAST_SIZES, LEAST_REPLICATES = 5, 3


@dataclass(frozen=True)
class Edge:
    """One transition.

    Attributes
    ----------
    left
        The size at which the plateau below is left, with its interval.
    half
        The size at which the latency is half way to the plateau above, on a log scale, with its interval.
    before, after
        The latency where the rise begins and where it ends.
    support
        The share of resamples that have this edge, as one.
    unresolved
        Why the figures are not to be relied on; None where they are.
    """

    left: Interval
    half: Interval
    before: float
    after: float
    support: float
    unresolved: str | None

    def holds(self, size: float, *, coloured: bool = False) -> bool:
        """Whether a cache of this size may make this edge: its plateau is left before it is full, or hardly later, and
        the half-rise comes after.

        Replacement that is not LRU keeps part of a working set that is larger than the cache. Small pages
        (`coloured`) fall on its colours by chance, so that even the half-rise may come before it is full.
        """
        return self.left.low / LATE <= size <= self.half.high * (COLOURED if coloured else 1.0)


@dataclass(frozen=True)
class Profile:
    """The curve of a chase, and its edges in order of size.

    Attributes
    ----------
    sizes, latency
        The monotone curve.
    edges
        Any number.
    """

    sizes: Floats
    latency: Floats
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class _Rise:
    """A stretch of the curve; positions in octaves (log₂ of the size), levels in logs of the latency."""

    start: float
    end: float
    left: float
    half: float
    late: float
    before: float
    after: float


def find(
    replicates: Mapping[float, Sequence[float]], *, random: np.random.Generator, confidence: float = 0.95
) -> Profile:
    """Edges of a random chase.

    Parameters
    ----------
    replicates
        Working set → latencies, one a replicate with memory of its own, all above zero. Sizes with fewer than three are
        left out.
    random
        Draws the resamples.
    confidence
        Of the intervals.

    Raises
    ------
    ValueError
        Fewer than five sizes with three replicates; a size or latency is not above zero, or not finite.
    """
    check_confidence(confidence)
    enough = {size: values for size, values in replicates.items() if len(values) >= LEAST_REPLICATES}
    if len(enough) < LEAST_SIZES:
        sizes_of = f"{len(enough)} of {len(replicates)} sizes have {LEAST_REPLICATES} replicates"
        raise ValueError(f"{sizes_of}; {LEAST_SIZES} such sizes are needed")
    sizes = np.array(sorted(enough), dtype=float)
    octaves = logs(sizes) / log(2)
    samples = [logs(enough[size]) for size in sizes]
    curve = _monotone(np.array([np.median(values) for values in samples]))
    drawn = [_rises(octaves, _monotone(medians)) for medians in _resampled(samples, random)]
    edges = tuple(_edge(rise, octaves, drawn, confidence) for rise in _rises(octaves, curve))
    return Profile(sizes, np.exp(curve), edges)


def _monotone(medians: Floats) -> Floats:
    from scipy.optimize import isotonic_regression  # half a second of imports, which most commands can do without

    fitted: Floats = isotonic_regression(medians).x
    return fitted


def _resampled(samples: Sequence[Floats], random: np.random.Generator) -> Floats:
    """Medians of resamples of each size, shape (RESAMPLES, sizes)."""
    columns = [
        np.median(values[random.integers(values.size, size=(RESAMPLES, values.size))], axis=1) for values in samples
    ]
    return np.stack(columns, axis=1)


def _rises(octaves: Floats, curve: Floats) -> list[_Rise]:
    """The rises of a monotone curve, those apart by less than a plateau as one."""
    steps = np.arange(octaves[0], octaves[-1] + _FINE / 2, _FINE)
    ahead = np.interp(steps + WINDOW / 2, octaves, curve)
    slopes = (ahead - np.interp(steps - WINDOW / 2, octaves, curve)) / WINDOW
    steep = slopes > STEEP
    turns = np.flatnonzero(np.diff(np.concatenate([[False], steep, [False]]).astype(int)))
    # A step is steep from half a window before it to half a window behind: what lies between two is that much longer.
    found: list[tuple[int, int]] = []
    for start, end in zip(turns[::2], turns[1::2] - 1, strict=True):
        if found and (start - found[-1][1]) * _FINE < PLATEAU - WINDOW:
            found[-1] = (found[-1][0], int(end))
        else:
            found.append((int(start), int(end)))
    rises = [_rise(octaves, curve, steps[start], steps[end]) for start, end in _out_to_flat(found, slopes)]
    return [rise for rise in rises if rise.after - rise.before >= LEAST_RISE]


def _out_to_flat(stretches: Sequence[tuple[int, int]], slopes: Floats) -> list[tuple[int, int]]:
    """Steep stretches with what climbs slowly at their ends; two share what lies between them."""
    flat, reach = slopes < FLAT, round(FARTHEST / _FINE)
    grown = []
    for k, (start, end) in enumerate(stretches):
        least = (stretches[k - 1][1] + start) // 2 if k else 0
        most = (end + stretches[k + 1][0]) // 2 if k + 1 < len(stretches) else slopes.size - 1
        low, high = max(least, start - reach), min(most, end + reach)
        below, above = np.flatnonzero(flat[low:start]), np.flatnonzero(flat[end + 1 : high + 1])
        grown.append((low + int(below[-1]) if below.size else low, end + 1 + int(above[0]) if above.size else high))
    return grown


def _rise(octaves: Floats, curve: Floats, start: float, end: float) -> _Rise:
    before, after = (float(level) for level in np.interp([start, end], octaves, curve))
    left, half, late = (_crossing(octaves, curve, before + share * (after - before)) for share in (LEFT, 0.5, 1 - LEFT))
    return _Rise(start, end, left, half, late, before, after)


def _crossing(octaves: Floats, curve: Floats, level: float) -> float:
    """Where the curve first exceeds the level; between two sizes, on the line through them."""
    above = int(np.searchsorted(curve, level, side="right"))
    if above in (0, curve.size):
        return float(octaves[min(above, curve.size - 1)])
    share = (level - curve[above - 1]) / (curve[above] - curve[above - 1])
    return float(octaves[above - 1] + share * (octaves[above] - octaves[above - 1]))


def _alike(rise: _Rise, drawn: Sequence[_Rise]) -> _Rise | None:
    """The one rise of a resample that overlaps with this one; None where none does, or several."""
    over = [other for other in drawn if other.left < rise.late and other.late > rise.left]
    return over[0] if len(over) == 1 else None


def _edge(rise: _Rise, octaves: Floats, drawn: Sequence[Sequence[_Rise]], confidence: float) -> Edge:
    others = [other for rises in drawn if (other := _alike(rise, rises)) is not None]
    support = len(others) / len(drawn)
    left = _interval(rise.left, [other.left for other in others], octaves, confidence)
    half = _interval(rise.half, [other.half for other in others], octaves, confidence)
    why = _unresolved(rise, left, half, octaves, support)
    return Edge(left, half, exp(rise.before), exp(rise.after), support, why)


def _interval(value: float, drawn: Sequence[float], octaves: Floats, confidence: float) -> Interval:
    """A size with its interval, from octaves; out to the sizes measured around it."""
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile([*drawn, value], tails)
    slack = 1e-9  # a crossing right at a measured size must not look beyond it for rounding
    below = octaves[max(int(np.searchsorted(octaves, min(low, value) + slack, side="right")) - 1, 0)]
    above = octaves[min(int(np.searchsorted(octaves, max(high, value) - slack, side="left")), octaves.size - 1)]
    return Interval(2**value, float(2**below), float(2**above))


def _unresolved(rise: _Rise, left: Interval, half: Interval, octaves: Floats, support: float) -> str | None:
    """Why an edge is none to rely on, the gravest reason first."""
    if rise.end >= octaves[-1] - _FINE:
        return "the latency still rises at the largest working set: measure larger ones"
    if rise.start <= octaves[0] + _FINE:
        return "the latency rises from the smallest working set on: measure smaller ones"
    if rise.late - rise.left > WIDEST_RISE:
        return f"the latency rises over {rise.late - rise.left:.1f} octaves without a plateau: several edges, or none"
    if support < SUPPORT:
        return f"one edge in {support:.0%} of resamples only: the plateaus are not told apart from noise"
    for what, interval in (("plateau's end", left), ("half-rise", half)):
        octaves_wide = log2(interval.high / interval.low) if interval.low > 0 else inf
        if octaves_wide > WIDEST_INTERVAL:
            return f"the interval of the {what} is {octaves_wide:.1f} octaves wide: more replicates, or sizes between"
    return None
