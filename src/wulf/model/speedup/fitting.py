"""One form fitted to times over workers: parameters, predictions and the peak, with intervals.

Weighted non-negative least squares; the weights are the means' relative variances at the fitted times: of their runs,
and of their launches (`launches`). Intervals are the quantiles of a bootstrap of the runs' relative errors
and the launches' (where runs were not repeated, of normal ones as wide as the fit's residuals), as wide as Student's t
asks, around the solution that may be negative, cut at zero: around the bounded one, a parameter at its bound would have
an interval too narrow (Andrews, Inconsistency of the bootstrap, Econometrica 68, 2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from wulf.model.speedup.forms import Form
from wulf.model.speedup.launches import launch_draws, launch_variance
from wulf.model.speedup.solving import nonnegative, unbounded
from wulf.model.speedup.times import LEAST_SPREAD, Noise, Times
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats, check_confidence

DRAWS = 1999

REWEIGHTS = 3

MISFIT_LEVEL = 0.01
"""Means that miss a curve by more than their runs' noise does in one of so many: that is said."""

NO_LAUNCHES = np.zeros(1)
"""Draws of a standard deviation that is not there."""


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
        Of single runs.
    launches
        What means may scatter by besides, relatively: standard deviations, shape (draws,); zero without repeated runs,
        whose noise has it already.
    misfit
        The chance that the runs' noise alone misses the curve as much as the means do; None without repeated runs.
    beyond
        How far the means are from the curve, in standard errors by their runs' noise, as a root mean square.
    serial
        The serial program's seconds, and its draws; None where there was no serial run.
    """

    form: Form
    times: Times
    theta: Floats
    draws: Floats
    noise: Noise
    launches: Floats
    misfit: float | None
    beyond: float
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
            # A draw without any time has no fraction: it is as wide as one can be.
            fractions = np.minimum(_quotient(drawn[:, 1], drawn.sum(axis=1)), 1.0)
            names["serial_fraction"] = (self.theta[1] / self.theta.sum(), fractions)
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

    @property
    def misfits(self) -> bool:
        """Whether the means miss the curve by more than their runs' noise explains: other launches, or another form."""
        return self.misfit is not None and self.misfit <= MISFIT_LEVEL

    def errors(self, random: np.random.Generator, draws: int) -> Floats:
        """Relative errors that the means may have, shape (draws, points)."""
        return mean_errors(self.noise, self.launches, random, self.times.counts, draws)

    def interval(self, value: float, drawn: Floats) -> Interval:
        """The value with the quantiles of its draws; infinite ones stay so. Draws have shape (draws,)."""
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
    theta, left, launch = _weighed(times, columns)
    random = np.random.default_rng(seed)
    noise, launches, misfit, beyond = _judged(times, left, points - parts, random)
    errors = mean_errors(noise, launches, random, times.counts, DRAWS) * times.means
    scale = np.maximum(columns @ theta, LEAST_SPREAD * times.means) * np.sqrt(times.errors**2 + launch)
    free = unbounded(columns / scale[:, None], (times.means + errors) / scale)
    drawn = _serial(serial, noise, launches, random)
    return Fit(form, times, theta, free, noise, launches, misfit, beyond, drawn, confidence)


def _weighed(times: Times, columns: Floats) -> tuple[Floats, Floats, float]:
    """The parameters, the means' relative distances from the curve, and the launches' relative variance."""
    curve, launch = times.means, 0.0
    for _ in range(REWEIGHTS):
        scale = curve * np.sqrt(times.errors**2 + launch)
        theta = nonnegative(columns / scale[:, None], times.means / scale)
        curve = np.maximum(columns @ theta, LEAST_SPREAD * times.means)
        left = times.means / curve - 1
        if times.noise is not None:
            launch = launch_variance(left, times.errors**2, columns.shape[0] - columns.shape[1])
    return theta, left, launch


def _judged(
    times: Times, left: Floats, dof: int, random: np.random.Generator
) -> tuple[Noise, Floats, float | None, float]:
    """The noise of runs, what launches may add, the misfit, and how many standard errors the means are off."""
    from scipy.stats import f

    ratio = float(np.sum((left / times.errors) ** 2)) / dof
    if times.noise is None:
        # The errors are 1/√count of the relative spread, as that is not known but from here.
        spread = max(ratio**0.5, LEAST_SPREAD)
        return Noise(np.full(left.size, spread), dof, np.array([]), "residuals"), np.zeros(DRAWS), None, 1.0
    launches = np.sqrt(launch_draws(random, left, times.errors**2, dof, DRAWS))
    return times.noise, launches, float(f.sf(ratio, dof, times.noise.dof)), ratio**0.5


def mean_errors(noise: Noise, launches: Floats, random: np.random.Generator, counts: Floats, draws: int) -> Floats:
    """Relative errors of means, by their runs and by their launches; shape (draws, points)."""
    spreads = launches if draws == launches.size else random.choice(launches, draws)
    result: Floats = noise.draw(random, counts, draws) + spreads[:, None] * random.normal(size=(draws, counts.size))
    return result


def _serial(
    serial: Sequence[float] | None, noise: Noise, launches: Floats, random: np.random.Generator
) -> tuple[float, Floats] | None:
    if serial is None or not len(serial):
        return None
    values = np.asarray(serial, dtype=float)
    if not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError("a serial time must be above zero and finite")
    alike = Noise(noise.spread[:1], noise.dof, noise.residuals, noise.source)
    drawn = mean_errors(alike, launches, random, np.array([float(values.size)]), DRAWS)[:, 0]
    return float(values.mean()), values.mean() * (1 + drawn)
