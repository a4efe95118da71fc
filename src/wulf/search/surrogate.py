"""What a configuration would cost at the full size, from runs of others and of smaller sizes.

A time of HPL is t = a·N³ + b·N² + c·N, where a and b depend on the configuration. Its logarithm less 3·ln N is
ln a + (b/a)/N + …: an offset and a slope in 1/N, both a sum of what each knob does, of what pairs of them do, and of
what this configuration does by itself; and what they do at one size alone, of which no other size tells
(`wulf.search.kernel`). That is a Gaussian process (Rasmussen & Williams, Gaussian Processes for Machine Learning,
sections 2.2, 2.7 and 5.4.1). So runs at N/4 tell of N as far as they can, no configuration is extrapolated from its own
noise alone, and those never run are predicted, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wulf.search.kernel import Alike, Scales, conditioned, correlation, covariance, itself, likeliest, sums
from wulf.search.space import Config, Space
from wulf.stats.samples import Floats


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
        self._sizes, self._power = tuple(sizes), power
        self._values = [correlation(knob) for knob in space.knobs if len(knob.values) > 1]
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
        alike = self._alike(self._points, self._points)
        if tune and y.size > 4:
            self.scales = likeliest(alike, self._points.z, y, self.scales)
        self._factor, self._weights = conditioned(alike, self._points.z, y, self.scales)

    def predict(self, configs: Sequence[Config], size: float) -> tuple[Floats, Floats]:
        """ln cost at this size, and its standard deviation without a run's noise; shape (configs,) each."""
        asked = self._ask(configs, [size] * len(configs))
        prior = covariance(itself(asked.z, len(self._columns)), self.scales)
        offset = self._middle + self._power * np.log(size)
        if not self._weights.size:
            return np.full(len(configs), offset), np.sqrt(prior)
        cross = covariance(self._alike(asked, self._points), self.scales)
        explained = np.linalg.solve(self._factor, cross.T)
        left = np.sqrt(np.maximum(prior - (explained**2).sum(axis=0), 1e-12))
        return offset + cross @ self._weights, left

    def joint(self, configs: Sequence[Config], size: float) -> tuple[Floats, Floats]:
        """ln cost at this size, and its covariance, shape (configs, configs); what all have in common is left out."""
        asked = self._ask(configs, [size] * len(configs))
        within = covariance(self._alike(asked, asked), self.scales)
        offset = self._middle + self._power * np.log(size)
        if not self._weights.size:
            return np.full(len(configs), offset), within
        cross = covariance(self._alike(asked, self._points), self.scales)
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

    def _alike(self, a: Points, b: Points) -> Alike:
        each = [values[np.ix_(a.at[:, k], b.at[:, k])] for k, values in enumerate(self._values)]
        main, pair = sums(each)
        own = (a.at[:, None, :] == b.at[None, :, :]).all(axis=2).astype(float)
        return Alike(main, pair, own, here=np.equal.outer(a.z, b.z).astype(float), z=np.outer(a.z, b.z))
