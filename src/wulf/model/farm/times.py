"""What a table of workers and batches says by its times alone: o, W*, METG, and which form its cycles have.

Every cell is left out in turn, a fold of them at a time, and predicted from the others; the same with the runs drawn
anew. A form is told apart from the best one where it is worse in 95 % of these draws, as in `wulf.model.speedup.study`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wulf.model.farm.costs import HALF, busy_workers
from wulf.model.farm.cycle_fit import CycleFit, Cycles, TooFewCellsError, fit, left_out
from wulf.model.farm.cycles import FORMS, CycleForm, alone, service
from wulf.model.speedup.study import HeldOut
from wulf.stats.estimates import Interval
from wulf.stats.intervals import weighted_sum
from wulf.stats.samples import Floats

FOLDS = 10

CHOICE_DRAWS = 99

LEAST_METG, MOST_METG = 1e-12, 1e6
"""Seconds between which a unit's time is looked for."""

HALVINGS = 50

FEW_MESSAGES = 10
"""A worker with fewer may have one more than another, which is more than a tenth of its time."""

Figure = Callable[[CycleFit], Interval]


@dataclass(frozen=True)
class FarmTimes:
    """A farm's table.

    Attributes
    ----------
    runs
        (Workers, units a message) → seconds a unit of each run: the run's time by its units.
    units
        Of every run; None where rates were given alone.
    serial
        Seconds a unit of the serial program.
    """

    runs: Mapping[tuple[int, int], Sequence[float]]
    units: int | None = None
    serial: Sequence[float] = ()

    @property
    def workers(self) -> list[int]:
        """All numbers of them."""
        return sorted({workers for workers, _ in self.runs})

    @property
    def batches(self) -> list[int]:
        """All units a message."""
        return sorted({batch for _, batch in self.runs})

    def row(self, batch: int) -> dict[float, Sequence[float]]:
        """Workers → seconds a unit, with one batch."""
        return {float(workers): each for (workers, own), each in self.runs.items() if own == batch}

    def uneven(self) -> list[tuple[int, int]]:
        """Cells in which a worker has few messages."""
        return [cell for cell in self.runs if self.units and self.units < FEW_MESSAGES * cell[0] * cell[1]]

    def cycles(self) -> Cycles:
        """C = W·b·(seconds a unit) of every cell."""
        cells = sorted(self.runs)
        each = [np.asarray(self.runs[cell], dtype=float) for cell in cells]
        means, counts = np.array([one.mean() for one in each]), np.array([float(one.size) for one in each])
        within = sum(float(((one / one.mean() - 1) ** 2).sum()) for one in each)
        workers, batch = np.array(cells, dtype=float).T
        return Cycles(workers, batch, workers * batch * means, counts, within, int((counts - 1).sum()))


@dataclass(frozen=True)
class TimesStudy:
    """All forms fitted to the same table.

    Attributes
    ----------
    fits, held_out
        By name of the form; those that the cells suffice for.
    refused
        Why a form was not fitted.
    best
        The form of least held-out error; None where none could be fitted.
    """

    times: FarmTimes
    fits: Mapping[str, CycleFit]
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    best: str | None = None

    @property
    def alike(self) -> tuple[str, ...]:
        """The best form and those that can't be told apart from it, best first."""
        names = [name for name, held in self.held_out.items() if not held.told_apart]
        return tuple(sorted(names, key=lambda name: (name != self.best, self.held_out[name].error)))

    def unit(self) -> Interval:
        """t: a unit's time at a worker [s]."""
        return self._over(lambda one: one.interval(lambda theta: theta[..., 0]))

    def message(self) -> Interval:
        """h: what a message costs a worker that waits for no other [s]."""
        return self._over(lambda one: one.interval(lambda theta: theta[..., 1]))

    def service(self, batch: int) -> Interval:
        """o: the master's time for a message of so many units [s]."""
        return self._over(lambda one: one.interval(lambda theta: service(theta, np.array([batch]))[..., 0]))

    def saturation(self, batch: int) -> Interval:
        """W* = (t·b + h)/o: so many workers keep the master busy; infinite where its time may be none."""

        def ratio(theta: Floats) -> Floats:
            one = np.array([batch])
            return busy_workers(alone(theta, one)[..., 0], service(theta, one)[..., 0])

        return self._over(lambda one: one.interval(ratio))

    def metg(self, workers: int, batch: int = 1) -> Interval:
        """The unit at which half of so many workers' time is lost, were t alone another [s]."""
        return self._over(lambda one: one.interval(lambda theta: metg_of(one.form, theta, workers, batch)))

    def _over(self, ask: Figure) -> Interval:
        """By the best form; the interval reaches over all that can't be told apart from it."""
        answers = [ask(self.fits[name]) for name in self.alike]
        if not answers:
            raise ValueError("no form could be fitted: " + "; ".join(self.refused.values()))
        return Interval(answers[0].value, min(a.low for a in answers), max(a.high for a in answers))


