"""A form of the worker's cycle fitted to a table of workers and batches, and how well it predicts what it has not seen.

Least squares of the logarithms, cells weighted by their runs. The region of parameters that the times allow is where
the sum of squares is at most S·(1 + F/dof) (the likelihood ratio; Seber & Wild, Nonlinear Regression, 1989, 5.3);
the interval of any figure is its range over that region: one-sided where the times bound it on one side alone, as they
do the master's time where no worker ever waited for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wulf.model.farm.cycles import CycleForm
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

LEAST_SPREAD = 1e-6
"""Relative: no table is as exact as its arithmetic."""

MISFIT_LEVEL = 0.01
"""Means that miss the form by more than their runs' noise does in one of so many: that is said."""

WALKERS, SWEEPS, KEPT = 300, 200, 50
"""Of the sample of the region: so many move so often, and the last positions count."""

STEPS = 60
"""Of Levenberg and Marquardt."""

NOTHING = 1e-7
"""Of the largest parameter: what is less was driven to zero, which its logarithm has not."""


class TooFewCellsError(ValueError):
    """A form has too many parameters for the cells of the table."""


@dataclass(frozen=True)
class Cycles:
    """A table of workers and batches.

    Attributes
    ----------
    workers, batch, means, counts
        Of each cell, shape (cells,): C in seconds as a mean, and of how many runs.
    within
        Sum of squares of the runs' relative deviations from their cells' means.
    dof
        Runs beyond the first of each cell.
    """

    workers: Floats
    batch: Floats
    means: Floats
    counts: Floats
    within: float
    dof: int


@dataclass(frozen=True)
class CycleFit:
    """A form with its parameters.

    Attributes
    ----------
    theta
        The best, shape (parameters,), in seconds.
    region
        Those that the times allow, shape (draws, parameters).
    spread
        Relative standard deviation of one run about the form.
    misfit
        The chance that the runs' noise alone misses the form as much as the means do; None without repeated runs.
    """

    form: CycleForm
    cycles: Cycles
    theta: Floats
    region: Floats
    spread: float
    misfit: float | None

    @property
    def misfits(self) -> bool:
        """Whether the means miss the form by more than their runs' noise explains."""
        return self.misfit is not None and self.misfit <= MISFIT_LEVEL

    @property
    def parameters(self) -> dict[str, Interval]:
        """Each by its name, in seconds."""
        return {name: self.interval(_part(i)) for i, name in enumerate(self.form.parameters)}

    def interval(self, figure: Callable[[Floats], Floats]) -> Interval:
        """A figure of the parameters, of shape (…, parameters) → (…), and its range over the region."""
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = figure(self.region)
            value = float(figure(self.theta))
        return Interval(value, min(float(drawn.min()), value), max(float(drawn.max()), value))


def _part(index: int) -> Callable[[Floats], Floats]:
    def part(theta: Floats) -> Floats:
        return theta[..., index]

    return part


def fit(form: CycleForm, cycles: Cycles, confidence: float = 0.95, seed: int = 0) -> CycleFit:
    """Fit one form.

    Raises
    ------
    TooFewCellsError
        A ValueError: not more cells than parameters.
    """
    from scipy.stats import f

    cells, parts = cycles.means.size, len(form.parameters)
    if cells <= parts:
        raise TooFewCellsError(f"{form.title} has {parts} parameters and needs {parts + 1} cells; there are {cells}")
    theta, squares = _best(form, cycles)
    dof = cells - parts
    between = max(squares, dof * LEAST_SPREAD**2)
    misfit = float(f.sf(between / dof / (cycles.within / cycles.dof), dof, cycles.dof)) if cycles.within else None
    if misfit is not None and misfit > MISFIT_LEVEL:
        dof, variance = dof + cycles.dof, (between + cycles.within) / (dof + cycles.dof)
    else:
        variance = between / dof
    most = squares + variance * float(f.ppf(confidence, 1, dof))
    region = _region(form, cycles, theta, most, np.random.default_rng(seed))
    return CycleFit(form, cycles, theta, region, float(variance**0.5), misfit)


def _residuals(form: CycleForm, cycles: Cycles, theta: Floats, values: Floats) -> Floats:
    """Of the logarithms, weighted; values and result have shape (…, cells)."""
    fitted = np.maximum(form.at(theta, cycles.workers, cycles.batch), 1e-300)
    result: Floats = (values - np.log(fitted)) * np.sqrt(cycles.counts)
    return result


def _best(form: CycleForm, cycles: Cycles) -> tuple[Floats, float]:
    """From several starts: where the master's time bounds no cell, nothing says in which direction it does."""
    starts = _starts(form, cycles)
    values = np.broadcast_to(np.log(cycles.means), (len(starts), cycles.means.size))
    theta, squares = solve(form, cycles, values, np.ones_like(values), starts)
    least = int(np.argmin(squares))
    best = theta[least]
    return np.where(best < NOTHING * best.max(), 0.0, best), float(squares[least])


