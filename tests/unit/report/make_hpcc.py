"""A run of HPCC in memory, from a real output: some parts are missing, and a peak is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.report.make_run import AT, record
from wulf.apps import hpcc
from wulf.core.records import Record, Verdict
from wulf.store.run import Run

OUTPUT = (Path(__file__).parent.parent / "apps/hpccoutf.txt").read_text()
PARAMS = {"pattern": "hpcc", "n": 960, "ranks": 2, "mpi": "openmpi 4.1.4", "program": "/usr/bin/hpcc"}
PEAK = 1e10
NO_CLOCK = "the base clock is not known"


def hpcc_records(without: tuple[str, ...] = ("PTRANS_GBs", "StarFFT_Gflops")) -> list[Record]:
    """Every figure of the output, and HPL's shares: of a measured peak of 10 Gflop/s, and of no known base clock."""
    text = "\n".join(line for line in OUTPUT.splitlines() if line.partition("=")[0] not in without)
    common: dict[str, Any] = {"probe": "app", "phase": "app", "params": PARAMS}
    made = []
    for figure in hpcc.read("", {"hpccoutf.txt": text}).figures:
        lost = {} if figure.value is not None else {"verdict": Verdict.UNRESOLVED, "reason": figure.reason}
        made.append(record("n[1-2]", figure.name, figure.value, **{**common, "unit": figure.unit, **lost}))
    rate = made[0].value or 0.0
    for kind, peak in (("base", None), ("turbo", None), ("measured", PEAK)):
        lost = {} if peak else {"verdict": Verdict.UNRESOLVED, "reason": NO_CLOCK}
        value = rate / peak if peak else None
        made.append(record("n[1-2]", f"share.{kind}", value, info={"peak": peak, "how": ""}, **common, **lost))
    return made


def hpcc_run(records: list[Record] | None = None) -> Run:
    """The whole run."""
    meta = {"id": "r", "command": "app-hpcc", "state": "complete", "started": AT, "ended": AT, "nodes": ["n1", "n2"]}
    return Run(Path("/r"), meta, {"cells": []}, {}, hpcc_records() if records is None else records, [], [])
