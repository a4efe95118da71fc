"""A figure over many runs (`wulf history`): when it changed, and when it only seems so."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from wulf.findings.history import JudgedSeries
from wulf.selftest.simulated.noise import CV
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.samples import Floats
from wulf.stats.series.streams import DEPENDENT, SYNTHETIC, Stream, drifting
from wulf.store.history import Collection, Point, Series, Source
from wulf.workflow.model.history import explain

LENGTHS = (30, 60)
"""Runs of a series."""

SLOWER = 0.03
NEAR = 2
"""Runs by which a change may be misplaced and counts as found."""

WANDERING = (*DEPENDENT, drifting(2.0), drifting(10.0), drifting(40.0))
"""Noise of which no single level is true, or not for long."""


def told_of(values: Floats, seed: int) -> JudgedSeries:
    """What `wulf history` says of a series of runs."""
    points = tuple(
        Point(Source(Path(f"r{i}"), f"r{i}", f"2026-01-01T{i // 60:02d}:{i % 60:02d}:00Z", "1"), float(value))
        for i, value in enumerate(values)
    )
    series = Series("n1>n2", "rtt", "s", {}, points, 0, "lower")
    return explain("rtt", Collection((series,), len(points)), lambda _: lambda _: {}, seed=seed).told[0]


def unchanged(random: np.random.Generator, size: Size, *, stream: Stream, runs: int) -> list[Claim]:
    """Nothing changed: is a change claimed, or shown as a candidate?"""
    n = max(20, size.surveys // 3)
    told = [told_of(np.exp(CV * stream.draw(random, runs)), i) for i in range(n)]
    claimed = sum(bool(one.steps) and one.doubt is None for one in told) / n
    candidates = sum(bool(one.steps) and one.doubt is not None for one in told) / n
    bound = 0.05 if stream in SYNTHETIC[:2] else None
    return [
        Claim(f"{runs} runs, nothing changed: a change is claimed", stream.name, claimed, n, bound),
        Claim("… a candidate is shown", stream.name, candidates, n, None),
    ]


def changed(random: np.random.Generator, size: Size, *, stream: Stream, runs: int) -> list[Claim]:
    """Slower by 3 % from three fifths on: is it found there, and called worse?"""
    n, at = max(20, size.surveys // 3), 3 * runs // 5
    shown = worse = 0
    for i in range(n):
        values = np.exp(CV * stream.draw(random, runs))
        values[at:] *= 1 + SLOWER
        told = told_of(values, i)
        near = any(abs(step.change.at - at) <= NEAR for step in told.steps)
        shown += near
        worse += near and told.worse_now
    return [
        Claim(f"{runs} runs, 3 % slower: shown within {NEAR} runs", stream.name, shown / n, n, 0.9, at_most=False),
        Claim("… and called worse", stream.name, worse / n, n, None),
    ]


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    nothing = [(stream, runs) for stream in (*SYNTHETIC[:2], *WANDERING) for runs in LENGTHS]
    something = [(stream, runs) for stream in SYNTHETIC[:2] for runs in LENGTHS]
    return [
        *((f"histories, {s.name}", partial(unchanged, stream=s, runs=runs)) for s, runs in nothing),
        *((f"histories, {s.name}", partial(changed, stream=s, runs=runs)) for s, runs in something),
    ]
