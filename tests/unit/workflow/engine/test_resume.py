"""Commands that are cut short and resumed: one run, complete, with a word about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure.fakes import Impatient
from tests.unit.workflow.simulating import QUICK, simulator
from tests.wording import Wording, lacking
from wulf.store.run import Run, RunWriter
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.resume import MOST_CHANGES, lacks_nothing, resumed_notes
from wulf.workflow.engine.study import Study
from wulf.workflow.net.bisection import Bisection
from wulf.workflow.net.incast import Incast
from wulf.workflow.net.pairs import Pairs
from wulf.workflow.net.survey import Survey

Turn = Callable[..., RunOutcome]


@pytest.fixture
def turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Turn:
    """One turn of a command over four simulated nodes, interrupted after so many replicates."""
    run = simulator(monkeypatch, tmp_path)
    return lambda study, after=10**9, **more: run(made=study, watch=Impatient(after), **more)


@pytest.mark.parametrize(("study", "after"), [(Survey, 30), (Pairs, 1), (Incast, 12), (Bisection, 12)])
def test_a_command_goes_on_and_ends(turn: Turn, study: type[Study], after: int) -> None:
    first = turn(study, after)
    assert (first.exit_code, first.run.meta["state"]) == (130, "interrupted")
    last = turn(study)
    assert last.exit_code in (0, 1)
    assert last.run.meta["state"] == "complete"
    assert last.run.id == first.run.id
    assert len(last.run.meta["resumed"]) == 1
    measured = [(r["cell"], r["block"]) for r in last.run.replicates]
    assert len(measured) == len(set(measured))
    assert last.run.replicates[: len(first.run.replicates)] == first.run.replicates
    assert all(record.value is not None for record in last.run.records if record.metric in ("rtt", "throughput"))
    assert any("resumed: it was measured in 2 turns" in finding.text for finding in last.run.findings)
    subjects = [(r.subject, r.metric, str(r.params)) for r in last.run.records]
    assert len(subjects) == len(set(subjects)), "no record stands twice"


def test_a_run_that_kill_9_cut_in_the_middle_of_a_line(turn: Turn, tmp_path: Path) -> None:
    turn(Survey, 40)
    path = tmp_path / "run"
    meta = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(meta | {"state": "running", "ended": None}))
    with (path / "replicates.jsonl").open("a") as out:
        out.write('{"cell": 3, "blo')
    last = turn(Survey)
    assert last.run.meta["state"] == "complete"
    assert last.run.torn == 0


def test_a_run_that_was_cut_before_it_had_a_plan(turn: Turn, tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", "survey", {"seed": 1}) as writer:
        writer.finish("interrupted")
    assert turn(Survey).run.meta["state"] == "complete"


def test_a_node_that_was_away_is_measured_when_it_is_back(turn: Turn) -> None:
    turn(Survey, 60)
    away = turn(Survey, unreachable={"n3": "switched off"})
    assert away.exit_code == 3
    assert not lacks_nothing(away.run)
    back = turn(Survey)
    assert back.exit_code == 0
    assert lacks_nothing(back.run)
    assert any("3 turns" in finding.text for finding in back.run.findings)


def test_a_run_that_its_budget_ended_goes_on_for_another(turn: Turn) -> None:
    first = turn(Survey, nodes="n[1-2]", effort=replace(QUICK, budget=1e-9))
    assert first.run.meta["state"] == "complete"
    assert not lacks_nothing(first.run)
    assert lacks_nothing(turn(Survey, nodes="n[1-2]").run)


def facts(**values: str) -> dict[str, Any]:
    return {name.replace("_", "."): {"value": value} for name, value in values.items()}


def test_what_changed_between_the_turns_is_told(wording: Wording) -> None:
    before = {"n1": facts(kernel_release="6.1", kernel_uptime="5"), "n2": facts(kernel_release="6.1")}
    earlier = Run(Path("x"), {"started": "monday"}, fingerprint=before)
    same = {"n1": facts(kernel_release="6.1", kernel_uptime="900")}
    (alike,) = resumed_notes(earlier, same)
    assert lacking(alike, "resumed", " 2 turns", "first on monday") == []
    assert "changed" not in alike
    wording(alike)
    (text,) = resumed_notes(earlier, {"n2": facts(kernel_release="6.2"), "n3": facts(kernel_release="7")})
    assert "the nodes have changed (n2: kernel.release)" in text


def test_of_many_changes_the_number_is_told() -> None:
    names = [f"nic.eth{i}.mtu" for i in range(MOST_CHANGES + 2)]
    before = {"n1": {name: {"value": 1} for name in names}}
    after = {"n1": {name: {"value": 2} for name in names}}
    (text,) = resumed_notes(Run(Path("x"), {"started": "monday"}, fingerprint=before), after)
    assert "and 2 more" in text
