"""How alike the costs of two runs are: of equal or other configurations, at equal or other sizes.

The logarithm of a time, less power · ln N, is a sum of what each knob does and what pairs of knobs do: everywhere
(`main`, `pair`), in proportion to 1/N (`slope`), and at one size alone (`bend`: which blocks fit the caches depends on
N); and of what a configuration does by itself, everywhere (`own`) and at one size (`here`). Additive kernels: Duvenaud,
Nickisch & Rasmussen, NIPS 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wulf.search.space import Knob
from wulf.stats.samples import Floats

VAGUE = 100.0
"""Variance of the mean and of its slope, in squared logarithms: nothing is known of them beforehand."""

LENGTH = 0.35
"""Of ordered values on 0 … 1: neighbours of six values are alike to three quarters, the ends hardly at all."""

FREEDOM = 4.0
"""Degrees of freedom of a run's noise, Student's t: runs of real machines have more stragglers than Gauss would."""

WEIGHINGS = 5
"""Of runs by how far they are from what is predicted: the fifth changes nothing that matters."""

ROUNDS = 3
"""Of the search for scales, coordinate by coordinate: they are known to a factor, and need no more."""

FACTORS = (0.4, 0.7, 1.4, 2.5)


@dataclass(frozen=True)
class Scales:
    """Standard deviations, in logarithms.

    Attributes
    ----------
    main, pair, own
        Of what single knobs do, of pairs, and of a configuration by itself.
    here
        Of a configuration at one size alone.
    slope, bend
        Of what knobs do to the slope in 1/N, at the smallest size; and at one size alone.
    mixed
        What pairs do to slope and bend, against what single knobs do.
    noise, growth
        Of one run at the full size; and how much greater it is at the smallest.
    """

    main: float = 0.2
    pair: float = 0.07
    own: float = 0.02
    here: float = 0.01
    slope: float = 0.3
    bend: float = 0.1
    mixed: float = 0.5
    noise: float = 0.02
    growth: float = 1.5


BOUNDS = {
    "main": (0.01, 3.0),
    "pair": (0.003, 1.0),
    "own": (0.002, 0.3),
    "here": (0.001, 0.3),
    "slope": (0.003, 1.0),
    "bend": (0.001, 1.0),
    "mixed": (0.03, 3.0),
    "noise": (0.001, 0.5),
    "growth": (1.0, 8.0),
}


class Alike(NamedTuple):
    """What two lists of runs have in common, shape (a, b) each.

    Attributes
    ----------
    main, pair
        How alike the effects of their knobs' values are, and of pairs of them: 1 where all are the same.
    own, here
        1 where the configuration is the same, and where the size is.
    z
        The product of how far they are from the full size.
    """

    main: Floats
    pair: Floats
    own: Floats
    here: Floats
    z: Floats


def correlation(knob: Knob) -> Floats:
    """How alike the effects of two values are, shape (values, values)."""
    places = knob.places
    if places is None:
        return np.eye(len(knob.values))
    distance = np.subtract.outer(np.array(places), np.array(places)) / LENGTH
    alike: Floats = np.exp(-(distance**2) / 2)
    return alike


def covariance(alike: Alike, s: Scales) -> Floats:
    """Of the logarithms of costs, without a run's noise. Shape (a, b), as `alike` has."""
    mixed = alike.main + s.mixed**2 * alike.pair
    everywhere = VAGUE + s.main**2 * alike.main + s.pair**2 * alike.pair + s.own**2 * alike.own
    slope = VAGUE + s.slope**2 * mixed + s.own**2 * alike.own
    alone = s.bend**2 * mixed + s.here**2 * alike.own
    found: Floats = everywhere + alike.z * slope + alike.here * alone
    return found


def itself(z: Floats, knobs: int) -> Alike:
    """What runs have in common each with itself, shape (runs,): of it `covariance` makes variances."""
    ones = np.ones_like(z)
    return Alike(main=ones, pair=ones if knobs > 1 else 0 * ones, own=ones, here=ones, z=z**2)


def sums(each: Sequence[Floats]) -> tuple[Floats, Floats]:
    """`main` and `pair` from how alike each knob's values are. Each of shape (a, b), and so are the results."""
    main: Floats = np.mean(each, axis=0)
    if len(each) == 1:
        return main, np.zeros_like(main)
    squares = np.mean(np.square(each), axis=0) / len(each)
    pair: Floats = (main**2 - squares) / (1 - 1 / len(each))
    return main, pair


def noise_variance(z: Floats, s: Scales) -> Floats:
    """Of one run of each size. Shape (runs,)."""
    found: Floats = (s.noise * (1 + (s.growth - 1) * z)) ** 2
    return found


def conditioned(alike: Alike, z: Floats, y: Floats, s: Scales) -> tuple[Floats, Floats]:
    """The Cholesky factor L of the covariance of runs, noise and all, and (L · Lᵀ)⁻¹ · y.

    A run that is far from what the others predict is believed less (Student's t by weights: Lange, Little & Taylor,
    JASA 84, 1989).

    Shapes (runs, runs) and (runs,); y is ln cost.
    """
    from scipy.linalg import cho_solve

    known, noise = covariance(alike, s), noise_variance(z, s)
    weights = np.ones_like(y)
    for _ in range(WEIGHINGS):
        lower = np.linalg.cholesky(known + np.diag(noise / weights))
        solved: Floats = cho_solve((lower, True), y)
        left = noise / weights * solved  # what is predicted for a run, taken from what it cost
        weights = (FREEDOM + 1) / (FREEDOM + left**2 / noise)
    return np.asarray(lower, dtype=np.float64), solved


def likeliest(alike: Alike, z: Floats, y: Floats, start: Scales) -> Scales:
    """Scales by coordinate ascent over factors: deterministic, and near enough.

    Their likelihood is Gauss's: a straggler makes `noise` greater than it is of the other runs.

    z and y have shape (runs,); y is ln cost.
    """
    best, found = start, _evidence(alike, z, y, start)
    for _ in range(ROUNDS):
        before = found
        for name, (low, high) in BOUNDS.items():
            now = getattr(best, name)
            for factor in FACTORS:
                tried = replace(best, **{name: min(high, max(low, now * factor))})
                evidence = _evidence(alike, z, y, tried)
                if evidence > found:
                    best, found = tried, evidence
        if found - before < 0.1:
            break
    return best


def _evidence(alike: Alike, z: Floats, y: Floats, s: Scales) -> float:
    """ln likelihood, less a weak pull to the scales of the beginning: few runs do not tell all of them."""
    from scipy.linalg import solve_triangular

    lower = np.linalg.cholesky(covariance(alike, s) + np.diag(noise_variance(z, s)))
    half = solve_triangular(lower, y, lower=True)
    pull = sum(np.log(getattr(s, name) / getattr(Scales(), name)) ** 2 for name in BOUNDS)
    return float(-half @ half / 2 - np.log(np.diag(lower)).sum() - pull / 8)
