"""What other tools wrote becomes these records; lines that are not theirs are named."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.unit.trace.making import plain
from tests.unit.trace.test_imports_chakra import around
from tests.wording import Wording, lacking
from wulf.trace.errors import FormatError
from wulf.trace.imports import EXPANDED, NAMES, allprof, goal, import_named, otf2
from wulf.trace.reader import Trace, open_trace
from wulf.trace.record import ANY, PROC_NULL, Completion, Record

GOAL = """\
num_ranks 3 // so many
/* a broadcast,
   as it may be written */
rank 0 {
l1: calc 100 cpu 0
l2: send 10b to 1 tag 5 cpu 0 nic 0
l2 requires l1
send 20b to 2
}
rank 1 { l1: recv 10b from 0 tag 5
calc 5 }
rank 2 {
a: recv 20b from 0
b: calc 7
b irequires a
}
"""


def written(tmp_path: Path, text: str, name: str = "file.txt") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def records(trace: Trace, rank: int) -> list[Record]:
    return list(trace.ranks[rank].records())


def test_goal_is_checked_and_passed_on_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, GOAL)
    schedule = goal.read_goal(path)
    assert schedule.ranks == 3 and schedule.messages == 2 and dict(schedule.calculated) == {0: 100, 1: 5, 2: 7}
    assert dict(schedule.bytes) == {(0, 1): 10, (0, 2): 20}
    (tmp_path / "trace").mkdir()
    assert goal.bring([path], tmp_path / "trace").ranks == 3
    assert (tmp_path / "trace/program.goal").read_text() == GOAL


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("calc 5 }", "calc 5", "16: 'rank 2 {' is no operation"),
        ("b irequires a", "b requires c", ":15: rank 2 has no operation labelled 'c'"),
        ("b: calc 7", "a: calc 7", ":14: rank 2 has two operations labelled 'a'"),
        ("to 2\n", "to 9\n", ":8: there is no rank 9"),
        ("to 2\n", "from 2\n", "a send goes 'to' a rank"),
        ("send 20b to 2\n", "", "1 from 0 to 2 with tag 0 awaited too often"),
        ("tag 5\ncalc", "tag 6\ncalc", "1 from 0 to 1 with tag 5 sent too often; 1 from 0 to 1 with tag 6 awaited"),
        ("num_ranks 3", "num_ranks 4", "1 ranks are missing, the first of them [3]"),
        ("num_ranks 3 // so many\n", "", "rank 0 is not below num_ranks"),
        ("rank 2 {", "rank 1 {", "rank 1 is there twice"),
        ("from 0\nb: calc 7\nb irequires a\n}\n", "from 0\n", "the file ends within rank 2"),
        ("l2 requires l1\n", "l2 requires l1\nl1 irequires l2\n", "rank 0: what 'l1' requires requires it in turn"),
        ("l2 requires l1\n", "l2 requires l2\n", "rank 0: what 'l2' requires requires it in turn"),
        ("calc 100", f"calc {2**63}", f":5: {2**63} is larger than 9,223,372,036,854,775"),
        ("send 20b", f"send {'9' * 5000}b", ":8: 999"),
        ("tag 5\ncalc", f"tag {2**32}\ncalc", f":10: {2**32} is larger than 4,294,967,295"),
        ("cpu 0 nic", f"cpu {2**32} nic", f":6: {2**32} is larger"),
        ("send 20b to 2\n", "send 20b to 2 tag -1\n", ":8: a send has a tag"),
        ("num_ranks 3", "num_ranks 3\nnum_ranks 3", ":2: num_ranks stands there twice"),
        ("num_ranks 3", "num_ranks 4000000000", "3999999997 ranks are missing, the first of them [3, 4, 5, 6, 7]"),
    ],
)
def test_what_is_no_goal_is_named_by_line(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert GOAL.count(old) == 1
    with pytest.raises(FormatError) as raised:
        goal.read_goal(written(tmp_path, GOAL.replace(old, new)))
    assert why.replace("16:", ":12:") in raised.value.what or why in raised.value.what


def test_wildcards_of_goal_take_what_nobody_else_does(tmp_path: Path) -> None:
    text = GOAL.replace("recv 20b from 0", "recv 20b from -1 tag -1")
    assert goal.read_goal(written(tmp_path, text)).wildcards == 1
    with pytest.raises(FormatError, match="1 receives from anybody have no message"):
        goal.read_goal(written(tmp_path, text.replace("send 20b to 2\n", "")))


def binary(ranks: list[list[tuple[int, ...]]], edges: dict[int, list[tuple[int, int]]] | None = None) -> bytes:
    """Binary GOAL of operations (kind, peer, size, tag); edges: rank → (operation, the one that needs its end)."""
    table, parts = b"", b""
    first = 6 + 16 * len(ranks)
    for rank, operations in enumerate(ranks):
        own = (edges or {}).get(rank, [])
        part = struct.pack("<II", len(operations), 0)
        appendix: list[int] = []
        for number, (kind, peer, size, tag) in enumerate(operations):
            ends = [needs for on, needs in own if on == number]
            needed = sum(needs == number for _, needs in own)
            counts = (len(ends), len(appendix), 0, len(appendix) + len(ends))
            part += struct.pack("<IBIQIBBIIII", needed, kind, peer, size, tag, 0, 0, *counts)
            appendix += ends
        part += struct.pack(f"<{len(appendix)}I", *appendix)
        table += struct.pack("<QQ", first + len(parts), first + len(parts) + len(part))
        parts += part
    return struct.pack("<QIBB", 4223, len(ranks), 1, 1) + table + parts


def hoarding(operations: int) -> bytes:
    """Binary GOAL in which each operation is said to be needed by all that the appendix names."""
    shared = struct.pack("<II", operations, 0)
    shared += struct.pack("<IBIQIBBIIII", 0, 3, 0, 1, 0, 0, 0, operations, 0, 0, 0) * operations
    shared += struct.pack(f"<{operations}I", *range(operations))
    return struct.pack("<QIBBQQ", 4223, 1, 1, 1, 22, 22 + len(shared)) + shared


def overlapping(ranks: int) -> bytes:
    """Binary GOAL whose ranks all have the same bytes."""
    own = struct.pack("<II", 50, 0) + struct.pack("<IBIQIBBIIII", 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0) * 50
    first = 6 + 16 * ranks
    return struct.pack("<QIBB", 4223, ranks, 1, 1) + struct.pack("<QQ", first, first + len(own)) * ranks + own


TWO = [[(1, 1, 10, 5), (2, 1, 20, 6), (3, 0, 700, 0)], [(2, 0, 10, 5), (1, 0, 20, 6)]]
"""Two ranks, a message each way."""


def test_binary_goal_is_counted_as_its_text_is(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(binary(TWO, {0: [(0, 2)], 1: [(0, 1)]}))
    text = written(
        tmp_path,
        "num_ranks 2\nrank 0 {\na: send 10b to 1 tag 5\nrecv 20b from 1 tag 6\nc: calc 700\nc requires a\n}\n"
        "rank 1 {\na: recv 10b from 0 tag 5\nb: send 20b to 0 tag 6\nb requires a\n}\n",
    )
    found, same = goal.read_goal(path), goal.read_goal(text)
    assert (found.ranks, found.counts, found.bytes, found.calculated) == (
        same.ranks, same.counts, same.bytes, same.calculated
    )  # fmt: skip
    (tmp_path / "trace").mkdir()
    assert goal.bring([path], tmp_path / "trace").ranks == 2
    assert (tmp_path / "trace/program.goal").read_bytes() == path.read_bytes()


def test_binary_goal_may_receive_from_whoever_sends(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(binary([[(1, 1, 10, 5)], [(2, 0xFFFF_FFFF, 10, 0xFFFF_FFFF)]]))
    assert goal.read_goal(path).wildcards == 1


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (binary(TWO)[:12], "ends within its head"),
        (binary(TWO)[:-1], "lie from byte"),
        (struct.pack("<QIBB", 4223, 1 << 31, 1, 1), "ends within its head"),
        (binary([[(9, 0, 1, 0)]]), "kind 9"),
        (binary([[(1, 7, 1, 0)]]), "peer 7"),
        (binary([[(3, 0, 1, 0)]], {0: [(0, 5)]}), "operation 5 depends"),
        (binary([[(1, 0, 1, 0)]]), "without a partner"),
        (binary([[(3, 0, 1, 0)] * 3], {0: [(0, 1), (1, 2), (2, 1)]}), "what operation 1 requires requires it in turn"),
        (binary([[(3, 0, 2**63, 0)]]), "size 9223372036854775808"),
        (hoarding(2000), "4,000,000 dependencies are said to be there, of 2,000"),
        (overlapping(8), "ranks up to 1 are said to have"),
    ],
)
def test_what_is_no_binary_goal_is_refused(tmp_path: Path, broken: bytes, why: str) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(broken)
    with pytest.raises(FormatError, match=why):
        goal.read_goal(path)


ALLPROF = [
    """\
