"""`wulf tune`, from the plan to what it keeps: eight knobs of which none, one, or three together do something."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import exp, log1p
from statistics import fmean

import numpy as np

from wulf.selftest.simulated.campaigns import Effect, Held, SimulatedCampaign, held
from wulf.selftest.simulated.noise import CV, over
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.samples import Floats
from wulf.stats.series.streams import SYNTHETIC, Stream

KNOBS = "abcdefgh"
"""As many as a campaign may well have: 20 configurations in 11 blocks."""

FOUND = 0.02
"""The effect to be found, at the coefficient of variation of the noise that all share."""

FEW, WORTH = "abcde", 0.012
"""Of the campaigns that show what a kept setting's figure is worth: an effect that half of them find, and half miss."""

TOGETHER = {"ab": 0.05, "bc": -0.04, "abc": -0.10}
"""What pairs and three do that each of them alone does not."""


def nothing(_: frozenset[str]) -> float:
    """No knob does anything."""
    return 0.0


def one_faster(on: frozenset[str], by: float = FOUND) -> float:
    """Knob d is faster, and it alone."""
    return -log1p(by) * ("d" in on)


def in_company(on: frozenset[str]) -> float:
    """Knob d is faster, and a, b and c do much together; e to h do nothing, whatever the others are."""
    return one_faster(on) + sum(effect for some, effect in TOGETHER.items() if on.issuperset(some))


def two_faster(on: frozenset[str]) -> float:
    """Knobs a and b are faster, and less so together."""
    return -WORTH * ("a" in on) - 2 * WORTH * ("b" in on) + 0.5 * WORTH * (on >= {"a", "b"})


def _rise(random: np.random.Generator, n: int, sigmas: float) -> Floats:
    return random.normal(size=n) + np.linspace(0, sigmas, n)


def _jump(random: np.random.Generator, n: int, sigmas: float) -> Floats:
    return random.normal(size=n) + sigmas * (np.arange(n) >= random.integers(n))


def _walk(random: np.random.Generator, n: int, sigmas: float) -> Floats:
    walk: Floats = random.normal(size=n) + sigmas * np.cumsum(random.normal(size=n)) / n**0.5
    return walk


def _modes(random: np.random.Generator, n: int) -> Floats:
    """Two modes four standard deviations apart, each for twenty measurements on average."""
    return random.normal(size=n) + 4 * (np.cumsum(random.random(n) < 1 / 20) % 2)


DRIFTS = tuple(
    Stream(f"{words} of {sigmas} σ", partial(draw, sigmas=sigmas), None)
    for sigmas in (10, 40)
    for words, draw in (("drift", _rise), ("jump", _jump), ("random walk", _walk))
)
MODES = Stream("switching modes", _modes, None)
UNEVEN = (*SYNTHETIC[:4], MODES, *DRIFTS)
"""Noise that no comparison may take for an effect; `SYNTHETIC`'s own drift is among the drifts."""


