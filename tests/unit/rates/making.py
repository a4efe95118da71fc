"""Rates and files for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wulf.core.records import Record
from wulf.rates.machine import read_identity
from wulf.rates.publishing import Published, publish
from wulf.rates.rate import Rate

AT = "2026-01-31T12:00:00.000Z"
SIZE = Rate("mem.l2.size", 1048576.0, "B", 983040.0, 1114112.0, 0.95, AT, "measured", "ok")
LATENCY = Rate("mem.l2.latency", 3.5e-9, "s", 3.4e-9, 3.6e-9, 0.95, AT, "measured", "noisy", "wider than 5 %")
NOTHING = Rate("os.io_uring", None, "s", None, None, None, AT, "measured", "unresolved", "no io_uring here")


def rates(*listed: Rate) -> dict[str, Rate]:
    return {rate.name: rate for rate in listed}


def written(path: Path, *listed: Rate, **changes: object) -> Published:
    """A file of this machine with the given rates, or with three."""
    chosen = [replace(rate, **changes) for rate in listed or (SIZE, LATENCY, NOTHING)]  # type: ignore[arg-type]
    return publish(path, rates(*chosen), read_identity(), AT, host="n1")


def record(**changes: object) -> Record:
    fields = {
        "run": "r", "subject": "n1", "probe": "node", "metric": "latency", "unit": "s", "value": 1e-9, "low": 0.9e-9,
        "high": 1.1e-9, "confidence": 0.95, "verdict": "ok", "at": AT,
    }  # fmt: skip
    return Record.model_validate(fields | changes)
