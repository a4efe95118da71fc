"""What a configuration would cost at the full size, from runs of others and of smaller sizes.

A time of HPL is t = a·N³ + b·N² + c·N, where a and b depend on the configuration. Its logarithm less 3·ln N is
ln a + (b/a)/N + …: an offset and a slope in 1/N, both a sum of what each knob does, of what pairs of them do, and of
what this configuration does by itself; and what it does at one size alone (how blocks fit the caches, say), of which no
other size tells. That is a Gaussian process with an additive kernel (Duvenaud, Nickisch &
Rasmussen, NIPS 2011; Rasmussen & Williams, Gaussian Processes for Machine Learning, sections 2.2, 2.7 and 5.4.1). So
runs at N/4 tell of N as far as they can, no configuration is extrapolated from its own noise alone, and those never run
are predicted, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wulf.search.space import Config, Knob, Space
from wulf.stats.samples import Floats

VAGUE = 100.0
"""Variance of the mean and of its slope, in squared logarithms: nothing is known of them beforehand."""

LENGTH = 0.35
"""Of ordered values on 0 … 1: neighbours of six values are alike to three quarters, the ends hardly at all."""

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
    slope
        Of what knobs do to the slope in 1/N, at the smallest size.
    noise, growth
        Of one run at the full size; and how much greater it is at the smallest.
    """

    main: float = 0.2
    pair: float = 0.07
    own: float = 0.02
    here: float = 0.01
    slope: float = 0.3
    noise: float = 0.02
    growth: float = 1.5


BOUNDS = {
    "main": (0.01, 3.0),
    "pair": (0.003, 1.0),
    "own": (0.002, 0.3),
    "here": (0.001, 0.3),
    "slope": (0.003, 1.0),
    "noise": (0.001, 0.5),
    "growth": (1.0, 8.0),
}


@dataclass(frozen=True, eq=False)
class Points:
    """Runs, or questions: which configuration, and how far from the full size.

    Attributes
    ----------
    at
        Index of each knob's value, shape (n, knobs).
    z
        (N / size - 1), divided by its greatest: 0 at the full size, 1 at the smallest.
    """

    at: NDArray[np.intp]
    z: Floats


class Surrogate:
    """The process, conditioned on runs.

    Parameters
    ----------
    sizes
        All sizes of the search, ascending.
    power
        Of the leading term: 3 for a factorisation; 0 where there is one size.
    """

    def __init__(self, space: Space, sizes: Sequence[float], power: float) -> None:
        self._space, self._sizes, self._power = space, tuple(sizes), power
        self._alike = [_correlation(knob) for knob in space.knobs if len(knob.values) > 1]
        self._columns = [i for i, knob in enumerate(space.knobs) if len(knob.values) > 1]
        self._places = [{repr(v): n for n, v in enumerate(space.knobs[i].values)} for i in self._columns]
        self.scales = Scales()
        self._points = self._ask([], [])
        self._weights = np.empty(0)
        self._factor = np.empty((0, 0))
        self._middle = 0.0

    def learn(
        self, configs: Sequence[Config], sizes: Sequence[float], costs: Sequence[float], *, tune: bool = True
    ) -> None:
        """Take these runs for all that is known; with `tune` the scales are chosen anew by their likelihood."""
        self._points = self._ask(configs, sizes)
        levels = np.log(np.asarray(costs, dtype=float)) - self._power * np.log(np.asarray(sizes, dtype=float))
        self._middle = float(np.median(levels)) if levels.size else 0.0
        y = levels - self._middle
        if not y.size:
            self._weights, self._factor = np.empty(0), np.empty((0, 0))
            return
        parts = self._parts(self._points, self._points)
        if tune and y.size > 4:
            self.scales = _likeliest(parts, self._points.z, y, self.scales)
        self._factor = _factor(parts, self._points.z, self.scales)
        self._weights = _solve(self._factor, y)

    def predict(self, configs: Sequence[Config], size: float) -> tuple[Floats, Floats]:
        """ln cost at this size, and its standard deviation without a run's noise; shape (configs,) each."""
        asked = self._ask(configs, [size] * len(configs))
        prior = self._variance(asked)
        offset = self._middle + self._power * np.log(size)
        if not self._weights.size:
            return np.full(len(configs), offset), np.sqrt(prior)
        cross = _joined(self._parts(asked, self._points), self.scales)
        explained = np.linalg.solve(self._factor, cross.T)
        left = np.sqrt(np.maximum(prior - (explained**2).sum(axis=0), 1e-12))
        return offset + cross @ self._weights, left

    def joint(self, configs: Sequence[Config], size: float) -> tuple[Floats, Floats]:
        """ln cost at this size, and its covariance, shape (configs, configs); what all have in common is left out."""
        asked = self._ask(configs, [size] * len(configs))
        within = _joined(self._parts(asked, asked), self.scales)
        offset = self._middle + self._power * np.log(size)
        if not self._weights.size:
            return np.full(len(configs), offset), within
        cross = _joined(self._parts(asked, self._points), self.scales)
        explained = np.linalg.solve(self._factor, cross.T)
        return offset + cross @ self._weights, within - explained.T @ explained

    def contrast(self, configs: Sequence[Config], signs: Sequence[float], size: float) -> tuple[float, float]:
        """Σ sign · ln cost, where the signs add up to zero, and its standard deviation."""
        weights = np.asarray(signs, dtype=float)
        mean, covariance = self.joint(configs, size)
        return float(weights @ mean), max(float(weights @ covariance @ weights), 1e-12) ** 0.5

    def _ask(self, configs: Sequence[Config], sizes: Sequence[float]) -> Points:
        at = [[place[repr(one[i])] for place, i in zip(self._places, self._columns, strict=True)] for one in configs]
        full, least = self._sizes[-1], self._sizes[0]
        widest = full / least - 1
        z = [(full / size - 1) / widest if widest else 0.0 for size in sizes]
        return Points(np.array(at, dtype=np.intp).reshape(len(configs), len(self._columns)), np.array(z))

    def _parts(self, a: Points, b: Points) -> list[Floats]:
        """Correlations by kind: mean, slope of the mean, main, pair, own, here, slope; shape (a, b) each."""
        each = [alike[np.ix_(a.at[:, k], b.at[:, k])] for k, alike in enumerate(self._alike)]
        total, squares = sum(each), sum(one**2 for one in each)
        count = len(each)
        pairs = count * (count - 1) / 2
        main = np.asarray(total) / count
        pair = (np.asarray(total) ** 2 - np.asarray(squares)) / (2 * pairs) if pairs else np.zeros_like(main)
        own = (a.at[:, None, :] == b.at[None, :, :]).all(axis=2).astype(float)
        z = np.outer(a.z, b.z)
        here = own * np.equal.outer(a.z, b.z)
        return [np.ones_like(main), z, main, pair, own, here, z * (main + 0.1 * own)]

    def _variance(self, asked: Points) -> Floats:
        s, z = self.scales, asked.z**2
        flat = VAGUE + s.main**2 + (s.pair**2 if len(self._columns) > 1 else 0.0) + s.own**2 + s.here**2
        variance: Floats = flat + z * (VAGUE + 1.1 * s.slope**2)
        return variance


