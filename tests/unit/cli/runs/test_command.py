"""`wulf runs` and `wulf query`: also where one of many runs is torn, or is no run of ours."""

from __future__ import annotations

import csv
import fcntl
import io
import json
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from tests.unit.store.test_run import write
from tests.wording import lacking
from wulf.cli.runs.command import command as runs
from wulf.cli.runs.query import command as query
from wulf.core.errors import UsageError
from wulf.core.records import Record
from wulf.store.export import COLUMNS, as_csv, as_markdown, write_parquet
from wulf.store.reading import StoreError
from wulf.store.run import RunWriter


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


def test_each_run_is_listed_with_the_gravest_of_its_findings(folder: Path) -> None:
    """In a line of its own, cut to the terminal's width, whatever it holds."""
    said = [("info", "nothing"), ("warn", "look"), ("bad", "n3 is slow\x1b[31m " + 40 * "very "), ("bad", "n4, too")]
    findings = [{"kind": "node", "severity": severity, "text": text, "subject": "n3"} for severity, text in said]
    (folder / "good" / "findings.json").write_text(json.dumps(findings))
    lines = CliRunner().invoke(runs, ["--in", str(folder)]).stdout.splitlines()
    below = lines[next(i for i, line in enumerate(lines) if "complete" in line) + 1]
    assert below.startswith("  n3 is slow\ufffd[31m very very") and below.endswith("…") and len(below) == 80
    (folder / "good" / "findings.json").write_text("torn")
    listed = CliRunner().invoke(runs, ["--in", str(folder)])
    assert listed.exit_code == 0 and "complete" in listed.stdout


def test_the_list_says_of_which_command_a_run_is_and_what_it_came_to(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "monday", "survey", {"nodes": ["n1", "n2"]}) as writer:
        writer.finish("complete", exit_code=1, headline="n2 stands out.")
    lines = CliRunner().invoke(runs, ["--in", str(tmp_path)]).stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["run", "command", "state", "nodes", "exit"], ["monday", "survey", "complete", "n1,n2", "1"],
        ["n2", "stands", "out."],
    ]  # fmt: skip


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


def run_of(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(runs, [*words, "--in", str(folder)], catch_exceptions=False, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_a_run_as_a_table(folder: Path, tmp_path: Path) -> None:
    table = list(csv.DictReader(io.StringIO(run_of(folder, "export", "good"))))
    assert [(row["subject"], row["metric"], row["unit"], row["value"]) for row in table] == [
        ("n1>n2", "rtt", "s", "0.0"), ("n1>n2", "rtt", "s", "1.0")
    ]  # fmt: skip
    assert list(table[0]) == list(COLUMNS)
    assert run_of(folder, "export", "good", "--format", "md").splitlines()[0].startswith("| run | subject |")
    with pytest.raises(UsageError, match="Parquet is nothing for a terminal"):
        run_of(folder, "export", "good", "--format", "parquet")
    run_of(folder, "export", "good", "--format", "csv", "--to", str(tmp_path / "good.csv"))
    assert (tmp_path / "good.csv").read_text() == run_of(folder, "export", "good")


AWKWARD = Record.model_validate(
    {"run": "r", "subject": "n|1", "probe": "net", "metric": "rtt", "unit": "s", "verdict": "failed", "at": "now",
     "reason": 'said "no", twice,\nand\x1b[31m ended', "params": {"bytes": 1, "way": "a|b"}}
)  # fmt: skip


def test_text_of_others_stays_in_its_cell(tmp_path: Path) -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv([AWKWARD])))
    assert row["reason"] == AWKWARD.reason
    assert (row["value"], json.loads(row["params"])) == ("", {"bytes": 1, "way": "a|b"})
    table = as_markdown([AWKWARD])
    assert len(table.splitlines()) == 3 and "\x1b" not in table and "n\\|1" in table
    write_parquet([AWKWARD], tmp_path / "one.parquet")
    assert duckdb.sql(f"SELECT subject, value, reason FROM '{tmp_path}/one.parquet'").fetchall() == [
        ("n|1", None, AWKWARD.reason)
    ]
    with pytest.raises(StoreError, match="no file"):
        write_parquet([AWKWARD], tmp_path)


def test_a_link_among_the_runs_is_not_removed(folder: Path, tmp_path: Path) -> None:
    (folder / "link").symlink_to(write(tmp_path / "elsewhere").path)
    with pytest.raises(UsageError, match=r"link can't be removed: .*symbolic link"):
        run_of(folder, "rm", "link", "--yes")
    assert (tmp_path / "elsewhere" / "run.json").exists()


def test_a_run_is_removed_when_that_is_confirmed(folder: Path) -> None:
    write(folder / "other")
    with pytest.raises(UsageError, match="nobody is there to be asked"):
        run_of(folder, "rm", "good")
    assert (folder / "good").is_dir()
    assert f"removed {folder / 'good'}" in run_of(folder, "rm", "good", "--yes")
    assert sorted(path.name for path in folder.iterdir() if path.name in ("good", "other")) == ["other"]


def test_only_what_stands_among_the_runs_and_is_not_being_written_is_removed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("own")
    write(own / "here")
    with pytest.raises(UsageError, match="does not stand in the directory of runs"):
        run_of(folder, "rm", str(own / "here"), "--yes")
    with (folder / "good" / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="is being measured"):
            run_of(folder, "rm", "good", "--yes")
    assert (folder / "good" / "run.json").is_file()
