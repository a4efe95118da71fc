"""Figures of small traces, and every fault by its rank."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.trace.making import made, pingpong, recv, send
from tests.wording import Wording, lacking
from wulf.trace.reader import DONE, HEAD, TOTALS
from wulf.trace.record import ANY, Record
from wulf.trace.skew import Skews, begins
from wulf.trace.summary import ranges, summarise, upper_power


def kinds(folder: Path, ranks: list[list[Record]], headers: dict[int, dict[str, object]] | None = None) -> list[str]:
    return [fault.kind for fault in summarise(made(folder, ranks, headers)).faults]


def test_calls_bytes_and_times_are_counted_exactly(tmp_path: Path) -> None:
    found = summarise(made(tmp_path, pingpong(rounds=3, size=100, gap=200, call=50)))
    first, second = found.ranks
    assert (first.calls["Send"].count, first.calls["Send"].ns, first.calls["Send"].bytes) == (3, 150, 300)
    assert (first.calls["Recv"].count, first.calls["Recv"].ns, first.calls["Recv"].bytes) == (3, 300, 0)
    assert (first.ns, first.mpi_ns, second.mpi_ns) == (3 * 350, 450, 3 * 200)
    assert {pair: (line.count, line.bytes) for pair, line in found.by_pair().items()} == {
        (0, 1): (3, 300), (1, 0): (3, 300)}  # fmt: skip
    assert found.sizes() == {128: 6} and list(found.by_call()) == ["Recv", "Send", "finalize"]
    assert found.faults == []


def test_persistent_sends_count_when_they_are_started(tmp_path: Path) -> None:
    init = [Record("Send_init", peer=1, tag=0, bytes=64, request=0), Record("Recv_init", peer=1, tag=0, request=1)]
    found = summarise(made(tmp_path, [[*init, Record("Startall", requests=[0, 1]), Record("Start", requests=[0])], []]))
    assert {pair: (line.count, line.bytes) for pair, line in found.by_pair().items()} == {(0, 1): (2, 128)}


def test_folded_tests_count_as_many(tmp_path: Path) -> None:
    found = summarise(made(tmp_path, [[Record("tests", 10, 30, count=5, between=60)]]))
    assert found.ranks[0].calls["tests"].count == 5 and found.ranks[0].ns == 100
    assert found.to_json()["calls"]["tests"] == {"count": 5, "seconds": 3e-8, "bytes": 0}


def test_different_mpis_and_worlds_and_missing_ranks_are_said(tmp_path: Path, wording: Wording) -> None:
    found = summarise(made(tmp_path, [*pingpong(), []], {1: {"mpi": "MPI 2"}, 2: {"size": 9}}))
    texts = {fault.kind: fault.text for fault in found.faults}
    assert lacking(texts["mpis"], "MPI 1 (0,2)", "MPI 2 (1)") == []
    assert lacking(texts["missing"], "6 of 9 ranks", ": 3-8") == []
    assert "3 and 9" in texts["worlds"]
    for kind, text in texts.items():
        wording(text, kind)


def test_a_torn_rank_is_named_and_counted_as_far_as_it_goes(tmp_path: Path) -> None:
    trace = made(tmp_path, pingpong())
    path = trace.ranks[1].path
    path.write_bytes(path.read_bytes()[: -HEAD.size - TOTALS.size])
    found = summarise(trace)
    assert [(fault.kind, fault.rank) for fault in found.faults] == [("torn", 1)]
    assert found.ranks[1].calls["Send"].count == 2


def test_a_cut_rank_says_why(tmp_path: Path, wording: Wording) -> None:
    trace = made(tmp_path, pingpong())
    path = trace.ranks[0].path
    data = bytearray(path.read_bytes())
    at = data.rindex(DONE) + HEAD.size
    totals = list(TOTALS.unpack_from(data, at))
    totals[5:8] = [4, 28, 17]
    payload = TOTALS.pack(*totals)
    import zlib

    data[at - HEAD.size :] = HEAD.pack(DONE, len(payload), 0, zlib.crc32(payload)) + payload
    path.write_bytes(data)
    (fault,) = summarise(trace).faults
    assert fault.kind == "cut"
    assert lacking(fault.text, "rank 0: ", "errno 28", "17 calls") == []
    wording(fault.text)


def hosts(ahead: int) -> dict[int, dict[str, object]]:
    """Two hosts, the second one's clock so many nanoseconds ahead."""
    return {0: {"host": "n1", "begin_realtime_ns": 10**9}, 1: {"host": "n2", "begin_realtime_ns": 10**9 + ahead}}


def test_clocks_that_are_apart_are_found_and_taken_into_account(tmp_path: Path) -> None:
    """A round trip of 1000 ns; the second clock 5000 ns ahead, so that answers arrive before they were sent."""
    first = [send(1, 8, call=100), recv(1, 8, call=900)]
    second = [recv(0, 8, call=500), send(0, 8, call=50)]
    trace = made(tmp_path, [first, second], hosts(5000))
    (fault,) = [fault for fault in summarise(trace).faults if fault.kind == "skew"]
    # the answer left at 500 + 5000 by the second clock, and came at 1000 by the first
    assert re.search(r"n2's clock .* 0\.00000[45] s ahead of n1's", fault.text)
    assert begins(trace) == {0: 0, 1: 0}
    assert kinds(tmp_path / "together", [first, second], hosts(0)) == []


def test_messages_that_can_not_be_told_apart_accuse_nobody(tmp_path: Path) -> None:
    """After a receive from anybody it is not known which message the next one takes."""
    wild = Record("Irecv", peer=ANY, tag=0, bytes=8, request=0)
    first = [send(1, 8, gap=10**6), send(1, 8, gap=10**6)]
    assert kinds(tmp_path, [first, [wild, recv(0, 8, call=10)]], hosts(0)) == []
    assert Skews().fastest() == {}


def test_numbers_for_people() -> None:
    assert ranges([7, 0, 1, 2]) == "0-2,7" and ranges(()) == ""
    assert [upper_power(size) for size in (0, 1, 2, 3, 1024, 1025)] == [0, 1, 2, 4, 1024, 2048]
