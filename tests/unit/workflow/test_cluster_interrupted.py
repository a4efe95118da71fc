"""An interrupt, early or late, and a budget that is over, leave a run that can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wulf.measure.engine.watcher import Progress, Unwatched
from wulf.workflow.net.bisection import bisection
from wulf.workflow.net.incast import incast
from wulf.workflow.net.pairs import pairs

from .simulating import simulator


class Impatient(Unwatched):
    def __init__(self, after: int) -> None:
        self.after = after

    def on_progress(self, progress: Progress) -> None:
        if progress.done >= self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [1, 12, 40])
@pytest.mark.parametrize("measure", [pairs, incast, bisection])
def test_an_interrupt(measure: Callable[..., Any], after: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    simulate = simulator(monkeypatch, tmp_path, measure)
    outcome = simulate("n[1-4]", {"watch": Impatient(after)})
    assert outcome.exit_code == 130
    assert outcome.run.meta["state"] == "interrupted"
    assert len(outcome.run.replicates) >= after
    assert (outcome.run.path / "report.html").exists()
    assert all(record.value is not None or record.reason for record in outcome.run.records)


@pytest.mark.parametrize("measure", [pairs, incast, bisection])
def test_nobody_is_there(measure: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    simulate = simulator(monkeypatch, tmp_path, measure)
    outcome = simulate("n[1-4]", unreachable={f"n{i}": "no route to host" for i in range(1, 5)})
    assert outcome.exit_code == 3
    assert len([f for f in outcome.run.findings if f.kind == "failed"]) == 4


@pytest.mark.parametrize("measure", [pairs, incast, bisection])
def test_one_is_left(measure: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    simulate = simulator(monkeypatch, tmp_path, measure)
    outcome = simulate("n[1-4]", unreachable={f"n{i}": "no route to host" for i in range(2, 5)})
    assert outcome.exit_code == 3
    assert (outcome.run.path / "report.html").exists()
