"""Ways to watch a cluster, over one simulated fleet: the sentry's, and those that people have without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from wulf.core.durations import DAY
from wulf.selftest.fleet import naive
from wulf.selftest.fleet.figures import Delays, delays, false_alarms, minutes_for_each
from wulf.selftest.fleet.nodes import KINDS, Fleet, Habits
from wulf.selftest.fleet.watched import Watch, Year, before_jobs, by_likelihood, daily
from wulf.sentry.plan import Budget, Measure, SentryPlan
from wulf.stats.estimates import Estimate
from wulf.stats.series.detector import Limits, Seen, observe

MINUTES = 2.0
"""That a test takes."""


@dataclass(frozen=True)
class Policy:
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


POLICIES = (
    Policy("sentry, a third of the tests", by_likelihood, 1 / 3, 1 / 3),
    Policy("sentry, a seventh", by_likelihood, 1 / 7, 1 / 7),
    Policy("everything daily, the sentry's detectors", daily, 1.0, 1.0),
    Policy("everything daily, 10 % below is slow", daily, 1.0, 1.0, naive.observe),
    Policy("before each job, the sentry's detectors", before_jobs, 1.0, 2.0),
)


@dataclass(frozen=True)
class Row:
    """What one policy came to on one size."""

    nodes: int
    policy: str
    tests_a_day: float
    kinds: tuple[Delays | None, ...]
    false: Estimate
    cost: Estimate
    seconds: float


def watched(nodes: int, days: int, policy: Policy, seed: int, habits: Habits | None = None) -> Year:
    """One policy over one fleet; all of a seed meet the same faults."""
    measure = Measure(name="node", command=("node",), every=7 * DAY, seconds=MINUTES * 60)
    plan = SentryPlan(measure=(measure,), budget=Budget(node_minutes=nodes * MINUTES * policy.share))
    fleet = Fleet(nodes, days, habits or Habits(), seed)
    asked = 2.0 * fleet.metrics * nodes * policy.tests * 30
    limits = Limits(asked / plan.alarm.false_alarms, plan.alarm.least)
    return Watch(fleet, plan, limits, policy.choose, policy.observe).run()


def summed(year: Year, policy: Policy) -> Row:
    """What it came to."""
    nodes, days = year.fleet.nodes, year.fleet.days
    return Row(
        nodes, policy.name, year.tests / nodes / days, tuple(delays(year, kind) for kind in range(len(KINDS))),
        false_alarms(year), minutes_for_each(year, MINUTES), time.process_time(),
    )  # fmt: skip


def year(nodes: int, days: int, policy: Policy, seed: int) -> Row:
    """Watch a fleet, and sum up; for a process of its own, whose CPU time is in the row."""
    began = time.process_time()
    row = summed(watched(nodes, days, policy, seed), policy)
    return replace(row, seconds=row.seconds - began)
