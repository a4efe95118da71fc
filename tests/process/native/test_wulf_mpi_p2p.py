"""wulf-mpi's probes of two ranks, of pairs of ranks, and one-sided: the same answers under every MPI."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from tests.process.native.mpi_session import MpiSession, installed

BRIEF = 0.002
"""Seconds to measure: one batch is enough."""

PATIENCE_S = 120.0

METRICS = {
    "pingpong": {"rtt": "s"},
    "pingping": {"time": "s"},
    "stream": {"throughput": "B/s", "rate": "Hz"},
    "message-rate": {"throughput": "B/s", "rate": "Hz"},
    "overlap": {"overlap": "1", "comm": "s", "compute": "s", "both": "s"},
    "put": {"latency": "s", "throughput": "B/s"},
    "get": {"latency": "s", "throughput": "B/s"},
}
"""Probe → its metrics and their units."""

MODES = ("blocking", "nonblocking", "persistent")
SENDS = ("standard", "synchronous", "buffered", "ready")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, marks=pytest.mark.skipif(kind not in installed(), reason=f"{kind} is not installed"))
        for kind in ("openmpi", "mpich")
    ],
)
def three(request: pytest.FixtureRequest) -> Iterator[MpiSession]:
    """One session of three ranks: an odd number, more than this machine may have CPUs."""
    with MpiSession(request.param, 3) as session:
        yield session


def run(session: MpiSession, probe: str, **params: Any) -> dict[str, Any]:
    number = session.send("run", probe=probe, params={"seconds": BRIEF, **params})
    return session.wait(number, PATIENCE_S)


def measured(session: MpiSession, probe: str, **params: Any) -> dict[str, Any]:
    """The answer, after a look at what all answers have in common."""
    answer = run(session, probe, **params)
    assert answer["ok"], answer
    assert {name: metric["unit"] for name, metric in answer["metrics"].items()} == METRICS[probe]
    for name, metric in answer["metrics"].items():
        if metric["value"] is not None:
            assert metric["min"] <= metric["value"] <= metric["max"]
            assert metric["n"] >= metric["batches"] >= 1
            assert name == "overlap" or metric["value"] > 0
    assert answer["seconds"] > 0
    return answer


def refused(session: MpiSession, probe: str, **params: Any) -> dict[str, Any]:
    """The error; the session lives on."""
    answer = run(session, probe, **params)
    assert not answer["ok"], answer
    assert session.ask("ping")["ok"]
    error: dict[str, Any] = answer["error"]
    return error


@pytest.mark.parametrize("probe", METRICS)
def test_every_probe_measures_between_first_and_last_rank(three: MpiSession, probe: str) -> None:
    answer = measured(three, probe)
    assert answer["info"]["pairs"] == [[0, 2]]
    assert set(answer["counters"]) == {"client", "server"}


@pytest.mark.parametrize("probe", METRICS)
def test_any_two_ranks_may_be_named_and_rank_0_need_not_be_among_them(three: MpiSession, probe: str) -> None:
    assert measured(three, probe, a=2, b=1)["info"]["pairs"] == [[2, 1]]


POSSIBLE = [pair for pair in product(MODES, SENDS) if pair != ("blocking", "ready")]
"""Modes and kinds of send that MPI has together."""

DEFECT = ("persistent", "buffered")
"""Open MPI 4.1 sends a long message wrong from its second MPI_Start on: its beginning is not copied again."""


@pytest.mark.parametrize(("mode", "send"), POSSIBLE)
def test_every_mode_and_kind_of_send_delivers(three: MpiSession, mode: str, send: str) -> None:
    for bytes_ in (1, 1000) if (mode, send) == DEFECT else (1, 100_000):  # eager and rendezvous
        measured(three, "pingpong", mode=mode, send=send, bytes=bytes_)
        measured(three, "stream", mode=mode, send=send, bytes=bytes_, window=5)


def test_what_an_mpi_delivers_wrong_is_said_with_rank_and_byte(three: MpiSession) -> None:
    mode, send = DEFECT
    answer = run(three, "pingpong", mode=mode, send=send, bytes=100_000)
    if not answer["ok"]:  # this MPI has the defect
        assert answer["error"]["code"] == "wrong-result"
        assert "rank 0 on" in answer["error"]["message"]
        assert "byte 0 of 100000 is 0x00 instead of" in answer["error"]["message"]
    measured(three, "pingpong")


@pytest.mark.parametrize("bytes_", [0, 1, 65537])
def test_messages_of_any_size_arrive(three: MpiSession, bytes_: int) -> None:
    for probe in METRICS:
        metrics = measured(three, probe, bytes=bytes_)["metrics"]
        if "throughput" in metrics:
            assert (metrics["throughput"]["value"] is None) == (bytes_ == 0)
            assert bytes_ or "carry nothing" in metrics["throughput"]["reason"]


@pytest.mark.parametrize(
    "options",
    [
        {"source": "any"},
        pytest.param({"buffers": "cold"}, marks=pytest.mark.full),  # each rank touches more than the last cache
        {"wait": "test", "mode": "nonblocking"},
    ],
)
def test_receives_from_anyone_cold_buffers_and_testing(three: MpiSession, options: dict[str, Any]) -> None:
    for probe in ("pingpong", "pingping", "stream", "message-rate"):
        measured(three, probe, bytes=100, **options)


@pytest.mark.parametrize("mode", MODES[1:])
def test_crossings_are_staggered_by_an_answer(three: MpiSession, mode: str) -> None:
    for bytes_ in (8, 100_000):
        measured(three, "pingping", staggered=True, mode=mode, bytes=bytes_)


def test_blocking_crossings_are_not_staggered(three: MpiSession) -> None:
    answer = run(three, "pingping", staggered=True, mode="blocking")
    assert not answer["ok"]
    assert (answer["error"]["code"], answer["error"]["field"]) == ("bad-parameter", "staggered")


@pytest.mark.parametrize("mode", MODES)
def test_streams_go_both_ways(three: MpiSession, mode: str) -> None:
    for bytes_ in (8, 100_000):
        answer = measured(three, "stream", both=True, mode=mode, bytes=bytes_, window=3)
        one = answer["metrics"]["rate"]
        assert answer["metrics"]["throughput"]["value"] == pytest.approx(one["value"] * bytes_)
        assert answer["info"]["window"] == 3


def test_exactly_so_many_operations_are_one_batch(three: MpiSession) -> None:
    for probe in ("pingpong", "pingping", "stream", "message-rate"):
        answer = measured(three, probe, bytes=8, iterations=7, warmup=2)
        for metric in answer["metrics"].values():
            assert (metric["n"], metric["batches"]) == (7, 1)
    rtt = measured(three, "pingpong", iterations=7)
    assert rtt["metrics"]["rtt"]["value"] == pytest.approx(rtt["seconds"] / 7)


@pytest.mark.parametrize("sync", ["fence", "lock", "lock-all", "pscw", "flush", "flush-local"])
@pytest.mark.parametrize("probe", ["put", "get"])
def test_one_sided_epochs_end_in_every_way(three: MpiSession, probe: str, sync: str) -> None:
    for bytes_ in (1, 70_000):
        measured(three, probe, sync=sync, bytes=bytes_, window=6)


def test_overlap_is_a_share_and_the_computation_can_be_given(three: MpiSession) -> None:
    for mode in ("nonblocking", "persistent"):
        answer = measured(three, "overlap", bytes=100_000, compute=1e-4, tests=4, mode=mode)
        assert 0 <= answer["metrics"]["overlap"]["value"] <= 1


@pytest.mark.parametrize("probe", METRICS)
def test_both_ends_on_one_rank_are_refused(three: MpiSession, probe: str) -> None:
    error = refused(three, probe, a=1, b=1)
    assert error["code"] == "bad-parameter"
    assert "name two ranks" in error["message"]


@pytest.mark.parametrize(
    ("probe", "params", "field"),
    [
        ("pingpong", {"a": 3}, "a"),
        ("pingpong", {"b": 17}, "b"),
        ("pingpong", {"send": "ready"}, "send"),
        ("pingpong", {"wait": "test"}, "wait"),
        ("pingpong", {"buffers": "cold", "mode": "persistent"}, "buffers"),
        ("pingpong", {"bytes": 1 << 31}, "bytes"),
        ("stream", {"both": True, "send": "ready"}, "send"),
        ("stream", {"both": True, "send": "synchronous", "mode": "blocking"}, "send"),
        ("stream", {"pairs": 2}, "pairs"),
        ("overlap", {"mode": "blocking"}, "mode"),
        ("put", {"sync": "none"}, "sync"),
    ],
)
def test_what_mpi_does_not_have_is_refused(three: MpiSession, probe: str, params: dict[str, Any], field: str) -> None:
    error = refused(three, probe, **params)
    assert (error["code"], error["field"]) == ("bad-parameter", field)


@pytest.mark.parametrize(
    ("probe", "params"),
    [
        ("put", {"bytes": 1 << 30, "window": 1 << 16}),
        ("get", {"bytes": 1 << 30, "window": 1 << 16}),
        ("stream", {"bytes": 1 << 30, "window": 1 << 16, "buffers": "cold"}),
        ("pingpong", {"bytes": 1 << 30, "send": "buffered"}),
    ],
)
def test_more_than_memory_is_refused_before_anything_is_done(
    three: MpiSession, probe: str, params: dict[str, Any]
) -> None:
    error = refused(three, probe, **params)
    assert error["code"] == "limit"
    assert error["message"].count("rank ") == 1  # told once
    measured(three, "pingpong")


@pytest.mark.parametrize("kind", installed())
def test_pairs_of_ranks_measure_at_once(kind: str) -> None:
    with MpiSession(kind, 5) as five:
        for pairs, expected in ((None, [[0, 2], [1, 3]]), (2, [[0, 2], [1, 3]]), (1, [[0, 4]])):
            answer = measured(five, "message-rate", pairs=pairs, window=4)
            assert answer["info"]["pairs"] == expected
        measured(five, "stream", pairs=2, both=True, bytes=1000, window=4)
        assert refused(five, "message-rate", a=1)["field"] == "pairs"


@pytest.mark.parametrize("kind", installed())
def test_one_rank_alone_is_told_that_two_are_needed(kind: str) -> None:
    with MpiSession(kind, 1) as one:
        for probe in METRICS:
            assert "needs 2 ranks" in refused(one, probe)["message"]
