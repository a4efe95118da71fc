"""wulf-mpi's collectives, corrected clock and patterns: results checked on all ranks, under every MPI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.process.native.mpi_session import MpiSession, each_mpi

RANKS = (1, 2, 3, 5)
"""Alone, even, odd, and more than this machine may have CPUs."""

PATIENCE_S = 120.0
"""That only a hang lasts: ranks that outnumber the CPUs wait for each other by turns."""

OPS = (
    *("barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "scatter", "alltoall", "alltoallv"),
    *("reduce_scatter", "reduce_scatter_block"),
)


def run(session: MpiSession, probe: str, **params: Any) -> dict[str, Any]:
    """One short replicate."""
    number = session.send("run", probe=probe, params={"seconds": 0.005, **params})
    return session.wait(number, PATIENCE_S)


@pytest.fixture(scope="module", params=RANKS, ids=lambda ranks: f"{ranks} ranks")
def ranks(request: pytest.FixtureRequest) -> int:
    """How many ranks there are."""
    return int(request.param)


@pytest.fixture(scope="module")
def session(kind: str, ranks: int) -> Iterator[MpiSession]:
    """One launch for all tests of so many ranks: each leaves the session as able as it was."""
    with MpiSession(kind, ranks) as session:
        yield session


@each_mpi
def test_every_operation_gives_every_rank_what_it_should(session: MpiSession, ranks: int) -> None:
    for op in OPS:
        for size in (0, 4, 4096):
            answer = run(session, "collective", op=op, bytes=size, root=ranks - 1, start="barrier")
            assert answer["ok"], (op, size, answer)
            time, local = answer["metrics"]["time"], answer["metrics"]["local"]
            assert time["value"] > 0
            assert time["n"] == local["n"] > 0
            assert local["value"] <= time["value"]
            assert answer["info"]["ranks"] == ranks
            assert answer["info"]["verified"] is True


@each_mpi
def test_starts_agreed_beforehand_count_what_was_late(session: MpiSession, ranks: int) -> None:
    answer = run(session, "collective", op="allreduce", bytes=1024)
    assert answer["ok"], answer
    info, time, skew = answer["info"], answer["metrics"]["time"], answer["metrics"]["skew"]
    assert info["start"] == "window"
    assert info["window"] > 0
    assert max(info["late"], info["overrun"]) <= info["invalid"] <= info["late"] + info["overrun"]
    assert info["clock"]["shared"] is True
    assert "one host" in info["clock"]["note"]
    if time["value"] is None:  # more ranks than CPUs: none was there in time, and it says so
        assert "start=barrier" in time["reason"]
    else:
        assert 0 < skew["min"] <= skew["max"] < time["max"]


@each_mpi
def test_calls_back_to_back_are_timed_in_batches(session: MpiSession, ranks: int) -> None:
    answer = run(session, "collective", op="allgather", bytes=8, start="none")
    assert answer["ok"], answer
    time = answer["metrics"]["time"]
    assert time["value"] > 0
    assert time["n"] >= time["batches"]


@each_mpi
def test_some_ranks_alone_take_part(kind: str) -> None:
    with MpiSession(kind, 3) as session:
        for some in (1, 2):
            answer = run(session, "collective", op="alltoall", bytes=64, ranks=some, start="barrier")
            assert answer["ok"], answer
            assert answer["info"]["ranks"] == some
        too_many = run(session, "collective", ranks=4)
        assert too_many["error"]["field"] == "ranks"
        no_root = run(session, "collective", op="bcast", root=2, ranks=2)
        assert no_root["error"]["field"] == "root"
        odd = run(session, "collective", op="reduce", bytes=6)
        assert odd["error"]["field"] == "bytes"
        assert run(session, "collective", op="barrier", start="barrier")["ok"]


@each_mpi
def test_a_planted_offset_and_drift_are_found_within_the_errors_stated(kind: str) -> None:
    with MpiSession(kind, 3) as session:
        answer = run(session, "clock", planted_offset=1234.5, planted_skew=1e-3, seconds=0.02)
        assert answer["ok"], answer
        assert answer["info"]["shared"] is False
        for rank in answer["info"]["ranks"]:
            planted = -1234.5 if rank["rank"] % 2 else 0
            # the drift since it was planted, within the seconds that this takes
            assert abs(rank["offset"] - planted) < 0.1
            # what was found less the truth, a moment later
            drifted = rank["skew_error"] * answer["seconds"]
            assert abs(rank["missed_by"]) <= rank["error"] + rank["missed_error"] + drifted
            drift = -1e-3 / (1 + 1e-3) if rank["rank"] % 2 else 0
            assert abs(rank["skew"] - drift) <= rank["skew_error"]
            assert abs(rank["residual"]) <= rank["error"] + rank["residual_error"] + drifted


@each_mpi
def test_ranks_of_one_host_have_one_clock(session: MpiSession, ranks: int) -> None:
    answer = run(session, "clock")
    assert answer["info"]["shared"] is True
    assert "nothing to correct" in answer["info"]["note"]
    assert [rank["offset"] for rank in answer["info"]["ranks"]] == [0] * ranks
    assert answer["metrics"]["error"]["value"] == 0


@each_mpi
@pytest.mark.parametrize("order", ["natural", "random"])
def test_a_ring(session: MpiSession, ranks: int, order: str) -> None:
    answer = run(session, "ring", order=order, throughput_bytes=20_000, rings=1)
    assert answer["ok"], answer
    assert answer["metrics"]["latency"]["value"] > 0
    assert answer["metrics"]["throughput"]["unit"] == "B/s"
    assert answer["info"] == {"latency_rings": 1, "throughput_rings": 1}


@each_mpi
def test_a_transpose_on_any_grid(session: MpiSession, ranks: int) -> None:
    for params in ({"n": 1}, {"n": 50, "nb": 7}, {"n": 64, "nb": 8, "grid": f"{ranks}x1"}):
        answer = run(session, "ptrans", **params)
        assert answer["ok"], answer
        assert answer["metrics"]["throughput"]["value"] > 0
    wrong = run(session, "ptrans", grid=f"{ranks + 1}x1")
    assert wrong["error"]["field"] == "grid"
    assert run(session, "ptrans", grid="square")["error"]["field"] == "grid"


@each_mpi
def test_all_pairs_meet(session: MpiSession, ranks: int) -> None:
    answer = run(session, "pairs", bytes=100)
    if ranks == 1:
        assert "needs 2 ranks" in answer["error"]["message"]
        return
    assert answer["ok"], answer
    matrix = answer["info"]["matrix"]
    assert [len(row) for row in matrix] == list(range(ranks - 1, 0, -1))
    assert all(rtt > 0 for row in matrix for rtt in row)
    assert answer["metrics"]["rtt"]["n"] == ranks * (ranks - 1) // 2
    assert answer["info"]["rounds"] == (ranks - 1 if ranks % 2 == 0 else ranks)
