"""GOAL and SimGrid of small traces, as wulf-replay writes them, line for line; what they can't say is said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.unit.trace.making import made, pingpong, recv, send, wait
from tests.unit.trace.test_exports import NAMES as COLLECTIVES
from tests.unit.trace.test_exports import everything
from tests.wording import Wording, lacking
from wulf.cli.main import cli
from wulf.trace.errors import TraceError
from wulf.trace.imports import simgrid
from wulf.trace.imports.goal import read_goal
from wulf.trace.reader import HEAD, TOTALS
from wulf.trace.record import ANY, Record
from wulf.workflow.trace.files import export_trace

Ranks = list[list[Record]]


def exported(tmp_path: Path, ranks: Ranks, to: str) -> tuple[Path, list[str]]:
    """Where a trace of these records was written to, and the notes."""
    made(tmp_path / "t", ranks)
    place = tmp_path / to
    return place, export_trace(str(tmp_path / "t"), to, place)


def test_a_pingpong_as_goal(tmp_path: Path, wording: Wording) -> None:
    place, notes = exported(tmp_path, pingpong(rounds=1), "goal")
    assert place.read_text() == (
        "num_ranks 2\n\nrank 0 {\nl1: calc 100\nl2: send 8b to 1 tag 7\nl2 requires l1\nl3: recv 8b from 1 tag 7\n"
        "l3 requires l2\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 7\nl2: calc 100\nl2 requires l1\n"
        "l3: send 8b to 0 tag 7\nl3 requires l2\n}\n"
    )
    (note,) = notes
    assert lacking(note, "collectives", "Open MPI 4.1.4") == []
    wording(note)


def test_requests_as_goal(tmp_path: Path) -> None:
    first = [Record("Irecv", peer=1, tag=0, bytes=8, request=0), Record("Isend", peer=1, tag=0, bytes=8, request=1),
             Record("Allreduce", 50, comm=1), wait(0, 1), send(1, 4, 1)]  # fmt: skip
    second = [Record("Isend", peer=0, tag=0, bytes=8, request=0), recv(0, 8), wait(0), recv(0, 4, 1)]
    place, _ = exported(tmp_path, [first, second], "goal")
    rank = place.read_text().split("rank 0 {\n")[1].split("}")[0].splitlines()
    assert rank == [
        "l1: recv 8b from 1 tag 0", "l2: send 8b to 1 tag 0", "l2 irequires l1", "l3: calc 50", "l3 irequires l2",
        "l4: send 4b to 1 tag 1", "l4 requires l1", "l4 requires l2", "l4 requires l3",
    ]  # fmt: skip


def test_all_calls_as_goal_have_partners_and_labels(tmp_path: Path, wording: Wording) -> None:
    """A call that is not modelled keeps its time, and is told."""
    ranks = everything()
    for records in ranks:
        records[-1:-1] = [Record("Win_create", newwin=0, bytes=8), Record("Win_lock", 0, 90, peer=0, window=0)]
    place, notes = exported(tmp_path, ranks, "goal")
    schedule = read_goal(place)
    assert schedule.ranks == 4 and not schedule.unmatched and schedule.wildcards == 0
    assert schedule.calculated[0] == 13 + 7 * len(COLLECTIVES) + 90
    assert lacking(notes[-1], "left out", "4 × MPI_Win_lock") == []
    wording("\n".join(notes))


def test_what_a_trace_does_not_tell_stays_a_wildcard(tmp_path: Path, wording: Wording) -> None:
    ranks = [[recv(ANY, 8, 3, actual=(ANY, ANY))], [send(0, 8, 3)]]
    goal, notes = exported(tmp_path, ranks, "goal")
    assert "l1: recv 0b from -1 tag 3" in goal.read_text()
    wording("\n".join(notes), "goal")
    folder, notes = exported(tmp_path, ranks, "simgrid")
    assert (folder / "rank-000000.txt").read_text() == "0 init\n0 finalize\n"
    wording(notes[-1], "simgrid")


def test_a_pingpong_for_simgrid(tmp_path: Path) -> None:
    place, notes = exported(tmp_path, pingpong(rounds=1), "simgrid")
    assert (place / "rank-000001.txt").read_text() == "1 init\n1 recv 0 7 8\n1 compute 100\n1 send 0 7 8\n1 finalize\n"
    listed = (place / "trace.txt").read_text().splitlines()
    assert listed == [str(place / f"rank-00000{rank}.txt") for rank in (0, 1)]
    assert sorted(one.name for one in place.iterdir()) == ["rank-000000.txt", "rank-000001.txt", "trace.txt"]
    assert "1Gf" in notes[0] and "-np 2" in notes[1]


def test_simgrid_keeps_collectives_of_the_world_and_makes_messages_of_the_others(tmp_path: Path) -> None:
    place, _ = exported(tmp_path, everything(), "simgrid")
    texts = [(place / f"rank-00000{rank}.txt").read_text().splitlines() for rank in range(4)]
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


def test_what_we_write_for_simgrid_comes_back(tmp_path: Path) -> None:
    first = [Record("Irecv", 5, peer=1, tag=0, bytes=8, request=0), Record("Isend", peer=1, tag=0, bytes=8, request=1),
             Record("Allreduce", 50, bytes=16), wait(1, 0), send(1, 4, 1), Record("Bcast", root=1, bytes=99),
             Record("finalize", 20)]  # fmt: skip
    second = [Record("Isend", peer=0, tag=0, bytes=8, request=0), recv(0, 8), Record("Allreduce", 7, bytes=16), wait(0),
              recv(0, 4, 1), Record("Bcast", root=1, bytes=99), Record("finalize")]  # fmt: skip
    for number, ranks in enumerate(([first, second], pingpong())):
        once, again, back = (tmp_path / f"{name}-{number}" for name in ("once", "again", "back"))
        made(tmp_path / f"made-{number}", ranks)
        export_trace(str(tmp_path / f"made-{number}"), "simgrid", once)
        back.mkdir()
        told = simgrid.bring([once / "trace.txt"], back)
        assert told.ranks == 2 and not told.notes
        export_trace(str(back), "simgrid", again)
        for rank in range(2):
            name = f"rank-{rank:06d}.txt"
            assert (again / name).read_text() == (once / name).read_text()


@pytest.mark.parametrize("to", ["goal", "simgrid"])
def test_what_is_not_whole_is_refused_and_leaves_nothing_behind(tmp_path: Path, to: str) -> None:
    trace = made(tmp_path / "t", pingpong())
    whole, place = trace.ranks[1].path.read_bytes(), tmp_path / "out"
    trace.ranks[1].path.write_bytes(whole[: -HEAD.size - TOTALS.size])
    with pytest.raises(TraceError, match=r"rank 1 can't be used .* ends without DONE"):
        export_trace(str(tmp_path / "t"), to, place)
    trace.ranks[1].path.unlink()
    with pytest.raises(TraceError, match=r"ranks have no file .*: rank 1") as raised:
        export_trace(str(tmp_path / "t"), to, place)
    assert "Perfetto" in raised.value.next_step
    assert not place.exists()


@pytest.mark.parametrize("to", ["goal", "simgrid"])
def test_messages_without_a_partner_are_an_error_of_a_sentence(tmp_path: Path, to: str) -> None:
    made(tmp_path / "t", [[send(1, 8)], []])
    done = CliRunner().invoke(cli, ["trace", "export", str(tmp_path / "t"), "--to", to, str(tmp_path / "out")],
                              standalone_mode=False)  # fmt: skip
    assert isinstance(done.exception, TraceError) and done.exception.exit_code == 2
    assert lacking(str(done.exception), "no partner", "rank 0, operation 0") == []
    assert not (tmp_path / "out").exists()


def test_a_place_without_room_keeps_what_was_there(tmp_path: Path) -> None:
    made(tmp_path / "t", pingpong())
    with pytest.raises(TraceError, match="No space left"):
        export_trace(str(tmp_path / "t"), "goal", Path("/dev/full"))
    assert export_trace(str(tmp_path / "t"), "goal", Path("/dev/null"))
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TraceError, match="can't write to"):
        export_trace(str(tmp_path / "t"), "simgrid", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
