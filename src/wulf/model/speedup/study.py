"""Which form time over workers has: chosen by held-out error, and said so where forms can't be told apart.

Every number of workers is left out in turn, and predicted from the others. The same is done with the runs drawn anew:
a form is told apart from the best one where it is worse in 95 % of these draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wulf.model.speedup.fitting import NO_LAUNCHES, Fit, TooFewPointsError, fit, mean_errors
from wulf.model.speedup.forms import FORMS, Form
from wulf.model.speedup.solving import nonnegative
from wulf.model.speedup.times import Noise, Times, gather
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

Ask = Callable[[Fit], Interval]

CHOICE_DRAWS = 499

TOLD_APART = 0.95
"""Share of draws in which the other form has to be worse."""

SUPPORTED = 2.0
"""Times the most workers measured: predictions beyond are not supported by data."""


@dataclass(frozen=True)
class HeldOut:
    """How well a form predicts numbers of workers that it has not seen.

    Attributes
    ----------
    error
        Root mean square of ln(measured / predicted): .05 is 5 %.
    worse
        Share of draws in which it is worse than the best form; None for the best.
    """

    error: float
    worse: float | None

    @property
    def told_apart(self) -> bool:
        """Whether it is worse than the best by more than noise."""
        return self.worse is not None and self.worse >= TOLD_APART


@dataclass(frozen=True)
class KarpFlatt:
    """The serial fraction that one speedup comes to: e = (1/S - 1/N) / (1 - 1/N) (Karp & Flatt, CACM 33, 1990).

    Constant over N: a serial part; growing with N: overhead that grows.
    """

    workers: float
    fraction: Interval


@dataclass(frozen=True)
class Study:
    """All forms fitted to the same times.

    Attributes
    ----------
    fits, held_out
        By name of the form; those that the numbers of workers suffice for.
    refused
        Why a form was not fitted.
    best
        The form of least held-out error; None where none could be fitted.
    karp_flatt
        One for each number of workers above one; empty without a time of one worker, or a serial one.
    """

    times: Times
    fits: Mapping[str, Fit]
    held_out: Mapping[str, HeldOut]
    refused: Mapping[str, str]
    best: str | None
    karp_flatt: tuple[KarpFlatt, ...]

    @property
    def alike(self) -> tuple[str, ...]:
        """The best form and those that can't be told apart from it, best first."""
        names = [name for name, held in self.held_out.items() if not held.told_apart]
        return tuple(sorted(names, key=lambda name: (name != self.best, self.held_out[name].error)))

    def predict(self, workers: float) -> Interval:
        """T(N) by the best form; the interval reaches over all forms that can't be told apart from it.

        Raises
        ------
        ValueError
            No form could be fitted.
        """
        return self._over(lambda one: one.time(workers))

    def speedup(self, workers: float) -> Interval:
        """S(N), with an interval as of `predict`."""
        return self._over(lambda one: one.speedup(workers))

    def supported(self, workers: float) -> bool:
        """Whether the data reach far enough: at most twice the most workers measured."""
        return bool(workers <= SUPPORTED * self.times.workers[-1])

    def _over(self, ask: Ask) -> Interval:
        if self.best is None:
            raise ValueError("no form could be fitted: " + "; ".join(self.refused.values()))
        answers = [ask(self.fits[name]) for name in self.alike]
        return Interval(answers[0].value, min(a.low for a in answers), max(a.high for a in answers))


def study(
    replicates: Mapping[float, ArrayLike],
    serial: Sequence[float] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    forms: Sequence[Form] = FORMS,
) -> Study:
    """Fit every form, and choose. Seconds have shape (runs,), which may differ between numbers of workers.

    Parameters
    ----------
    replicates
        Workers → seconds of each run.
    serial
        Seconds of the serial program, where it was run by itself.
    confidence, seed
        Of the intervals; of the bootstrap.

    Raises
    ------
    ValueError
        As `gather` and `fit`, but for too few numbers of workers: these are `refused`.
    """
    times = gather(replicates)
    fits: dict[str, Fit] = {}
    refused: dict[str, str] = {}
    for form in forms:
        try:
            fits[form.name] = fit(form, times, serial, confidence, seed)
        except TooFewPointsError as error:
            refused[form.name] = str(error)
    held_out = compare(list(fits.values()), seed)
    best = min(held_out, key=lambda name: held_out[name].error, default=None)
    launches = NO_LAUNCHES if best is None else fits[best].launches
    return Study(times, fits, held_out, refused, best, karp_flatt(times, serial, confidence, seed, launches))


