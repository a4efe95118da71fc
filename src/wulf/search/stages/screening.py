"""The first look: every knob at two values, in so few runs that all of them together can be told apart."""

from __future__ import annotations

from random import Random

from wulf.core.records import Param
from wulf.search.space import Config, Knob, Space
from wulf.stats.designs import fractional_factorial, plackett_burman

RESOLUTION_FOUR = 4
"""Knobs up to which a fraction of resolution IV takes no more runs than Plackett and Burman's design."""

MOST = 23
"""Knobs that Plackett and Burman's largest design here can screen."""


def screening_runs(space: Space, random: Random) -> list[Config]:
    """A two-level design over all knobs that vary, in random order: each knob at its default, and far from it.

    Runs that break a condition are left out: least squares needs balance no more than enough runs. With more knobs than
    a design takes, configurations in which all values occur alike often.
    """
    varying = [knob for knob in space.knobs if len(knob.values) > 1]
    if len(varying) > MOST:
        return space.spread(2 * MOST, random)
    names = [knob.name for knob in varying]
    design = fractional_factorial(names, 4) if len(names) <= RESOLUTION_FOUR else plackett_burman(names)
    far = {knob.name: _far(knob, random) for knob in varying}
    runs = [
        tuple(
            far[knob.name] if len(knob.values) > 1 and row[names.index(knob.name)] > 0 else knob.default
            for knob in space.knobs
        )
        for row in design.runs.tolist()
    ]
    fitting = [one for one in dict.fromkeys(runs) if space.fits(one)]
    return random.sample(fitting, len(fitting))


def _far(knob: Knob, random: Random) -> Param:
    """The value farthest from the default; of words any other."""
    places = knob.places
    others = [value for value in knob.values if value != knob.default]
    if places is None:
        return random.choice(others)
    at = dict(zip(map(repr, knob.values), places, strict=True))
    return max(others, key=lambda value: abs(at[repr(value)] - at[repr(knob.default)]))