# htor's PMPI Tracer 0.1 Output File
# hostname: node7.
MPI_Init:-:0:0:1000
MPI_Comm_rank:1001:0,0,2:0:1001
MPI_Irecv:1010:14744192:36864:13,1,1:-1:76:5641280,0,2:14118576:1015
MPI_Isend:1020:14781072:10:11,8,8:1:204:5641280,0,2:14118584:1021
MPI_Waitall:1030:2:14118576:5839040:1040
MPI_Allreduce:1050:1:2:3:2,4,4:3:5641280,0,2:1060
MPI_Bcast:1060:1:3:21,1,1:1:99,0,1:1061
MPI_Alltoallv:1070:1:77:4,6:78:0,4:11,8,8:2:79:1,2:80:0,1:11,8,8:5641280,0,2:1080
MPI_Finalize:1090:-
""",
    """\
MPI_Init:-:0:0:2000
MPI_Recv:2010:1:10:11,8,8:0:204:5641280,1,2:140737488340112:2020
MPI_Sendrecv:2030:1:1:1,4,4:0:76:2:1:1,4,4:-2:5:5641280,1,2:3:2040
MPI_Finalize:2050:-
""",
]


def test_liballprof(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for rank, text in enumerate(ALLPROF):
        written(source, text, f"pmpi-trace-rank-{rank}.txt")
    brought = allprof.bring([source], tmp_path)
    trace = open_trace(tmp_path)
    assert brought.ranks == trace.size == 2 and trace.hosts == {0: "node7", 1: ""}
    assert plain(records(trace, 0)) == plain(
        [
            Record("Irecv", 10_000, 5_000, peer=ANY, tag=76, bytes=36864, request=0),
            Record("Isend", 5_000, 1_000, peer=1, tag=204, bytes=80, request=1),
            Record("Waitall", 9_000, 10_000, given=2, completions=[Completion(0), Completion(1)]),
            Record("Allreduce", 10_000, 10_000, bytes=12),
            Record("Alltoallv", 10_000, 10_000, bytes=80, bytes2=24, counts=[32, 48], counts2=[8, 16]),
            Record("finalize", 10_000),
        ]
    )
    assert records(trace, 1)[1] == Record(
        "Sendrecv", 10_000, 10_000, peer=0, tag=76, bytes=4, peer2=-2, tag2=5, bytes2=4
    )
    assert "1 × source or tag of a receive from anybody" in brought.notes[0]
    assert "1 × MPI_Bcast on a sub-communicator" in brought.notes[0]


def test_requests_of_mpich_stand_four_bytes_apart(tmp_path: Path) -> None:
    text = ALLPROF[0].replace("14118584", "14118580").replace("5641280", "1140850688")
    written(tmp_path, text, "pmpi-trace-rank-0.txt")
    written(tmp_path, "MPI_Init:-:0:0:1\nMPI_Finalize:2:-\n", "pmpi-trace-rank-1.txt")
    allprof.bring([tmp_path], tmp_path)
    found = records(open_trace(tmp_path), 0)
    assert found[2].completions == [Completion(0), Completion(1)] and found[0].peer == -2  # MPICH's nobody is -1


def test_a_line_that_is_cut_is_named(tmp_path: Path) -> None:
    written(tmp_path, "MPI_Init:-:0:0:1\nMPI_Send:5:1:2\n", "pmpi-trace-rank-0.txt")
    with pytest.raises(FormatError, match=r"rank-0.txt:2: 'MPI_Send:5:1:2' is no line"):
        allprof.bring([tmp_path], tmp_path)


def test_liballprof_names_its_files_as_its_user_says(tmp_path: Path) -> None:
    for rank, text in enumerate(ALLPROF):
        written(tmp_path, text, f"run-07.{rank}.txt")
    assert allprof.bring([tmp_path / "run-07.1.txt", tmp_path / "run-07.0.txt"], tmp_path).ranks == 2
    with pytest.raises(FormatError, match=r"notes\.txt: its name tells no rank"):
        allprof.bring([written(tmp_path, "", "notes.txt")], tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (":1:204:", ":2:204:", "rank-0.txt:6: .*there is no rank 2: there are 2"),
        (":1020:14781072:10:", ":1020:14781072:-10:", "rank-0.txt:6: .*a message of -80 B"),
        (":1:204:", f":1:{2**31}:", f"rank-0.txt:6: .*a tag of {2**31}"),
        ("1030:2:", f"1030:{10**30}:", "rank-0.txt:7: .*is no line of liballprof"),
        ("MPI_Finalize:1090", "MPI_Finalize:1e308", "rank-0.txt:11: .*is no line of liballprof"),
        ("MPI_Finalize:1090", "MPI_Finalize:1e18", "rank-0.txt:11: .*a run of more than a hundred days"),
        ("0,0,2:1060", "0,0,3:1060", "rank-0.txt is of 3 ranks or more, and the files are 2"),
    ],
)
def test_what_no_run_can_have_done_is_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert ALLPROF[0].count(old) == 1
    for rank, text in enumerate(ALLPROF):
        written(tmp_path, text.replace(old, new), f"pmpi-trace-rank-{rank}.txt")
    with pytest.raises(FormatError, match=why):
        allprof.bring([tmp_path], tmp_path)


def test_a_wait_for_more_requests_than_there_are_takes_no_time(tmp_path: Path) -> None:
    written(tmp_path, ALLPROF[0].replace("1030:2:", "1030:2000000000:"), "pmpi-trace-rank-0.txt")
    written(tmp_path, ALLPROF[1], "pmpi-trace-rank-1.txt")
    allprof.bring([tmp_path], tmp_path)
    assert records(open_trace(tmp_path), 0)[2].completions == [Completion(0), Completion(1)]


def test_a_text_without_calls_is_no_empty_program(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no call of MPI"):
        allprof.bring([written(tmp_path, "# hostname: n1.\n", "pmpi-trace-rank-0.txt")], tmp_path)
    with pytest.raises(FormatError, match="no event of MPI"):
        otf2.bring([written(tmp_path, OTF2[: OTF2.index("ENTER", OTF2.index("=== Events"))])], tmp_path)


OTF2 = """\

