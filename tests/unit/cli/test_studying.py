"""From options to conditions, and what is printed of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure.make_runs import run as made
from tests.unit.report.make_run import survey
from wulf.cli import studying
from wulf.cli.studying import effort_of, show_run, studied
from wulf.core.errors import FOUND, INCOMPLETE, OK, UsageError
from wulf.store.run import Run
from wulf.workflow.engine import measuring
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.study import Conditions

GIVEN: dict[str, Any] = {"width": 0.1, "budget": 60.0, "quick": False, "watch": False}


@pytest.mark.parametrize("more", [{}, {"margin": 0.1}, {"runs": 7}, {"runs": None}])
def test_the_effort_is_taken_out_of_the_options(more: dict[str, Any]) -> None:
    options = {**GIVEN, **more, "nodes": "n1"}
    effort = effort_of(options)
    assert options == {"nodes": "n1"}
    assert (effort.width, effort.budget) == (0.1, 60.0)
    assert effort.margin == more.get("margin", Effort().margin)
    assert effort.replicates == more.get("runs")


def test_a_study_is_made_under_what_the_options_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(measuring, "measure", seen.append)
    where = dict.fromkeys(("inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config"))
    options = {**GIVEN, **where, "nodes": "n[1-2]", "out": tmp_path / "run", "seed": 7}

    def study(given: Conditions) -> Any:
        assert given.writer.path == tmp_path / "run"
        return given.inventory.names, given.seed, given.effort.budget

    studied("net-pairs", options, study)
    assert [(list(names), *rest) for names, *rest in seen] == [(["n1", "n2"], 7, 60.0)]


@pytest.mark.parametrize(
    ("how", "out", "err"),
    [
        ({"as_json": True}, ['"metric":"rtt"'], ["report: "]),
        ({"as_json": False}, ["n3 stands out", "report: "], []),
        ({"as_json": False, "whole": False}, ["n1"], ["node: n3 stands out", "report: "]),
        ({"as_json": False, "whole": False, "page": False, "untold": ("node",)}, ["n1"], []),
    ],
)
def test_a_run_is_printed_as_records_as_a_report_or_as_json(
    how: dict[str, Any], out: list[str], err: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_run(RunOutcome(survey(), 1), **how) == 1
    printed = capsys.readouterr()
    assert [text for text in out if text not in printed.out] == []
    assert [text for text in err if text not in printed.err] == []
    assert ("report: " in printed.out + printed.err) == how.get("page", True)
    assert ("node: " in printed.err) == ("node: n3 stands out" in err)


WHERE = dict.fromkeys(("inventory_file", "hostfile", "launcher", "lab", "network", "ssh_config")) | {"nodes": "n[1-2]"}
PAIR = {"n1>n2": 1.0}


def measured_against(
    before: Run, after: Run, code: int, monkeypatch: pytest.MonkeyPatch, folder: Path, command: str = "net-pairs"
) -> RunOutcome:
    """What `studied` makes of a run that was measured with `--baseline before`."""
    monkeypatch.setattr(studying, "named_run", lambda name, directory: before)
    monkeypatch.setattr(measuring, "measure", lambda study: RunOutcome(replace(after, path=folder), code))
    before.meta["command"] = "net-pairs"
    options = {**GIVEN, **WHERE, "out": folder / "run", "seed": 7, "baseline": "monday"}

    def study(given: Conditions) -> Any:
        return given  # `measure` above asks nothing of it

    return studied(command, options, study)


@pytest.mark.parametrize(
    ("factors", "code", "expected"),
    [(PAIR, OK, OK), ({"n1>n2": 1.2}, OK, FOUND), ({"n1>n2": 1.2}, INCOMPLETE, INCOMPLETE), (PAIR, FOUND, FOUND)],
)
def test_what_is_slower_than_the_baseline_stands_out(
    factors: dict[str, float], code: int, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    before, after = made("a", PAIR, seed=1, cv=0.002), made("b", factors, seed=2, cv=0.002)
    outcome = measured_against(before, after, code, monkeypatch, tmp_path)
    assert outcome.exit_code == expected
    assert outcome.change is not None
    show_run(outcome, as_json=False, page=False)
    printed = capsys.readouterr().out
    assert ("slower" in printed.split("2 cells: ")[1].splitlines()[0]) == (factors != PAIR)
    assert (tmp_path / "change.html").is_file()
    show_run(outcome, as_json=True, page=False)
    printed = capsys.readouterr()
    assert [line for line in printed.out.splitlines() if not line.startswith("{")] == []
    assert "since a: 2 cells: " in printed.err


def test_a_run_with_nothing_in_common_is_kept_and_not_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = made("a", PAIR, seed=1), made("b", {"n3>n4": 1.0}, seed=2)
    outcome = measured_against(before, after, OK, monkeypatch, tmp_path)
    assert (outcome.exit_code, outcome.change) == (INCOMPLETE, None)
    assert "--baseline: a and b have no cell in common" in capsys.readouterr().err


def test_the_last_baseline_is_the_newest_complete_run_of_that_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WULF_RUNS", str(tmp_path))
    kinds = {"old": "survey complete", "new": "survey complete", "cut": "survey interrupted", "node": "node complete"}
    for number, (name, words) in enumerate(kinds.items()):
        command, state = words.split()
        (tmp_path / name).mkdir()
        started = f"2026-11-2{number}T00:00:00.000Z"  # not in the names' order
        meta = {"id": name, "command": command, "state": state, "version": "0.1.0", "started": started, "seed": 1}
        (tmp_path / name / "run.json").write_text(json.dumps(meta))
    found = studying._before("last", "survey")
    assert found is not None
    assert found.path == tmp_path / "new"
    with pytest.raises(UsageError, match="holds no complete run of net-pairs"):
        studying._before("last", "net-pairs")


def test_a_baseline_of_another_command_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="--baseline monday: a is a run of net-pairs"):
        measured_against(made("a", PAIR, seed=1), survey(), OK, monkeypatch, tmp_path, command="survey")
    assert not (tmp_path / "run").exists()
