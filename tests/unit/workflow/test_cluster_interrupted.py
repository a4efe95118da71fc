"""An interrupt, early or late, and a budget that is over, leave a run that can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.measure.fakes import Impatient
from wulf.workflow.engine.study import Study
from wulf.workflow.net.bisection import Bisection
from wulf.workflow.net.incast import Incast
from wulf.workflow.net.pairs import Pairs

from .simulating import simulator

STUDIES = [Pairs, Incast, Bisection]


@pytest.mark.parametrize("after", [1, 12, 40])
@pytest.mark.parametrize("study", STUDIES)
def test_an_interrupt(study: Callable[..., Study], after: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    simulate = simulator(monkeypatch, tmp_path, study)
    outcome = simulate(watch=Impatient(after), page=True)
    assert outcome.exit_code == 130
    assert outcome.run.meta["state"] == "interrupted"
    assert len(outcome.run.replicates) >= after
    assert (outcome.run.path / "report.html").exists()
    assert all(record.value is not None or record.reason for record in outcome.run.records)


@pytest.mark.parametrize("study", STUDIES)
def test_nobody_is_there(study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    simulate = simulator(monkeypatch, tmp_path, study)
    outcome = simulate("n[1-4]", unreachable={f"n{i}": "no route to host" for i in range(1, 5)})
    assert outcome.exit_code == 3
    assert len([f for f in outcome.run.findings if f.kind == "failed"]) == 4


@pytest.mark.parametrize("study", STUDIES)
def test_one_is_left(study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    simulate = simulator(monkeypatch, tmp_path, study)
    outcome = simulate("n[1-4]", unreachable={f"n{i}": "no route to host" for i in range(2, 5)}, page=True)
    assert outcome.exit_code == 3
    assert (outcome.run.path / "report.html").exists()
