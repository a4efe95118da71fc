"""A run of layers in memory, for the tests of reports."""

from __future__ import annotations

from typing import Any

from tests.unit.report.make_run import make_run, record
from wulf.core.records import Record, Verdict
from wulf.measure.net.layers import DifferenceRule, differences
from wulf.store.run import Run

COST = {"null": 3.1e-8, "shm": 4.12e-7, "pipe": 6.4e-6, "unix": 6.4e-6, "udp": 1.25e-5}
WOBBLE = [-4e-8, 3e-8, -2e-8, 1e-8, 2e-8, -1e-8, 4e-8, -3e-8]


def rtt(transport: str, server: str, wobble: float, **fields: Any) -> Record:
    value = COST[transport] + (4e-6 if server == "n2" else 0)
    samples = [value + wobble * x for x in WOBBLE]
    content = {
        "params": {"transport": transport, "pattern": "pingpong", "bytes": 1}, "samples": samples, "phase": "layers",
        "blocks": list(range(8)), "low": min(samples), "high": max(samples),
    }  # fmt: skip
    return record(f"n1>{server}", "rtt", value, **{**content, **fields})


def layered(*more: Record) -> Run:
    measured = [rtt(name, "n1", 0.01 * i, verdict=Verdict.OK) for i, name in enumerate(COST)]
    measured[3] = rtt("unix", "n1", 3)
    measured += [rtt("udp", "n2", 0.5), *more]
    return make_run(("n1", "n2"), [*measured, *differences(measured, DifferenceRule((8,)))], fingerprint={})
