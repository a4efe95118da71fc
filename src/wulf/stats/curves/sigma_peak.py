"""Brown's hypothesis: the scatter of a sweep over the working set peaks where a cache ends.

Brown's cpu-rate runs a loop a hundred times at each length and prints mean and σ; at an L2 edge of his σ had a peak,
taken for the edge itself: there, luck decides from run to run what stays in the cache. This module says where σ(size)
peaks, so that it can be held against the edges of a chase; docs/how-it-works/cache-edges.md has the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from wulf.stats.curves.edges import LEAST_REPLICATES, LEAST_SIZES, SUPPORT, Edge
from wulf.stats.curves.piecewise import resampled_medians
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats, check_confidence, logs

LEAST_HEIGHT = log(2)
"""Of a peak over the higher of the valleys beside it, in logs: σ of a hundred runs is itself uncertain by 7 %, and by
far more where single runs are interrupted."""

REACH = 0.5
"""Octaves within which a resample's peak is the same peak."""


@dataclass(frozen=True)
class Peak:
    """One peak of the relative scatter.

    Attributes
    ----------
    size
        Working set at the peak, with the interval of its place, out to the sizes beside it.
    scatter
        σ over mean at the peak.
    height
        How many times the higher of the valleys beside it.
    support
        The share of resamples that have a peak there.
    """

    size: Interval
    scatter: float
    height: float
    support: float

    @property
    def resolved(self) -> bool:
        """Whether the peak is more than one odd replicate."""
        return self.support >= SUPPORT


def find_sigma_peaks(
    scatter: Mapping[float, Sequence[float]], *, random: np.random.Generator, confidence: float = 0.95
) -> tuple[Peak, ...]:
    """Peaks of σ(size), the highest first.

    Parameters
    ----------
    scatter
        Working set → σ over mean of the runs, one a replicate, all above zero. Sizes with fewer than three are left
        out.
    random
        Draws the resamples.
    confidence
        Of the places' intervals.

    Raises
    ------
    ValueError
        Fewer than five sizes with three replicates; a value that is not above zero, or not finite.
    """
    check_confidence(confidence)
    enough = {size: values for size, values in scatter.items() if len(values) >= LEAST_REPLICATES}
    if len(enough) < LEAST_SIZES:
        raise ValueError(
            f"{len(enough)} of {len(scatter)} sizes have {LEAST_REPLICATES} replicates: too few for a peak"
        )
    sizes = np.array(sorted(enough), dtype=float)
    octaves, samples = logs(sizes) / log(2), [logs(enough[size]) for size in sizes]
    medians = np.array([np.median(values) for values in samples])
    drawn = [octaves[_peaks(each)[0]] for each in resampled_medians(samples, random)]
    found = []
    for at, height in zip(*_peaks(medians), strict=True):
        places = _places(octaves[at], drawn)
        place = _interval(octaves, octaves[at], places, confidence)
        found.append(Peak(place, exp(float(medians[at])), exp(float(height)), len(places) / len(drawn)))
    return tuple(sorted(found, key=lambda peak: -peak.height))


def _peaks(curve: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Where the curve has peaks, and their heights in logs. Its ends are none: they have one side only."""
    from scipy.signal import find_peaks  # a second of imports, which most commands can do without

    at, about = find_peaks(curve, prominence=LEAST_HEIGHT)
    return at, about["prominences"]


def _places(at: float, drawn: Sequence[Floats]) -> list[float]:
    """Of every resample that has a peak within reach, where it is."""
    near = [peaks[np.abs(peaks - at) <= REACH] for peaks in drawn]
    return [float(peaks[np.argmin(np.abs(peaks - at))]) for peaks in near if peaks.size]


def _interval(octaves: Floats, at: float, places: Sequence[float], confidence: float) -> Interval:
    """A peak's place, out to the sizes beside it: the true peak may lie anywhere up to them."""
    low, high = np.quantile([*places, at], [(1 - confidence) / 2, (1 + confidence) / 2])
    below = octaves[max(int(np.searchsorted(octaves, low, side="right")) - 2, 0)]
    above = octaves[min(int(np.searchsorted(octaves, high, side="left")) + 1, octaves.size - 1)]
    return Interval(float(2**at), float(2**below), float(2**above))


def marks(peak: Peak, edge: Edge) -> bool:
    """Whether the peak may stand for the edge: its place overlaps with what lies between edge and half-rise."""
    return peak.size.low <= edge.half.high and peak.size.high >= edge.left.low
