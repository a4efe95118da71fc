"""Paraver's text: calls take the communications that are theirs, roots are found, what is not told is said.

Extrae's own traces were tried besides, which are not kept here: EPOCH on 1 to 16 ranks, of NAG's pypop
(pypop/examples/mpi/epoch_example_traces, all 10,556 communications of 16 ranks in their calls), and one of 2004, of
paraver-kernel (test/cutter/qsort_beo3.prv at 7c8948e), whose collectives are the messages that they were made of.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.trace.making import plain
from tests.wording import Wording, lacking
from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported, paraver
from wulf.trace.reader import Trace, open_trace
from wulf.trace.record import PROC_NULL, Completion, Record

HEAD = "#Paraver (09/10/2019 at 16:08):9000_ns:2(2,2):1:3(1:1,1:1,1:2),3\n"
WORLD = "c:1:1:3:1:2:3\n"
POINT, TOGETHER, OTHER = 50000001, 50000002, 50000003


def event(task: int, at: int, *pairs: int, thread: int = 1) -> str:
    return f"2:{task}:1:{task}:{thread}:{at}:{':'.join(map(str, pairs))}\n"


def call(task: int, begin: int, end: int, value: int, *told: int, kind: int = POINT) -> str:
    """A call, with events of hardware counters as Extrae writes them."""
    return event(task, begin, kind, value, *told, 42000050, 123) + event(task, end, kind, 0, 42000050, 4)


def message(sender: int, sent: int, receiver: int, posted: int, arrived: int, size: int, tag: int) -> str:
    return f"3:9:1:{sender}:1:{sent}:{sent + 1}:9:1:{receiver}:1:{posted}:{arrived}:{size}:{tag}\n"


def collective(task: int, begin: int, value: int, sent: int, received: int, comm: int = 1, root: bool = False) -> str:
    told = (50100001, sent, 50100002, received, 50100004, comm, *((50100003, 1) if root else ()))
    return call(task, begin, begin + 10, value, *told, kind=TOGETHER)


def ends(*tasks: int, at: int = 8000) -> str:
    return "".join(call(task, at, at + 10, 32, kind=OTHER) for task in tasks)


def brought(folder: Path, *texts: str, head: str = HEAD + WORLD) -> tuple[Trace, Imported]:
    path, trace = folder / "app.prv", folder / "trace"
    path.write_text(head + "".join(texts))
    trace.mkdir(exist_ok=True)
    told = paraver.bring([path], trace)
    return open_trace(trace), told


def records(trace: Trace, rank: int) -> list[Record]:
    return list(trace.ranks[rank].records())


def test_calls_take_the_communications_of_their_times(tmp_path: Path) -> None:
    (tmp_path / "app.row").write_text("LEVEL CPU SIZE 4\n1.a\n2.a\n3.b\n4.b\n\nLEVEL NODE SIZE 2\nalpha\nbeta\n")
    trace, told = brought(
        tmp_path,
        "1:1:1:1:1:0:100:1\n# a comment\n",
        call(1, 50, 100, 31, kind=OTHER),
        call(1, 110, 120, 1),
        message(1, 110, 2, 130, 160, 64, 5),
        call(1, 120, 120, 1),
        message(1, 120, 3, 90, 200, 8, 6),
        call(2, 130, 160, 2),
        call(3, 80, 90, 4),
        call(3, 150, 200, 5),
        call(2, 170, 180, 41),
        message(2, 170, 3, 210, 250, 16, 1),
        message(3, 210, 2, 170, 180, 32, 2),
        call(3, 210, 250, 42),
        call(1, 300, 310, 19, kind=OTHER),
        ends(1, 2, 3),
    )
    assert told.ranks == 3 and not told.notes
    assert trace.hosts == {0: "alpha", 1: "alpha", 2: "beta"} and trace.ranks[0].header["mpi"] == "Paraver"
    assert plain(records(trace, 0)) == plain(
        [
            Record("Send", 10, 10, peer=1, tag=5, bytes=64),
            Record("Send", 0, 0, peer=2, tag=6, bytes=8),
            Record("finalize", 7880, 10),  # MPI_Comm_rank is computing
        ]
    )
    assert plain(records(trace, 1)) == plain(
        [
            Record("Recv", 0, 30, peer=0, tag=5, bytes=64),
            Record("Sendrecv", 10, 10, peer=2, tag=1, bytes=16, peer2=2, tag2=2, bytes2=32),
            Record("finalize", 7820, 10),
        ]
    )
    assert plain(records(trace, 2)) == plain(
        [
            Record("Irecv", 0, 10, peer=0, tag=6, bytes=8, request=0),
            Record("Wait", 60, 50, completions=[Completion(0)]),
            Record("Sendrecv_replace", 10, 40, peer=1, tag=2, bytes=32, peer2=1, tag2=1, bytes2=16),
            Record("finalize", 7750, 10),
        ]
    )


def test_microseconds_are_the_unit_unless_another_is_named(tmp_path: Path) -> None:
    head = "#Paraver (26/01/04 at 16:35):260199:4:1:2(1:1,1:2),8\nc:1:91:2:1:2\nc:1:92:1:-1\n"
    trace, _ = brought(
        tmp_path, call(1, 0, 2, 31, kind=OTHER), call(1, 5, 8, 1), message(1, 5, 2, 1, 9, 1, 1), ends(1), head=head
    )
    assert trace.hosts == {0: "node1", 1: "node2"}
    assert records(trace, 0)[0] == Record("Send", 3000, 3000, peer=1, tag=1, bytes=1)


def test_what_completes_where(tmp_path: Path, wording: Wording) -> None:
    """A receive where it arrived; where none did the oldest send whose receive is posted; what is left at the end."""
    trace, told = brought(
        tmp_path,
        call(1, 10, 20, 3),
        message(1, 10, 2, 15, 100, 8, 1),
        call(1, 30, 40, 3),
        message(1, 30, 2, 500, 600, 8, 2),
        call(1, 50, 60, 4),
        message(2, 200, 1, 60, 250, 8, 3),
        call(1, 70, 80, 4),
        message(2, 210, 1, 80, 350, 8, 4),
        call(1, 90, 250, 5),
        call(1, 260, 270, 5),
        call(1, 280, 290, 5),
        call(1, 300, 350, 6),
        call(1, 360, 370, 36),
        message(1, 360, 3, 360, 370, 8, 5),
        call(1, 380, 390, 39, kind=OTHER),
        call(1, 391, 392, 128, kind=OTHER),
        call(1, 393, 394, 4),
        ends(1, 2, 3),
    )
    assert plain(records(trace, 0)[4:]) == plain(
        [
            Record("Wait", 10, 160, completions=[Completion(2)]),
            Record("Wait", 10, 10, completions=[Completion(0)]),
            Record("Wait", 10, 10, completions=[Completion(None)]),  # its send's receive is not yet posted
            Record("Waitall", 10, 50, given=1, completions=[Completion(3)]),
            Record("Ibsend", 10, 10, peer=2, tag=5, bytes=8, request=0),
            Record("Test", 10, 10, completions=[Completion(0)]),
            Record("tests", 1, 1, count=1),
            Record("Irecv", 1, 1, peer=PROC_NULL, tag=0, request=0),
            Record("Waitall", 7606, 0, given=2, completions=[Completion(1), Completion(0)]),
            Record("finalize", 0, 10),
        ]
    )
    said = "\n".join(sorted(told.notes))
    assert not lacking(
        said, "2 × completion of a send", "2 × completed at MPI_Finalize", "1 × MPI_Irecv",
        "5 × communications that no call made",  # those of ranks 1 and 2
    )  # fmt: skip
    wording(said)


def test_persistent_requests_are_new_ones_each_time(tmp_path: Path) -> None:
    trace, told = brought(
        tmp_path,
        call(1, 1, 2, 117),
        call(1, 10, 20, 124, kind=OTHER),
        message(1, 12, 2, 15, 100, 8, 1),
        message(2, 12, 1, 13, 40, 9, 2),
        call(1, 30, 40, 6),
        ends(1),
    )
    assert plain(records(trace, 0)[:3]) == plain(
        [
            Record("Irecv", 0, 0, peer=1, tag=2, bytes=9, request=0),
            Record("Isend", 0, 10, peer=1, tag=1, bytes=8, request=1),
            Record("Waitall", 10, 10, given=2, completions=[Completion(0), Completion(1)]),
        ]
    )
    assert "2 × communications that no call made" in " ".join(told.notes)


SIZES = [
    (7, (8, 0), Record("Bcast", root=0, bytes=8)),
    (8, (0, 0), Record("Barrier")),
    (10, (24, 24), Record("Allreduce", bytes=24)),
    (11, (4, 12), Record("Alltoall", bytes=4, bytes2=4)),
    (12, (12, 9), Record("Alltoallv", bytes=12, bytes2=9, counts=[4, 4, 4], counts2=[3, 3, 3])),
    (13, (8, 24), Record("Gather", root=0, bytes=8, bytes2=8)),
    (14, (8, 24), Record("Gatherv", root=0, bytes=8, counts=[8, 8, 8])),
    (15, (24, 8), Record("Scatter", root=0, bytes=8, bytes2=8)),
    (16, (24, 8), Record("Scatterv", root=0, bytes2=8, counts=[8, 8, 8])),
    (17, (8, 24), Record("Allgather", bytes=8, bytes2=8)),
    (18, (8, 24), Record("Allgatherv", bytes=8, counts=[8, 8, 8])),
    (30, (8, 8), Record("Scan", bytes=8)),
    (80, (24, 8), Record("Reduce_scatter", counts=[8, 8, 8])),
    (168, (24, 8), Record("Reduce_scatter_block", bytes=8)),
    (155, (24, 24), Record("Iallreduce", bytes=24, request=0)),
]


@pytest.mark.parametrize(("value", "sizes", "record"), SIZES)
def test_sizes_of_collectives(tmp_path: Path, value: int, sizes: tuple[int, int], record: Record) -> None:
    trace, told = brought(tmp_path, collective(1, 0, value, *sizes, root=True))
    record.call_ns = 10
    assert plain(records(trace, 0)) == plain([record])
    assert any("spread evenly" in note for note in told.notes) == bool(record.counts)


def test_the_root_is_who_has_the_sizes_of_one(tmp_path: Path) -> None:
    reduces = "".join(collective(task, 0, 9, 0 if task == 3 else 8, 8 * (task == 3)) for task in (1, 2, 3))
    flagged = "".join(collective(task, 20, 13, 4, 12 * (task == 2), root=task == 1) for task in (1, 2, 3))
    empty = "".join(collective(task, 40, 7, 0, 0, root=task == 3) for task in (1, 2, 3))
    trace, told = brought(tmp_path, reduces, flagged, empty, ends(1, 2, 3))
    assert not told.notes
    assert [[one.root for one in records(trace, rank)[:3]] for rank in range(3)] == [[2, 1, 2]] * 3
    assert [records(trace, rank)[0].bytes for rank in range(3)] == [8, 8, 8]


def test_communicators_are_those_that_are_declared(tmp_path: Path, wording: Wording) -> None:
    declared = "c:1:4:2:3:1\nc:1:5:2:3:9\ni:1:7:1:1:4:2\n"
    trace, told = brought(
        tmp_path,
        collective(1, 0, 8, 0, 0, comm=4),
        collective(1, 20, 8, 0, 0, comm=5),
        collective(1, 40, 8, 0, 0, comm=7),
        collective(1, 60, 8, 0, 0, comm=4),
        collective(2, 60, 8, 0, 0, comm=4),
        call(2, 80, 90, 23, kind=OTHER),
        call(2, 91, 92, 65, kind=50000004),
        ends(1, 2, 3),
        head=HEAD + WORLD + declared,
    )
    assert plain(records(trace, 0)) == plain(
        [
            Record("found_comm", newcomm=2, members=[2, 0]),
            Record("Barrier", 0, 10, comm=2),
            Record("Barrier", 50, 10, comm=2),
            Record("finalize", 7930, 10),
        ]
    )
    (note,) = told.notes
    assert lacking(note, "3 × MPI_Barrier on a communicator", "1 × MPI_Comm_split", "1 × one-sided calls") == []
    wording(note)


def test_cuts_and_other_threads_are_said(tmp_path: Path) -> None:
    """As paramedir cuts traces: what was under way at its edges is not whole."""
    trace, told = brought(
        tmp_path,
        event(1, 5, POINT, 0),
        event(1, 6, POINT, 2, thread=2),
        event(1, 10, TOGETHER, 9),
        call(1, 12, 15, 1),
        message(1, 12, 2, 15, 100, 8, 1),
        event(1, 20, TOGETHER, 0),
        event(2, 30, TOGETHER, 8),
    )
    assert records(trace, 0) == [Record("Send", 0, 3, peer=1, tag=1, bytes=8)]
    (note,) = told.notes
    assert not lacking(
        note, "2 × ends of calls", "1 × calls of other threads", "1 × calls with others in them",
        "1 × calls that never end", "1 × communications that no call made", "3 × MPI_Finalize",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", ":1: '' is no header"),
        ("#Paraver (x):5_s:1(1):1:1(1:1)\n", "is no header"),
        ("#Paraver (x):5_ns:1(1):2:1(1:1):1(1:1)\n", "2 applications"),
        ("#Paraver (x):5_ns:1(1):1:9(1:1)\n", "is no list of tasks"),
        ("#Paraver (x):5_ns:1(1):1:1()\n", "is no list of tasks"),
        ("#Paraver (x):5_ns:1(1):1:2(1:11:1)\n", "is no list of tasks"),
        (HEAD + "c:1:1:4:1:2:3\n", ":2: 'c:1:1:4:1:2:3' .*as many tasks"),
        (HEAD + "5:1:1\n", ":2: .*begins as none"),
        (HEAD + "2:1:1:1:1:5:50000001\n", ":2: .*a type or a value is missing"),
        (HEAD + "2:1:1:4:1:5:50000001:1\n", ":2: .*there is no task 4"),
        (HEAD + "2:1:2:1:1:5:50000001:1\n", ":2: .*another application"),
        (HEAD + f"2:1:1:1:1:{1 << 60}:50000001:1\n", ":2: .*no number that a trace has"),
        (HEAD + event(1, 9, POINT, 1) + event(1, 5, POINT, 0), ":3: .*began at 9, which is later"),
        (HEAD + "3:1:1:1:1:5:6:1:1:2:1:7:8:9\n", ":2: .*14 numbers, of 15"),
        (HEAD + "3:1:1:1:1:5:6:1:1:2:1:7:8:-9:1\n", ":2: .*-9 is no number"),
        (HEAD + "2:1:1:1:1:5:40000001:1\n", "no call of MPI"),
    ],
)
def test_what_is_no_trace_of_paraver_is_named_by_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why) as raised:
        brought(tmp_path, text, head="")
    assert raised.value.next_step and str(tmp_path / "app.prv") in raised.value.what


def test_one_file_is_wanted(tmp_path: Path) -> None:
    for paths in ([], [tmp_path]):
        with pytest.raises(FormatError, match="one file"):
            paraver.bring(paths, tmp_path)
    with pytest.raises(FormatError, match="can't be read"):
        paraver.bring([tmp_path / "nowhere.prv"], tmp_path)


WHOLE = (
    HEAD + WORLD
    + call(1, 10, 20, 3) + message(1, 10, 2, 15, 100, 8, 1) + call(2, 5, 15, 4) + call(2, 30, 100, 6)
    + call(1, 30, 40, 6) + collective(1, 200, 155, 8, 8) + collective(3, 200, 14, 8, 24) + ends(1, 2, 3)
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The text with bytes changed, taken away, put in, or lines in another order."""
    data = bytearray(WHOLE.encode())
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        piece = draw(st.sampled_from([b"", b"0", b":", b"-1", b"\n", b"9" * 30, b"\xff", b"5000000", b"_", b" "]))
        data[at : at + draw(st.integers(0, 4))] = piece
    lines = bytes(data).split(b"\n")
    return b"\n".join(draw(st.permutations(lines))) if draw(st.booleans()) else bytes(data)


@settings(max_examples=150)
@given(damaged())
def test_what_is_damaged_is_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "x.prv").write_bytes(data)
        try:
            told = paraver.bring([folder / "x.prv"], folder)
        except FormatError as error:
            assert "x.prv" in error.what and error.next_step
            return
        trace = open_trace(folder)
        assert told.ranks == trace.size
        for rank in range(trace.size):
            records(trace, rank)
            assert trace.ranks[rank].fault is None
