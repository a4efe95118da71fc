"""`wulf impacts` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.unit.workflow.impact.impact_runs import many, write_impact
from wulf.cli.runs.impacts import command
from wulf.core.errors import INCOMPLETE, OK, UsageError
from wulf.workflow.impact.sacct import COLUMNS, COMMAND


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return many(tmp_path / "runs")


def given(runs: Path, *words: str) -> Any:
    return CliRunner().invoke(command, [*words, "--in", str(runs)], standalone_mode=False)


def said(runs: Path, *words: str) -> dict[str, Any]:
    done = given(runs, *words, "--json")
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def test_all_runs_of_the_folder(runs: Path) -> None:
    done = given(runs)
    assert done.return_value == OK and "7 runs of 6 programs" in done.output
    assert said(runs)["by"]["domain"][0]["name"] == "phylogenetics"


def test_those_named_and_one_that_is_no_good(runs: Path) -> None:
    done = given(runs, "r1", "r4", "nothing")
    assert done.return_value == INCOMPLETE and "nothing could not be read" in done.output
    assert "2 runs of 2 programs: too few" in done.output
    (runs / "r1/impact.json").write_text("{")
    assert given(runs).return_value == OK, "nobody named it: it is listed"


def test_one_change(runs: Path) -> None:
    assert said(runs, "--change", "nic.rx_usecs")["all"]["runs"] == 3
    done = given(runs, "--change", "nic.mtu")
    assert isinstance(done.exception, UsageError) and "links, nic.rx_usecs" in done.exception.next_step


def test_domains_of_runs_that_do_not_say_theirs(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('[programs]\nmine = "art"\n')
    assert "unknown" in {one["domain"] for one in said(runs)["runs"]}
    assert "art" in {one["domain"] for one in said(runs, "--domains", str(tmp_path / "d.toml"))["runs"]}


def test_a_mix_and_a_page(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text("jobs_per_month = 1000\n[shares]\nphylogenetics = 0.5\nart = 0.3\n")
    words = ("--mix", str(tmp_path / "mix.toml"))
    found = said(runs, *words)["mix"]
    assert found["unknown"] == pytest.approx(0.5) and 0 < found["saved"]["value"] < 0.05
    done = given(runs, *words, "--html", str(tmp_path / "page.html"))
    assert "jobs a month" in done.output and "50 % of the core-hours (art, what the" in done.output
    assert "This mix would save" in (tmp_path / "page.html").read_text()


def test_a_mix_of_slurms_jobs(runs: Path, tmp_path: Path) -> None:
    lines = ["phyml|bio|7200|01:00:00|COMPLETED"] * 3 + ["x|bio|7200|01:00:00|FAILED"]
    (tmp_path / "jobs").write_text("\n".join([COLUMNS, *lines]))
    found = said(runs, "--sacct", str(tmp_path / "jobs"), "--days", "10")["mix"]
    assert found["jobs"] == 9 and found["core_hours"] == pytest.approx(24)
    assert [(one["name"], one["share"]) for one in found["parts"]] == [
        ("phylogenetics", 0.75), ("jobs that did not complete", 0.25),
    ]  # fmt: skip
    assert isinstance(given(runs, "--mix", "m", "--sacct", "s").exception, UsageError)


def test_nothing_to_show(tmp_path: Path) -> None:
    done = given(tmp_path)
    assert isinstance(done.exception, UsageError) and "no run of `wulf impact`" in done.exception.what
    (write_impact(tmp_path, "r", "./solve") / "impact.json").write_text("{")
    done = given(tmp_path)
    assert isinstance(done.exception, UsageError) and "not JSON" in done.exception.what


def test_help_has_the_command_that_writes_the_file() -> None:
    said = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert COMMAND in said and "--mix" in said