=== OTF2-PRINT ===

=== Global Definitions =========================================================

Definition                    ID  Attributes
--------------------------------------------------------------------------------
CLOCK_PROPERTIES                  Ticks per Seconds: 500000000, Global Offset: 0, Length: 1000
LOCATION                       0  Name: "Master thread" <9>, Type: CPU_THREAD, # Events: 9, Group: "Rank 0" <0>
LOCATION                       4  Name: "Master thread" <9>, Type: CPU_THREAD, # Events: 9, Group: "Rank 1" <1>
GROUP                          0  Name: "" <0>, Type: COMM_LOCATIONS, Paradigm: MPI, Flags: NONE, 2 Members: \
"Master thread" <0>, "Master thread" <4>
GROUP                          1  Name: "" <0>, Type: COMM_GROUP, Paradigm: MPI, Flags: NONE, 2 Members: \
0 ("Master thread" <0>), 1 ("Master thread" <4>)
GROUP                          2  Name: "" <0>, Type: COMM_GROUP, Paradigm: MPI, Flags: NONE, 2 Members: \
1 ("Master thread" <4>), 0 ("Master thread" <0>)
COMM                           0  Name: "MPI_COMM_WORLD" <3>, Group: "" <1>, Parent: UNDEFINED
COMM                           1  Name: "" <0>, Group: "" <2>, Parent: "MPI_COMM_WORLD" <0>

