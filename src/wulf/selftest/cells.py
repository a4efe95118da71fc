"""One figure: a cell measured until its interval is narrow."""

from __future__ import annotations

import numpy as np

from wulf.selftest.noise import CV, over, steady
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.stopping import WidthRule
from wulf.stats.streams import Stream


def cells(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """Cells measured until their interval is narrow: does it cover the median?"""
    rule = WidthRule(wish=0.02)
    covered = resolved = 0
    truth = float(np.exp(CV * (stream.median or 0.0)))
    for _ in range(size.campaigns):
        samples = np.exp(CV * stream.draw(random, rule.most))
        n = next(look for look in rule.looks if rule.decide(samples[:look].tolist()).stop)
        found = rule.estimate(samples[:n].tolist())
        if found.reason is None and found.low is not None and found.high is not None:
            resolved += 1
            covered += found.low <= truth <= found.high
    what = "a cell's interval covers the median"
    return [Claim(what, stream.name, covered / max(1, resolved), resolved, 0.93, at_most=False)]


def plan() -> list[tuple[str, Step]]:
    """The steps of this area."""
    return over("cells", cells, steady())
