"""Power while an application ran: readings between the beginning and the end of each run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.report.make_run import make_run
from wulf.core.errors import UsageError
from wulf.store.run import Run
from wulf.workflow.model.power import read_log, watts_while

RANDOM = np.random.default_rng(1)


def ran(*ends: str) -> Run:
    """Runs of ten seconds, of which the last one failed; another program's replicate is beside them."""
    run = make_run()
    run.plan = {"cells": [{"id": 0, "program": "app"}, {"id": 1, "program": "node"}]}
    run.replicates = [{"cell": 0, "ok": True, "seconds": 10.0, "at": f"1970-01-01T00:0{end}Z"} for end in ends]
    run.replicates += [{"cell": 1, "ok": True, "seconds": 500.0, "at": "1970-01-01T00:09:00Z"}]
    run.replicates += [{"cell": 0, "ok": False, "at": "1970-01-01T00:09:00Z"}]
    return run


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "power.csv"
    path.write_text(text)
    return path


def test_readings_of_the_runs_count_and_no_others(tmp_path: Path) -> None:
    path = log(tmp_path, "time,watts\n# idle\n45,100\n51,200\n55,220\n60,210\n70,100\n112,230\n500,999\n")
    found = watts_while(path, ran("1:00", "2:00"), RANDOM)
    assert found.figure.value == pytest.approx((210 + 230) / 2)
    assert found.figure.interval().low < 220 < found.figure.interval().high
    assert "2 of 2 runs" in found.source


def test_meters_are_added_up_and_times_may_be_dates(tmp_path: Path) -> None:
    path = log(tmp_path, "1970-01-01T00:00:55,100,50\n1970-01-01T01:00:56+01:00,100,70\n")
    assert read_log(path) == [(55.0, 150.0), (56.0, 170.0)]
    assert watts_while(path, ran("1:00"), RANDOM).figure.value == pytest.approx(160)
    assert watts_while(path, None, RANDOM).figure.value == pytest.approx(160)


def test_a_log_of_another_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"00:00:01 to 00:00:01 .*00:00:50 to 00:01:00"):
        watts_while(log(tmp_path, "1,100\n"), ran("1:00"), RANDOM)
    with pytest.raises(UsageError, match="says of no run when it was"):
        watts_while(log(tmp_path, "1,100\n"), ran(), RANDOM)


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "no reading"), ("1,100\nx,3\n", "line 2"), ("1,100\n2\n", "line 2"), ("1,100\n2,-5\n", "are no watts")],
)
def test_a_wrong_log(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_log(log(tmp_path, text))