=== Events =====================================================================
Event                               Location            Timestamp  Attributes
--------------------------------------------------------------------------------
ENTER                                      0                  100  Region: "MPI_Init" <1>
LEAVE                                      0                  200  Region: "MPI_Init" <1>
ENTER                                      0                  210  Region: "main" <2>
ENTER                                      0                  300  Region: "MPI_Irecv" <3>
MPI_IRECV_REQUEST                          0                  301  Request: 7
LEAVE                                      0                  310  Region: "MPI_Irecv" <3>
ENTER                                      4                  310  Region: "MPI_Send" <4>
MPI_SEND                                   4                  311  Receiver: 0 ("Master thread" <0>), \
Communicator: "MPI_COMM_WORLD" <0>, Tag: 5, Length: 64
LEAVE                                      4                  320  Region: "MPI_Send" <4>
ENTER                                      0                  330  Region: "MPI_Wait" <5>
MPI_IRECV                                  0                  340  Sender: 1 ("Master thread" <4>), \
Communicator: "MPI_COMM_WORLD" <0>, Tag: 5, Length: 64, Request: 7
LEAVE                                      0                  341  Region: "MPI_Wait" <5>
ENTER                                      0                  350  Region: "MPI_Send" <4>
MPI_SEND                                   0                  351  Receiver: 0 ("Master thread" <4>), \
Communicator: "" <1>, Tag: 6, Length: 8
LEAVE                                      0                  352  Region: "MPI_Send" <4>
ENTER                                      0                  360  Region: "MPI_Allgather" <6>
MPI_COLLECTIVE_BEGIN                       0                  361
MPI_COLLECTIVE_END                         0                  369  Operation: ALLGATHER, \
Communicator: "MPI_COMM_WORLD" <0>, Root: UNDEFINED, Sent: 16, Received: 16
LEAVE                                      0                  370  Region: "MPI_Allgather" <6>
"""


def test_otf2(tmp_path: Path) -> None:
    brought = otf2.bring([written(tmp_path, OTF2)], tmp_path)
    trace = open_trace(tmp_path)
    assert brought.ranks == 2
    assert plain(records(trace, 0)) == plain(
        [
            Record("Irecv", 200, 20, peer=ANY, tag=ANY, request=0),
            Record("Wait", 40, 22, completions=[Completion(0, 1, 5, 64)]),
            Record("found_comm", newcomm=2, members=[1, 0]),
            Record("Send", 18, 4, peer=1, tag=6, comm=2, bytes=8),
            Record("Allgather", 16, 20, bytes=8, bytes2=8),
        ]
    )
    assert records(trace, 1) == [Record("Send", 0, 20, peer=0, tag=5, bytes=64)]


def test_otf2_receives_without_blocking_on_the_communicator_that_their_ends_tell(tmp_path: Path) -> None:
    """As in sst-macro's tests/otf2_test_traces: the line that posts such a receive has a request, and nothing else."""
    text = OTF2.replace(
        """Sender: 1 ("Master thread" <4>), \\
Communicator: "MPI_COMM_WORLD" <0>""".replace("\\\n", ""),
        'Sender: 0 ("Master thread" <4>), Communicator: "" <1>',
    )
    assert text != OTF2
    otf2.bring([written(tmp_path, text)], tmp_path)
    first, second, *_ = records(open_trace(tmp_path), 0)
    assert (first.op, first.newcomm, first.members) == ("found_comm", 2, [1, 0])
    assert (second.op, second.comm, second.request) == ("Irecv", 2, 0)


