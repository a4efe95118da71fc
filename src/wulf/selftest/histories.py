"""A figure over many runs: when it changed."""

from __future__ import annotations

import numpy as np

from wulf.selftest.noise import CV, over
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.streams import SYNTHETIC, Stream


def histories(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """60 runs, the last 25 slower by 3 %, or not."""
    from wulf.stats.changes import change_points

    false = found = 0
    n = max(50, size.surveys // 2)
    for _ in range(n):
        values = np.exp(CV * stream.draw(random, 60))
        false += bool(change_points(values, seed=random))
        values[35:] *= 1.03
        found += any(abs(change.at - 35) <= 2 for change in change_points(values, seed=random))
    return [
        Claim("60 runs, nothing changed: a change is claimed", stream.name, false / n, n, 0.05),
        Claim("3 % slower from the 36th on: found within 2 runs", stream.name, found / n, n, 0.9, at_most=False),
    ]


def plan() -> list[tuple[str, Step]]:
    """The steps of this area."""
    return over("histories", histories, SYNTHETIC[:2])
