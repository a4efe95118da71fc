"""Times over workers from a table, and from a run's records."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from wulf.core.errors import UsageError
from wulf.core.records import Record
from wulf.store.run import Run
from wulf.workflow.model.times import from_csv, from_run


def table(path: Path, text: str) -> Path:
    file = path / "times.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_reads_workers_and_seconds(tmp_path: Path) -> None:
    given = from_csv(
        table(tmp_path, "\ufeffReplicate, Workers ,seconds\n# a comment\n1,1,10\n\n2,1,11\n1,4, 3\n1,serial,9.5\n")
    )
    assert given.seconds == {1.0: [10.0, 11.0], 4.0: [3.0]}
    assert given.serial == [9.5]


def test_ranks_are_workers(tmp_path: Path) -> None:
    assert from_csv(table(tmp_path, "ranks,seconds\n2,5\n")).seconds == {2.0: [5.0]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("workers,seconds\n", "no line with a number of workers"),
        ("workers,time\n1,2\n", "line 1: column 'time' is not known"),
        ("workers\n1\n", "line 1: the columns workers and seconds"),
        ("workers,ranks,seconds\n1,1,2\n", "line 1: the columns workers and seconds"),
        ("seconds,workers,seconds\n1,2,3\n", "line 1: column 'seconds' stands there twice"),
        ("workers,seconds\n1,2\n2\n", "line 3: 1 columns, .* names 2"),
        ("workers,seconds\n1,2\n\nx,2\n", "line 4: workers is 'x', which is no number"),
        ("workers,seconds\n1.5,2\n", "line 2: 1.5 workers is no whole number"),
        ("workers,seconds\n1,-2\n", "line 2: seconds is -2, which is not above 0"),
        ("workers,seconds\n1,nan\n", "line 2: seconds is nan, which is not above 0"),
        ("workers,seconds\n0,2\n", "line 2: workers is 0, which is not above 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        from_csv(table(tmp_path, text))
    assert re.search(why, error.value.what)
    assert error.value.next_step


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        from_csv(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        from_csv(tmp_path / "bytes.csv")


def record(workers: float, seconds: float | None, metric: str = "seconds", **params: Any) -> Record:
    content: dict[str, Any] = {
        "run": "r", "subject": "n[1-4]", "probe": "mpi", "metric": metric, "unit": "s", "value": seconds, "at": "now",
        "verdict": "ok" if seconds else "failed", "reason": None if seconds else "a rank died",
        "params": {"workers": workers, **params}, "samples": [seconds, seconds * 1.1] if seconds else [],
    }  # fmt: skip
    return Record(**content)


def run(*records: Record) -> Run:
    return Run(Path("r"), {"id": "r"}, records=list(records))


def test_records_that_differ_in_workers_alone() -> None:
    given = from_run(run(record(1, 10.0), record(3, 4.0), record(7, None), record(1, 0.1, "overhead")))
    assert given.seconds == {1.0: [10.0, 11.0], 3.0: [4.0, pytest.approx(4.4)]}
    assert given.notes == ("7 workers: a rank died",)


def test_several_cells_need_a_choice() -> None:
    both = run(record(1, 10.0, batch=1), record(1, 9.0, batch=100), record(3, 3.0, batch=100))
    with pytest.raises(UsageError, match="several cells") as error:
        from_run(both)
    assert "--param: batch=1|100" in error.value.next_step
    assert from_run(both, params={"batch": "100"}).seconds.keys() == {1.0, 3.0}
    with pytest.raises(UsageError, match="has no seconds with batch=2"):
        from_run(both, params={"batch": "2"})


def test_the_metric_is_named_where_it_is_not_clear() -> None:
    two = run(record(1, 10.0, "time"), record(1, 1.0, "skew"))
    with pytest.raises(UsageError, match="several metrics: skew, time"):
        from_run(two)
    assert from_run(two, "skew").seconds.keys() == {1.0}
    with pytest.raises(UsageError, match="no seconds: skew, time"):
        from_run(two, "seconds")


def test_a_run_of_something_else() -> None:
    with pytest.raises(UsageError, match="no times with a parameter workers or ranks"):
        from_run(run())