def test_otf2_of_a_program_without_mpi_says_so(tmp_path: Path) -> None:
    text = "\n".join(line for line in OTF2.splitlines() if "COMM_LOCATIONS" not in line)
    with pytest.raises(FormatError, match="has no ranks of MPI"):
        otf2.bring([written(tmp_path, text)], tmp_path)


def test_otf2_without_definitions_says_how_to_print_them(tmp_path: Path) -> None:
    text = OTF2[OTF2.index("=== Events") :]
    with pytest.raises(FormatError) as raised:
        otf2.bring([written(tmp_path, text)], tmp_path)
    assert "otf2-print -A" in raised.value.next_step


@pytest.mark.parametrize("name", NAMES)
def test_every_format_has_help_and_says_what_is_not_there(tmp_path: Path, name: str) -> None:
    module = import_named(name)
    assert module.HELP
    with pytest.raises(FormatError):
        module.bring([tmp_path], tmp_path, **({"expand": around} if name in EXPANDED else {}))


RECORDED = Path(__file__).parent / "recorded" / "otf2-print-3.0.2.txt"
"""An archive that was written through OTF2's own bindings, as its otf2-print printed it: four ranks, split in halves of
which the second counts backwards."""


def test_otf2_of_an_archive(tmp_path: Path) -> None:
    brought = otf2.bring([RECORDED], tmp_path)
    assert (brought.ranks, list(brought.notes)) == (4, [])
    trace = open_trace(tmp_path)
    assert plain(records(trace, 3)) == plain(
        [
            Record("Irecv", 1000, 200, peer=ANY, tag=ANY, request=0),
            Record("Isend", 1000, 200, peer=2, tag=7, bytes=4096, request=1),
            Record("Waitall", 1000, 300, given=2, completions=[Completion(0, 2, 7, 4096), Completion(1)]),
            Record("Comm_split", 1000, 400, newcomm=2, members=[3, 2]),
            Record("Send", 1000, 200, peer=2, tag=3, comm=2, bytes=64),
            Record("Bcast", 1000, 300, root=3, comm=2, bytes=800),
            Record("Iallreduce", 1000, 200, bytes=8, request=0),
            Record("Wait", 2200, 200, completions=[Completion(0)]),  # behind a test that told nothing
            Record("Sendrecv", 1000, 300, peer=0, tag=9, bytes=100, peer2=2, tag2=9, bytes2=100),
            Record("Allgather", 1000, 300, bytes=8, bytes2=8),
            Record("finalize", 2400, 400),  # behind MPI_Comm_free
        ]
    )


