"""GOAL, SimGrid and Perfetto of small traces, line for line; what they can't say is said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.trace.making import made, pingpong, recv, send, wait
from tests.wording import Wording, lacking
from wulf.trace.errors import TraceError
from wulf.trace.exports import NAMES, export_named, goal, perfetto, simgrid
from wulf.trace.imports.goal import read_goal
from wulf.trace.reader import HEAD, TOTALS
from wulf.trace.record import ANY, Completion, Record
from wulf.trace.schedules import SCHEDULES


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
        for name in sorted(SCHEDULES):
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


def test_a_pingpong_as_goal(tmp_path: Path, wording: Wording) -> None:
    notes = goal.write(made(tmp_path / "t", pingpong(rounds=1)), tmp_path / "p.goal")
    assert (tmp_path / "p.goal").read_text() == (
        "num_ranks 2\n\nrank 0 {\nl1: calc 100\nl2: send 8b to 1 tag 7\nl2 requires l1\nl3: recv 8b from 1 tag 7\n"
        "l3 requires l2\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 7\nl2: calc 100\nl2 requires l1\n"
        "l3: send 8b to 0 tag 7\nl3 requires l2\n}\n"
    )
    (note,) = notes
    assert lacking(note, "collectives are messages", "docs/trace.md") == []
    wording(note)


def test_requests_as_goal(tmp_path: Path) -> None:
    first = [Record("Irecv", peer=1, tag=0, bytes=8, request=0), Record("Isend", peer=1, tag=0, bytes=8, request=1),
             Record("Allreduce", 50, comm=1), wait(0, 1), send(1, 4, 1)]  # fmt: skip
    second = [Record("Isend", peer=0, tag=0, bytes=8, request=0), recv(0, 8), wait(0), recv(0, 4, 1)]
    goal.write(made(tmp_path / "t", [first, second]), tmp_path / "p.goal")
    rank = (tmp_path / "p.goal").read_text().split("rank 0 {\n")[1].split("}")[0].splitlines()
    assert rank == [
        "l1: recv 8b from 1 tag 0", "l2: send 8b to 1 tag 0", "l2 irequires l1", "l3: calc 50", "l3 irequires l2",
        "l4: calc 0", "l4 requires l3", "l4 requires l1", "l4 requires l2", "l5: send 4b to 1 tag 1", "l5 requires l4",
    ]  # fmt: skip


def test_all_calls_as_goal_have_partners_and_labels(tmp_path: Path, wording: Wording) -> None:
    place = tmp_path / "p.goal"
    notes = goal.write(made(tmp_path / "t", everything()), place)
    schedule = read_goal(place)
    assert schedule.ranks == 4 and not schedule.unmatched and schedule.wildcards == 0
    assert schedule.calculated[0] == 13 + 7 * len(SCHEDULES)
    assert lacking(notes[1], "left out", ": 4 × MPI_Comm_split") == []
    wording(notes[1])


def test_a_pingpong_for_simgrid(tmp_path: Path) -> None:
    notes = simgrid.write(made(tmp_path / "t", pingpong(rounds=1)), tmp_path / "ti")
    assert (tmp_path / "ti/rank-000001.txt").read_text() == (
        "1 init\n1 recv 0 7 8\n1 compute 100\n1 send 0 7 8\n1 finalize\n"
    )
    listed = (tmp_path / "ti/trace.txt").read_text().splitlines()
    assert listed == [str(tmp_path / f"ti/rank-00000{rank}.txt") for rank in (0, 1)]
    assert "1Gf" in notes[0] and "-np 2" in notes[1]


def test_simgrid_keeps_collectives_of_the_world_and_makes_messages_of_the_others(tmp_path: Path) -> None:
    simgrid.write(made(tmp_path / "t", everything()), tmp_path / "ti")
    texts = [(tmp_path / f"ti/rank-00000{rank}.txt").read_text().splitlines() for rank in range(4)]
    assert "0 barrier" in texts[0] and "0 allreduce 24 0" in texts[0] and "0 reduce 24 0 1" in texts[0]
    sent, taken = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for rank, lines in enumerate(texts):
        for line in lines:
            _, action, *words = line.split()
            if action.lstrip("i") == "send":
                sent[str(rank), words[0], words[1]] += 1
            elif action.lstrip("i") == "recv":
                taken[words[0], str(rank), words[1]] += 1
        waits = sum(" wait " in line for line in lines)
        assert waits == sum(line.split()[1] in ("isend", "irecv") for line in lines)
    assert sent == taken and sum(sent.values()) > 40


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


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_whole(tmp_path: Path, name: str) -> None:
    """Formats of messages need all ranks whole, and leave nothing behind; Perfetto's takes what there is."""
    trace = made(tmp_path / "t", pingpong())
    path = trace.ranks[1].path
    path.write_bytes(path.read_bytes()[: -HEAD.size - TOTALS.size])
    place = tmp_path / "out"
    if name == "perfetto":
        (note,) = export_named(name).write(trace, place)
        assert "rank 1" in note and len(events(place)) > 4
        return
    with pytest.raises(TraceError, match=r"rank 1: .* is torn"):
        export_named(name).write(trace, place)
    assert not place.is_file() and not (place / "trace.txt").exists()


def test_missing_ranks_are_refused(tmp_path: Path) -> None:
    from wulf.trace.reader import open_trace

    made(tmp_path / "t", pingpong())
    (tmp_path / "t/rank-000000.wtr").unlink()
    with pytest.raises(TraceError, match="needs all ranks: 0 of 2"):
        goal.write(open_trace(tmp_path / "t"), tmp_path / "p.goal")
