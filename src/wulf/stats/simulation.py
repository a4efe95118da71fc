"""What the statistics of wulf promise, tried on noise whose truth is known: `wulf stats selftest`.

Every claim is one function that simulates campaigns and compares a share with its bound. A bound is missed only when
the share is beyond it by more than chance explains (one-sided binomial test at 1 %), so that a fixed seed is not luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.special import bdtr, bdtrc

from wulf.stats.comparison import Comparison, PairedRule
from wulf.stats.intervals import last_rank
from wulf.stats.nodes import screen, without_passes
from wulf.stats.samples import Floats
from wulf.stats.stopping import WidthRule
from wulf.stats.streams import SYNTHETIC, Stream, recorded, shuffled

CHANCE = 0.01
CV = 0.01
"""Coefficient of variation of a single run in the campaigns."""

EFFECT = 0.02
"""The difference to be found."""

NODES, SLOW, SLOWER = 64, (11, 40), 1.05
BETWEEN, REPLICATES = 0.005, 16
"""Relative standard deviation between like nodes, and replicates of each."""


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes
    ----------
    what, stream
        What is claimed, and over which noise.
    share
        What was found, of `n` campaigns.
    bound
        At most, or at least, that much; None for a row that only shows how a naive method fails.
    """

    what: str
    stream: str
    share: float
    n: int
    bound: float | None
    at_most: bool = True

    @property
    def met(self) -> bool | None:
        """Within the bound, but for chance; None where nothing is claimed."""
        if self.bound is None:
            return None
        hits = round(self.share * self.n)
        if self.at_most:
            return bool(self.share <= self.bound or bdtrc(hits - 1, self.n, self.bound) > CHANCE)
        return bool(self.share >= self.bound or bdtr(hits, self.n, self.bound) > CHANCE)


@dataclass(frozen=True)
class Size:
    """How many campaigns: of every comparison, of every survey and design."""

    campaigns: int
    surveys: int


FULL = Size(2000, 1000)
QUICK = Size(300, 150)


