"""What ranks computed, from traces whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.trace.making import made
from wulf.core.errors import UsageError
from wulf.model.speedup.parts import parts_of
from wulf.trace.manifest import SCHEDULE
from wulf.trace.record import UNTIMED, Record
from wulf.trace.writer import RankWriter
from wulf.workflow.model.traces import times_of

SERIAL, WORK, GOING, EACH = 1.0, 10.0, 0.1, 0.02
"""Brown's Ts, Tp, Tip and Tis in seconds."""


def traced(folder: Path, ranks: int, *, every: bool = False, command: str = "app") -> str:
    """A program that computes and meets; the serial part is done by the first rank, or by every one."""
    computing = [(SERIAL if every or rank == 0 else 0) + WORK / ranks for rank in range(ranks)]
    whole = computing[0] + GOING + ranks * EACH
    made(
        folder,
        [
            [Record("Barrier", round(own * 1e9), round((whole - own) * 1e9)), Record("finalize", 0, 10**9)]
            for own in computing
        ],
        {rank: {"command": command} for rank in range(ranks)},
    )
    return str(folder)


@pytest.mark.parametrize(("every", "work"), [(False, 11.0), (True, 14.0)])
def test_the_times_of_a_trace(tmp_path: Path, every: bool, work: float) -> None:
    (found,), notes = times_of([traced(tmp_path / "four", 4, every=every)])
    assert found.ranks == 4
    assert found.seconds == pytest.approx(3.5 + 0.1 + 4 * 0.02)
    assert found.computing == pytest.approx(3.5)
    assert found.work == pytest.approx(work)
    assert found.left == pytest.approx(0.18)
    assert notes == []


@pytest.mark.parametrize("every", [False, True])
def test_traces_give_the_times_that_were_planted(tmp_path: Path, every: bool) -> None:
    names = [traced(tmp_path / f"of{n}", n, every=every) for n in (1, 2, 4, 8)]
    found = parts_of(times_of(names)[0])
    assert {name: one.value for name, one in found.parameters.items()} == pytest.approx(
        {"ts": SERIAL, "tp": WORK, "tip": GOING, "tis": EACH}, rel=1e-4
    )


def test_calls_of_other_threads_are_no_time_of_the_main_one(tmp_path: Path) -> None:
    records = [Record("Barrier", 10**9, 10**9), Record("Barrier", 0, 2 * 10**9, thread=1), Record("finalize")]
    made(tmp_path, [records])
    (found,), _ = times_of([str(tmp_path)])
    assert found.computing == pytest.approx(1.0)


def test_traces_of_different_commands_are_told(tmp_path: Path) -> None:
    names = [traced(tmp_path / "a", 2), traced(tmp_path / "b", 4, command="other")]
    (note,) = times_of(names)[1]
    assert "app" in note and "other" in note


def test_what_has_no_times_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "imported", [[Record("Barrier")]], {0: {"clock": UNTIMED}})
    with pytest.raises(UsageError, match="has no times of calls"):
        times_of([str(tmp_path / "imported")])
    goal = tmp_path / "goal"
    goal.mkdir()
    (goal / SCHEDULE).write_text("num_ranks 1\n")
    (goal / "trace.json").write_text('{"version": 1, "kind": "goal"}')
    with pytest.raises(UsageError, match="schedule"):
        times_of([str(goal)])
    made(tmp_path / "idle", [[Record("Barrier", 0, 10)]])
    with pytest.raises(UsageError, match="computes nothing"):
        times_of([str(tmp_path / "idle")])
    with RankWriter(tmp_path / "imported", {"rank": 0, "size": 2, "host": "n1"}) as out:
        out.add(Record("Barrier", 10, 10))
    with pytest.raises(UsageError, match="1 of 2 ranks have no end"):
        times_of([str(tmp_path / "imported")])
