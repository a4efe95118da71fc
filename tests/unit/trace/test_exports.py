"""Perfetto of small traces; GOAL and SimGrid, which wulf-replay writes: tests/process/workflow/trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.trace.making import made, pingpong
from wulf.trace.calls import COLLECTIVES
from wulf.trace.exports import NAMES as EXPORTS
from wulf.trace.exports import export_named, perfetto
from wulf.trace.reader import HEAD, TOTALS
from wulf.trace.record import ANY, Completion, Record

NAMES = sorted({name for name in COLLECTIVES.values() if not name.startswith("neighbor")})
"""Collectives, but for those of neighbours."""


def everything(size: int = 4) -> list[list[Record]]:
    """All collectives on the world and on a part of it, and messages of all kinds, on each rank."""
    ranks = []
    for rank in range(size):
        ahead, behind = (rank + 1) % size, (rank - 1) % size
        counts = [8 * (peer + 1) for peer in range(size)]
        records = [
            Record("Sendrecv", 10, 5, peer=ahead, tag=1, bytes=64, peer2=ANY, tag2=1, bytes2=64, actual=(behind, 1)),
            Record("Irecv", 3, peer=ANY, tag=ANY, bytes=99, request=0),
            Record("Isend", peer=ahead, tag=5, bytes=32, request=1),
            Record("Waitall", given=2, completions=[Completion(1), Completion(0, behind, 5, 32)]),
            Record("Comm_split", comm=0, newcomm=2, members=[one for one in range(size) if one % 2 == rank % 2]),
            Record("Barrier", comm=2), Record("Allreduce", comm=2, bytes=16),
        ]  # fmt: skip
        for name in NAMES:
            record = Record(name.capitalize(), 7, root=1, bytes=24, bytes2=24)
            if name in ("alltoallv", "alltoallw"):
                record.counts, record.bytes2 = [8] * size, 8 * size
            elif name in ("reduce_scatter", "allgatherv"):
                record.counts, record.bytes = counts, counts[rank]
            elif name in ("gatherv", "scatterv") and rank == 1:
                record.counts = counts
            if name == "gatherv":
                record.bytes = counts[rank]
            if name == "scatterv":
                record.bytes2 = counts[rank]
            records.append(record)
        ranks.append([*records, Record("finalize")])
    return ranks


def events(place: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(place.read_text())["traceEvents"]
    return found


def test_a_pingpong_for_perfetto(tmp_path: Path) -> None:
    headers = {0: {"begin_realtime_ns": 1000, "host": "n1"}, 1: {"begin_realtime_ns": 3000, "host": "n1"}}
    perfetto.write(made(tmp_path / "t", pingpong(rounds=1), headers), tmp_path / "p.json")
    found = events(tmp_path / "p.json")
    names = {(one["pid"], one["tid"]): one["args"]["name"] for one in found if one["name"] == "thread_name"}
    assert names == {(1, 0): "rank 0", (1, 1): "rank 1"}
    first = next(one for one in found if one["ph"] == "X" and one["tid"] == 0)
    assert first == {"ph": "X", "name": "MPI_Send", "cat": "call", "pid": 1, "tid": 0, "ts": 0.1, "dur": 0.05,
                     "args": {"peer": 1, "tag": 7, "bytes": 8, "comm": 0}}  # fmt: skip
    second = next(one for one in found if one["ph"] == "X" and one["tid"] == 1)
    assert second["ts"] == 2.0  # it began 2000 ns later


def test_every_message_is_a_flow_from_slice_to_slice(tmp_path: Path) -> None:
    perfetto.write(made(tmp_path / "t", everything()), tmp_path / "p.json")
    found = events(tmp_path / "p.json")
    begun = {one["id"]: one for one in found if one["ph"] == "s"}
    ended = {one["id"]: one for one in found if one["ph"] == "f"}
    assert begun.keys() == ended.keys() and len(begun) == 8  # an exchange and an Isend on each rank
    for one in ended.values():
        around = [slice_ for slice_ in found if slice_["ph"] == "X" and slice_["tid"] == one["tid"]
                  and slice_["ts"] <= one["ts"] <= slice_["ts"] + slice_["dur"]]  # fmt: skip
        assert around and one["bp"] == "e"
    sender = begun[next(iter(ended))]
    assert (ended[sender["id"]]["tid"] - sender["tid"]) % 4 == 1


def test_threads_are_tracks_of_their_own(tmp_path: Path) -> None:
    perfetto.write(made(tmp_path / "t", [[Record("Barrier", thread=0), Record("Barrier", thread=2)]]), tmp_path / "p")
    names = [one["args"]["name"] for one in events(tmp_path / "p") if one["name"] == "thread_name"]
    assert names == ["rank 0", "rank 0, thread 2"]


def test_what_is_not_whole(tmp_path: Path) -> None:
    """It takes what there is."""
    trace = made(tmp_path / "t", pingpong())
    path = trace.ranks[1].path
    path.write_bytes(path.read_bytes()[: -HEAD.size - TOTALS.size])
    (note,) = perfetto.write(trace, tmp_path / "out")
    assert "rank 1" in note and len(events(tmp_path / "out")) > 4


@pytest.mark.parametrize("name", EXPORTS)
def test_a_format_says_what_it_is(name: str) -> None:
    assert export_named(name).HELP.endswith((".", ": a folder." if export_named(name).FOLDER else ": one file."))
