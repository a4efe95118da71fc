"""SQL over runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.store.test_run import write
from wulf.core.errors import UsageError
from wulf.store.query import query
from wulf.store.run import RunWriter


def test_records_and_runs_are_tables(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    write(tmp_path / "b", 3)
    answer = query("SELECT count(*) AS n, max(value) AS top FROM records", tmp_path)
    assert list(answer.objects()) == [{"n": 5, "top": 2.0}]
    joined = query("SELECT r.state, count(*) FROM records JOIN runs r ON r.id = run GROUP BY ALL", tmp_path)
    assert joined.rows == [("complete", 5)]


def test_lines_that_are_no_records_are_left_out_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    assert query("SELECT count(*) FROM records", tmp_path).torn == 0
    with (tmp_path / "a" / "records.jsonl").open("a") as out:
        out.write('[1]\n{"run": "x"}\n{"run": "x')
    answer = query("SELECT count(*) FROM records", tmp_path)
    assert (answer.rows, answer.torn) == ([(2,)], 3)


def test_a_bad_statement_gets_duckdbs_own_words(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with pytest.raises(UsageError, match="nosuch"):
        query("SELECT nosuch FROM records", tmp_path)


@pytest.mark.parametrize("sql", [" ", ";;", "-- nothing"])
def test_a_query_that_says_nothing_is_no_defect(tmp_path: Path, sql: str) -> None:
    write(tmp_path / "a")
    with pytest.raises(UsageError, match="says nothing"):
        query(sql, tmp_path)


def test_sql_can_not_reach_other_files(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with pytest.raises(UsageError, match="disabled"):
        query("SELECT * FROM read_text('/etc/passwd')", tmp_path)


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runs"):
        query("SELECT 1", tmp_path)


def test_a_torn_run_hides_no_other_one(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.json").write_text("{broken")
    answer = query("SELECT count(*) FROM records", tmp_path)
    assert answer.rows == [(2,)]
    assert list(answer.unread) == [tmp_path / "b"]
    (tmp_path / "a" / "run.json").write_text("[]")
    with pytest.raises(UsageError, match="no run can be read"):
        query("SELECT 1", tmp_path)


def test_records_that_can_not_be_read_hide_no_other_runs(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    for name in ("hole", "loop"):
        write(tmp_path / name, 1)
        (tmp_path / name / "records.jsonl").unlink()
    with (tmp_path / "hole" / "records.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "loop" / "records.jsonl").symlink_to("records.jsonl")
    answer = query("SELECT count(*) FROM records", tmp_path)
    assert answer.rows == [(2,)]
    why = {path.name: text for path, text in answer.unread.items()}
    assert "line 1 has more than" in why["hole"]
    assert "symbolic links" in why["loop"]


def test_a_seed_that_fits_no_column_hides_no_run(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a", "survey", {"seed": 10**30}):
        pass
    assert query("SELECT seed, command FROM runs", tmp_path).rows == [(None, "survey")]


def test_an_exit_code_that_fits_no_column_hides_no_run(tmp_path: Path) -> None:
    for name, code in (("a", 1 << 40), ("b", 10**30), ("c", 3)):
        with RunWriter(tmp_path / name, "survey", {"seed": 1}):
            pass
        said = json.loads((tmp_path / name / "run.json").read_text()) | {"exit_code": code}
        (tmp_path / name / "run.json").write_text(json.dumps(said))
    assert query("SELECT exit_code FROM runs", tmp_path).rows == [(1 << 40,), (None,), (3,)]


def test_runs_without_records_have_an_empty_table(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    (tmp_path / "a" / "records.jsonl").unlink()
    assert query("SELECT count(*) FROM records", tmp_path).rows == [(0,)]
