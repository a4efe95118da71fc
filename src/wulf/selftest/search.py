"""`wulf search` on programs whose truth is known: what it claims of the winner, of knobs, and of two together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count, pairwise
from math import exp, log

import numpy as np

from wulf.search.journal import drive
from wulf.search.plan import SearchPlan
from wulf.search.space import Config, Knob, Space
from wulf.search.stages.path import changed_names
from wulf.search.strategy import SearchOutcome
from wulf.search.trial import CUT, OK, Outcome, Run, Trial
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.series.streams import SYNTHETIC, Stream

SIZES, RUNGS = (500.0, 1000.0, 2000.0), (8, 6, 4)
"""Fewer configurations than the command looks at: what is claimed of them is what fresh runs say, however many."""

SHARE = 3
"""One in so many of the surveys: each is a whole search."""

SPACE = Space(
    (
        Knob("block", (32, 64, 128, 256), 32),
        Knob("grid", ("flat", "square"), "flat"),
        Knob("copy", (0, 1), 0),
        *(Knob(f"idle{n}", (0, 1), 0) for n in range(3)),
    )
)

NOISES = (0.01, 0.12)
"""Standard deviation of one run: of a quiet machine, and of the virtual one that the recorded grid is of."""

RUNS = 150
"""Of a search, about: over so many a stream drifts by all that it does."""

COVERED, FALSE = 0.93, 0.05

JOINT = ("grid", "copy", "idle0")
"""Knobs that stand for MPI, compiler and BLAS: the program is the same with each, and they may depend on each other."""

Truth = Callable[[Config, float], float]
"""Seconds of a configuration at a size."""


def multiplicative(config: Config, size: float) -> float:
    """Knobs that do the same whatever the others are; three do nothing."""
    block, grid, copy = config[:3]
    factor = 1 + 0.06 * abs(log(int(str(block)) / 128, 2))
    return factor * (0.8 if grid == "square" else 1.0) * (0.9 if copy else 1.0) * _work(size)


def together(config: Config, size: float) -> float:
    """The same, where a square grid and copies do far more together."""
    return multiplicative(config, size) * (0.75 if config[1] == "square" and config[2] else 1.0)


def nothing(_: Config, size: float) -> float:
    """No knob does anything."""
    return _work(size)


TOLD: dict[Truth, str] = {
    multiplicative: "knobs multiply", together: "two knobs do more together", nothing: "no knob does anything"
}  # fmt: skip


def _work(size: float) -> float:
    return 1e-9 * size**3 + 2e-7 * size**2


def measurer(truth: Truth, noise: float, stream: Stream, random: np.random.Generator) -> Run:
    """Runs trials of a program of that truth; one series of noise, in the order in which they are run."""
    series = (noise * each for _ in count() for each in stream.draw(random, RUNS).tolist())

    def run(trial: Trial) -> Outcome:
        seconds = truth(trial.config, trial.size) * exp(next(series))
        if trial.limit is not None and seconds > trial.limit:
            return Outcome(CUT, None, trial.limit, reason="slower than the best of its size")
        return Outcome(OK, seconds, seconds, seconds)

    return run


def searched(
    truth: Truth, noise: float, stream: Stream, random: np.random.Generator, seed: int, *, joint: tuple[str, ...] = ()
) -> SearchOutcome:
    """The whole search, as `wulf search` conducts it."""
    plan = SearchPlan(SPACE, SIZES, 3.0, {"default": SPACE.default}, seed, rungs=RUNGS, joint=joint)
    return drive(plan, measurer(truth, noise, stream, random))


def knobs(random: np.random.Generator, size: Size, truth: Truth, noise: float, stream: Stream) -> list[Claim]:
    """Do the steps' intervals cover, and is anything proven that is not so?"""
    n, hits = max(3, size.surveys // SHARE), Counter[str]()
    for number in range(n):
        hits.update(_judged(searched(truth, noise, stream, random, number), truth))
    steps, real = max(1, hits["steps"]), max(1, hits["real"])
    of = f"{stream.name}, one run ±{noise:.0%}, {TOLD[truth]}"
    claims = [
        Claim("search: a step's interval covers it", of, hits["covered"] / steps, steps, COVERED, at_most=False),
        Claim("search: a knob that does nothing is proven to matter", of, hits["false"] / n, n, FALSE),
        Claim("search: the winner is proven faster or slower, and is not", of, hits["wrong"] / n, n, FALSE),
    ]
    if truth is not nothing:
        claims.append(Claim("search: a step of 5 % or more is proven", of, hits["found"] / real, real, None))
    if truth is together:
        return [*claims, Claim("search: the pair is proven", of, hits["pair"] / n, n, None)]
    return [*claims, Claim("search: an interaction is proven, and there is none", of, hits["pair"] / n, n, FALSE)]


def _judged(found: SearchOutcome, truth: Truth) -> Counter[str]:
    """What a search claimed, held against the truth."""
    hits, plan = Counter[str](), found.history.plan
    if found.confirmation is not None and found.confirmed is not None and found.winner is not None:
        rival, winner = found.confirmed.configs
        right = truth(winner, found.confirmed.size) / truth(rival, found.confirmed.size)
        claimed = found.confirmation.judgement
        hits["wrong"] += (claimed == "faster" and right >= 1) or (claimed == "slower" and right <= 1)
    if found.proofs is None or found.walked is None:
        return hits
    for (before, now), proof in zip(pairwise(found.path), found.proofs.steps, strict=True):
        right, one = truth(now, found.walked.size) / truth(before, found.walked.size), proof.comparison
        if one.low is None or one.high is None:
            continue
        hits["steps"] += 1
        hits["covered"] += one.low <= right <= one.high
        hits["idle"] += proof.proven and right == 1 and bool(changed_names(plan.space, before, now))
        hits["real"] += abs(log(right)) >= log(1.05)
        hits["found"] += proof.proven and abs(log(right)) >= log(1.05)
    hits["false"] = int(hits["idle"] > 0)
    hits["pair"] = int(found.proofs.pair is not None and found.proofs.pair.proven)
    return hits


def tools(random: np.random.Generator, size: Size, truth: Truth, noise: float, stream: Stream) -> list[Claim]:
    """Is one of what a program is built with said to depend on another where it does not, or not to where it does?"""
    n, hits = max(3, size.surveys // SHARE), Counter[str]()
    for number in range(n):
        hits.update(_joint(searched(truth, noise, stream, random, number, joint=JOINT), truth))
    pairs, real = max(1, hits["pairs"]), max(1, hits["real"])
    of = f"{stream.name}, one run ±{noise:.0%}, {TOLD[truth]}"
    claims = [
        Claim(
            "search: an interaction's interval covers it", of, hits["covered"] / pairs, pairs, COVERED, at_most=False
        ),
        Claim("search: two are said to depend on each other, and don't", of, hits["false"] / n, n, FALSE),
    ]
    if truth is together:
        claims += [
            Claim("search: two are said not to depend on each other, and do", of, hits["missed"] / real, real, FALSE),
            Claim("search: two that depend on each other are told", of, hits["found"] / real, real, None),
        ]
    return claims


def _joint(found: SearchOutcome, truth: Truth) -> Counter[str]:
    """What a search claimed of every two of its joint knobs, held against the truth."""
    hits, space, size = Counter[str](), found.history.plan.space, found.history.plan.size_of(1)
    for one in found.joint:
        if one.proof is None or found.winner is None:
            continue
        named, (a, b) = space.named(found.winner), one.names
        costs = [truth(space.config({**named, a: x, b: y}), size) for x in one.values[0] for y in one.values[1]]
        right, seen = costs[0] * costs[3] / costs[1] / costs[2], one.proof.comparison
        depends = abs(log(right)) > log(1 + found.history.plan.delta)
        if seen.low is None or seen.high is None:
            continue
        hits["pairs"] += 1
        hits["covered"] += seen.low <= right * (1 + 1e-9) and right * (1 - 1e-9) <= seen.high
        hits["idle"] += one.proof.proven and not depends
        hits["real"] += depends
        hits["found"] += one.proof.proven and depends
        hits["missed"] += seen.judgement == "equivalent" and depends
    hits["false"] = int(hits["idle"] > 0)
    return hits


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps, with the words for the progress line."""
    steady, heavy, drifting = SYNTHETIC[0], SYNTHETIC[1], SYNTHETIC[-1]
    cases = [
        *((multiplicative, noise, steady) for noise in NOISES),
        (multiplicative, NOISES[0], heavy), (multiplicative, NOISES[0], drifting),
        (together, NOISES[0], steady), (nothing, NOISES[0], steady),
    ]  # fmt: skip
    found: list[tuple[str, ClaimStep]] = [
        (f"search, {truth.__name__}, {stream.name}, {noise:.0%}",
         partial(knobs, truth=truth, noise=noise, stream=stream))
        for truth, noise, stream in cases
    ]  # fmt: skip
    return found + [
        (f"search, tools, {truth.__name__}, {noise:.0%}", partial(tools, truth=truth, noise=noise, stream=steady))
        for truth, noise in ((multiplicative, NOISES[0]), (multiplicative, NOISES[1]), (together, NOISES[0]))
    ]
