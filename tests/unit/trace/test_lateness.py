"""Who was late for whom: on made traces whose lateness is known, of one host and of several whose clocks differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from wulf.trace.lateness import RankTimes, Stolen, lateness, offsets, times_of
from wulf.trace.reader import RankFile
from wulf.trace.record import Record
from wulf.trace.writer import RankWriter, name_of

MS = 1_000_000
MAKE, TICK = ("task", "make"), ("timer", "tick")
WAY = 0.01 * MS
"""A message's."""


def times(
    rank: int, arrivals: Sequence[float], left: Sequence[float], host: str = "n1", ahead: float = 0.0
) -> RankTimes:
    """A rank whose barriers last from one to the other [ms], by a clock that is so much ahead; between it computes."""
    begins, ends = np.asarray(arrivals) * MS + ahead, np.asarray(left) * MS + ahead
    edges = np.concatenate([[ahead], np.stack([begins, ends], axis=1).ravel()])
    spans = np.diff(edges)
    spans[1::2] = 0
    computed = np.concatenate([[0], np.cumsum(spans)])
    return RankTimes(rank, host, ["Barrier"] * len(arrivals), begins, ends, edges, computed)


def stolen(*pieces: tuple[float, float, tuple[str, str]], ahead: float = 0.0) -> Stolen:
    begin, length = (np.asarray([piece[part] for piece in pieces], float) * MS for part in (0, 1))
    return Stolen(begin=begin + ahead, length=length, culprit=[piece[2] for piece in pieces], left_out=0)


def three(ahead: float = 0.0, host: str = "n1") -> list[RankTimes]:
    """Rank 2 comes 5 ms late to the second of three barriers."""
    together = [10.01, 25.01, 35.01]
    return [
        times(0, [10, 20, 35], together),
        times(1, [10, 20, 35], together),
        times(2, [10, 25, 35], together, host, ahead),
    ]


def test_a_late_rank_is_told_with_who_took_its_cpu() -> None:
    found = lateness(three(), {2: stolen((12, 4, MAKE), (17, 0.5, TICK)), 0: stolen((12, 0.5, TICK)), 1: stolen()})
    assert found["late"]["collectives"] == 3
    assert found["late"]["late"] == 1
    assert found["late"]["late_seconds"] == pytest.approx(5e-3)
    assert found["late"]["waited_seconds"] == pytest.approx(10e-3)
    (worst,) = found["worst"]
    assert (worst["rank"], worst["call"], worst["number"]) == (2, "Barrier", 1)
    assert worst["at_seconds"] == pytest.approx(25e-3)
    # of what was taken, 0.25 ms is what the others lost as well, in the median
    assert worst["stolen"] == pytest.approx(4.25e-3)
    assert [one["name"] for one in worst["by"]] == ["make", "tick"]
    (late,) = found["late_ranks"]
    assert (late["rank"], late["times"]) == (2, 1)
    assert late["by"] == worst["by"]


def test_what_a_rank_computed_longer_is_nobodys() -> None:
    found = lateness(three(), {rank: stolen((12, 0.5, TICK)) for rank in range(3)})
    assert found["worst"][0]["late"] == pytest.approx(5e-3)
    assert found["worst"][0]["stolen"] == 0
    assert found["worst"][0]["by"] == []


def test_no_more_is_explained_than_there_is() -> None:
    found = lateness(three(), {2: stolen((10.5, 14, MAKE))})
    assert found["worst"][0]["stolen"] == pytest.approx(5e-3)
    assert found["worst"][0]["by"][0]["seconds"] == pytest.approx(5e-3)


def test_a_rank_that_leaves_late_since_it_has_no_cpu_is_late_for_the_next() -> None:
    """It came to the first barrier in time; it is over at 10 ms, and the rank gets out of it at 18."""
    ranks = [times(0, [10, 11, 30], [10.01, 19, 30.01]), times(1, [9.99, 19, 30], [18, 19.01, 30.01])]
    found = lateness(ranks, {1: stolen((8, 0.5, TICK), (9.995, 8.005, MAKE)), 0: stolen()})
    (worst,) = found["worst"]
    assert (worst["rank"], worst["number"]) == (1, 1)
    assert worst["late"] == pytest.approx(8e-3)
    assert worst["stolen"] == pytest.approx(8e-3)  # and not the half of a millisecond in which nobody waited for it
    # it did not compute meanwhile: that is no loss of its computing
    assert found["ranks"][1]["lost_seconds"] == pytest.approx(0.5e-3)


@pytest.mark.parametrize("ahead", [0.0, 3600e9, -5e9])
def test_clocks_of_hosts_are_laid_beside_each_other_by_the_calls(ahead: float) -> None:
    ranks = three(ahead + 1e13, host="n2")
    for rank in ranks[:2]:
        rank.begins[:] += 1e13
        rank.ends[:] += 1e13
        rank.edges[:] += 1e13
    assert offsets(ranks, 3)[2] == pytest.approx(-ahead, abs=2 * WAY)
    found = lateness(ranks, {2: stolen((12, 4, MAKE), ahead=ahead + 1e13)})
    (worst,) = found["worst"]
    assert worst["rank"] == 2
    assert worst["late"] == pytest.approx(5e-3, abs=1e-4)
    assert worst["stolen"] == pytest.approx(4e-3, abs=1e-4)


def test_ranks_that_have_no_such_call_in_common_are_not_told_late() -> None:
    alone = lateness(three()[:1], {0: stolen((1, 1, TICK))})
    assert alone["late"]["collectives"] == 0
    assert alone["ranks"][0]["lost_seconds"] == pytest.approx(1e-3)
    without = [times(0, [], []), times(1, [], [])]
    assert lateness(without, {})["worst"] == []
    assert [one["seen"] for one in lateness(without, {})["ranks"]] == [False, False]


def test_a_rank_s_file_gives_its_computing_and_its_collectives(tmp_path: Path) -> None:
    header = {"rank": 0, "size": 1, "host": "n1", "begin_monotonic_ns": 1000, "pid": 7}
    records = [
        Record("Barrier", gap_ns=500, call_ns=100),
        Record("Bcast", gap_ns=200, call_ns=50, root=0),
        Record("Barrier", gap_ns=300, call_ns=100, comm=3),
        Record("Barrier", gap_ns=9000, call_ns=100, thread=0),
    ]
    with RankWriter(tmp_path, header) as file:
        file.add_all(records)
    found = times_of(RankFile(tmp_path / name_of(0)))
    assert found.ops == ["Barrier", "Barrier"]  # of all ranks, which nobody leaves before all have come
    assert found.begins.tolist() == [1500, 11250]
    assert found.ends.tolist() == [1600, 11350]
    assert found.seconds == pytest.approx(10000e-9)
    assert found.computing(np.asarray([1400.0, 1550.0]), np.asarray([300.0, 20.0])).tolist() == [200.0, 0.0]
