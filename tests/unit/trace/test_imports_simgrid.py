"""SimGrid's time-independent traces: actions become records, what is not told is said, our export returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.trace.making import plain
from tests.wording import Wording, lacking
from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported, simgrid
from wulf.trace.imports.simgrid_rank import TYPES
from wulf.trace.reader import Trace, open_trace
from wulf.trace.record import ANY, UNTIMED, Completion, Record


def brought(folder: Path, *ranks: str, flops: float = 1e9) -> tuple[Trace, Imported]:
    """A trace of these texts, one a rank, without the ranks that begin their lines."""
    source, trace = folder / "source", folder / "trace"
    source.mkdir()
    trace.mkdir()
    for rank, text in enumerate(ranks):
        lines = (f"{rank} {line}\n" for line in text.strip().splitlines())
        (source / f"rank-{rank + 1}.txt").write_text("".join(lines))
    (source / "list").write_text("".join(f"rank-{rank + 1}.txt\n" for rank in range(len(ranks))))
    told = simgrid.bring([source / "list"], trace, flops)
    return open_trace(trace), told


def records(trace: Trace, rank: int = 0) -> list[Record]:
    return list(trace.ranks[rank].records())


def test_messages_requests_and_computing(tmp_path: Path) -> None:
    trace, told = brought(
        tmp_path,
        """
        init
        compute 1.5e+06
        sleep 1e-6
        send 1 3 10 0
        irecv 1 7 5 1
        isend 1 8 1e3 6
        wait 0 1 8
        compute 1000
        wait 1 0 7
        ssend 1 1 2 4
        ISsend 1 2 2
        waitall 1
        finalize
        """,
        "init\nfinalize",
        flops=2e9,
    )
    assert told.ranks == 2 and not told.notes and trace.ranks[0].header["mpi"] == "SimGrid"
    assert trace.ranks[0].header["clock"] == UNTIMED
    assert plain(records(trace)) == plain(
        [
            Record("Send", 751_000, peer=1, tag=3, bytes=80),
            Record("Irecv", peer=1, tag=7, bytes=20, request=0),
            Record("Isend", peer=1, tag=8, bytes=1000, request=1),
            Record("Wait", completions=[Completion(1)]),
            Record("Wait", 500, completions=[Completion(0)]),
            Record("Ssend", peer=1, tag=1, bytes=16),
            Record("Issend", peer=1, tag=2, bytes=2, request=0),
            Record("Waitall", given=1, completions=[Completion(0)]),
            Record("finalize"),
        ]
    )


def test_collectives_have_bytes_roots_and_what_they_compute(tmp_path: Path) -> None:
    text = """
        init 1
        barrier
        bcast 5e4 1 1
        reduce 10 7 1
        allreduce 3 0 0
        gather 2 2 1 1 1
        gather 2 1 1 1
        scatter 0 2 1 1 1
        allgather 2 4 1 2
        alltoall 500 500
        gatherv 2 3 4 1 0 1
        scatterv 3 4 2 0 1 1
        allgatherv 1 1 2 0 0
        alltoallv 100 1 2 100 3 4 1 2
        reducescatter 6 7 9 2
        scan 2 0 1
        ibcast 4 0 1
        wait 1 1 -3335
        finalize
        """
    trace, told = brought(tmp_path, text, text)
    assert not told.notes
    assert plain(records(trace)) == plain(
        [
            Record("Barrier"),
            Record("Bcast", root=1, bytes=200_000),
            Record("Reduce", root=1, bytes=80),
            Record("Allreduce", 7, bytes=24),
            Record("Gather", root=1, bytes=8, bytes2=8),
            Record("Gather", root=1, bytes=8),
            Record("Scatter", root=1, bytes2=8),
            Record("Allgather", bytes=8, bytes2=4),
            Record("Alltoall", bytes=4000, bytes2=4000),
            Record("Gatherv", root=1, bytes=16),
            Record("Scatterv", root=0, bytes2=8, counts=[12, 16]),
            Record("Allgatherv", bytes=8, counts=[8, 16]),
            Record("Alltoallv", bytes=12, bytes2=7, counts=[4, 8], counts2=[3, 4]),
            Record("Reduce_scatter", counts=[6, 7]),
            Record("Scan", 9, bytes=8),
            Record("Ibcast", root=0, bytes=16, request=0),
            Record("Wait", completions=[Completion(0)]),
            Record("finalize"),
        ]
    )
    assert records(trace, 1)[9].counts == [12, 16]


def test_what_is_not_told_is_counted(tmp_path: Path, wording: Wording) -> None:
    trace, told = brought(
        tmp_path,
        """
        init
        location main.c 12
        recv -333 -444 100 6
        irecv -333 7 5 6
        wait -333 0 7
        irecv 1 1 4 6
        irecv 1 2 4 6
        waitAny 2
        send 1 1 3 -1
        reducescatter 0 0 0 0 0 0
        comm_split 2
        Win_fence
        IO - read 100
        wait 1 0 99
        sendRecv 3 1 2 1 1 1
        finalize
        """,
        "init\nfinalize",
    )
    left_open, guessed, unknown, left_out = told.notes
    assert lacking(left_open, "2 × source or tag of a receive", "1 × tags of sendrecv") == []
    assert lacking(guessed, "1 × waitAny", "1 × completed at MPI_Finalize") == []
    assert lacking(unknown, "1 × messages of derived types") == []
    assert lacking(left_out, "1 × reducescatter of 6", "1 × comm_split", "1 × win_fence", "1 × io - read") == []
    assert "1 × wait for what no action began" in left_out
    wording("\n".join(told.notes))
    assert plain(records(trace)) == plain(
        [
            Record("Recv", peer=ANY, tag=ANY, bytes=100, actual=(ANY, ANY)),
            Record("Irecv", peer=ANY, tag=7, bytes=5, request=0),
            Record("Wait", completions=[Completion(0)]),
            Record("Irecv", peer=1, tag=1, bytes=4, request=0),
            Record("Irecv", peer=1, tag=2, bytes=4, request=1),
            Record("Waitany", given=1, completions=[Completion(0)]),
            Record("Send", peer=1, tag=1, bytes=3),
            Record("Sendrecv", peer=1, tag=0, bytes=12, peer2=1, tag2=0, bytes2=8),
            Record("Waitall", given=1, completions=[Completion(1)]),
            Record("finalize"),
        ]
    )


def test_persistent_requests_begin_at_each_start_and_their_wait_tells_the_sender(tmp_path: Path) -> None:
    trace, told = brought(
        tmp_path,
        "init\nStart 1 9 4 1\nwait 0 1 9\nfinalize",
        "init\nStart 1 9 4 1\nwait 0 1 9\nfinalize",
    )
    assert not told.notes
    assert records(trace, 0)[0] == Record("Isend", peer=1, tag=9, bytes=4, request=0)
    assert plain(records(trace, 1)[:2]) == plain(
        [Record("Irecv", peer=ANY, tag=9, bytes=4, request=0), Record("Wait", completions=[Completion(0, 0, 9)])]
    )


def test_the_last_test_before_a_key_is_used_anew_found_something(tmp_path: Path) -> None:
    begin, look = "irecv 1 5 8 6\n", "test 1 0 5\n"
    text = f"init\n{begin}{look}{look}{begin}{look}wait 1 0 5\n{begin}{look}finalize"
    trace, _ = brought(tmp_path, text, "init\nfinalize")
    assert [record.op for record in records(trace)] == [
        "Irecv", "tests", "Test", "Irecv", "tests", "Wait", "Irecv", "Test", "finalize",
    ]  # fmt: skip


def test_one_file_of_all_ranks_is_as_good_as_one_each(tmp_path: Path) -> None:
    place = tmp_path / "all.txt"
    place.write_text("0 init\n1 init\n\n1 recv 0 0 1e6\n0 send 1 0 1e6\n0 finalize\n1 finalize\n")
    assert simgrid.bring([place], tmp_path).ranks == 2
    trace = open_trace(tmp_path)
    assert [[record.op for record in records(trace, rank)] for rank in (0, 1)] == [
        ["Send", "finalize"],
        ["Recv", "finalize"],
    ]
    assert records(trace, 1)[0].bytes == 1_000_000


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("send 1", "3: 'send 1' is no action"),
        ("compute much", "3: 'compute much' is no action"),
        ("wait 1 2", "3: 'wait 1 2' is no action"),
        ("bcast", "3: 'bcast' is no action"),
    ],
)
def test_a_line_that_is_cut_is_named(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        brought(tmp_path, f"init\ncompute 1\n{line}\n")


def test_a_text_of_other_words_is_no_empty_program(tmp_path: Path) -> None:
    """Lines that begin with a number: of a log, a table."""
    (tmp_path / "log").write_text("0 began at 5\n1 ran 3\n0 ended\n1 began again\n")
    with pytest.raises(FormatError, match=r"log: none of its actions is known \(began, ran, ended\)"):
        simgrid.bring([tmp_path / "log"], tmp_path)
    _, told = brought(tmp_path, "began\ncompute 1\n")
    assert lacking(told.notes[0], "began") == []


def test_files_that_are_no_trace_are_named(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("here.txt\n")
    (tmp_path / "here.txt").write_text("1 init\n1 finalize\n")
    with pytest.raises(FormatError, match=r"ranks \[0\] are missing: there are 1 ranks"):
        simgrid.bring([tmp_path / "list"], tmp_path)
    (tmp_path / "there.txt").write_text("1 init\n0 init\n")
    with pytest.raises(FormatError, match=r"rank 1 .*here\.txt.*there\.txt"):
        simgrid.bring([tmp_path / "here.txt", tmp_path / "there.txt"], tmp_path)
    (tmp_path / "list").write_text("nowhere.txt\n")
    with pytest.raises(FormatError, match=r"list:1: 'nowhere.txt' is neither"):
        simgrid.bring([tmp_path / "list"], tmp_path)
    with pytest.raises(FormatError, match="0 flops a second"):
        simgrid.bring([tmp_path / "here.txt"], tmp_path, 0)


def test_the_types_have_the_numbers_of_simgrid() -> None:
    assert len(TYPES) == 60 and TYPES[0] == TYPES[20] == 8 and TYPES[1] == 4 and TYPES[6] == TYPES[57] == 1


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("send 2 1 8", "rank-1.txt:1: .*there is no rank 2: there are 2"),
        ("bcast 8 7", "rank-1.txt:1: .*there is no rank 7"),
        ("compute -1", "rank-1.txt:1: .*no amount of computing"),
        ("compute nan", "rank-1.txt:1: .*no amount of computing"),
        ("compute 1e300", "rank-1.txt:2: .*a run of more than a hundred days"),
        (f"send 1 {2**31} 8", "rank-1.txt:1: .*a tag of 2147483648"),
        ("send 1 1 1e30", "rank-1.txt:1: .*a message of more than 30 digits B"),
        ("wait a b c", "rank-1.txt:1: 'wait a b c' is no action"),
    ],
)
def test_what_no_program_can_do_is_refused(tmp_path: Path, action: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        brought(tmp_path, f"{action}\nfinalize", "finalize")


def test_a_list_may_name_no_file_that_a_system_could_have(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("x" * 300)
    with pytest.raises(FormatError, match=r"list:1: 'xxx.*neither an action of SimGrid's nor a file"):
        simgrid.bring([tmp_path / "list"], tmp_path)
