"""Knobs: designs of several settings at once."""

from __future__ import annotations

import numpy as np

from wulf.selftest.noise import CV, over
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.streams import SYNTHETIC, Stream

KNOBS = ("a", "b", "c", "d", "e")
PLANTED = {"a": -0.03, "b": 0.02, "a × b": 0.02}
"""Full changes on the log scale; c, d and e do nothing."""

DRIFT_OVER_CAMPAIGN = 0.10


def designs(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Five knobs, two of which matter and interact, in 2^(5-1) runs twice, while the machine drifts by 10 %.

    Beside it the same drift and one knob at a time, in the order of the list.
    """
    from wulf.stats.designs import fractional_factorial, levels_in, order, replicate
    from wulf.stats.effects import analyse

    design = replicate(fractional_factorial(KNOBS, 5), 2)
    found = covered = false = drifted = 0
    for _ in range(size.surveys):
        levels = levels_in(design, order(design, random, anchor_every=8))
        n = len(levels)
        noise = CV * stream.draw(random, n) + np.linspace(0, DRIFT_OVER_CAMPAIGN, n)
        a, b = levels[:, 0] / 2, levels[:, 1] / 2
        values = np.exp(noise + PLANTED["a"] * a + PLANTED["b"] * b + 2 * PLANTED["a × b"] * a * b)
        effects = {effect.name: effect for effect in analyse(KNOBS, levels, values, trend=1).effects}
        claimed = {name for name, effect in effects.items() if effect.holm is not None and effect.holm <= 0.05}
        for name, truth in PLANTED.items():
            contrast = effects[name].contrast
            assert contrast.low is not None and contrast.high is not None  # noqa: S101 - the design leaves an error
            covered += contrast.low <= np.exp(truth) <= contrast.high
        found += len(claimed & set(PLANTED))
        false += bool(claimed - set(PLANTED))
        drifted += _one_knob_at_a_time(random, stream)
    where, n, planted = f"{stream.name}, 10 % drift", size.surveys, size.surveys * len(PLANTED)
    return [
        Claim("2^(5-1) design: planted effects found", where, found / planted, planted, 0.95, at_most=False),
        Claim("2^(5-1) design: intervals cover them", where, covered / planted, planted, 0.93, at_most=False),
        Claim("2^(5-1) design: an effect where none is", where, false / n, n, 0.05),
        Claim("naive: one knob at a time: an effect where none is", where, drifted / n, n, None),
    ]


def _one_knob_at_a_time(random: np.random.Generator, stream: Stream) -> bool:
    """Six runs of the baseline, then six with each useless knob alone: does any t-test claim an effect at 5 %?"""
    from scipy.special import stdtr

    runs = CV * stream.draw(random, 36) + np.linspace(0, DRIFT_OVER_CAMPAIGN, 36)
    baseline, *alone = np.split(runs, 6)
    for knob in alone:
        error = ((baseline.var(ddof=1) + knob.var(ddof=1)) / 6) ** 0.5
        if 2 * stdtr(10, -abs(knob.mean() - baseline.mean()) / max(error, 1e-300)) <= 0.05:
            return True
    return False


def plan() -> list[tuple[str, Step]]:
    """The steps of this area."""
    return over("designs", designs, SYNTHETIC[:1])
