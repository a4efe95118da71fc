"""Who is to blame: planted faults found, each once and with its cause, and nobody accused where there is none."""

from __future__ import annotations

from functools import partial

import numpy as np

from wulf.cluster.simulated import WULF_NET
from wulf.core.errors import NodeError
from wulf.core.findings import Finding
from wulf.measure.plan import Plan
from wulf.measure.probes import Probe
from wulf.selftest.measuring import measured
from wulf.selftest.planted import NOISES, Planted, accusations, figures, healthy, mistakes, planted
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.streams import Stream
from wulf.workflow.connect import Connected
from wulf.workflow.findings import find
from wulf.workflow.measuring import QUICK_LOOKS
from wulf.workflow.survey import survey_cells

SIZES = (4, 6, 8, 16)
"""Nodes of healthy clusters."""

A_FAULT, A_HEALTHY = 40, 10
"""So many surveys stand for one fault's clusters, and for one healthy cluster of each size: 16 nodes take a second."""


def surveyed(fault: Planted, random: np.random.Generator, stream: Stream, cv: float) -> list[Finding]:
    """What a quick survey of a cluster with this fault finds."""
    names = [name for name in fault.names if name not in fault.dead]
    nobody = Connected(dict.fromkeys(names), {}, Probe.from_describe(WULF_NET))  # type: ignore[dict-item]
    cells = tuple(cell for cell in survey_cells(nobody, nobody.probe) if cell.phase == "pairs")
    plan = Plan(cells, int(random.integers(2**31)), 0.5, looks=QUICK_LOOKS)
    records = measured(plan, figures(fault, random, stream, cv)).records
    failed = {name: NodeError(name, "can't be opened: no route to host") for name in fault.dead}
    return find(records, fault.fingerprint(), failed)


def found(random: np.random.Generator, *, size: Size, cv: float) -> list[Claim]:
    """Every planted fault in turn, under every kind of noise."""
    claims = []
    for stream in NOISES[cv]:
        trials = max(1, size.surveys // 500) * len(planted())
        wrong = sum(bool(mistakes(fault, surveyed(fault, random, stream, cv)))
                    for fault in planted() for _ in range(trials // len(planted())))  # fmt: skip
        name = f"{stream.name}, CV {cv:.0%}"
        claims.append(Claim("the right one blamed, once, with its cause", name, 1 - wrong / trials, trials, 0.95,
                            at_most=False))  # fmt: skip
    return claims


def accused(random: np.random.Generator, *, size: Size, cv: float) -> list[Claim]:
    """Healthy clusters of every size, under every kind of noise."""
    claims = []
    for stream in NOISES[cv]:
        each = max(1, size.surveys // (A_HEALTHY * len(SIZES)))
        hits = sum(bool(accusations(surveyed(healthy(nodes), random, stream, cv)))
                   for nodes in SIZES for _ in range(each))  # fmt: skip
        trials = each * len(SIZES)
        claims.append(Claim("no fault: anyone is accused", f"{stream.name}, CV {cv:.0%}", hits / trials, trials, 0.05))
    return claims


def plan() -> list[tuple[str, Step]]:
    """The steps of this area."""
    return [
        (f"{words}, CV {cv:.0%}", partial(step, cv=cv))
        for words, step in (("planted faults", found), ("healthy clusters", accused))
        for cv in NOISES
    ]
