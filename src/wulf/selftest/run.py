"""The statistics' self-test: every claim simulated, with seeds that are fixed and what it took."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process

import numpy as np

from wulf.agent.mpi.supervise import die_with_parent
from wulf.measure.engine.watcher import UNWATCHED, Progress, Watcher
from wulf.selftest import (
    blame,
    cells,
    comparisons,
    histories,
    impacts,
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
from wulf.selftest.fleet import claims as fleet
from wulf.stats.claims import FULL, QUICK, Claim, ClaimStep, Size
from wulf.stats.cluster.levelling import figures
from wulf.stats.cluster.nodes import Screening, screen
from wulf.stats.comparison import PairedRule
from wulf.stats.samples import Floats
from wulf.stats.series.changes import change_points

SEED = 20261120

AREAS = {
    "comparisons": comparisons.plan,
    "naive": naive.plan,
    "nodes": nodes.plan,
    "blame": blame.plan,
    "cells": cells.plan,
    "launches": launches.plan,
    "tune": tune.plan,
    "knobs": knobs.plan,
    "histories": histories.plan,
    "models": models.plan,
    "loggp": loggp.plan,
    "models-harder": models.harder,
    "predict": predict.plan,
    "search": search.plan,
    "nodes-harder": nodes.harder,
    "impacts": impacts.plan,
    "sentry": fleet.plan,
    "traffic": blame.traffic,
}
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


def claims(*, quick: bool, seed: int = SEED, only: Collection[str] = (), watch: Watcher = UNWATCHED) -> list[Claim]:
    """Simulate the claims, on all CPUs that this process may use; what comes out depends on the seed alone.

    Parameters
    ----------
    only
        Areas; empty: all.
    """
    wanted = [number for number, area in enumerate(areas()) if not only or area in only]
    words = [words for words, _ in steps()]
    watch.on_progress(Progress(0, len(wanted), None, words[wanted[0]]))
    began = time.monotonic()
    found: dict[int, list[Claim]] = {}
    for number, told in simulated(wanted, seed, QUICK if quick else FULL):
        found[number] = told
        left = (time.monotonic() - began) / len(found) * (len(wanted) - len(found))
        running = next((one for one in wanted if one not in found), number)
        watch.on_progress(Progress(len(found), len(wanted), left, words[running]))
    return [claim for _, told in sorted(found.items()) for claim in told]


@cache
def steps() -> list[tuple[str, ClaimStep]]:
    """All steps with the words for their progress lines; each has its own noise, by its place here."""
    return [step for plan in AREAS.values() for step in plan()]


def areas() -> list[str]:
    """Of each step its area."""
    return [area for area, plan in AREAS.items() for _ in plan()]


def simulated(numbers: Sequence[int], seed: int, size: Size) -> Iterator[tuple[int, list[Claim]]]:
    """These steps with what each found, in the order in which they end.

    Processes of their own, not forks: the progress line's thread may hold a lock.
    """
    pool = ProcessPoolExecutor(
        min(len(os.sched_getaffinity(0)), len(numbers)), mp_context=get_context("spawn"), initializer=_begin
    )
    try:
        running = {pool.submit(_step, number, seed, size): number for number in numbers}
        for one in as_completed(running):
            yield running[one], one.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """A process of the pool ends with its parent, and at once when the user interrupts both."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()
    if parent is None or not parent.is_alive():
        os._exit(1)  # it was killed while we loaded our modules, before we could ask to be told


def _step(number: int, seed: int, size: Size) -> list[Claim]:
    _, step = steps()[number]
    return step(np.random.default_rng([seed, number]), size=size)


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
