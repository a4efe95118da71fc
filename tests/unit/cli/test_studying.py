"""From options to conditions, and what is printed of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.make_run import survey
from wulf.cli.studying import effort_of, show_run, studied
from wulf.workflow.engine import measuring
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import Outcome
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
    assert show_run(Outcome(survey(), 1), **how) == 1
    printed = capsys.readouterr()
    assert [text for text in out if text not in printed.out] == []
    assert [text for text in err if text not in printed.err] == []
    assert ("report: " in printed.out + printed.err) == how.get("page", True)
    assert ("node: " in printed.err) == ("node: n3 stands out" in err)
