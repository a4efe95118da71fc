"""The statistics' self-test: every claim simulated, with seeds that are fixed and what it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wulf.measure.watcher import UNWATCHED, Progress, Watcher
from wulf.model import loggp_simulation as messages
from wulf.model import simulation as models
from wulf.selftest import cells, comparisons, histories, knobs, naive, nodes, tune
from wulf.stats.changes import change_points
from wulf.stats.claims import FULL, QUICK, Claim
from wulf.stats.comparison import PairedRule
from wulf.stats.nodes import screen

SEED = 20261120

AREAS = (
    comparisons.plan, naive.plan, nodes.plan, cells.plan, tune.plan, knobs.plan, histories.plan,
    models.plan, messages.plan, models.harder,
)  # fmt: skip
"""What is promised, area by area: each gives its steps, with the words for their progress lines."""


@dataclass(frozen=True)
class Speed:
    """How long an analysis of a given size takes, in seconds of this machine, beside what it may take."""

    what: str
    seconds: float
    limit: float

    @property
    def met(self) -> bool:
        """Within the limit."""
        return self.seconds <= self.limit


def claims(*, quick: bool, seed: int = SEED, watch: Watcher = UNWATCHED) -> Iterator[Claim]:
    """Simulate all claims, one step after the other."""
    steps = [step for area in AREAS for step in area()]
    began = time.monotonic()
    for done, (words, step) in enumerate(steps):
        left = (time.monotonic() - began) / done * (len(steps) - done) if done else None
        watch.on_progress(Progress(done, len(steps), left, words))
        yield from step(np.random.default_rng([seed, done]), size=QUICK if quick else FULL)


def speeds() -> list[Speed]:
    """What analyses of 40 pairs, 10,000 nodes and 10,000 runs take."""
    random = np.random.default_rng(SEED)
    pairs = np.exp(0.01 * random.normal(size=(2, 40)))
    nodes = np.exp(0.01 * random.normal(size=(10_000, 100)))
    history = np.exp(0.01 * random.normal(size=10_000))
    history[2000:] *= 1.03
    history[7000:] *= 0.95
    rule = PairedRule()
    rule.compare(*pairs)  # once, for the tables that are kept
    return [
        _timed("a comparison of 40 pairs", 0.05, lambda: rule.compare(*pairs)),
        _timed("outliers of 10,000 nodes × 100 metrics", 10.0, lambda: screen(nodes, worse=np.ones(100))),
        _timed("change points of 10,000 runs", 10.0, lambda: change_points(history)),
    ]


def _timed(what: str, limit: float, work: Callable[[], object]) -> Speed:
    began = time.perf_counter()
    work()
    return Speed(what, time.perf_counter() - began, limit)
