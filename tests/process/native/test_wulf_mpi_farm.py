"""wulf-mpi's farm: every unit is done once and rightly, whatever the ranks, batches, styles and the MPI."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import numpy as np
import pytest

from tests.process.native.mpi_session import MpiSession, each_mpi

BYTES = 1000
"""A unit's data: not a multiple of a word's four bytes times SHA-1's sixteen words."""


def rebuilt(value: int, length: int) -> bytes:
    """What native/mpi/plain/farm/work.hpp says of the data that is rebuilt from four bytes, written anew."""
    words = np.uint32(value) + np.arange(-(-length // 4), dtype=np.uint32) * np.uint32(0x9E3779B9)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        words = (words ^ (words >> np.uint32(shift))) * np.uint32(factor)
    return (words ^ (words >> np.uint32(16))).astype("<u4").tobytes()[:length]


@functools.cache
def digest_of(units: int, length: int) -> str:
    """The XOR of the SHA-1 digests of units 0 … units - 1."""
    total = 0
    for unit in range(units):
        total ^= int.from_bytes(hashlib.sha1(rebuilt(unit, length)).digest(), "big")
    return f"{total:040x}"


def farm(session: MpiSession, **params: Any) -> dict[str, Any]:
    answer = session.ask("run", probe="farm", params={"bytes": BYTES, **params})
    assert answer["ok"], answer
    return answer


@each_mpi
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("style", ["async", "plain"])
def test_digests_are_those_that_python_computes(kind: str, ranks: int, style: str) -> None:
    with MpiSession(kind, ranks) as session:
        for units, batch in ((1, 1), (20, 3), (64, 10), (7, 100)):
            info = farm(session, units=units, batch=batch, style=style)["info"]
            assert info["digest"] == digest_of(units, BYTES), (units, batch)
            assert sum(info["units_done"]) == info["units"] == units
            assert info["messages"] == -(-units // batch)
            assert info["checked"] == "against a serial run"


@each_mpi
def test_a_serial_run_has_no_messages(kind: str) -> None:
    with MpiSession(kind, 1) as session:
        answer = farm(session, units=20)
        assert answer["info"]["workers"] == 0
        assert answer["info"]["digest"] == digest_of(20, BYTES)
        assert answer["metrics"]["seconds"]["value"] > 0
        assert answer["metrics"]["messages"]["reason"] == "a serial run has no messages"


@each_mpi
def test_some_of_the_ranks_work_and_the_others_sleep(kind: str) -> None:
    with MpiSession(kind, 4) as session:
        for workers in (1, 0, 3, 2):
            answer = farm(session, workers=workers, units=30, batch=4)
            assert answer["info"]["digest"] == digest_of(30, BYTES)
            assert len(answer["info"]["busy"]) == workers
        assert session.ask("run", probe="pingpong", params={"seconds": 0.01})["ok"]


@each_mpi
def test_what_master_and_workers_say_of_their_time(kind: str) -> None:
    with MpiSession(kind, 3) as session:
        answer = farm(session, unit="spin", spin_seconds=2e-4, units=60)
        metrics, info = answer["metrics"], answer["info"]
        seconds = metrics["seconds"]["value"]
        assert metrics["messages"]["value"] == pytest.approx(60 / seconds)
        assert metrics["message_time"]["value"] == pytest.approx(seconds / 60)
        assert 0 <= metrics["idle"]["value"] <= 1
        assert metrics["service"]["value"] == pytest.approx(seconds * (1 - metrics["idle"]["value"]) / 60)
        assert metrics["efficiency"]["value"] == pytest.approx(60 * 2e-4 / (2 * seconds))
        assert metrics["rtt"]["value"] > 0
        assert sum(info["busy"]) >= 60 * 2e-4 * 0.5
        assert metrics["unit"]["value"] == pytest.approx(sum(info["busy"]) / 60)
        assert all(wait >= 0 for wait in info["wait"])


@each_mpi
def test_without_a_number_of_units_there_is_work_for_the_seconds_asked(kind: str) -> None:
    with MpiSession(kind, 3) as session:
        assert farm(session, unit="spin", spin_seconds=1e-4, seconds=0.02)["info"]["units"] == 400
        assert farm(session, unit="spin", spin_seconds=1e-4, seconds=0.02, workers=1)["info"]["units"] == 200
        assert farm(session, unit="spin", spin_seconds=1e-4, seconds=0, batch=2)["info"]["units"] == 2 * 2 * 32


@each_mpi
def test_a_plain_master_does_not_say_what_it_can_not_know(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        service = farm(session, units=5, style="plain")["metrics"]["service"]
        assert (service["unit"], service["value"]) == ("s", None)
        assert "blocking receive" in service["reason"]


@each_mpi
def test_more_ranks_than_cores_and_inputs_beyond_the_eager_limit(kind: str) -> None:
    with MpiSession(kind, 9) as session:
        for style in ("async", "plain"):
            info = farm(session, unit="spin", spin_seconds=0, units=200_001, batch=20_000, style=style)["info"]
            assert sum(info["units_done"]) == 200_001
            assert info["messages"] == 11


@each_mpi
def test_more_workers_than_ranks_are_refused_and_the_session_goes_on(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        refused = session.ask("run", probe="farm", params={"workers": 2})
        assert refused["error"]["field"] == "workers"
        assert "2 workers and a master need 3 ranks" in refused["error"]["message"]
        assert session.ask("run", probe="farm", params={"batch": 0})["error"]["field"] == "batch"
        assert farm(session, units=3)["info"]["digest"] == digest_of(3, BYTES)


@each_mpi
@pytest.mark.parametrize("style", ["async", "plain"])
def test_threaded_workers_give_the_same_digests(kind: str, style: str) -> None:
    with MpiSession(kind, 3) as session:
        for units, batch in ((1, 1), (20, 3), (64, 16)):
            info = farm(session, units=units, batch=batch, style=style, threads=3)["info"]
            assert info["digest"] == digest_of(units, BYTES), (units, batch)
            assert (info["threads"], sum(info["units_done"])) == (3, units)


@each_mpi
def test_each_worker_says_how_near_it_is(kind: str) -> None:
    with MpiSession(kind, 3) as session:
        answer = farm(session, units=50, batch=5)
        info = answer["info"]
        assert len(info["nearness"]) == len(info["trip"]) == 2
        assert "other node" not in info["nearness"]
        assert min(info["trip"]) <= answer["metrics"]["rtt"]["value"] <= max(info["trip"])
        assert sum(info["batches"]) == info["messages"] == 10


@each_mpi
@pytest.mark.parametrize("style", ["async", "plain"])
def test_units_of_several_kinds_give_the_sum_of_a_serial_run(kind: str, style: str) -> None:
    with MpiSession(kind, 3) as session:
        kinds = {"kinds": "1:0.5,10:0.5", "seed": 3, "units": 60}
        alone = farm(session, **kinds, workers=0)["info"]
        info = farm(session, **kinds, batch=7, style=style)["info"]
        assert info["digest"] == alone["digest"] != digest_of(60, BYTES)
        assert 0.5 < info["length"] == alone["length"] < 1.5
        assert farm(session, **{**kinds, "seed": 4})["info"]["digest"] != alone["digest"]
        assert farm(session, units=20)["info"]["digest"] == digest_of(20, BYTES)


@each_mpi
def test_units_of_several_kinds_have_the_mean_length_that_was_asked(kind: str) -> None:
    with MpiSession(kind, 2) as session:
        answer = farm(session, unit="spin", spin_seconds=1e-4, units=200, kinds="1:0.9,20:0.1")
        work = 200 * 1e-4 * answer["info"]["length"]
        metrics = answer["metrics"]
        assert metrics["efficiency"]["value"] == pytest.approx(work / metrics["seconds"]["value"])
        refused = session.ask("run", probe="farm", params={"kinds": "1:x"})
        assert refused["error"]["field"] == "kinds"