def ratio(above: Interval, below: Interval) -> Interval:
    """above/below of two independent figures, from their intervals alone, in the logarithms.

    Without bound where one of them may be zero or has none.
    """
    if above.value <= 0 or below.value <= 0 or not np.isfinite([above.value, below.value]).all():
        return Interval(np.nan, 0.0, np.inf)
    difference = weighted_sum([(1.0, _logs(above)), (-1.0, _logs(below))])
    return Interval(above.value / below.value, float(np.exp(difference.low)), float(np.exp(difference.high)))


def _logs(one: Interval) -> Interval:
    with np.errstate(divide="ignore"):
        return Interval(*(float(np.log(end)) for end in (one.value, one.low, one.high)))


def times_study(times: FarmTimes, confidence: float = 0.95, seed: int = 0) -> TimesStudy:
    """Fit every form, and choose.

    Parameters
    ----------
    confidence, seed
        Of the intervals; of the draws behind intervals and choice.
    """
    if len(times.workers) < 2 or len(times.batches) < 2:
        why = (
            "what the workers need by themselves and what the master needs are told apart by tables of two numbers of "
            f"workers and two batches at least; there are {len(times.workers)} and {len(times.batches)}"
        )
        return TimesStudy(times, {}, refused={form.name: why for form in FORMS})
    cycles = times.cycles()
    fits: dict[str, CycleFit] = {}
    refused: dict[str, str] = {}
    for form in FORMS:
        try:
            fits[form.name] = fit(form, cycles, confidence, seed)
        except TooFewCellsError as error:
            refused[form.name] = str(error)
    held_out = _compared(list(fits.values()), seed)
    best = min(held_out, key=lambda name: held_out[name].error, default=None)
    return TimesStudy(times, fits, held_out, refused, best)


def _compared(fits: Sequence[CycleFit], seed: int) -> dict[str, HeldOut]:
    """Held-out errors of forms, and which are told apart from the best."""
    if not fits:
        return {}
    cycles, random = fits[0].cycles, np.random.default_rng([seed, 1])
    values = np.log(cycles.means)
    folds = min(FOLDS, values.size)
    own = [float(errors[0]) for errors in left_out(fits, values[None], folds)]
    best = int(np.argmin(own))
    noise = fits[best].spread / np.sqrt(cycles.counts)
    drawn = left_out(fits, values + noise * random.normal(size=(CHOICE_DRAWS, values.size)), folds)
    found = {}
    for one, error, again in zip(fits, own, drawn, strict=True):
        worse = float((again > drawn[best] * (1 + 1e-9)).mean())
        found[one.form.name] = HeldOut(error, None if one is fits[best] else worse)
    return found


def metg_of(form: CycleForm, theta: Floats, workers: int, batch: int) -> Floats:
    """METG(50 %) by a form: the t [s] at which C = 2·t·b, by halving. Shape (…, parameters) → (…)."""
    crowd, one = np.array([float(workers)]), np.array([float(batch)])
    low, high = (np.full(theta.shape[:-1], np.log(edge)) for edge in (LEAST_METG, MOST_METG))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        other = np.concatenate([np.exp(middle)[..., None], theta[..., 1:]], axis=-1)
        lost = form.at(other, crowd, one)[..., 0] * HALF > np.exp(middle) * batch
        low, high = np.where(lost, middle, low), np.where(lost, high, middle)
    return np.where(high <= np.log(LEAST_METG * 2), 0.0, np.exp(high))