def compare(fits: Sequence[Fit], seed: int = 0) -> dict[str, HeldOut]:
    """Held-out errors of forms that were fitted to the same times, and which are told apart from the best."""
    if not fits:
        return {}
    times = fits[0].times
    own = [float(_left_out(one.form, times, times.means)) for one in fits]
    best = int(np.argmin(own))
    random = np.random.default_rng([seed, 1])
    drawn = times.means * (1 + fits[best].errors(random, CHOICE_DRAWS))
    drawn = np.maximum(drawn, 0.01 * times.means)
    errors = [_left_out(one.form, times, drawn) for one in fits]
    found = {}
    for one, error, again in zip(fits, own, errors, strict=True):
        # Equal to rounding is the same curve: no draw tells it apart.
        worse = float((again > errors[best] * (1 + 1e-9)).mean())
        found[one.form.name] = HeldOut(error, None if one is fits[best] else worse)
    return found


def _left_out(form: Form, times: Times, values: Floats) -> Floats:
    """Root mean square of the logarithmic errors at the points, each left out in turn; of values (…, points)."""
    squares = np.zeros(values.shape[:-1])
    columns, points = form.columns(times.workers), times.workers.size
    scale = times.means * times.errors
    for out in range(points):
        kept = np.arange(points) != out
        theta = nonnegative(columns[kept] / scale[kept, None], values[..., kept] / scale[kept])
        predicted = np.maximum(theta @ columns[out], 1e-9 * times.means[out])
        squares += np.log(values[..., out] / predicted) ** 2
    result: Floats = np.sqrt(squares / points)
    return result


def karp_flatt(
    times: Times, serial: Sequence[float] | None = None, confidence: float = 0.95, seed: int = 0,
    launches: Floats = NO_LAUNCHES,
) -> tuple[KarpFlatt, ...]:  # fmt: skip
    """The experimentally determined serial fraction at each number of workers. `launches` has shape (draws,).

    The speedup is over the serial program where it was run, else over one worker; without either there is none.
    Intervals come from repeated runs, and from `launches`, what the means of launches may scatter by besides, as draws
    of a relative standard deviation; without repeated runs they are infinite.
    """
    alone = times.workers == 1
    if not alone.any() and not (serial is not None and len(serial)):
        return ()
    means, noise = times.means, times.noise
    if serial is not None and len(serial):
        base, count = float(np.mean(serial)), float(len(serial))
    else:
        base, count = float(means[alone][0]), float(times.counts[alone][0])
    above = means[~alone] / base
    several = times.workers[~alone]
    drawn = np.ones((1, several.size)) if noise is None else _ratios(times, launches, alone, count, seed)
    found = []
    for n, ratio, own in zip(several, above, (drawn * above).T, strict=True):
        value = float(_fraction(ratio, n))
        low, high = np.quantile(_fraction(own, n), [(1 - confidence) / 2, (1 + confidence) / 2])
        known = Interval(value, float(low), float(high)) if noise else Interval(value, -np.inf, np.inf)
        found.append(KarpFlatt(float(n), known))
    return tuple(found)


def _ratios(times: Times, launches: Floats, alone: NDArray[np.bool_], count: float, seed: int) -> Floats:
    """Draws of the relative error of T(N)/T(1), shape (draws, numbers of workers above one)."""
    noise = times.noise
    assert noise is not None  # noqa: S101 - asked only where runs were repeated
    random = np.random.default_rng([seed, 2])
    errors = 1 + mean_errors(noise, launches, random, times.counts, CHOICE_DRAWS)
    one = Noise(noise.spread[:1], noise.dof, noise.residuals, noise.source)
    base = 1 + mean_errors(one, launches, random, np.array([count]), CHOICE_DRAWS)
    result: Floats = errors[:, ~alone] / base
    return result


def _fraction(ratio: Floats, workers: float) -> Floats:
    """The serial fraction, from T(N)/T(1)."""
    return (ratio - 1 / workers) / (1 - 1 / workers)
