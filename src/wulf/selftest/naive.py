"""The same noise, as it is usually dealt with: rows that claim nothing and show how it fails."""

from __future__ import annotations

import numpy as np

from wulf.selftest.comparisons import paired
from wulf.selftest.simulated.noise import CV, everything, over
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.samples import Floats
from wulf.stats.series.streams import Stream


def naive(random: np.random.Generator, stream: Stream, size: Size) -> list[Claim]:
    """The same noise, as it is usually dealt with: A/A again, and what is claimed."""
    from scipy.special import stdtr

    def p_of(d: Floats) -> float:
        t = d.mean() / max(d.std(ddof=1), 1e-300) * d.size**0.5
        return 2 * float(stdtr(d.size - 1, -abs(t)))

    peeked = rows = 0
    for _ in range(size.campaigns):
        a, b = (np.log(side) for side in paired(random, stream, 40, 0.0))
        peeked += any(p_of((b - a)[:n]) <= 0.05 for n in range(6, 41, 2))
        series = CV * stream.draw(random, 40)
        first, second = series[:20], series[20:]
        variance = (first.var(ddof=1) + second.var(ddof=1)) / 20
        t = abs(first.mean() - second.mean()) / max(variance**0.5, 1e-300)
        rows += 2 * stdtr(38, -t) <= 0.05
    n = size.campaigns
    return [
        Claim("naive: t-test after every second pair", stream.name, peeked / n, n, None),
        Claim("naive: 20 of A, then 20 of B, t-test", stream.name, rows / n, n, None),
    ]


def best_of(random: np.random.Generator, size: Size, trials: int = 50) -> list[Claim]:
    """Try 50 settings that do nothing, and believe the best: it seems more than 3 % faster."""
    best = np.exp(0.02 * random.normal(size=(size.campaigns, trials))).min(axis=1)
    n = size.campaigns
    return [
        Claim(
            "naive: the best of 50 useless settings at CV 2 % seems 3 % faster",
            "lognormal",
            float((best < 0.97).mean()),
            n,
            None,
        )
    ]


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps of this area."""
    return [*over("naive methods", naive, everything()), ("best of many", best_of)]
