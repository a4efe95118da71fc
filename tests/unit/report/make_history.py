"""Runs on disk for the tests of histories: made-up figures over weeks, from a fixed seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

TCP = {"transport": "tcp", "pattern": "pingpong", "bytes": 1, "seconds": 0.1}
START = datetime(2026, 9, 1, 6, 30, tzinfo=UTC)


def line(subject: str, metric: str, value: float | None, params: dict[str, Any] = TCP, **fields: Any) -> str:
    """One line of records.jsonl."""
    content: dict[str, Any] = {
        "run": "x", "subject": subject, "probe": "net", "metric": metric,
        "unit": {"rtt": "s", "throughput": "B/s"}.get(metric, "1"), "params": params, "value": value,
        "verdict": "ok" if value is not None else "failed", "reason": None if value is not None else "lost",
        "replicates": 10, "at": "2026-09-01T06:31:00.000Z",
    }  # fmt: skip
    if value is not None:
        content |= {"low": value * 0.99, "high": value * 1.01, "confidence": 0.95}
    return json.dumps(content | fields, separators=(",", ":"), ensure_ascii=False) + "\n"


def write_run(
    directory: Path, number: int, lines: Sequence[str], facts: dict[str, Any] | None = None, version: str = "0.1.0"
) -> Path:
    """A run of every eight hours."""
    started = START + timedelta(hours=8 * number)
    path = directory / f"{started:%Y%m%dT%H%M%S}-survey-{number:04x}"
    path.mkdir(parents=True)
    meta = {"id": path.name, "version": version, "started": started.isoformat().replace("+00:00", "Z")}
    (path / "run.json").write_text(json.dumps(meta | {"state": "complete", "command": "survey"}))
    (path / "records.jsonl").write_text("".join(lines))
    if facts is not None:
        content = {
            node: {name: {"value": value, "provenance": "reported"} for name, value in own.items()}
            for node, own in facts.items()
        }
        (path / "fingerprint.json").write_text(json.dumps(content))
    metrics = [
        {"name": "rtt", "unit": "s", "better": "lower"},
        {"name": "throughput", "unit": "B/s", "better": "higher"},
    ]
    (path / "plan.json").write_text(json.dumps({"cells": [{"metrics": metrics}]}))
    return path


def write_weeks(directory: Path, runs: int = 90, seed: int = 1) -> Path:
    """Three cells over a month: a kernel makes one pair slower, a setting makes it faster again in part.

    n1>n2 rises by 30 % at run 40, with a new kernel on n1 and a reboot; falls by 10 % at run 70, with nothing recorded.
    n1>n3 stays. n2's MTU changes at run 20, where nothing happens.
    """
    random = np.random.default_rng(seed)
    for number in range(runs):
        level = 1.0 if number < 40 else 1.3 if number < 70 else 1.17
        lines = [
            line("n1>n2", "rtt", 18.5e-6 * level * random.lognormal(sigma=0.02)),
            line("n1>n3", "rtt", 18.5e-6 * random.lognormal(sigma=0.02)),
            line("n1>n2", "throughput", 1.1e9 * random.lognormal(sigma=0.01), TCP | {"pattern": "stream"}),
        ]
        new = number >= 40
        facts = {
            "n1": {
                "kernel.release": "6.1.0-31-amd64" if new else "6.1.0-28-amd64", "kernel.uptime": 1000.5 + number,
                "kernel.boot_id": "b" if new else "a", "nic.eth0.mtu": 1500,
            },
            "n2": {"kernel.release": "6.1.0-28-amd64", "nic.eth0.mtu": 9000 if number < 20 else 1500},
            "n3": {"kernel.release": "6.1.0-31-amd64" if new else "6.1.0-28-amd64"},
        }  # fmt: skip
        write_run(directory, number, lines, facts)
    return directory
