"""The sentry (`wulf sentry`) over simulated months: false alarms within the plan's limit, and faults that it tells."""

from __future__ import annotations

from functools import partial
from math import exp

import numpy as np

from wulf.core.durations import DAY
from wulf.selftest.fleet.figures import Delays
from wulf.selftest.fleet.nodes import KINDS, Habits
from wulf.selftest.fleet.policies import POLICIES, Policy, summed, watched
from wulf.stats.claims import Claim, ClaimStep, Size

DAYS, LONGER = 120, 180
"""Faults of the first weeks, while levels are made, are part of these: the longer the time, the fewer."""

QUIET = Habits(faults_a_year=0.0)

MOST_MONTHS = 1 - exp(-1)
"""Months with a false alarm, where the plan allows one a month in the mean."""


def quiet(random: np.random.Generator, size: Size, *, policy: Policy) -> list[Claim]:
    """Nothing breaks: in how many months is there an alarm?"""
    nodes, clusters = 100, max(2, size.surveys // 50)
    seeds = random.integers(2**32, size=clusters)
    years = [watched(nodes, DAYS, policy, int(seed), QUIET) for seed in seeds]
    alarms = [len({int(at // (30 * DAY)) for at in one.false_at}) for one in years]
    months = clusters * DAYS // 30
    what = f"{nodes} nodes that are well: months with a false alarm, one a month allowed"
    return [Claim(what, policy.name, sum(alarms) / months, months, MOST_MONTHS)]


def broken(random: np.random.Generator, size: Size, *, policy: Policy) -> list[Claim]:
    """Nodes fail at once, slowly, or now and then: which are told at all?"""
    nodes = 2 * size.surveys
    row = summed(watched(nodes, LONGER, policy, int(random.integers(2**32)), Habits(faults_a_year=1.0)), policy)
    told: list[tuple[str, Delays]] = [(kind, one) for kind, one in zip(KINDS, row.kinds, strict=True) if one]
    return [
        Claim(f"{kind} nodes are told", policy.name, one.found / one.faults, one.faults, 0.8, at_most=False)
        for kind, one in told
    ]


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    policy = POLICIES[0]
    return [("sentry, quiet months", partial(quiet, policy=policy)), ("sentry, faults", partial(broken, policy=policy))]