class Simulate(Protocol):
    """Campaigns over one kind of noise."""

    def __call__(self, random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
        """Simulate so many."""


class Step(Protocol):
    """One step of the self-test."""

    def __call__(self, random: np.random.Generator, *, size: Size) -> list[Claim]:
        """Simulate so many campaigns."""


def _paired(random: np.random.Generator, stream: Stream, n: int, effect: float) -> tuple[Floats, Floats]:
    """A and B of n blocks over one series of noise, AB or BA as a coin falls."""
    noise = CV * stream.draw(random, 2 * n).reshape(n, 2)
    a_first = random.random(n) < 0.5
    a = np.where(a_first, noise[:, 0], noise[:, 1])
    b = np.where(a_first, noise[:, 1], noise[:, 0]) + np.log1p(effect)
    return np.exp(a), np.exp(b)


def comparisons(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """A/A and A/B campaigns with the stopping rule as `--versus` uses it."""
    rule = PairedRule()
    false = covered = found = early = 0
    for _ in range(size.campaigns):
        false += _campaign(rule, *_paired(random, stream, rule.most, 0.0)).changed
        outcome = _campaign(rule, *_paired(random, stream, rule.most, EFFECT))
        covered += outcome.low is not None and outcome.high is not None and outcome.low <= 1 + EFFECT <= outcome.high
        found += outcome.judgement == "slower"
        early += outcome.judgement == "slower" and outcome.n <= 12
    n = size.campaigns
    claims = [
        Claim("A/A: a difference is claimed", stream.name, false / n, n, 0.05),
        Claim("2 % slower: the ratio's interval covers it", stream.name, covered / n, n, 0.93, at_most=False),
    ]
    if stream is SYNTHETIC[0]:
        claims.append(
            Claim("2 % slower at CV 1 %: found within 12 pairs", stream.name, early / n, n, 0.9, at_most=False)
        )
    return [*claims, Claim("2 % slower: found within 40 pairs", stream.name, found / n, n, None)]


def _campaign(rule: PairedRule, a: Floats, b: Floats) -> Comparison:
    """The comparison at the look at which the rule ends it."""
    n = next(look for look in rule.looks if rule.enough(a[:look], b[:look]))
    return rule.compare(a[:n], b[:n])


def cells(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Cells measured until their interval is narrow: does it cover the median?"""
    rule = WidthRule(wish=0.02)
    covered = resolved = 0
    truth = float(np.exp(CV * (stream.median or 0.0)))
    for _ in range(size.campaigns):
        samples = np.exp(CV * stream.draw(random, rule.most))
        n = next(look for look in rule.looks if rule.decide(samples[:look].tolist()).stop)
        found = rule.estimate(samples[:n].tolist())
        if found.reason is None and found.low is not None and found.high is not None:
            resolved += 1
            covered += found.low <= truth <= found.high
    what = "a cell's interval covers the median"
    return [Claim(what, stream.name, covered / max(1, resolved), resolved, 0.93, at_most=False)]


def naive(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """The same noise, as it is usually dealt with: A/A again, and what is claimed."""
    from scipy.special import stdtr

    def p_of(d: Floats) -> float:
        t = d.mean() / max(d.std(ddof=1), 1e-300) * d.size**0.5
        return 2 * float(stdtr(d.size - 1, -abs(t)))

    peeked = rows = 0
    for _ in range(size.campaigns):
        a, b = (np.log(side) for side in _paired(random, stream, 40, 0.0))
        peeked += any(p_of((b - a)[:n]) <= 0.05 for n in range(6, 41, 2))
        series = CV * stream.draw(random, 40)
        first, second = series[:20], series[20:]
        variance = (first.var(ddof=1) + second.var(ddof=1)) / 20
        t = abs(first.mean() - second.mean()) / max(variance**0.5, 1e-300)
        rows += 2 * stdtr(38, -t) <= 0.05
    n = size.campaigns
    return [
        Claim("naive: t-test after every second pair", stream.name, peeked / n, n, None),
        Claim("naive: 20 of A, then 20 of B, t-test", stream.name, rows / n, n, None),
    ]


def best_of(random: np.random.Generator, size: Size, trials: int = 50) -> list[Claim]:
    """Try 50 settings that do nothing, and believe the best: it seems more than 3 % faster."""
    best = np.exp(0.02 * random.normal(size=(size.campaigns, trials))).min(axis=1)
    n = size.campaigns
    return [
        Claim(
            "naive: the best of 50 useless settings at CV 2 % seems 3 % faster",
            "lognormal",
            float((best < 0.97).mean()),
            n,
            None,
        )
    ]


def _accused(figures: Floats) -> set[int]:
    """Nodes that deviate; figures are values, low and high of one metric, shape (3, nodes)."""
    values, low, high = figures[0, :, None], figures[1, :, None], figures[2, :, None]
    return {deviation.node for deviation in screen(values, low=low, high=high, worse=[1]).deviations}


def surveys(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """64 like nodes, two slow by 5 % or none; every pass measures each once, in random order, as surveys do."""
    accused = found = false = named = 0
    rank = last_rank(REPLICATES, 0.5, 0.025)
    for _ in range(size.surveys):
        passes = CV * stream.draw(random, REPLICATES * NODES).reshape(REPLICATES, NODES)
        runs = random.permuted(passes, axis=1).T
        runs += BETWEEN * random.normal(size=(NODES, 1))
        ordered = np.sort(without_passes(np.exp(runs)), axis=1)
        values, low, high = np.median(ordered, axis=1), ordered[:, rank - 1], ordered[:, -rank]
        figures = np.stack([values, low, high])
        accused += bool(_accused(figures))
        figures[:, list(SLOW)] *= SLOWER
        named_now = _accused(figures)
        named += len(named_now)
        found += len(named_now & set(SLOW))
        false += len(named_now - set(SLOW))
    n = size.surveys
    return [
        Claim("64 like nodes: anyone is accused", stream.name, accused / n, n, 0.05),
        Claim("2 of 64 nodes 5 % slow: found", stream.name, found / (2 * n), 2 * n, 0.95, at_most=False),
        Claim("… share of false accusations", stream.name, false / max(1, named), max(1, named), 0.10),
    ]


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


def histories(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """60 runs, the last 25 slower by 3 %, or not."""
    from wulf.stats.changes import change_points

    false = found = 0
    n = max(50, size.surveys // 2)
    for _ in range(n):
        values = np.exp(CV * stream.draw(random, 60))
        false += bool(change_points(values, seed=random))
        values[35:] *= 1.03
        found += any(abs(change.at - 35) <= 2 for change in change_points(values, seed=random))
    return [
        Claim("60 runs, nothing changed: a change is claimed", stream.name, false / n, n, 0.05),
        Claim("3 % slower from the 36th on: found within 2 runs", stream.name, found / n, n, 0.9, at_most=False),
    ]


def plan(recording: Sequence[Sequence[float]]) -> list[tuple[str, Step]]:
    """All steps of the self-test, each with the words for its progress line.

    Parameters
    ----------
    recording
        Series of replicates, recorded from real ping-pongs.
    """
    real = recorded(recording)
    steady = [stream for stream in (*SYNTHETIC, shuffled(real)) if stream.median is not None]
    kinds: list[tuple[str, Simulate, Sequence[Stream]]] = [
        ("comparisons", comparisons, (*SYNTHETIC, real)),
        ("naive methods", naive, (*SYNTHETIC, real)),
        ("surveys", surveys, (*SYNTHETIC, real)),
        ("cells", cells, steady),
        ("designs", designs, SYNTHETIC[:1]),
        ("histories", histories, SYNTHETIC[:2]),
    ]
    steps: list[tuple[str, Step]] = [
        (f"{words}, {stream.name}", partial(simulate, stream=stream))
        for words, simulate, streams in kinds
        for stream in streams
    ]
    return [*steps, ("best of many", best_of)]
