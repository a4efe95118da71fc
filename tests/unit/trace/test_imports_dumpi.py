"""DUMPI's texts: calls, requests that are told of by halves, and who belongs to communicators that ranks make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.unit.trace.making import plain
from tests.unit.trace.test_imports import records, written
from tests.wording import Wording, lacking
from wulf.trace.errors import FormatError
from wulf.trace.imports import dumpi
from wulf.trace.reader import open_trace
from wulf.trace.record import ANY, Completion, Record


def block(name: str, at: int, to: int, *lines: str) -> str:
    edge = "walltime 1296777956.{:09d}, cputime 0.000000001 seconds in thread 0.\n"
    inside = "".join(f"{line}\n" for line in lines)
    return f"{name} entering at {edge.format(at)}{inside}{name} returning at {edge.format(to)}"


WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
INT, OWN = "MPI_Datatype datatype=9 (MPI_INT)", "MPI_Datatype datatype=28 (user-defined-datatype)"


def dumpi_text() -> str:
    return (
        "version=1.0.0\nhostname=node3\nmeshcrd=[]\n"
        + block("MPI_Init", 100, 200, "int argc=1", 'string argv[1]=["./mpi"]')
        + block("MPI_Comm_rank", 201, 202, WORLD, "int rank=0")
        + block("MPI_Isend", 300, 310, "int count=3", INT, "int dest=1", "int tag=1337", WORLD,
                "MPI_Request request=[2]")
        + block("MPI_Irecv", 320, 330, "int count=2", OWN, "int source=-1 (MPI_ANY_SOURCE)", "int tag=-1 (MPI_ANY_TAG)",
                WORLD, "MPI_Request request=[3]")
        + block("MPI_Waitall", 340, 360, "int count=2", "MPI_Request requests[2]=[2, 3]",
                "MPI_Status statuses[2]=[{bytes=0, cancelled=0, source=0, tag=0, error=0}, "
                "{bytes=48, cancelled=0, source=1, tag=4, error=0}]")
        + block("MPI_Recv", 370, 380, "int count=1", INT, "int source=-1 (MPI_ANY_SOURCE)", "int tag=7", WORLD,
                "MPI_Status status=[{bytes=4, cancelled=0, source=1, tag=7, error=0}]")
        + block("MPI_Test", 381, 382, "MPI_Request request=[9]", "int flag=0", "MPI_Status status=<IGNORED>")
        + block("MPI_Comm_dup", 390, 395, "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
                "MPI_Comm newcomm=5 (user-defined-comm)")
        + block("MPI_Gatherv", 400, 410, "int commrank=0", "int commsize=2", "int sendcount=1",
                "MPI_Datatype sendtype=9 (MPI_INT)", "int recvcounts[2]=[1, 2]", "int displs[2]=[0, 1]",
                "MPI_Datatype recvtype=9 (MPI_INT)", "int root=0", "MPI_Comm comm=5 (user-defined-comm)")
        + block("MPI_Barrier", 420, 430, "MPI_Comm comm=6 (user-defined-comm)")
        + block("MPI_Finalize", 440, 450)
        + "MPI_Send called 0 times and ignored 0 times\nDatatype 28 (user-defined-datatype) has size 24\n"
    )  # fmt: skip


def test_dumpi(tmp_path: Path, wording: Wording) -> None:
    source = tmp_path / "source"
    source.mkdir()
    written(source, dumpi_text(), "dumpi-2011.02.03-0000.txt")
    written(source, block("MPI_Init", 1, 2) + block("MPI_Finalize", 3, 4), "dumpi-2011.02.03-0001.txt")
    brought = dumpi.bring([source], tmp_path)
    trace = open_trace(tmp_path)
    assert trace.hosts[0] == "node3" and trace.ranks[0].header["begin_realtime_ns"] == 1296777956_000000200
    assert plain(records(trace, 0)) == plain(
        [
            Record("Isend", 100, 10, peer=1, tag=1337, bytes=12, request=0),
            Record("Irecv", 10, 10, peer=ANY, tag=ANY, bytes=48, request=1),
            Record("Waitall", 10, 20, given=2, completions=[Completion(0), Completion(1, 1, 4)]),
            Record("Recv", 10, 10, peer=ANY, tag=7, bytes=4, actual=(1, 7)),
            Record("tests", 1, 1, count=1),
            Record("Comm_dup", 8, 5, newcomm=2, members=[0, 1]),
            Record("Gatherv", 5, 10, root=0, comm=2, bytes=4, counts=[4, 8]),
            Record("finalize", 30, 10),
        ]
    )
    (note,) = brought.notes
    assert lacking(note, "left out", ": 1 × MPI_Barrier", "members are not told") == []
    wording(note)


def test_sends_that_are_done_at_once_have_one_handle_and_some_requests_are_never_told_of(
    tmp_path: Path, wording: Wording
) -> None:
    """As libdumpi wrote under Open MPI 4.1.4, of Isend, Issend, Isend; it knows nothing of MPI_Iallreduce."""

    def send(name: str, at: int, request: int) -> str:
        return block(
            name, at, at + 1, "int count=1", INT, "int dest=1", "int tag=5", WORLD, f"MPI_Request request=[{request}]"
        )

    text = block("MPI_Init", 1, 2) + send("MPI_Isend", 10, 2) + send("MPI_Issend", 12, 3) + send("MPI_Isend", 14, 2)
    text += block(
        "MPI_Waitall",
        20,
        21,
        "int count=5",
        "MPI_Request requests[5]=[2, 3, 2, 7, 1]",
        "MPI_Status statuses[5]=<IGNORED>",
    )
    written(tmp_path, text + block("MPI_Finalize", 30, 31), "d-0000.txt")
    written(tmp_path, block("MPI_Init", 1, 2) + block("MPI_Finalize", 3, 4), "d-0001.txt")
    brought = dumpi.bring([tmp_path], tmp_path)
    *sends, wait, _ = records(open_trace(tmp_path), 0)
    assert [one.request for one in sends] == [0, 1, 2]
    assert sorted(one.request for one in wait.completions if one.request is not None) == [0, 1, 2]
    assert len(wait.completions) == 5
    (note,) = brought.notes
    assert "1 × end of a request" in note
    wording(note)


def test_a_torn_text_of_dumpi_is_named(tmp_path: Path) -> None:
    text = dumpi_text()
    cut = written(tmp_path, text[text.index("MPI_Irecv entering") :].replace("int count=2\n", "", 1), "d-0000.txt")
    with pytest.raises(FormatError, match=r"d-0000.txt:1: MPI_Irecv can't be read"):
        dumpi.bring([cut], tmp_path)
    both = [written(tmp_path, text.replace("int root=0\n", ""), f"r-{rank:04d}.txt") for rank in range(2)]
    with pytest.raises(FormatError, match=r"MPI_Gatherv can't be read \('root'\)"):
        dumpi.bring(both, tmp_path)
    odd = written(tmp_path, text.replace("MPI_Init entering", "MPI_Abort entering"), "e-0000.txt")
    with pytest.raises(FormatError, match="MPI_Init returns that was not entered"):
        dumpi.bring([odd], tmp_path)


def test_texts_of_some_ranks_alone_are_refused(tmp_path: Path) -> None:
    """As of sst-dumpi's own tests/traces, where one rank of four was printed."""
    text = block("MPI_Init", 1, 2) + block("MPI_Comm_size", 3, 4, WORLD, "int size=4") + block("MPI_Finalize", 5, 6)
    with pytest.raises(FormatError, match=r"d-0000.txt:3: the program has 4 ranks, and there are 1 files"):
        dumpi.bring([written(tmp_path, text, "d-0000.txt")], tmp_path)


