"""Ways to watch a cluster, over one simulated world: the sentry's, and those that people have without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from wulf.selftest.fleet import naive
from wulf.selftest.fleet.figures import Delays, Interval, delays, false_alarms, minutes_for_each
from wulf.selftest.fleet.watched import Watch, Year, before_jobs, by_likelihood, daily
from wulf.selftest.fleet.world import DAY, KINDS, Habits, World
from wulf.sentry.plan import Budget, Measure, SentryPlan
from wulf.stats.series.detector import Limits, Seen, observe

MINUTES = 2.0
"""That a test takes."""


@dataclass(frozen=True)
class Way:
    """A way to watch.

    Attributes
    ----------
    share
        Node-minutes a day, as a share of what testing every node daily takes.
    tests
        Tests of a node a day that false alarms are limited for.
    """

    name: str
    choose: Callable[[Watch, float], Any]
    share: float
    tests: float
    observe: Callable[..., Seen] = observe


WAYS = (
    Way("sentry, a third of the tests", by_likelihood, 1 / 3, 1 / 3),
    Way("sentry, a seventh", by_likelihood, 1 / 7, 1 / 7),
    Way("everything daily, the sentry's detectors", daily, 1.0, 1.0),
    Way("everything daily, 10 % below is slow", daily, 1.0, 1.0, naive.observe),
    Way("before each job, the sentry's detectors", before_jobs, 1.0, 2.0),
)


@dataclass(frozen=True)
class Row:
    """What one way came to on one size."""

    nodes: int
    way: str
    tests_a_day: float
    kinds: tuple[Delays | None, ...]
    false: Interval
    cost: Interval
    seconds: float


def watched(nodes: int, days: int, way: Way, seed: int, habits: Habits | None = None) -> Year:
    """One way over one world; all ways of a seed meet the same faults."""
    measure = Measure(name="node", command=("node",), every=7 * DAY, seconds=MINUTES * 60)
    plan = SentryPlan(measure=(measure,), budget=Budget(node_minutes=nodes * MINUTES * way.share))
    world = World(nodes, days, habits or Habits(), seed)
    asked = 2.0 * world.metrics * nodes * way.tests * 30
    limits = Limits(asked / plan.alarm.false_alarms, plan.alarm.least)
    return Watch(world, plan, limits, way.choose, way.observe).run()


def summed(year: Year, way: Way) -> Row:
    """What it came to."""
    nodes, days = year.world.nodes, year.world.days
    return Row(
        nodes, way.name, year.tests / nodes / days, tuple(delays(year, kind) for kind in range(len(KINDS))),
        false_alarms(year), minutes_for_each(year, MINUTES), time.process_time(),
    )  # fmt: skip


def year(nodes: int, days: int, way: Way, seed: int) -> Row:
    """Watch a world, and sum up; for a process of its own, whose CPU time is in the row."""
    began = time.process_time()
    row = summed(watched(nodes, days, way, seed), way)
    return replace(row, seconds=row.seconds - began)
