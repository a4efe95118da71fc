"""LogGP's claims, tried on messages whose cost is known: `wulf stats selftest`."""

from __future__ import annotations

from collections import Counter

import numpy as np

from wulf.model.loggp import Delayed, LogGP, fit_loggp, line_of
from wulf.stats.claims import Claim, Size, Step
from wulf.stats.piecewise import Interval

LATENCY, OVERHEAD, GAP = 2e-6, 0.5e-6, 0.8e-6
EAGER, RENDEZVOUS = 1e-9, 0.5e-9
"""G on either side of the edge."""

EDGE, HANDSHAKE = 65536, 5e-6
SIZES = (1, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 98304, 131072, 262144, 524288, 1048576)
MESSAGES, RUNS, NOISE = 16, 10, 0.01
COVERED = 0.93
SHARE = 5
"""One in so many of the campaigns: lines with their bends take a second each."""


def recovered(random: np.random.Generator, size: Size) -> list[Claim]:
    """Do the intervals of L, o and G cover, and is the edge where it was planted?"""
    n, hits = max(5, size.surveys // SHARE), Counter[str]()
    for number in range(n):
        hits.update(name for name, met in _found(campaign(random, number)).items() if met)
    noise = f"{NOISE:.0%} lognormal, {RUNS} replicates at each of {len(SIZES)} sizes"
    return [
        *(Claim(f"LogGP: {name}", noise, hits[name] / n, n, COVERED, at_most=False) for name in _found(None)),
    ]


def campaign(random: np.random.Generator, seed: int) -> LogGP:
    """Messages between two ranks, measured as `wulf model loggp` measures them, and fitted."""

    def noisy(seconds: float) -> list[float]:
        runs: list[float] = (seconds * np.exp(NOISE * random.normal(size=RUNS))).tolist()
        return runs

    trips = {float(s): noisy(2 * (LATENCY + 2 * OVERHEAD + _of_size(s))) for s in SIZES}
    rest = MESSAGES - 1
    trains = {s: noisy(2 * (LATENCY + 2 * OVERHEAD + _of_size(s)) + rest * (GAP + _of_size(s))) for s in trips}
    pause = 2 * (LATENCY + 2 * OVERHEAD)
    paused = Delayed(1.0, noisy(pause + rest * (OVERHEAD + pause)), [pause] * RUNS)
    return fit_loggp(trips, trains, [paused], messages=MESSAGES, seed=seed)


def _of_size(size: float) -> float:
    return size * EAGER if size <= EDGE else HANDSHAKE + size * RENDEZVOUS


def _found(model: LogGP | None) -> dict[str, bool]:
    """What is claimed → whether it holds of a fit; of none, the claims alone."""
    gaps = None if model is None else model.gaps
    edges = [] if model is None else model.edges
    return {
        "L's interval covers it": _covers(None if model is None else model.latency, LATENCY),
        "o's interval covers it": _covers(None if model is None else model.overhead, OVERHEAD),
        "G's interval covers it, eager": _covers(None if gaps is None else line_of(gaps, 1.0).beta, EAGER),
        "G's interval covers it, rendezvous": _covers(None if gaps is None else gaps.lines[-1].beta, RENDEZVOUS),
        "the edge is found, and no other": len(edges) == 1 and edges[0][0] <= EDGE < edges[0][1],
    }


def _covers(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


def plan() -> list[tuple[str, Step]]:
    """The steps, with the words for the progress line."""
    return [("LogGP", recovered)]
