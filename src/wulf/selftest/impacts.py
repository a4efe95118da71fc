"""Many impacts: programs whose gains are known, each measured in blocks, pooled as `wulf impacts` does."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from wulf.model.impacts import Expectation, Load, RunImpact, expectation, less_time, mix_gain, moderated
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.comparison import PairedRule
from wulf.stats.estimates import Interval
from wulf.stats.pooling import LEAST, LEAST_MODERATED
from wulf.tune.campaign.wording import comparison_object
from wulf.workflow.impact.arms import BLOCKS
from wulf.workflow.impact.collecting import error_of, gain_of

GAIN = 0.05
NOISE = 0.02
"""Of a block's ratio, on average over programs."""

SCATTER = 0.5
"""Of a program's own noise, as logarithms: some are quieter than others."""

PROGRAMS = (LEAST, 5, 10)
SPREADS = (0.0, 0.01, 0.05)
"""τ: programs that gain all the same, that differ as much as their errors, and much more."""

COVERED = 0.93
SHARES = (0.5, 0.3, 0.2)


def covered(random: np.random.Generator, size: Size, programs: int, spread: float) -> list[Claim]:
    """Does the mean's interval hold the mean, and that for one more program its gain?"""
    n, hits = size.surveys, Counter[str]()
    for _ in range(n):
        pooled = measured(random, programs, spread).pooled
        assert pooled is not None  # noqa: S101 - there are enough programs
        hits["the mean gain's interval covers it"] += _holds(pooled.mean, GAIN)
        hits["one more program's interval covers its gain"] += _holds(pooled.next, float(random.normal(GAIN, spread)))
    noise = _words(programs, spread)
    return [
        Claim(f"impacts: {what}", noise, hits[what] / n, n, COVERED, at_most=False)
        for what in ("the mean gain's interval covers it", "one more program's interval covers its gain")
    ]


def mixed(random: np.random.Generator, size: Size, programs: int, spread: float) -> list[Claim]:
    """Does the interval of a mix hold what it gains, one program a domain?"""
    n = hits = size.surveys // len(SHARES)
    for _ in range(n):
        loads = [Load(str(number), share) for number, share in enumerate(SHARES)]
        known = {load.name: measured(random, programs, spread, load.name) for load in loads}
        true = sum(load.share * less_time(float(random.normal(GAIN, spread))) for load in loads)
        gain = mix_gain(loads, known, None).saved
        hits -= gain is None or not _holds(gain, true)
    what = f"impacts: a mix of {len(SHARES)} domains, its interval covers its gain"
    return [Claim(what, _words(programs, spread), hits / n, n, COVERED, at_most=False)]


def unrelated(random: np.random.Generator, size: Size, programs: int, spread: float) -> list[Claim]:
    """Are gains said to go with the share of time in MPI where they do not?"""
    n, hits = size.surveys, 0
    for _ in range(n):
        found = moderated(_runs(random, programs, spread))
        hits += found is not None and found.proven
    what = "impacts: gains go with the time in MPI, where they don't"
    return [Claim(what, _words(programs, spread), hits / n, n, 0.05)]


def measured(random: np.random.Generator, programs: int, spread: float, name: str = "all") -> Expectation:
    """What so many programs say, whose gains differ by `spread`."""
    return expectation(name, _runs(random, programs, spread))


def _runs(random: np.random.Generator, programs: int, spread: float) -> list[RunImpact]:
    """Each measured in `BLOCKS` blocks, and compared as `wulf impact` compares."""
    rule, found = PairedRule(looks=(BLOCKS,)), []
    for number in range(programs):
        noise = NOISE * np.exp(random.normal(0, SCATTER))
        ratios = random.normal(-random.normal(GAIN, spread), noise, BLOCKS)
        compared = comparison_object(rule.judge(ratios), lower_is_better=True)
        gain = gain_of({"lower_is_better": True, "compared": compared})
        share = float(random.uniform(0, 1))
        found.append(RunImpact("", str(number), "", "", "", gain, error_of(gain, BLOCKS), share))
    return found


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def _words(programs: int, spread: float) -> str:
    return f"{programs} programs, τ {spread:.0%}, {BLOCKS} blocks of {NOISE:.0%}"


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    steps: list[tuple[str, ClaimStep]] = []
    for words, step in (("pooled", covered), ("a mix", mixed), ("time in MPI", unrelated)):
        steps += [
            (f"impacts, {words}: {_words(programs, spread)}", partial(step, programs=programs, spread=spread))
            for programs in PROGRAMS
            for spread in SPREADS
            if step is not unrelated or programs >= LEAST_MODERATED
        ]
    return steps
