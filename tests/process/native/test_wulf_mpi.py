"""wulf-mpi's session: one on rank 0, whatever the number of ranks and the MPI."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.process.native.mpi_session import MpiSession, built, each_mpi


@each_mpi
def test_describes_itself_without_mpirun(kind: str) -> None:
    out = subprocess.run([built(kind), "--describe"], check=True, capture_output=True, text=True, timeout=30).stdout
    described = json.loads(out)
    assert described["program"] == "wulf-mpi"
    assert {"run", "ranks", "ping"} <= set(described["ops"])
    assert "pingpong" in {probe["name"] for probe in described["probes"]}


@each_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_knows_its_ranks_and_ends_with_stdin(kind: str, ranks: int) -> None:
    with MpiSession(kind, ranks) as session:
        assert session.hello["hello"] == "wulf-mpi"
        places = session.ask("ranks")["ranks"]
        assert [place["rank"] for place in places] == list(range(ranks))
        assert len({place["pid"] for place in places}) == ranks
        assert session.close() == 0


@each_mpi
def test_measures_a_round_trip(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        answer = session.ask("run", probe="pingpong", params={"bytes": 8, "seconds": 0.02})
        assert answer["ok"], answer
        rtt = answer["metrics"]["rtt"]
        assert rtt["unit"] == "s"
        assert rtt["value"] > 0
        assert rtt["n"] > 0


@each_mpi
def test_refuses_what_it_cannot_do_on_every_rank_and_goes_on(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        refused = session.ask("run", probe="pingpong", params={"bytes": -1})
        assert refused["error"]["code"] == "bad-parameter"
        assert refused["error"]["field"] == "bytes"
        unknown = session.ask("run", probe="pongping")
        assert unknown["error"]["field"] == "probe"
        assert session.ask("run", probe="pingpong", params={"seconds": 0.01})["ok"]


@each_mpi
def test_one_rank_is_told_that_two_are_needed(kind: str) -> None:
    with MpiSession(kind, 1) as session:
        refused = session.ask("run", probe="pingpong")
        assert "needs 2 ranks" in refused["error"]["message"]


@each_mpi
def test_a_run_in_progress_ends_with_stdin(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        session.send("run", probe="pingpong", params={"seconds": 600})
        assert session.ask("ping")["ok"]
        session.close()  # fails unless the process ends within 10 s