def _starts(form: CycleForm, cycles: Cycles) -> Floats:
    """Parameters to begin with, shape (starts, parameters): the shortest cycles, and shares of what bounds o."""
    unit = float((cycles.means / cycles.batch).min())
    each = float(cycles.means[cycles.batch == cycles.batch.min()].min())
    bound = float((cycles.means / cycles.workers).min())
    messages = [max(each - unit * share * cycles.batch.min(), 1e-3 * each) for share in (1.0, 0.5)]
    found = [
        [unit, message, bound * share, max(bound * share * units / float(cycles.batch.max()), 1e-9 * bound)]
        for message in messages for share in (1.0, 0.5, 0.05) for units in (0.5, 1e-3)
    ]  # fmt: skip
    return np.array(found)[:, : len(form.parameters)]


def solve(
    form: CycleForm, cycles: Cycles, values: Floats, kept: Floats, starts: Floats, *, steps: int = STEPS
) -> tuple[Floats, Floats]:
    """Levenberg and Marquardt's least squares of many tables at once, in the parameters' logarithms.

    Parameters
    ----------
    values
        ln C, shape (tables, cells).
    kept
        1 for cells that count, 0 for those left out; the same shape.
    starts
        Shape (tables, parameters).

    Returns
    -------
    tuple
        Parameters of shape (tables, parameters), and sums of squares of shape (tables,).
    """
    least, parts, nudge = np.log(starts.max() * 1e-9), starts.shape[1], 1e-5
    place, damping = np.log(starts), np.full(len(starts), 1e-2)

    def residuals(at: Floats) -> Floats:
        return _residuals(form, cycles, np.exp(at), values) * kept

    now = residuals(place)
    squares = (now**2).sum(axis=1)
    for _ in range(steps):
        slopes = np.stack([(residuals(place + nudge * axis) - now) / nudge for axis in np.eye(parts)], axis=2)
        curvature = np.einsum("tcp,tcq->tpq", slopes, slopes)
        diagonal = np.einsum("tpp->tp", curvature) + 1e-9
        damped = curvature + np.eye(parts) * (damping[:, None] * diagonal)[:, None, :]
        step = np.linalg.solve(damped, np.einsum("tcp,tc->tp", slopes, now)[..., None])[..., 0]
        trial = np.maximum(place - np.clip(step, -2.0, 2.0), least)
        tried = residuals(trial)
        total = (tried**2).sum(axis=1)
        better = total < squares
        place, now = np.where(better[:, None], trial, place), np.where(better[:, None], tried, now)
        squares, damping = np.where(better, total, squares), np.where(better, damping / 4, np.minimum(damping * 6, 1e9))
    solved: Floats = np.exp(place)
    return solved, squares


def _region(form: CycleForm, cycles: Cycles, theta: Floats, most: float, random: np.random.Generator) -> Floats:
    """Parameters at which the sum of squares is at most `most`, shape (draws, parameters).

    By moves along the lines between walkers, which know no scales (Goodman & Weare, Ensemble samplers with affine
    invariance, 2010), each taken that stays within.
    """
    values, parts = np.log(cycles.means), theta.size

    def within(at: Floats) -> NDArray[np.bool_]:
        squares = (_residuals(form, cycles, np.abs(at), values) ** 2).sum(axis=1)
        return np.asarray((at >= 0).all(axis=1) & (squares <= most))

    # A millionth of t beside each: parameters that are zero, too, have somewhere to go.
    walkers = theta * (1 + 1e-7 * random.normal(size=(WALKERS, parts)))
    walkers = np.abs(walkers + 1e-9 * theta[0] * random.random((WALKERS, parts)))
    walkers = np.where(within(walkers)[:, None], walkers, theta)
    half, kept = WALKERS // 2, []
    for sweep in range(SWEEPS):
        for mine, others in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
            partners = random.permutation(walkers[others])
            stretch = (random.random(half) + 1) ** 2 / 2
            moved = partners + stretch[:, None] * (walkers[mine] - partners)
            taken = within(moved) & (random.random(half) < stretch ** (parts - 1))
            walkers[mine] = np.where(taken[:, None], moved, walkers[mine])
        if sweep >= SWEEPS - KEPT:
            kept.append(walkers.copy())
    edge = walkers
    for axis in np.eye(parts):  # a walker comes near zero, and never to it
        there = edge * (1 - axis)
        edge = np.concatenate([edge, there[within(there)]])
    return np.concatenate([theta[None], *kept, edge])


def left_out(fits: Sequence[CycleFit], values: Floats, folds: int) -> list[Floats]:
    """Root mean square of the logarithmic errors at cells that were left out, a fold of them at a time.

    Parameters
    ----------
    values
        ln C, shape (tables, cells).

    Returns
    -------
    list
        Of each fit, shape (tables,).
    """
    tables, cells = values.shape
    out = np.arange(cells) % folds == np.arange(folds)[:, None]
    kept = np.tile((~out).astype(float), (tables, 1))
    repeated = np.repeat(values, folds, axis=0)
    errors = []
    for one in fits:
        starts = np.broadcast_to(np.maximum(one.theta, one.theta.max() * 1e-8), (tables * folds, one.theta.size))
        theta, _ = solve(one.form, one.cycles, repeated, kept, starts, steps=LEFT_OUT_STEPS)
        missed = (repeated - np.log(one.form.at(theta, one.cycles.workers, one.cycles.batch))) * (1 - kept)
        errors.append(np.sqrt((missed**2).reshape(tables, -1).sum(axis=1) / cells))
    return errors


LEFT_OUT_STEPS = 12
"""From the whole table's parameters, which are near."""
