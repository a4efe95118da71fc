"""The way from the default to the winner, a knob at a time, and what each knob and each pair of them is worth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import exp, log

import numpy as np

from wulf.search.history import History
from wulf.search.space import Config, Space, written
from wulf.stats.comparison import Judgement

SURE = 1.96
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True)
class KnobEffect:
    """What a knob does at the full size, all others as in the winner; modelled from all runs.

    Attributes
    ----------
    ratio, low, high
        Cost with the knob's worst value against its best.
    matters
        The interval is beyond what counts as no difference: True; within it: False; None: it can't be told.
    """

    name: str
    best: str
    worst: str
    ratio: float
    low: float
    high: float
    matters: bool | None


@dataclass(frozen=True)
class Interaction:
    """Two knobs that together do something else than both by themselves: cost ratio of both to the product."""

    names: tuple[str, str]
    ratio: float
    low: float
    high: float


def way(history: History, start: Config, end: Config, size: float) -> list[Config]:
    """From `start` to `end`: next is whichever knob helps most, as predicted, and leaves the conditions met.

    Where no knob can change alone, for a condition ties it to another, the fewest that can change together.
    """
    space, found = history.plan.space, [start]
    while found[-1] != end:
        steps = _steps(space, found[-1], end)
        mean, _ = history.surrogate.predict(steps, size)
        found.append(steps[int(np.argmin(mean))])
    return found


def _steps(space: Space, now: Config, end: Config) -> list[Config]:
    open_ones = [i for i, (a, b) in enumerate(zip(now, end, strict=True)) if a != b]
    for together in range(1, len(open_ones) + 1):
        tried = [
            tuple(end[i] if i in changed else value for i, value in enumerate(now))
            for changed in combinations(open_ones, together)
        ]
        fitting = [one for one in tried if space.fits(one)]
        if fitting:
            return fitting
    return [end]


def changed_names(space: Space, a: Config, b: Config) -> list[str]:
    """The knobs in which two configurations differ."""
    return [knob.name for knob, x, y in zip(space.knobs, a, b, strict=True) if x != y]


def knob_effects(history: History, winner: Config) -> list[KnobEffect]:
    """Every knob's effect around the winner, the greatest first."""
    plan, found = history.plan, []
    for at, knob in enumerate(plan.space.knobs):
        others = [(*winner[:at], value, *winner[at + 1 :]) for value in knob.values]
        fitting = [one for one in others if plan.space.fits(one)]
        if len(fitting) < 2:
            continue
        mean, _ = history.surrogate.predict(fitting, plan.full)
        best, worst = fitting[int(np.argmin(mean))], fitting[int(np.argmax(mean))]
        change, sd = history.surrogate.contrast([worst, best], [1.0, -1.0], plan.full)
        low, high = change - SURE * sd, change + SURE * sd
        none = log(1 + plan.delta)
        told = True if low > none else False if high <= none else None
        found.append(
            KnobEffect(knob.name, written(best[at]), written(worst[at]), exp(change), exp(low), exp(high), told)
        )
    return sorted(found, key=lambda one: -one.ratio)


def interactions(history: History, start: Config, winner: Config) -> list[Interaction]:
    """Pairs of the knobs in which two configurations differ, whose interval leaves out 1; the greatest first."""
    space, found = history.plan.space, []
    differing = [i for i, (a, b) in enumerate(zip(start, winner, strict=True)) if a != b]
    for i, j in combinations(differing, 2):
        corners = [_with(winner, start, undone) for undone in ((), (i,), (j,), (i, j))]
        if not all(space.fits(one) for one in corners):
            continue
        change, sd = history.surrogate.contrast(corners, [1.0, -1.0, -1.0, 1.0], history.plan.full)
        low, high = exp(change - SURE * sd), exp(change + SURE * sd)
        if low > 1 or high < 1:
            found.append(Interaction((space.knobs[i].name, space.knobs[j].name), exp(change), low, high))
    return sorted(found, key=lambda one: -abs(np.log(one.ratio)))


def _with(winner: Config, start: Config, undone: tuple[int, ...]) -> Config:
    return tuple(start[i] if i in undone else value for i, value in enumerate(winner))


def matters(judgement: Judgement) -> bool:
    """Whether a step of the way is proven to do something."""
    return judgement in (Judgement.FASTER, Judgement.SLOWER)
