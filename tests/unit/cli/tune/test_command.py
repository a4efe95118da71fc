"""`wulf tune` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.wording import Wording, lacking
from wulf.cli.tune import command as cli
from wulf.cli.tune.command import command
from wulf.report.kit.view import Section, View
from wulf.workflow.engine.done import Done
from wulf.workflow.tune import run as tuning
from wulf.workflow.tune import undo as tune_undo


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the workflow was asked; nothing is connected to."""
    seen: dict[str, Any] = {}

    def plan(inventory: Any, request: Any, **_: Any) -> dict[str, Any]:
        seen.update(nodes=inventory.names, request=request, applied=False)
        return {}

    def tune(inventory: Any, request: Any, writer: Any, **_: Any) -> Done:
        seen.update(nodes=inventory.names, request=request, applied=True)
        return Done({"campaign": writer.id}, writer.path, 0)

    monkeypatch.setattr(tuning, "plan_only", plan)
    monkeypatch.setattr("wulf.workflow.tune.prepare.plan_object", lambda plan: plan)
    monkeypatch.setattr(tuning, "tune", tune)
    return seen


def run(*args: str) -> Any:
    return CliRunner().invoke(command, list(args), standalone_mode=False, catch_exceptions=True)


def test_without_apply_it_is_the_plan(asked: dict[str, Any]) -> None:
    outcome = run("n[1-2]", "--aim", "throughput", "--json", "--launcher", "ssh")
    assert outcome.exception is None, outcome.exception
    assert asked["nodes"] == ("n1", "n2") and not asked["applied"]
    assert asked["request"].aim == "throughput" and asked["request"].keep


def test_a_plan_is_written_where_it_is_wanted(
    asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = View("wulf tune", "Nothing was changed", [Section("Settings", ["none"])])
    monkeypatch.setattr("wulf.report.tune.campaign.plan_view", lambda _: view)
    outcome = run("n[1-2]", "--json", "--launcher", "ssh", "--out", str(tmp_path / "plan"))
    assert outcome.exception is None, outcome.exception
    assert json.loads((tmp_path / "plan" / "tune-plan.json").read_text()) == {}
    assert "Nothing was changed" in (tmp_path / "plan" / "tune-plan.html").read_text()
    assert not asked["applied"]


def test_apply_and_no_keep_and_the_program_after_two_dashes(asked: dict[str, Any], tmp_path: Path) -> None:
    outcome = run(
        *("n1,n2", "--apply", "--no-keep", "--json", "--measure", "app", "--out", str(tmp_path / "r"), "--seed", "4"),
        *("--", "mpirun", "-n", "2", "./solver", "--apply"),
    )
    assert outcome.exception is None, outcome.exception
    request = asked["request"]
    assert asked["applied"] and not request.keep
    assert request.command == ("mpirun", "-n", "2", "./solver", "--apply")
    assert request.seed == 4
    assert json.loads(outcome.stdout.splitlines()[0])["campaign"]


@pytest.mark.parametrize("words", [("--measure", "app"), ("--", "true")])
def test_a_program_and_measuring_one_belong_together(asked: dict[str, Any], words: tuple[str, ...]) -> None:
    outcome = run("n1", *words)
    assert "--measure app" in str(outcome.exception)
    assert not asked


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], 0),
        ([{"node": "n1", "name": "a", "place": "", "outcome": "reverted", "now": 1, "before": 1}], 0),
        ([{"node": "n1", "name": "a", "place": "", "outcome": "changed-since", "now": 2, "before": 1}], 1),
        ([{"node": "n1", "outcome": "unknown", "reason": "no route to host"}], 3),
    ],
)
def test_revert_says_what_came_of_it(monkeypatch: pytest.MonkeyPatch, results: list[dict[str, Any]], code: int) -> None:
    seen = []
    monkeypatch.setattr(tune_undo, "revert", lambda inventory, campaign: seen.append(campaign) or results)
    outcome = run("revert", "c1", "--nodes", "n1")
    assert outcome.return_value == code and seen == ["c1"]
    told = outcome.stdout
    assert all(str(one["outcome"]) in told for one in results) if results else "nothing to take back" in told


def test_status_shows_locks_and_problems(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    kept = {"campaign": "c1", "name": "nic.mtu", "place": "eth0", "before": 1500, "after": 9000, "kept": True}
    kept |= {"outcome": "applied", "undone": None}
    cut_short = {**kept, "asked": 6000, "after": None, "outcome": None, "kept": False}
    left = {**kept, "kept": False, "undone": {"outcome": "changed-since"}}
    nothing = {"folder": "/var/lib/wulf/changes", "boot": "b", "lock": None, "open": [], "left": [], "problems": []}
    told = [
        {"node": "n1", **nothing},
        {"node": "n2", **nothing, "lock": {"campaign": "c1", "by": "me@here"}, "problems": ["the watchdog has ended"]},
        {"node": "n3", **nothing, "open": [kept]},
        {"node": "n4", **nothing, "lock": {"campaign": "c1", "by": "me@here", "boot": "a"}, "open": [cut_short]},
        {"node": "n5", **nothing, "left": [left]},
    ]
    monkeypatch.setattr(tune_undo, "status", lambda _: told)
    outcome = run("status", "--nodes", "n[1-3]")
    assert outcome.return_value == 1
    one, two, three, four, five = outcome.stdout.splitlines()
    assert lacking(one, "n1: nothing") == []
    assert lacking(two, "n2: campaign c1 of me@here holds it", "WRONG: the watchdog has ended") == []
    assert lacking(three, "n3: nic.mtu eth0 1500 → 9000", "kept", "c1") == []
    assert lacking(four, "n4: campaign c1 of me@here held it before", "nic.mtu eth0 1500 → 6000", "open") == []
    assert lacking(five, "n5: not taken back: nic.mtu eth0 1500 → 9000", "changed-since", "c1") == []
    wording(outcome.stdout)


def test_help_names_the_commands_and_an_example() -> None:
    outcome = run("--help")
    for name in cli.COMMANDS:
        assert name in outcome.stdout
    assert "wulf tune n[1-4] --aim latency" in outcome.stdout
    assert "Example:" in run("campaign", "--help").stdout
