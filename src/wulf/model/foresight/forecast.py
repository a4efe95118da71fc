"""A program's run time on other networks, by a replay of its trace and by what was measured where it was traced.

A run time is the one that was measured, changed by as much as the replay changes: what the replay lacks of the
measured run (time of processors, of the MPI, of a system that does other things) it mostly lacks on another network,
too. That is in doubt: it may be gone there, or there twice, and where the run takes longer in proportion. And one run
of a program takes longer than another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

T = TypeVar("T", float, Floats)

CONFIDENCE = 0.95

LEAST_DRAWS = 39
"""With fewer, the ranks of a 95 % interval, (n+1)/40 and as many from the end, lie beyond all draws."""

USUAL_DRAWS = 199
"""The interval's ends are then the fifth draw from either end, and no longer the outermost ones."""

RUNS_DEVIATION, RUNS_FREEDOM = 0.018, 2
"""By how much the runs of a program differ, before any is repeated: the standard deviation of their times' logarithms
(the median of 14 public programs in a lab, docs/explanation/foresight.md), and as how many degrees of freedom that
counts."""

PARTS = ("compute", "latency", "bytes", "overhead", "waiting")
"""Where the time along the critical path goes, as the replay has it."""


@dataclass(frozen=True)
class Forecast:
    """The run time on one network.

    Attributes
    ----------
    seconds
        By the network's own figures.
    draws
        By draws of them, [s].
    parts
        Seconds of the replay by `PARTS`.
    inversions
        Messages that an adapter serves in another order than in which they come: with 0 that order changes nothing.
    lacking
        Of `seconds` what the replay does not have: it is taken over from the measured run.
    doubt
        By how much more or less that may be [s].
    chance
        By how much less, and more, the run may take where chance decides [s].
    between_runs
        By which share one run takes longer than another.
    """

    name: str
    seconds: float
    draws: Floats
    parts: Mapping[str, float]
    inversions: int = 0
    lacking: float = 0.0
    doubt: float = 0.0
    chance: tuple[float, float] = (0.0, 0.0)
    between_runs: float = 0.0

    @property
    def replayed(self) -> float:
        """The replay's run time [s]."""
        return self.seconds - self.lacking

    @property
    def interval(self) -> Interval:
        """Of one run's time, with all doubts."""
        own = spread(self.seconds, self.draws)
        less, more = self.chance
        low, high = max(0.0, own.low - self.doubt - less), own.high + self.doubt + more
        return Interval(own.value, low / (1 + self.between_runs), high * (1 + self.between_runs))


@dataclass(frozen=True)
class Calibration:
    """The baseline's replay, and what the trace measured [s]; None where nobody did.

    Attributes
    ----------
    runs
        Of the program as traced, several times: `measured` is the middle one. Empty: of one, or nothing is known.
    """

    predicted: float
    measured: float | None
    runs: tuple[float, ...] = ()

    @property
    def error(self) -> float | None:
        """Relative: .03 where 3 % too long is predicted."""
        return self.predicted / self.measured - 1 if self.measured else None

    @property
    def missing(self) -> float:
        """Seconds that the run took longer than its replay; negative where the replay is too long."""
        return self.measured - self.predicted if self.measured else 0.0

    @cached_property
    def between_runs(self) -> float:
        """By which share 19 of 20 further runs differ from the middle one at most.

        What was seen of these runs is drawn towards what is usual (a scaled inverse chi-squared distribution of the
        variance, and so Student's t of the next run; Gelman et al., Bayesian Data Analysis, 3rd ed., 3.2).
        """
        logs = np.log([one for one in self.runs if one > 0])
        count = max(1, logs.size)
        squares = float(((logs - logs.mean()) ** 2).sum()) if logs.size else 0.0
        freedom = RUNS_FREEDOM + count - 1
        deviation = ((RUNS_FREEDOM * RUNS_DEVIATION**2 + squares) / freedom) ** 0.5
        return float(np.expm1(stdtrit(freedom, (1 + CONFIDENCE) / 2) * deviation * (1 + 1 / count) ** 0.5))


def spread(value: float, draws: Floats) -> Interval:
    """A value with the central quantiles of its draws, of which the k-th of n is that of k/(n+1).

    Where the critical path changes within the draws, they lie to one side of the value: the longer of two uncertain
    paths is longer than either. The quantiles alone then cover 90 %, shifted by twice that bias (Efron, "Nonparametric
    standard errors and confidence intervals", Canadian Journal of Statistics 9, 1981) 92 %; the interval spans both.

    Draws have shape (n,).
    """
    if draws.size == 0:
        return Interval(value, value, value)
    tails = np.array([(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    below = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    least = 1 / (draws.size + 1)
    shifted = ndtr(2 * ndtri(min(max(below, least), 1 - least)) + ndtri(tails))
    ends = np.quantile(draws, np.concatenate([tails, shifted]), method="weibull")
    return Interval(value, min(float(ends.min()), value), max(float(ends.max()), value))


def mixed(one: Forecast, other: Forecast, share: float) -> Forecast:
    """Between two replays of a network, of which chance decides: `share` of the way from one to the other.

    How often it turns out either way was seen of the traced run alone, and another run, elsewhere, may go either way:
    NPB IS, class W, takes 5.2 or 10.0 s at one and the same setting.

    Parameters
    ----------
    share
        0 … 1.
    """
    both = min(one.draws.size, other.draws.size)
    seconds, ends = _between(one.seconds, other.seconds, share), (one.seconds, other.seconds)
    return replace(
        one,
        seconds=seconds,
        draws=_between(one.draws[:both], other.draws[:both], share),
        parts={part: _between(own, other.parts.get(part, own), share) for part, own in one.parts.items()},
        chance=(seconds - min(ends), max(ends) - seconds),
    )


def _between(one: T, other: T, share: float) -> T:
    return one + share * (other - one)


def share_of(one: float, other: float, seen: float) -> float:
    """How far `seen` lies from one value to another, at most all of the way: 0 … 1."""
    return float(np.clip((seen - one) / (other - one), 0.0, 1.0)) if other != one else 0.0


def calibrated(baseline: Forecast, other: Forecast, calibration: Calibration) -> Forecast:
    """A replay's run time as that of the program: as measured, changed by what the replay changes, draw by draw.

    Parameters
    ----------
    baseline, other
        As replayed.
    """
    if calibration.measured is None:
        return replace(other, between_runs=calibration.between_runs)
    level, both = baseline.seconds + calibration.missing, min(baseline.draws.size, other.draws.size)
    seconds = max(0.0, other.seconds + calibration.missing)
    ratio = other.seconds / baseline.seconds if baseline.seconds > 0 else 1.0
    return replace(
        other,
        seconds=seconds,
        draws=np.maximum(0.0, level + other.draws[:both] - baseline.draws[:both]),
        lacking=seconds - other.seconds,
        doubt=abs(calibration.missing) * max(1.0, ratio),
        between_runs=calibration.between_runs,
    )


def gain_of(baseline: Forecast, other: Forecast) -> Interval:
    """Share of the baseline's run time that is saved, draw by draw: what both share cancels."""
    value = 1 - other.seconds / baseline.seconds if baseline.seconds > 0 else 0.0
    both = min(baseline.draws.size, other.draws.size)
    bases = baseline.draws[:both]
    usable = bases > 0
    return spread(value, 1 - other.draws[:both][usable] / bases[usable])
