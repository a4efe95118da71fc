"""Knobs that interact: combinations of a factorial design, which show each interaction of two by itself."""

from __future__ import annotations

from math import exp

import numpy as np

from wulf.selftest.simulated.campaigns import PREFIX, Held, SimulatedCampaign, held
from wulf.selftest.simulated.noise import CV, over
from wulf.selftest.tune import DRIFTS
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.series.streams import SYNTHETIC, Stream

KNOBS, ALONE, BOTH = "abcd", -0.05, 0.04
"""Knob a is faster; where b is on, too, hardly so. c and d do nothing."""

PLANTED = {"a": ALONE + BOTH / 2, "b": BOTH / 2, "a × b": BOTH / 2}
"""What a factorial design makes of that: changes on the log scale, averaged over the other knobs."""

DRIFT_OVER_CAMPAIGN = 0.10


def effect(on: frozenset[str]) -> float:
    """What is planted."""
    return ALONE * ("a" in on) + BOTH * (on >= {"a", "b"})


def designs(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Four knobs, two of which matter and interact, with an A/A arm in 2^(5-1) runs a block, and a drift of 10 %.

    Beside it the same drift and one knob at a time, in the order of the list.
    """
    n = size.surveys // 2
    found = covered = false = drifted = 0
    for _ in range(n):
        one = held(SimulatedCampaign(KNOBS, effect, stream, CV, "factorial"), random)
        claimed, intervals = _claimed(one), _intervals(one)
        found += len(claimed & set(PLANTED))
        false += bool(claimed - set(PLANTED))
        covered += sum(low <= exp(PLANTED[name]) <= high for name, (low, high) in intervals.items() if name in PLANTED)
        drifted += _one_knob_at_a_time(random, SYNTHETIC[0])
    where, planted = stream.name, n * len(PLANTED)
    return [
        Claim("tune, 2^(5-1): planted effects found", where, found / planted, planted, 0.95, at_most=False),
        Claim("tune, 2^(5-1): intervals cover them", where, covered / planted, planted, 0.93, at_most=False),
        Claim("tune, 2^(5-1): an effect where none is", where, false / n, n, 0.05),
        Claim("naive: one knob at a time: an effect where none is", where, drifted / n, n, None),
    ]


def _claimed(one: Held) -> set[str]:
    """Knobs that are claimed to do something, and pairs that are proven to interact."""
    return {*one.claimed, *(pair["name"].replace(PREFIX, "") for pair in one.result["interactions"] if pair["proven"])}


def _intervals(one: Held) -> dict[str, tuple[float, float]]:
    """Of every knob's effect, and of every pair's."""
    effects = {name: told["effect"] for name, told in one.settings.items()}
    pairs = {pair["name"].replace(PREFIX, ""): pair for pair in one.result["interactions"]}
    return {name: (told["low"], told["high"]) for name, told in {**effects, **pairs}.items()}


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


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    return over("designs", designs, DRIFTS[:1])
