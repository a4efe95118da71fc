"""The statistics' self-test: every claim simulated, with seeds that are fixed and what it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wulf.measure.watcher import UNWATCHED, Progress, Watcher
from wulf.selftest import (
    blame,
    cells,
    comparisons,
    histories,
    knobs,
    launches,
    loggp,
    models,
    naive,
    nodes,
    predict,
    search,
    tune,
)
from wulf.stats.changes import change_points
from wulf.stats.claims import FULL, QUICK, Claim
from wulf.stats.comparison import PairedRule
from wulf.stats.levelling import figures
from wulf.stats.nodes import Screening, screen
from wulf.stats.samples import Floats

SEED = 20261120

AREAS = (
    comparisons.plan,
    naive.plan,
    nodes.plan,
    blame.plan,
    cells.plan,
    launches.plan,
    tune.plan,
    knobs.plan,
    histories.plan,
    models.plan,
    loggp.plan,
    models.harder,
    predict.plan,
    search.plan,
)
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
    nodes = np.exp(0.01 * random.normal(size=(100, 10_000, 8)))
    history = np.exp(0.01 * random.normal(size=10_000))
    history[2000:] *= 1.03
    history[7000:] *= 0.95
    rule = PairedRule()
    rule.compare(*pairs)  # once, for the tables that are kept
    return [
        _timed("a comparison of 40 pairs", 0.05, lambda: rule.compare(*pairs)),
        _timed("outliers of 10,000 nodes × 100 metrics × 8 replicates", 10.0, lambda: _outliers(nodes)),
        _timed("change points of 10,000 runs", 10.0, lambda: change_points(history)),
    ]


def _outliers(samples: Floats) -> Screening:
    """Of samples in the shape of metrics × nodes × passes, as a node survey judges them."""
    found = [figures(one) for one in samples]
    return screen(
        np.stack([one.values for one in found], axis=1),
        errors=np.stack([one.errors for one in found], axis=1),
        freedom=np.stack([one.freedom for one in found], axis=1),
        resolution=[one.resolution for one in found],
        worse=np.ones(len(found)),
    )


def _timed(what: str, limit: float, work: Callable[[], object]) -> Speed:
    began = time.perf_counter()
    work()
    return Speed(what, time.perf_counter() - began, limit)
