"""How long a program takes on so many nodes of a kind with a network: forms over workers, with their draws.

A form fitted to times on one kind of node and one network holds for others as its parts do: what divides, and what does
not, goes with the time that a node takes for the same work; what grows with the workers goes with what a message costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from wulf.model.draws import Uncertain
from wulf.model.network.figures import Network, draws, nominal
from wulf.model.speedup.fitting import DRAWS
from wulf.model.speedup.forms import AMDAHL, BROWN, BROWN_SQUARED, Form
from wulf.model.speedup.study import SUPPORTED, Study
from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

ROUNDING = 1e-9
"""Relative: draws that differ by no more are one value."""


@dataclass(frozen=True)
class TimeCurve:
    """T over workers by one form: its parameters, shape (parts,), and draws of them, shape (draws, parts)."""

    form: Form
    theta: Floats
    draws: Floats

    def at(self, workers: Floats) -> Floats:
        """Seconds, shape (workers,)."""
        return np.asarray(np.maximum(self.form.columns(workers) @ self.theta, 0.0))

    def drawn(self, workers: float) -> Floats:
        """Seconds by every draw, shape (draws,)."""
        return np.asarray(np.maximum(self.draws @ self.form.columns(np.array([workers]))[0], 0.0))

    def scaled(self, compute: Uncertain, communication: Uncertain) -> TimeCurve:
        """On other nodes, that take `compute` times as long, and another network, whose messages do."""
        last = self.form.growth > 0
        value = np.full(self.theta.size, compute.value)
        drawn = np.repeat(compute.draws[:DRAWS, None], self.theta.size, axis=1)
        if last:
            value[-1], drawn[:, -1] = communication.value, communication.draws[:DRAWS]
        return replace(self, theta=self.theta * value, draws=self.draws * drawn)


@dataclass(frozen=True)
class Timing:
    """Time over nodes of one kind with one network.

    Attributes
    ----------
    curves
        The best form first; all that the times can't tell from it.
    workers
        On each node.
    least, most
        Numbers of workers that data support.
    """

    curves: tuple[TimeCurve, ...]
    workers: int = 1
    least: float = 1.0
    most: float = inf

    def at(self, nodes: Floats) -> Floats:
        """Seconds by the best form, shape (nodes,)."""
        return self.curves[0].at(nodes * self.workers)

    def supported(self, nodes: Floats) -> NDArray[np.bool_]:
        """Whether data reach so far, shape (nodes,)."""
        workers = nodes * self.workers
        return (workers >= self.least) & (workers <= self.most)

    def time(self, nodes: float) -> Interval:
        """Seconds; the interval reaches over all forms that can't be told apart."""
        drawn = [curve.drawn(nodes * self.workers) for curve in self.curves]
        return spanned(float(self.at(np.array([float(nodes)]))[0]), drawn)

    def ratio(self, nodes: float, other: Timing, others: float) -> Interval:
        """Its time over another's, draw by draw: what is not known of both is the same in both, and cancels."""
        pairs = zip(self.curves, other.curves, strict=True) if _alike(self, other) else _all(self, other)
        mine, theirs = nodes * self.workers, others * other.workers
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = [_quotient(one.drawn(mine), two.drawn(theirs)) for one, two in pairs]
        value = float(self.at(np.array([float(nodes)]))[0] / other.at(np.array([float(others)]))[0])
        return spanned(value, drawn)

    def scaled(self, compute: Uncertain, communication: Uncertain, workers: int) -> Timing:
        """On other nodes with another network."""
        return replace(self, curves=tuple(one.scaled(compute, communication) for one in self.curves), workers=workers)


def _alike(one: Timing, other: Timing) -> bool:
    return [each.form.name for each in one.curves] == [each.form.name for each in other.curves]


def _all(one: Timing, other: Timing) -> list[tuple[TimeCurve, TimeCurve]]:
    return [(mine, theirs) for mine in one.curves for theirs in other.curves]


def _quotient(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / below, inf)


def spanned(value: float, drawn: Sequence[Floats]) -> Interval:
    """A value with the central quantiles of each set of draws, shape (draws,): from the lowest to the highest."""
    each = [Uncertain(value, one).interval() for one in drawn]
    low, high = min(one.low for one in each), max(one.high for one in each)
    if high - low <= ROUNDING * abs(value):
        return Interval(value, value, value)
    return Interval(value, low, high)


def of_study(study: Study) -> Timing:
    """Of times that were measured; a form's draws may be negative, a time never is.

    Raises
    ------
    ValueError
        No form could be fitted: why.
    """
    if study.best is None:
        raise ValueError(next(iter(study.refused.values())))
    fits = [study.fits[name] for name in study.alike]
    curves = tuple(TimeCurve(one.form, one.theta, one.draws) for one in fits)
    return Timing(curves, least=1.0, most=SUPPORTED * float(study.times.workers[-1]))


def of_parts(
    parallel: float, serial: float = 0.0, overhead: float = 0.0, communication: float = 0.0, growth: int = 1
) -> Timing:
    """Of Brown's parts in seconds, known without error: Tp, Ts, Tip and Tis, which grows with N or N²."""
    form = AMDAHL if communication == 0 else BROWN if growth == 1 else BROWN_SQUARED
    theta = np.array([parallel, serial + overhead, communication][: len(form.parts)])
    return Timing((TimeCurve(form, theta, np.repeat(theta[None], DRAWS, axis=0)),))


def of_one(workers: int, seconds: Uncertain) -> Timing:
    """Of one number of workers alone: nothing is said of others."""
    theta, drawn = np.array([seconds.value * workers, 0.0]), np.zeros((DRAWS, 2))
    drawn[:, 0] = seconds.draws[:DRAWS] * workers
    return Timing((TimeCurve(AMDAHL, theta, drawn),), least=float(workers), most=float(workers))


def times(timing: Timing, factor: Uncertain) -> Timing:
    """All of it so many times as long."""
    return timing.scaled(factor, factor, timing.workers)


def message_cost(network: Network, size: float, seed: int) -> Uncertain:
    """Seconds that a message of so many bytes takes, by LogGP: L + both o + what its bytes cost.

    A message beyond the eager limit waits for its receiver: two latencies more.
    """

    def cost(values: dict[str, float]) -> float:
        eager = size <= values["eager"]
        byte = values["byte"] + values["send_byte"] + values["receive_byte"] + (values["eager_more"] if eager else 0.0)
        return values["latency"] * (1 if eager else 3) + values["send"] + values["receive"] + size * max(0.0, byte)

    drawn = np.array([cost(inter) for inter, _ in draws(network, DRAWS, seed)])
    return Uncertain(cost(nominal(network)[0]), drawn)
