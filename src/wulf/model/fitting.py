"""One form fitted to times over workers: parameters, predictions and the peak, with intervals.

Weighted non-negative least squares; the weights are the runs' relative spread at the fitted times. Intervals are the
quantiles of a bootstrap of the runs' relative errors (where runs were not repeated, of normal ones as wide as the fit's
residuals), as wide as Student's t asks, around the solution that may be negative, cut at zero: around the bounded one,
a parameter at its bound would have an interval too narrow (Andrews, Inconsistency of the bootstrap, Econometrica 68,
2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

import numpy as np

from wulf.model.forms import Form
from wulf.model.solving import nonnegative, unbounded
from wulf.model.times import LEAST_SPREAD, Noise, Times
from wulf.stats.piecewise import Interval
from wulf.stats.samples import Floats, check_confidence

DRAWS = 1999

REWEIGHTS = 3

MISFIT_LEVEL = 0.01
"""A form whose means miss the curve by more than noise does in one of so many: it does not describe the data."""


class TooFewPointsError(ValueError):
    """A form has too many parameters for the numbers of workers."""


@dataclass(frozen=True)
class Peak:
    """Where time is least.

    Attributes
    ----------
    workers
        N*; infinite where the form has no peak.
    speedup
        S(N*), or its limit.
    """

    workers: Interval
    speedup: Interval


@dataclass(frozen=True)
class Fit:
    """A form with its parameters.

    Attributes
    ----------
    form, times
        What was fitted to what.
    theta
        The parameters, none negative, in seconds; shape (parts,).
    draws
        The parameters of the bootstrap, which may be negative; shape (draws, parts).
    noise
        The noise that was drawn.
    misfit
        The chance that noise alone misses the curve as much as the means do; None without repeated runs.
    widened
        By how much the intervals were widened, as the means miss the curve by more than noise.
    serial
        The serial program's seconds, and its draws; None where there was no serial run.
    """

    form: Form
    times: Times
    theta: Floats
    draws: Floats
    noise: Noise
    misfit: float | None
    widened: float
    serial: tuple[float, Floats] | None
    confidence: float

    def at(self, workers: float) -> float:
        """T(N) in seconds."""
        return float(self.form.columns(np.array([workers]))[0] @ self.theta)

    def time(self, workers: float) -> Interval:
        """T(N) with its interval: of the mean of many runs, not of one."""
        drawn = self.draws @ self.form.columns(np.array([workers]))[0]
        return self.interval(self.at(workers), np.maximum(drawn, 0.0))

    def speedup(self, workers: float) -> Interval:
        """S(N): the serial time, or else the fitted time of one worker, by T(N)."""
        drawn = self.draws @ self.form.columns(np.array([workers]))[0]
        return self.interval(self._base[0] / self.at(workers), _quotient(self._base[1], drawn))

    @cached_property
    def parameters(self) -> dict[str, Interval]:
        """The parameters by name; ratios for USL's σ and κ, and for Amdahl's serial fraction.

        Those of Brown's that a serial run tells apart are given where there was one.
        """
        drawn = np.maximum(self.draws, 0.0)
        names = {name: (self.theta[i], drawn[:, i]) for i, name in enumerate(self.form.parameters)}
        if self.form.name == "usl":
            t1, below = names.pop("t1")
            ratios = {name.removesuffix("_t1"): (v / t1, _quotient(d, below)) for name, (v, d) in names.items()}
            names = {"t1": (t1, below), **ratios}
        elif self.form.name == "amdahl":
            names["serial_fraction"] = (self.theta[1] / self.theta.sum(), drawn[:, 1] / drawn.sum(axis=1))
        names |= self._told_apart()
        return {name: self.interval(float(value), drawn) for name, (value, drawn) in names.items()}

    def _told_apart(self) -> dict[str, tuple[float, Floats]]:
        """Ts and Tip, of a = Ts + Tip, by a serial run: Ts + Tp."""
        if self.serial is None or not self.form.name.startswith("brown"):
            return {}
        seconds, drawn = self.serial
        own = max(0.0, seconds - self.theta[0]), np.maximum(drawn - self.draws[:, 0], 0.0)
        extra = self.theta[1] - (seconds - self.theta[0]), self.draws[:, 1] - (drawn - self.draws[:, 0])
        return {"ts": own, "tip": (max(0.0, extra[0]), np.maximum(extra[1], 0.0))}

    @cached_property
    def peak(self) -> Peak:
        """N* and S(N*); without a peak the limit of S for ever more workers."""
        places = self.form.peak(self.theta), self.form.peak(self.draws)
        values = self._at_peak(self.theta[None], places[0][None])[0], self._at_peak(self.draws, places[1])
        speedups = _quotient(np.array([self._base[0]]), values[0][None])[0], _quotient(self._base[1], values[1])
        return Peak(self.interval(float(places[0]), places[1]), self.interval(float(speedups[0]), speedups[1]))

    def _at_peak(self, theta: Floats, places: Floats) -> Floats:
        """T(N*) of each; at infinity what neither divides nor grows."""
        finite = np.isfinite(places)
        # At the limit the parts that divide are gone, and those that stay are what they come to.
        parts = self.form.columns(np.where(finite, places, 1e18))
        parts = np.where(finite[:, None] | (parts <= 1), parts, 0.0)
        result: Floats = (parts * theta).sum(axis=1)
        return result

    @cached_property
    def _base(self) -> tuple[float, Floats]:
        """What a speedup is measured by: seconds, and draws."""
        if self.serial is not None:
            return self.serial
        one = self.form.columns(np.array([1.0]))[0]
        return float(one @ self.theta), self.draws @ one

    def shares(self, workers: float) -> dict[str, float]:
        """What each part costs of T(N); sums to 1."""
        seconds = self.form.columns(np.array([workers]))[0] * self.theta
        return dict(zip(self.form.costs, (seconds / seconds.sum()).tolist(), strict=True))

    def interval(self, value: float, drawn: Floats) -> Interval:
        """The value with the quantiles of its draws; infinite ones stay so."""
        low, high = np.quantile(drawn, [(1 - self.confidence) / 2, (1 + self.confidence) / 2], method="nearest")
        return Interval(value, min(float(low), value), max(float(high), value))


def _quotient(above: Floats, below: Floats) -> Floats:
    """Times and their sums are not negative: the numerator is cut at zero; infinite where the denominator is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, np.maximum(above, 0.0) / below, inf)


