"""SQL over the records of many runs, by DuckDB."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from wulf.core.errors import UsageError
from wulf.store.index import read_metas
from wulf.store.reading import LONGEST, StoreError, lines_of


@dataclass(frozen=True)
class Answer:
    """Column names, rows of plain values, the runs that could not be read, with why, and how many lines of others."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    unread: dict[Path, str] = field(default_factory=dict)
    torn: int = 0

    def objects(self) -> Iterator[dict[str, Any]]:
        """One dictionary a row."""
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))


def query(sql: str, directory: Path | None = None) -> Answer:
    """Run SQL over the tables `records` and `runs` of all runs under a directory.

    `records` has the record's fields as columns (`params` as JSON: `params->>'transport'`); `runs` has run.json's.

    Raises
    ------
    UsageError
        No runs there, or DuckDB refuses the statement; its own message says where.
    """
    runs, unread = read_metas(directory)
    if unread and not runs:
        raise UsageError(f"no run can be read: {next(iter(unread.values()))}", "`wulf runs` lists them")
    if not runs:
        raise UsageError(f"no runs under {directory or 'runs'}", "`wulf survey` makes one")
    files, bad = _records_of(runs)
    unread |= bad
    with duckdb.connect(":memory:") as db:
        _load_runs(db, runs)
        torn = _load_records(db, files)
        db.execute("SET enable_external_access = false")
        try:
            result = db.execute(sql)
            if result is None:  # DuckDB's word for no statement at all
                raise UsageError("the query says nothing", "tables: records, runs")
            columns = [column[0] for column in result.description or []]
            return Answer(columns, result.fetchall(), unread, torn)
        except duckdb.Error as error:
            raise UsageError(
                f"the query failed: {error}", "tables: records, runs; `DESCRIBE records` shows the columns"
            ) from error


def _held(value: Any) -> Any:
    """What fits into the tables' integers; a greater seed was given by hand, and is in run.json."""
    return None if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 else value


def _load_runs(db: duckdb.DuckDBPyConnection, runs: Mapping[Path, Mapping[str, Any]]) -> None:
    db.execute(
        "CREATE TABLE runs (id VARCHAR, command VARCHAR, version VARCHAR, state VARCHAR, started VARCHAR, "
        "ended VARCHAR, seed BIGINT, nodes VARCHAR[], exit_code BIGINT, path VARCHAR)"
    )
    for path, meta in runs.items():
        fields = ("id", "command", "version", "state", "started", "ended", "seed", "nodes", "exit_code")
        held = [_held(meta.get(field)) for field in fields]
        db.execute("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?)", [*held, str(path)])


_COLUMNS = {
    "run": "VARCHAR",
    "subject": "VARCHAR",
    "probe": "VARCHAR",
    "metric": "VARCHAR",
    "unit": "VARCHAR",
    "params": "JSON",
    "value": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "confidence": "DOUBLE",
    "statistic": "VARCHAR",
    "replicates": "INTEGER",
    "quantiles": "JSON",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
    "provenance": "VARCHAR",
    "counters": "JSON",
    "samples": "DOUBLE[]",
    "phase": "VARCHAR",
    "at": "VARCHAR",
}


def _records_of(runs: Iterable[Path]) -> tuple[list[str], dict[Path, str]]:
    """The files with records, and the runs whose file can't be read, with why."""
    files, bad = [], {}
    for run in runs:
        path = run / "records.jsonl"
        try:
            with lines_of(path) as lines:
                first = next(lines, None)
                if first is not None and path.stat().st_size > LONGEST:
                    deque(lines, maxlen=0)  # DuckDB would not say which line is beyond all use, and read none
        except StoreError as error:
            bad[run] = error.what
        else:
            files += [str(path)] if first is not None else []
    return files, bad


def _load_records(db: duckdb.DuckDBPyConnection, files: list[str]) -> int:
    """All records in one read; how many lines are none, which are left out, as everywhere."""
    if not files:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _COLUMNS.items())
        db.execute(f"CREATE TABLE records ({columns})")
        return 0
    db.execute(
        "CREATE TABLE records AS SELECT * FROM read_json($files, format='newline_delimited', ignore_errors=true, "
        "maximum_object_size=$longest, columns=$columns)",
        {"files": files, "longest": LONGEST, "columns": _COLUMNS},
    )
    (torn,) = db.execute("DELETE FROM records WHERE verdict IS NULL").fetchone() or (0,)
    return int(torn)
