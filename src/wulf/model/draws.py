"""Figures that carry their uncertainty as draws, so that what is computed from several has an interval, too.

A measured mean is drawn from Student's t around it (with a flat prior the posterior of a normal mean); what is computed
from such figures is computed for every draw (Monte Carlo propagation of distributions, JCGM 101:2008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

DRAWS = 3999


@dataclass(frozen=True)
class Uncertain:
    """A figure, and what else it could be; draws of shape (DRAWS,)."""

    value: float
    draws: Floats

    def interval(self, confidence: float = 0.95) -> Interval:
        """The central quantiles of its draws."""
        low, high = np.quantile(self.draws, [(1 - confidence) / 2, (1 + confidence) / 2], method="nearest")
        return Interval(self.value, min(float(low), self.value), max(float(high), self.value))


def known(value: float) -> Uncertain:
    """A figure without uncertainty."""
    return Uncertain(value, np.full(DRAWS, value))


def mean_of(samples: Sequence[float], random: np.random.Generator) -> Uncertain:
    """The mean of independent samples.

    Raises
    ------
    ValueError
        There are fewer than two: nothing says how far off their mean is.
    """
    values = np.asarray(samples, dtype=float)
    if values.size < 2:
        raise ValueError(f"a mean's interval needs two samples, and got {values.size}")
    error = float(values.std(ddof=1)) / values.size**0.5
    mean = float(values.mean())
    return Uncertain(mean, mean + error * random.standard_t(values.size - 1, DRAWS))


def combine(function: Callable[..., Floats], *parts: Uncertain) -> Uncertain:
    """`function`, which takes arrays, of figures that are independent or share their draws.

    Draws and result have shape (DRAWS,).
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # whoever shows it refuses what is not finite
        value = float(function(*(np.asarray(part.value) for part in parts)))
        return Uncertain(value, np.asarray(function(*(part.draws for part in parts)), dtype=float))
