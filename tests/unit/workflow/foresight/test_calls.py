"""Steps of a critical path get the names of the calls in the trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.model.foresight.prediction import Step
from wulf.trace.record import Record
from wulf.trace.writer import RankWriter
from wulf.workflow.foresight import calls as predict_calls
from wulf.workflow.foresight.calls import named


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    with RankWriter(tmp_path, {"rank": 1, "size": 2}) as writer:
        writer.add_all(Record(op, 10, 5, comm=0) for op in ("Barrier", "Barrier"))
        writer.add(Record("Send", 10, 5, peer=0, tag=1, comm=0, bytes=8))
        writer.add(Record("finalize", 10, 5))
    return tmp_path


def steps(*marks: int) -> CriticalPath:
    found = tuple(Step(1, mark, mark + 1, "overhead", mark) for mark in marks)
    return CriticalPath(found, {}, len(found))


def test_records_are_counted_from_one(trace: Path) -> None:
    path, note = named(steps(1, 3, 4, 0), trace)
    assert [one.call for one in path.steps] == ["MPI_Barrier", "MPI_Send", "finalize", ""]
    assert note == ""


def test_computing_is_named_by_the_call_after_it(trace: Path) -> None:
    path, _ = named(CriticalPath((Step(1, 0.0, 1.0, "compute", 3),), {}, 1), trace)
    assert path.steps[0].call == "before MPI_Send"


def test_a_long_trace_is_not_read_to_its_end(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict_calls, "MOST_RECORDS", 2)
    path, note = named(steps(1, 3), trace)
    assert [one.call for one in path.steps] == ["MPI_Barrier", ""]
    assert note.startswith("1 steps of the critical path have no names")


def test_a_file_that_is_none_leaves_the_path_without_names(tmp_path: Path) -> None:
    path, note = named(steps(1), tmp_path)
    assert path.steps[0].call == ""
    assert "have no names" in note
