"""LogGP: messages whose cost is known, as records of a run, fitted as `wulf model loggp --from` does."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from wulf.core.errors import UsageError
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.probes import MPI
from wulf.model.network.fitting import LEAST_REPLICATES
from wulf.model.network.loggp import LogGP
from wulf.stats.claims import Claim, ClaimStep, Size
from wulf.stats.curves.piecewise import line_of
from wulf.stats.estimates import Interval
from wulf.stats.stopping import LOOKS
from wulf.store.run import Run
from wulf.workflow.model.loggp import MESSAGES, PRTT, RECEIVE, SEND, measured_of

LATENCY, SENDING, RECEIVING, GAP = 2e-6, 0.4e-6, 0.6e-6, 0.8e-6
EAGER, RENDEZVOUS = 1e-9, 0.5e-9
"""G on either side of the edge."""

EDGE, HANDSHAKE = 65536, 5e-6
SIZES = (1, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 98304, 131072, 262144, 524288, 1048576)
NOISE = 0.01
COVERED = 0.93
RUNS = (LEAST_REPLICATES, LOOKS[0])
"""Replicates of a size: as few as are accepted, which is what --quick takes, and the default's fewest."""


def recovered(random: np.random.Generator, size: Size, runs: int) -> list[Claim]:
    """Do the intervals of L, o and G cover, and is the edge where it was planted?"""
    n, hits = size.surveys, Counter[str]()
    for number in range(n):
        fitted = measured_of(campaign(random, runs)).fitted(number)
        hits.update(name for name, met in _found(fitted).items() if met)
    noise = f"{NOISE:.0%} lognormal, {runs} replicates at each of {len(SIZES)} sizes"
    return [
        *(Claim(f"LogGP: {name}", noise, hits[name] / n, n, COVERED, at_most=False) for name in _found(None)),
    ]


def refused(random: np.random.Generator, size: Size) -> list[Claim]:
    """Fewer replicates than have an interval that covers: is anything claimed of them?"""
    answered, counts = 0, [*range(1, LEAST_REPLICATES)] * max(1, size.campaigns // 20)
    for runs in counts:
        try:
            measured_of(campaign(random, runs)).fitted()
            answered += 1
        except UsageError:
            pass
    n = len(counts)
    what = f"LogGP: parameters are told of fewer than {LEAST_REPLICATES} replicates"
    return [Claim(what, f"1 … {LEAST_REPLICATES - 1} replicates", answered / n, n, 0.0)]


def campaign(random: np.random.Generator, runs: int) -> Run:
    """Messages between two ranks, measured as `wulf model loggp` measures them."""
    rest, way = MESSAGES - 1, LATENCY + SENDING + RECEIVING

    def record(metric: str, seconds: float, noise: float, **params: Param) -> Record:
        samples = (seconds * np.exp(noise * random.normal(size=runs))).tolist()
        return Record(
            run="selftest", subject="n1>n2", probe=MPI, metric=metric, unit="s", params=params, at="",
            value=float(np.median(samples)), replicates=runs, samples=samples, verdict=Verdict.OK,
        )  # fmt: skip

    records = []
    for s in SIZES:
        trip = 2 * (way + _of_size(s))
        records.append(record(PRTT, trip, NOISE, bytes=s, messages=1))
        records.append(record(PRTT, trip + rest * (GAP + _of_size(s)), NOISE, bytes=s, messages=MESSAGES))
    paused = {"bytes": SIZES[0], "messages": MESSAGES, "delay": 2 * way}
    records += [record(SEND, SENDING, NOISE, **paused), record(RECEIVE, RECEIVING, NOISE, **paused)]
    return Run(Path("selftest"), {"id": "selftest"}, records=records)


def _of_size(size: float) -> float:
    return size * EAGER if size <= EDGE else HANDSHAKE + size * RENDEZVOUS


def _found(model: LogGP | None) -> dict[str, bool]:
    """What is claimed → whether it holds of a fit; of none, the claims alone."""
    gaps = None if model is None else model.gaps
    edges = [] if model is None else model.edges
    return {
        "L's interval covers it": _covers(None if model is None else model.latency, LATENCY),
        "o's interval covers it, sending": _covers(None if model is None else model.send, SENDING),
        "o's interval covers it, receiving": _covers(None if model is None else model.receive, RECEIVING),
        "G's interval covers it, eager": _covers(None if gaps is None else line_of(gaps, 1.0).beta, EAGER),
        "G's interval covers it, rendezvous": _covers(None if gaps is None else gaps.lines[-1].beta, RENDEZVOUS),
        "the edge is found, and no other": len(edges) == 1 and edges[0][0] <= EDGE < edges[0][1],
    }


def _covers(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


def plan() -> list[tuple[str, ClaimStep]]:
    """The steps, with the words for the progress line."""
    steps: list[tuple[str, ClaimStep]] = [(f"LogGP, {runs} replicates", partial(recovered, runs=runs)) for runs in RUNS]
    return [*steps, ("LogGP, too few replicates", refused)]
