"""Two runs in memory, to be compared: replicates made up from a fixed seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wulf.core.records import Record, Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.store.run import Run

RTT, THROUGHPUT = Metric("rtt", "s", "lower"), Metric("throughput", "B/s", "higher")


def run(name: str, factors: Mapping[str, float], *, seed: int, cv: float = 0.01, facts: Any = None, n: int = 16) -> Run:
    """One TCP round trip and one stream for each subject; `factors` multiplies a subject's times."""
    random = np.random.default_rng(seed)
    records, cells = [], []
    for subject, factor in factors.items():
        client, server = subject.split(">")
        for pattern, metric, base in (
            ("pingpong", RTT, 2e-5 * factor),
            ("stream", THROUGHPUT, 2e9 / factor),
        ):
            params = {"transport": "tcp", "pattern": pattern, "bytes": 1}
            samples = (base * np.exp(cv * random.normal(size=n))).tolist()
            cells.append(Cell(len(cells), client, server, "tcp", pattern, {"bytes": 1}, (metric,), "pairs"))
            records.append(
                Record(
                    run=name, subject=subject, probe="net", metric=metric.name, unit=metric.unit, params=params,
                    value=float(np.median(samples)), low=min(samples), high=max(samples), confidence=0.95,
                    replicates=n, samples=samples, verdict=Verdict.OK, at="2026-11-20T18:44:53.120Z", phase="pairs",
                )
            )  # fmt: skip
    plan = {"cells": [asdict(cell) for cell in cells]}
    meta = {"id": name, "state": "complete"}
    return Run(path=Path(name), meta=meta, plan=plan, fingerprint=facts or {}, records=records)