def as_scorep(text: str) -> str:
    """With paradigms that the trace defines, as Score-P's traces have them."""
    return text.replace("Paradigm: MPI, Flags: NONE,", 'Paradigm: "MPI" <4>, Flags: NONE,')


def test_otf2_of_score_p_names_paradigms_by_their_definitions(tmp_path: Path) -> None:
    plain_, defined = tmp_path / "plain", tmp_path / "defined"
    for folder, text in ((plain_, RECORDED.read_text()), (defined, as_scorep(RECORDED.read_text()))):
        folder.mkdir()
        assert otf2.bring([written(folder, text)], folder).ranks == 4
    assert records(open_trace(plain_), 2) == records(open_trace(defined), 2)


ALONE = """\
CLOCK_PROPERTIES                  Ticks per Seconds: 1000000000, Global Offset: 0, Length: 1000
SYSTEM_TREE_NODE               0  Name: "cluster" <1>, Class: "machine" <2>, Parent: UNDEFINED
SYSTEM_TREE_NODE               1  Name: "n7" <3>, Class: "node" <4>, Parent: "machine::cluster" <0>
SYSTEM_TREE_NODE               2  Name: "socket" <5>, Class: "socket" <5>, Parent: "node::n7" <1>
LOCATION_GROUP                 0  Name: "MPI Rank 0" <6>, Type: PROCESS, Parent: "socket::socket" <2>
LOCATION                       0  Name: "Master thread" <9>, Type: CPU_THREAD, # Events: 9, Group: "MPI Rank 0" <0>
GROUP                          0  Name: "" <0>, Type: COMM_LOCATIONS, Paradigm: "MPI" <4>, Flags: NONE, 1 Member: \
"Master thread" <0>
GROUP                          1  Name: "" <0>, Type: COMM_GROUP, Paradigm: "MPI" <4>, Flags: NONE, 1 Member: \
0 ("Master thread" <0>)
COMM                           0  Name: "MPI_COMM_WORLD" <3>, Group: "" <1>, Parent: UNDEFINED, Flags: NONE

=== Events =====================================================================
ENTER                                      0                  310  Region: "MPI_Finalize" <4>
LEAVE                                      0                  320  Region: "MPI_Finalize" <4>
"""


