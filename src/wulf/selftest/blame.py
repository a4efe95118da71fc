"""Who is to blame: planted faults found, each once and with its cause, and nobody accused where there is none."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from wulf.cluster.simulated.cluster import WULF_NET
from wulf.core.errors import NodeError
from wulf.core.findings import Finding
from wulf.findings.run import find
from wulf.measure.engine.plan import Plan
from wulf.measure.engine.probes import Probe
from wulf.selftest.simulated.measuring import measured
from wulf.selftest.simulated.planted import NOISES, Planted, accusations, figures, healthy, mistakes, planted
from wulf.selftest.simulated.traffic import hour
from wulf.stats.claims import QUICK, Claim, ClaimStep, Size
from wulf.stats.series.streams import Stream
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import QUICK_LOOKS
from wulf.workflow.net.survey import survey_cells

SIZES = (4, 6, 8, 16)
"""Nodes of healthy clusters."""

A_SURVEY = 12
"""One survey here stands for so many of another area: one of 16 nodes takes half a second."""


TRAFFIC_SIZES = (16, 16, 32, 64)
"""Nodes of clusters whose traffic is looked at."""

QUICK_HOURS, AN_HOUR = 2, 12
"""Hours of traffic in a quick self-test, and for how many surveys of another area one stands in a full one: it takes a
second of CPU with 16 nodes, three with 64.
"""


def surveyed(fault: Planted, random: np.random.Generator, stream: Stream, cv: float) -> list[Finding]:
    """What a quick survey of a cluster with this fault finds."""
    names = [name for name in fault.names if name not in fault.dead]
    sessions: dict[str, Any] = dict.fromkeys(names)
    every = survey_cells(Connected(sessions, {}), Probe.from_describe(WULF_NET))
    cells = tuple(cell for cell in every if cell.phase == "pairs")
    plan = Plan(cells, int(random.integers(2**31)), 0.5, looks=QUICK_LOOKS)
    records = measured(plan, figures(fault, random, stream, cv)).records
    failed = {name: NodeError(name, "can't be opened: no route to host") for name in fault.dead}
    return find(records, fault.fingerprint(), failed)


def found(random: np.random.Generator, *, size: Size, stream: Stream, cv: float) -> list[Claim]:
    """Planted faults, drawn evenly from all of them."""
    trials = max(1, size.surveys // A_SURVEY)
    order = [fault for _ in range(-(-trials // len(planted()))) for fault in random.permutation(len(planted()))]
    wrong = sum(bool(mistakes(planted()[i], surveyed(planted()[i], random, stream, cv))) for i in order[:trials])
    return [Claim("the right one blamed, once, with cause", f"{stream.name}, CV {cv:.0%}", 1 - wrong / trials, trials,
                  0.95, at_most=False)]  # fmt: skip


def accused(random: np.random.Generator, *, size: Size, stream: Stream, cv: float) -> list[Claim]:
    """Healthy clusters, of each size in turn."""
    trials = max(1, size.surveys // A_SURVEY)
    clusters = (healthy(SIZES[number % len(SIZES)]) for number in range(trials))
    hits = sum(bool(accusations(surveyed(cluster, random, stream, cv))) for cluster in clusters)
    return [Claim("no fault: anyone is accused", f"{stream.name}, CV {cv:.0%}", hits / trials, trials, 0.05)]


def quiet(random: np.random.Generator, *, size: Size, load: str) -> list[Claim]:
    """Hours of traffic without a fault, over clusters of each size in turn."""
    hours = QUICK_HOURS if size.surveys <= QUICK.surveys else size.surveys // AN_HOUR
    hits = sum(hour(random, TRAFFIC_SIZES[number % len(TRAFFIC_SIZES)], load) for number in range(hours))
    return [Claim("no fault: an hour of traffic in which anyone is accused", load, hits / hours, hours, 0.05)]


def traffic() -> list[tuple[str, ClaimStep]]:
    """Steps of an area of their own: who is accused by traffic that is there."""
    return [(f"quiet hours of traffic, {load}", partial(quiet, load=load)) for load in ("mpi", "requests")]


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    return [
        (f"{words}, {stream.name}, CV {cv:.0%}", partial(step, stream=stream, cv=cv))
        for words, step in (("planted faults", found), ("healthy clusters", accused))
        for cv, streams in NOISES.items()
        for stream in streams
    ]