def inert(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Campaigns in which nothing does anything."""
    n = size.surveys
    planned = SimulatedCampaign(KNOBS, nothing, stream, CV)
    some = [held(planned, random) for _ in range(n)]
    claimed, differs = fmean(bool(one.claimed) for one in some), fmean(_row_differs(one) for one in some)
    return [
        Claim("tune, 8 knobs that do nothing: one is claimed", stream.name, claimed, n, 0.05),
        Claim("tune: the A/A arm's row differs from the default's", stream.name, differs, n, 0.05),
    ]


def interacting(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Campaigns in which three others do much in pairs and all together: what of the rest is claimed and found."""
    n = _campaigns(size)
    some = [held(SimulatedCampaign(KNOBS, in_company, stream, CV), random) for _ in range(n)]
    where = f"{stream.name}, 3 others interact"
    false = fmean(bool(set("efgh") & set(one.claimed)) for one in some)
    found = fmean(one.claimed.get("d") == "faster" for one in some)
    alarm = fmean(bool(one.result["alarms"]) for one in some)
    covered = fmean(_covers(one, name) for one in some for name in KNOBS)
    return [
        Claim("tune, 4 knobs that do nothing beside them: one is claimed", where, false, n, 0.05),
        Claim("tune: the A/A arm differs from itself", where, alarm, n, 0.05),
        Claim("tune: a setting's interval covers its effect", where, covered, n * len(KNOBS), 0.93, at_most=False),
        Claim("tune, a knob of 2 % at CV 1 %, 8 knobs, 11 blocks: found", where, found, n, 0.9, at_most=False),
    ]


def fractions(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """The same in a fraction of a factorial: five knobs and the A/A arm in 32 runs."""
    n = _campaigns(size)
    some = [held(SimulatedCampaign(FEW, in_company, stream, CV, "factorial"), random) for _ in range(n)]
    where = f"{stream.name}, 3 others interact"
    false = fmean("e" in one.claimed for one in some)
    return [Claim("tune --design factorial, a knob that does nothing: claimed", where, false, n, 0.05)]


def visible(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """The minimum detectable effect of a campaign that found nothing, planted in the next; where no A/A arm alarmed."""
    quiet = SimulatedCampaign(KNOBS, nothing, stream, CV)
    found = n = 0
    for _ in range(2 * size.surveys):
        seen = held(quiet, random).settings["d"]["effect"]["least_visible"]
        again = held(replace(quiet, effect=partial(one_faster, by=seen)), random)
        n += not again.result["alarms"]
        found += again.claimed.get("d") == "faster"
    what = "tune, 8 knobs: the minimum detectable effect, planted, is found"
    return [Claim(what, stream.name, found / n, n, 0.9, at_most=False)]


def worth(random: np.random.Generator, stream: Stream, size: Size, effect: Effect, words: str) -> list[Claim]:
    """What is kept: does its figure hold the truth, and is it as often too great as too small?"""
    covered = great = screened = n = 0
    for _ in range(3 * size.surveys):
        one = held(SimulatedCampaign(FEW, effect, stream, CV), random)
        for name, told in one.kept.items():
            left = frozenset(one.kept) - {name}
            truth = 1 - exp(effect(frozenset(one.kept)) - effect(left))
            n += 1
            covered += told["low"] <= truth <= told["high"]
            great += told["value"] > truth
            screened += one.settings[name]["effect"]["improvement"] > truth
    where = f"{stream.name}, {words}"
    return [
        Claim("tune: a kept setting's interval covers its effect", where, covered / n, n, 0.93, at_most=False),
        Claim("tune: a kept setting's figure is too great", where, great / n, n, 0.5),
        Claim("naive: the figure that it was selected by is too great", where, screened / n, n, None),
    ]


def _campaigns(size: Size) -> int:
    """A campaign costs as much as twenty comparisons."""
    return size.surveys // 2


def _covers(one: Held, name: str) -> bool:
    """Whether a knob's screened interval holds the mean of what it does alone and together with all others."""
    whole, found = frozenset(KNOBS), one.settings[name]["effect"]
    alone, company = in_company(frozenset(name)), in_company(whole) - in_company(whole - {name})
    return bool(found["low"] <= exp((alone + company) / 2) <= found["high"])


def _row_differs(one: Held) -> bool:
    """By itself, and whatever the A/A arm's effect says."""
    row = next(row for row in one.result["rows"] if row["kind"] == "control")
    return row["against_default"]["judgement"] in ("faster", "slower")


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    lognormal = SYNTHETIC[:1]
    one, two = (
        partial(worth, effect=partial(one_faster, by=WORTH), words="one setting"),
        partial(worth, effect=two_faster, words="two that interact"),
    )
    return [
        *over("tune, nothing to find", inert, UNEVEN),
        *over("tune, interactions", interacting, (*lognormal, SYNTHETIC[3], DRIFTS[0])),
        *over("tune, a fraction", fractions, lognormal),
        *over("tune, minimum detectable", visible, lognormal),
        *over("tune, what one is worth", one, lognormal),
        *over("tune, what two are worth", two, lognormal),
    ]
