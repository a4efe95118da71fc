"""The way from the default to the winner, a knob at a time; and which two knobs may do something only together.

Both are what the model thinks: they say what is worth running. What is claimed of knobs is what those runs say
(`claims`): the model chose best and worst by the runs that it was made of, and its own intervals cover less
than they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np

from wulf.search.history import History
from wulf.search.space import Config, Space

SIGNS = (1.0, -1.0, -1.0, 1.0)
"""Of a pair's corners: what is left of the winner against either undone and both undone is what they do together."""


@dataclass(frozen=True)
class Pair:
    """Two knobs, and what tells whether they do something else together than one by one.

    Attributes
    ----------
    corners
        The winner, without one's change, without the other's, without both.
    """

    names: tuple[str, str]
    corners: tuple[Config, Config, Config, Config]


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


def likeliest_pair(history: History, start: Config, winner: Config, size: float) -> Pair | None:
    """Of the knobs in which two configurations differ the pair that most likely does more, or less, than both alone.

    None where the model expects of no pair more than counts as no difference: then none is run.
    """
    space, least = history.plan.space, log(1 + history.plan.delta)
    found: list[tuple[float, Pair]] = []
    differing = [i for i, (a, b) in enumerate(zip(start, winner, strict=True)) if a != b]
    for i, j in combinations(differing, 2):
        corners = tuple(_with(winner, start, undone) for undone in ((), (i,), (j,), (i, j)))
        if any(not space.fits(one) or history.failed(one) for one in corners):
            continue
        change, sd = history.surrogate.contrast(corners, SIGNS, size)
        if abs(change) > least:
            names = (space.knobs[i].name, space.knobs[j].name)
            found.append((abs(change) / sd, Pair(names, (corners[0], corners[1], corners[2], corners[3]))))
    return max(found, key=lambda one: one[0], default=(0.0, None))[1]


def _with(winner: Config, start: Config, undone: tuple[int, ...]) -> Config:
    return tuple(start[i] if i in undone else value for i, value in enumerate(winner))