def test_a_text_that_leaves_the_calls_out_is_no_empty_program(tmp_path: Path) -> None:
    """As dumpi2ascii -X prints it, without -S: what is said of types, and no call."""
    sizes = written(tmp_path, "hostname=n1\nDatatype 28 (user-defined-datatype) has size 24\n", "d-0000.txt")
    with pytest.raises(FormatError) as raised:
        dumpi.bring([sizes], tmp_path)
    assert lacking(str(raised.value), "d-0000.txt", "no call of MPI") == []
    assert "-SX" in raised.value.next_step


def made(name: str, old: int, new: int, *more: str) -> str:
    return block(f"MPI_{name}", 10, 11, f"MPI_Comm oldcomm={old}", *more, f"MPI_Comm newcomm={new}")


def split(old: int, new: int, colour: int, key: int) -> str:
    return made("Comm_split", old, new, f"int color={colour}", f"int key={key}")


def placed(comm: int, rank: int, size: int) -> str:
    on = f"MPI_Comm comm={comm}"
    return block("MPI_Comm_rank", 12, 13, on, f"int rank={rank}") + block(
        "MPI_Comm_size", 12, 13, on, f"int size={size}"
    )


def sent(comm: int, dest: int) -> str:
    return block("MPI_Send", 20, 21, "int count=1", INT, f"int dest={dest}", "int tag=5", f"MPI_Comm comm={comm}")