def test_otf2_of_a_single_rank_and_the_host_it_ran_on(tmp_path: Path) -> None:
    assert otf2.bring([written(tmp_path, ALONE)], tmp_path).ranks == 1
    assert open_trace(tmp_path).hosts == {0: "n7"}


def test_otf2_of_an_archive_knows_the_hosts(tmp_path: Path) -> None:
    otf2.bring([RECORDED], tmp_path)
    assert set(open_trace(tmp_path).hosts.values()) == {"node1"}


BETWEEN = """\
INTER_COMM                             3  name: "between" <9>, Group A: "" <2>, Group B: "" <3>, \
Common Communicator: "MPI_COMM_WORLD" <0>, Flags: {CREATE_DESTROY_EVENTS}
"""


def between(rank: int, root: str) -> str:
    """A rank's events: an intercommunicator between the halves, and a broadcast over it."""
    lines = [
        ('ENTER', 100, 'Region: "MPI_Intercomm_create" <20>'),
        ('COMM_CREATE', 101, 'Communicator: "between" <3>'),
        ('MPI_COLLECTIVE_END', 102, 'Operation: CREATE_HANDLE, Communicator: "MPI_COMM_WORLD" <0>, Root: NONE, '
                                    'Sent: 0, Received: 0'),
        ('LEAVE', 103, 'Region: "MPI_Intercomm_create" <20>'),
        ('ENTER', 104, 'Region: "MPI_Bcast" <8>'),
        ('MPI_COLLECTIVE_END', 105, f'Operation: BCAST, Communicator: "between" <3>, Root: {root}, '
                                    'Sent: 0, Received: 0'),
        ('LEAVE', 106, 'Region: "MPI_Bcast" <8>'),
        ('ENTER', 107, 'Region: "MPI_Ibarrier" <21>'),
        ('NON_BLOCKING_COLLECTIVE_REQUEST', 108, 'Request: 1'),
        ('LEAVE', 109, 'Region: "MPI_Ibarrier" <21>'),
    ]  # fmt: skip
    return "".join(f"{kind:32}{rank:17}{at:21}  {text}\n" for kind, at, text in lines)


def test_otf2_of_an_intercommunicator(tmp_path: Path, wording: Wording) -> None:
    defined, _ = RECORDED.read_text().split("=== Events", 1)
    text = defined + BETWEEN + "=== Events ===\n" + between(0, "SELF") + between(1, "THIS_GROUP")
    text += between(2, '0 ("Master thread" <0>)')
    brought = otf2.bring([written(tmp_path, text)], tmp_path)
    (note,) = brought.notes
    assert lacking(note, "3 calls", "left out") == []  # no end is told
    wording(note)
    trace = open_trace(tmp_path)
    roots = []
    for rank, sides in enumerate([([0, 1], [3, 2]), ([0, 1], [3, 2]), ([3, 2], [0, 1])]):
        made, bcast = records(trace, rank)
        assert (made.op, list(made.members), list(made.members2)) == ("Intercomm_create", *sides)
        assert (bcast.op, bcast.comm) == ("Bcast", made.newcomm)
        roots.append(bcast.root)
    assert roots == [0, PROC_NULL, 0]
