"""Which nodes deviate from their like."""

from __future__ import annotations

import numpy as np

from wulf.selftest.noise import CV, everything, over
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.intervals import last_rank
from wulf.stats.nodes import screen, without_passes
from wulf.stats.samples import Floats
from wulf.stats.streams import Stream

NODES, SLOW, SLOWER = 64, (11, 40), 1.05
BETWEEN, REPLICATES = 0.005, 16
"""Relative standard deviation between like nodes, and replicates of each."""


def _accused(figures: Floats) -> set[int]:
    """Nodes that deviate; figures are values, low and high of one metric, shape (3, nodes)."""
    values, low, high = figures[0, :, None], figures[1, :, None], figures[2, :, None]
    return {deviation.node for deviation in screen(values, low=low, high=high, worse=[1]).deviations}


def surveys(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """64 like nodes, two slow by 5 % or none; every pass measures each once, in random order, as surveys do."""
    accused = found = false = named = 0
    rank = last_rank(REPLICATES, 0.5, 0.025)
    for _ in range(size.surveys):
        passes = CV * stream.draw(random, REPLICATES * NODES).reshape(REPLICATES, NODES)
        runs = random.permuted(passes, axis=1).T
        runs += BETWEEN * random.normal(size=(NODES, 1))
        ordered = np.sort(without_passes(np.exp(runs)), axis=1)
        values, low, high = np.median(ordered, axis=1), ordered[:, rank - 1], ordered[:, -rank]
        figures = np.stack([values, low, high])
        accused += bool(_accused(figures))
        figures[:, list(SLOW)] *= SLOWER
        named_now = _accused(figures)
        named += len(named_now)
        found += len(named_now & set(SLOW))
        false += len(named_now - set(SLOW))
    n = size.surveys
    return [
        Claim("64 like nodes: anyone is accused", stream.name, accused / n, n, 0.05),
        Claim("2 of 64 nodes 5 % slow: found", stream.name, found / (2 * n), 2 * n, 0.95, at_most=False),
        Claim("… share of false accusations", stream.name, false / max(1, named), max(1, named), 0.10),
    ]


def plan() -> list[tuple[str, Step]]:
    """The steps of this area."""
    return over("surveys", surveys, everything())
