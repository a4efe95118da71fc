"""SQL over runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.store.test_run import write
from wulf.core.errors import UsageError
from wulf.store.query import query


def test_records_and_runs_are_tables(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    write(tmp_path / "b", 3)
    answer = query("SELECT count(*) AS n, max(value) AS top FROM records", tmp_path)
    assert list(answer.objects()) == [{"n": 5, "top": 2.0}]
    joined = query("SELECT r.state, count(*) FROM records JOIN runs r ON r.id = run GROUP BY ALL", tmp_path)
    assert joined.rows == [("complete", 5)]


def test_torn_lines_are_skipped(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    with (tmp_path / "a" / "records.jsonl").open("a") as out:
        out.write('{"run": "x')
    assert query("SELECT count(*) FROM records", tmp_path).rows == [(2,)]


def test_a_bad_statement_gets_duckdbs_own_words(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with pytest.raises(UsageError, match="nosuch"):
        query("SELECT nosuch FROM records", tmp_path)


def test_sql_can_not_reach_other_files(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with pytest.raises(UsageError, match="disabled"):
        query("SELECT * FROM read_text('/etc/passwd')", tmp_path)


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runs"):
        query("SELECT 1", tmp_path)