def least_points(form: Form) -> int:
    """Numbers of workers that a form needs: one more than it has parameters."""
    return len(form.parameters) + 1


def fit(
    form: Form, times: Times, serial: Sequence[float] | None = None, confidence: float = 0.95, seed: int = 0
) -> Fit:
    """Fit one form.

    Parameters
    ----------
    times
        From `gather`.
    serial
        Seconds of the serial program, without any of the parallel one's overhead.
    confidence, seed
        Of the intervals; of the bootstrap.

    Raises
    ------
    TooFewPointsError
        A ValueError: fewer numbers of workers than parameters and one.
    ValueError
        A serial time is not above zero.
    """
    check_confidence(confidence)
    points, parts = times.workers.size, len(form.parameters)
    if points < least_points(form):
        raise TooFewPointsError(
            f"{form.title} has {parts} parameters and needs {least_points(form)} numbers of workers; there are {points}"
        )
    columns = form.columns(times.workers)
    scale = times.means * times.errors
    for _ in range(REWEIGHTS):
        theta = nonnegative(columns / scale[:, None], times.means / scale)
        scale = np.maximum(columns @ theta, LEAST_SPREAD * times.means) * times.errors
    left = (times.means - columns @ theta) / scale
    noise, misfit, widened = _judged(times, left, points - parts)
    random = np.random.default_rng(seed)
    errors = noise.draw(random, times.counts, DRAWS) * times.means * widened
    free = unbounded(columns / scale[:, None], (times.means + errors) / scale)
    return Fit(form, times, theta, free, noise, misfit, widened, _serial(serial, noise, random), confidence)


def _judged(times: Times, left: Floats, dof: int) -> tuple[Noise, float | None, float]:
    """The noise to draw, the misfit, and by how much it widens the intervals (Birge 1932)."""
    from scipy.stats import f

    squares = float((left**2).sum())
    if times.noise is None:
        # `left` is in units of 1/√count of the relative error, as the spread is not known but from here.
        spread = max((squares / dof) ** 0.5, LEAST_SPREAD)
        return Noise(np.full(left.size, spread), dof, np.array([]), "residuals"), None, 1.0
    ratio = squares / dof
    chance = float(f.sf(ratio, dof, times.noise.dof))
    return times.noise, chance, ratio**0.5 if chance <= MISFIT_LEVEL and isfinite(ratio) else 1.0


def _serial(serial: Sequence[float] | None, noise: Noise, random: np.random.Generator) -> tuple[float, Floats] | None:
    if serial is None or not len(serial):
        return None
    values = np.asarray(serial, dtype=float)
    if not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError("a serial time must be above zero and finite")
    alike = Noise(noise.spread[:1], noise.dof, noise.residuals, noise.source)
    drawn = alike.draw(random, np.array([float(values.size)]), DRAWS)[:, 0]
    return float(values.mean()), values.mean() * (1 + drawn)
