"""`wulf runs` and `wulf query` where one of many runs is torn, or is no run of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.unit.store.test_run import write
from tests.wording import lacking
from wulf.cli.runs.list import command as runs
from wulf.cli.runs.query import command as query


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "good")
    (tmp_path / "bad\x1b]0;owned\x07").mkdir()
    (tmp_path / "bad\x1b]0;owned\x07" / "run.json").write_text('{"id": "x", "state": NaN}')
    return tmp_path


def test_a_torn_run_is_listed_as_such_beside_the_others(folder: Path) -> None:
    done = CliRunner().invoke(runs, ["--in", str(folder)])
    assert done.exit_code == 0, done.output
    assert lacking(done.stdout, "complete", "unreadable") == []
    assert lacking(done.stderr, "can't be read", "NaN is no number") == []
    assert "\x1b" not in done.output + done.stderr
    lines = CliRunner().invoke(runs, ["--in", str(folder), "--json"]).stdout.splitlines()
    assert sorted(json.loads(line)["state"] for line in lines) == ["complete", "unreadable"]


def test_a_query_says_what_it_leaves_out(folder: Path) -> None:
    done = CliRunner().invoke(query, ["SELECT count(*) AS n FROM records", "--in", str(folder), "--json"])
    assert json.loads(done.stdout) == {"n": 2}
    assert lacking(done.stderr, "left out", "NaN is no number") == []
    assert "\x1b" not in done.stderr


def test_what_a_query_finds_drives_no_terminal_and_is_no_markup(folder: Path) -> None:
    text = "'a' || chr(27) || '[31m[bold]b[/bold][link=http://x]c'"
    done = CliRunner().invoke(query, [f'SELECT {text} AS "[red]n"', "--in", str(folder)], color=True)
    assert done.stdout.splitlines()[0].strip() == "[red]n"
    assert "a\ufffd[31m[bold]b[/bold][link=http://x]c" in done.stdout