def whole(*calls: str) -> str:
    return "".join([block("MPI_Init", 1, 2), *calls, block("MPI_Finalize", 90, 91)])


def brought(tmp_path: Path, texts: Sequence[str]) -> list[list[Record]]:
    for rank, text in enumerate(texts):
        written(tmp_path, text, f"d-{rank:04d}.txt")
    found = dumpi.bring([tmp_path], tmp_path)
    assert list(found.notes) == []
    trace = open_trace(tmp_path)
    return [[one for one in records(trace, rank) if one.op != "finalize"] for rank in range(len(texts))]


def grouped() -> list[str]:
    """Six ranks: even and odd ones apart, the even ones backwards, rank 5 in none; then the even ones' first two."""
    texts = []
    for rank in range(6):
        own = 1 if rank == 5 else 4
        calls = [split(2, own, -7 if rank == 5 else rank % 2, -rank if rank % 2 == 0 else 0)]
        if rank % 2 == 0:
            calls += [
                placed(4, 2 - rank // 2, 3),
                sent(4, (3 - rank // 2) % 3),
                block("MPI_Bcast", 30, 31, "int count=1", INT, "int root=0", "MPI_Comm comm=4"),
                block("MPI_Comm_group", 40, 41, "MPI_Comm comm=4", "MPI_Group group=3"),
                block(
                    "MPI_Group_range_incl",
                    42,
                    43,
                    "MPI_Group group=3",
                    "int count=1",
                    "int ranges[1][3]=[[1, 0, -1]]",
                    "MPI_Group newgroup=5",
                ),
                made("Comm_create", 4, 1 if rank == 0 else 6, "MPI_Group group=5"),
            ]
            calls += [] if rank == 0 else [placed(6, rank // 2 - 1, 2), sent(6, 2 - rank // 2)]
        texts.append(whole(*calls))
    return texts  # fmt: skip


def test_colours_and_keys_of_all_ranks_tell_who_belongs_to_a_communicator(tmp_path: Path) -> None:
    ranks = brought(tmp_path, grouped())
    apart = [next(one for one in found if one.op == "Comm_split") for found in ranks]
    assert [tuple(one.members) for one in apart] == [(4, 2, 0), (1, 3), (4, 2, 0), (1, 3), (4, 2, 0), ()]
    assert [one.newcomm for one in apart] == [2, 2, 2, 2, 2, None]
    sends = [[one.peer for one in found if one.op == "Send"] for found in ranks]
    assert sends == [[4], [], [0, 4], [], [2, 2], []], "in MPI_COMM_WORLD"
    assert {one.root for found in ranks for one in found if one.op == "Bcast"} == {4}
    created = [[tuple(one.members) for one in found if one.op == "Comm_create"] for found in ranks]
    assert created == [[()], [], [(2, 4)], [], [(2, 4)], []]


@pytest.mark.parametrize(
    ("calls", "members"),
    [
        (["MPI_Group_incl ranks[2]=[3, 1]"], (3, 1)),
        (["MPI_Group_excl ranks[2]=[3, 1]"], (0, 2)),
        (["MPI_Group_range_excl ranges[1][3]=[[0, 2, 2]]"], (1, 3)),
        (["MPI_Group_incl ranks[2]=[3, 1]", "MPI_Group_union"], (3, 1, 0, 2)),
        (["MPI_Group_incl ranks[2]=[3, 1]", "MPI_Group_intersection"], (3, 1)),
    ],
)
def test_groups(tmp_path: Path, calls: Sequence[str], members: Sequence[int]) -> None:
    text, handle = block("MPI_Comm_group", 5, 6, WORLD, "MPI_Group group=3"), 3
    for number, call in enumerate(calls, 4):
        name, _, chosen = call.partition(" ")
        given = (
            [f"MPI_Group group={handle}", f"int {chosen}"]
            if chosen
            else [f"MPI_Group group1={handle}", "MPI_Group group2=3"]
        )
        text += block(name, 7, 8, *given, f"MPI_Group newgroup={number}")
        handle = number
    texts = [
        whole(text, made("Comm_create", 2, 4 if rank in members else 1, f"MPI_Group group={handle}"))
        for rank in range(4)
    ]
    assert tuple(brought(tmp_path, texts)[members[0]][0].members) == tuple(members)


def test_a_difference_of_groups_leaves_out_what_is_in_both(tmp_path: Path) -> None:
    groups = block("MPI_Comm_group", 5, 6, WORLD, "MPI_Group group=3")
    groups += block("MPI_Group_incl", 7, 8, "MPI_Group group=3", "int ranks[1]=[0]", "MPI_Group newgroup=4")
    groups += block("MPI_Group_difference", 7, 8, "MPI_Group group1=3", "MPI_Group group2=4", "MPI_Group newgroup=5")
    texts = [whole(groups, made("Comm_create", 2, 4 if rank else 1, "MPI_Group group=5")) for rank in range(3)]
    assert [tuple(found[0].members) for found in brought(tmp_path, texts)] == [(), (1, 2), (1, 2)]


def test_a_grid_is_of_the_first_ranks_and_what_is_split_off_it_of_its_rows(tmp_path: Path) -> None:
    texts = [
        whole(
            made("Cart_create", 2, 1 if rank == 4 else 4, "int dims[2]=[2, 2]", "int reorder=1"),
            *([] if rank == 4 else [split(4, 5, rank // 2, rank), made("Comm_dup", 5, 6), placed(6, rank % 2, 2)]),
        )
        for rank in range(5)
    ]
    found = brought(tmp_path, texts)
    assert [tuple(one.members) for one in found[3]] == [(0, 1, 2, 3), (2, 3), (2, 3)]
    assert [one.comm for one in found[3]] == [0, 2, 3]


def test_a_grid_that_was_put_in_another_order_is_refused(tmp_path: Path) -> None:
    texts = [whole(made("Cart_create", 2, 4, "int dims[1]=[2]"), placed(4, 1 - rank, 2)) for rank in range(2)]
    with pytest.raises(FormatError) as raised:
        brought(tmp_path, texts)
    assert lacking(str(raised.value), "d-0000.txt", "MPI_Comm_rank", "0 of 2") == []


def test_a_handle_is_of_the_communicator_that_had_it_last(tmp_path: Path) -> None:
    texts = [whole(split(2, 4, rank % 2, 0), split(2, 4, 0, -rank), sent(4, 0)) for rank in range(4)]
    first, second, send = brought(tmp_path, texts)[0]
    assert (first.newcomm, second.newcomm) == (2, 3)
    assert (tuple(second.members), send.comm, send.peer) == ((3, 2, 1, 0), 3, 3)


def test_what_some_ranks_never_told_is_left_out_aloud(tmp_path: Path) -> None:
    written(tmp_path, whole(split(2, 4, 0, 0), split(4, 5, 0, 0), sent(5, 1)), "d-0000.txt")
    written(tmp_path, whole(split(2, 4, 0, 0)), "d-0001.txt")
    (note,) = dumpi.bring([tmp_path], tmp_path).notes
    assert lacking(note, "1 × MPI_Send", "members are not told") == []


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ("MPI_Group_incl int ranks[1]=[4]", "not in a group of 2"),
        ("MPI_Group_incl int ranks[1]=[-1]", "not in a group of 2"),
        ("MPI_Group_range_incl int ranges[1][3]=[[0, 1, 0]]", "must not be zero"),
        ("MPI_Group_range_incl int ranges[1][3]=[[0, 1]]", "shorter"),
        ("MPI_Group_range_incl int ranges[1][3]=[[0, 999999999, 1]]", "more than"),
    ],
)
def test_a_group_of_ranks_that_are_not_there_is_refused(tmp_path: Path, chosen: str, why: str) -> None:
    name, _, value = chosen.partition(" ")
    text = whole(block("MPI_Comm_group", 5, 6, WORLD, "MPI_Group group=3"),
                 block(name, 7, 8, "MPI_Group group=3", value, "MPI_Group newgroup=4"))  # fmt: skip
    for rank in range(2):
        written(tmp_path, text, f"d-{rank:04d}.txt")
    with pytest.raises(FormatError) as raised:
        dumpi.bring([tmp_path], tmp_path)
    assert lacking(str(raised.value), "d-0000.txt:7", name, why) == []