def _correlation(knob: Knob) -> Floats:
    """How alike the effects of two values are, shape (values, values)."""
    places = knob.places
    if places is None:
        return np.eye(len(knob.values))
    distance = np.subtract.outer(np.array(places), np.array(places)) / LENGTH
    alike: Floats = np.exp(-(distance**2) / 2)
    return alike


def _joined(parts: Sequence[Floats], s: Scales) -> Floats:
    ones, z, main, pair, own, here, slope = parts
    joined: Floats = VAGUE * (ones + z) + s.main**2 * main + s.pair**2 * pair + s.slope**2 * slope
    return joined + s.own**2 * own + s.here**2 * here


def _factor(parts: Sequence[Floats], z: Floats, s: Scales) -> Floats:
    """The Cholesky factor of the covariance of runs, noise and all."""
    noise = (s.noise * (1 + (s.growth - 1) * z)) ** 2
    return np.asarray(np.linalg.cholesky(_joined(parts, s) + np.diag(noise)), dtype=np.float64)


def _solve(lower: Floats, y: Floats) -> Floats:
    from scipy.linalg import cho_solve

    solved: Floats = cho_solve((lower, True), y)
    return solved


def _evidence(parts: Sequence[Floats], z: Floats, y: Floats, s: Scales) -> float:
    """ln likelihood, less a weak pull to the scales of the beginning: few runs do not tell all of them."""
    from scipy.linalg import solve_triangular

    lower = _factor(parts, z, s)
    half = solve_triangular(lower, y, lower=True)
    pull = sum(np.log(getattr(s, name) / getattr(Scales(), name)) ** 2 for name in BOUNDS)
    return float(-half @ half / 2 - np.log(np.diag(lower)).sum() - pull / 8)


def _likeliest(parts: Sequence[Floats], z: Floats, y: Floats, start: Scales) -> Scales:
    """Scales by coordinate ascent over factors: deterministic, and near enough."""
    best, found = start, _evidence(parts, z, y, start)
    for _ in range(ROUNDS):
        before = found
        for name, (low, high) in BOUNDS.items():
            now = getattr(best, name)
            for factor in FACTORS:
                tried = replace(best, **{name: min(high, max(low, now * factor))})
                evidence = _evidence(parts, z, y, tried)
                if evidence > found:
                    best, found = tried, evidence
        if found - before < 0.1:
            break
    return best
