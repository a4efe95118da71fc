"""Every call of native/trace/calls.txt: made by a program under each MPI, traced, compared, lowered and replayed."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from tests.process.native.call_messages import LINEAR, messages_of
from tests.process.native.call_tables import TABLES, Table, lines_of, read_table, tables
from tests.process.native.mpi_session import OPTIONS, compiled, each_mpi, library
from tests.process.native.session import Session
from tests.process.native.test_wulf_replay import NETWORK, asked
from tests.process.native.test_wulf_trace import test_each_thread_waits_for_its_own_requests as waits_by_thread
from tests.process.native.trace_reading import ABORTED, FINALIZED, Trace, read_trace
from wulf.cluster.mpi.building import WULF_TRACE
from wulf.codegen.trace_calls import read_table as read_calls

CALLS = Path(__file__).parents[3] / "native/trace/calls.txt"
TABLE = {table.name: table for table in tables()}

REFUSED = {("mpich", "spawn"), ("mpich", "ports")}
"""What an MPI does not have: MPICH over UCX can neither spawn nor open a port."""

WINDOWS = {"openmpi": {"OMPI_MCA_osc": "pt2pt,sm"}, "mpich": {}}
"""Environment in which an MPI has all windows: Open MPI's other ways need networks that this machine lacks."""

TELL = {
    "openmpi": lambda name, value: ("-x", f"{name}={value}"),
    "mpich": lambda name, value: ("-genv", name, value),
}
"""How an MPI's mpirun is told a variable of the ranks' environment."""

LOCKED = ("Win_lock", "Win_unlock", "Win_lock_all", "Win_unlock_all", "Win_flush", "Win_flush_local", "Win_flush_all",
          "Win_flush_local_all", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Rput",
          "Rget", "Raccumulate", "Rget_accumulate")  # fmt: skip
TWICE = ("Win_lock_all", "Win_unlock_all", "Win_flush_all", "Win_flush_local_all")
FILES = ("open", "close", "sync", "read", "read_all", "read_at", "read_at_all", "read_shared", "read_ordered", "write",
         "write_all", "write_at", "write_at_all", "write_shared", "write_ordered")  # fmt: skip
BETWEEN = ("Intercomm_create", "Intercomm_merge", "Comm_dup", "Barrier", "Allreduce", "Reduce", "Gather", "Scatter",
           "Gatherv", "Allgather", "Alltoall", "Alltoallv", "Alltoallw", "Ibarrier", "Ibcast",
           "Iallreduce")  # fmt: skip

LEFT_OUT: dict[str, dict[str, int]] = {
    "messages": {"requests that were cancelled, or that nothing came for": 4},
    "between": {**{f"MPI_{op}": 3 for op in BETWEEN}, "MPI_Bcast": 6},
    "spawn": {"MPI_Comm_spawn": 2, "MPI_Bcast": 2, "messages of processes outside MPI_COMM_WORLD": 1},
    "ports": {"MPI_Comm_accept": 1, "MPI_Comm_connect": 1},
    "locks": {**{f"MPI_{op}": 1 + (op in TWICE) for op in LOCKED}, "MPI_Put": 3},
    "groups": {"MPI_Get": 1},
    "files": {f"MPI_File_{op}": 2 for op in FILES},
}
"""Family → calls that the model does not cover, by how many of them there are."""


class Programs:
    """The program of all families with one MPI, each family run once."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        first, *others = sorted(TABLES.glob("*.c"))
        self.program = compiled(f"mpicc.{kind}", first, folder, *map(str, others))
        self._run = cache(self._fresh)

    def launch(self, folder: Path, ranks: int, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        traced = {"LD_PRELOAD": library(WULF_TRACE, self.kind), "WULF_TRACE_DIR": str(folder), **environment}
        given = [part for name, value in traced.items() for part in TELL[self.kind](name, value)]
        return subprocess.run(
            [f"mpirun.{self.kind}", *OPTIONS[self.kind], *given, "-n", str(ranks), str(self.program), *words],
            timeout=240, check=False, capture_output=True, text=True, env={**os.environ, **WINDOWS[self.kind]},
        )  # fmt: skip

    def run(self, family: str) -> tuple[Path, list[Trace]]:
        """The folder of the family's trace, and its ranks."""
        if (self.kind, family) in REFUSED:
            pytest.skip(f"{self.kind} over UCX can't do what {family} needs")
        folder: Path = self._run(family)
        return folder, [read_trace(path) for path in sorted(folder.glob("*.wtr"))]

    def _fresh(self, family: str) -> Path:
        folder = self.folder / family
        folder.mkdir()
        self.launch(folder, len(TABLE[family].ranks), family, str(self.folder))
        return folder


@pytest.fixture(scope="module")
def programs(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(kind, tmp_path_factory.mktemp(kind))


each_family = pytest.mark.parametrize("family", list(TABLE))


def test_no_call_is_without_a_program_that_asserts_it() -> None:
    """Also under every MPI that has it: what is marked as one MPI's alone does not count."""
    asserted: set[str] = set().union(*(table.calls() for table in TABLE.values()))
    by_test = {"thread": waits_by_thread, "site": test_a_call_site_is_where_the_call_stands,
               "site_name": test_a_call_site_is_where_the_call_stands,
               "tests": test_tests_in_vain_are_counted}  # fmt: skip
    rows = {call.name for call in read_calls(CALLS.read_text(encoding="utf-8"))}
    assert rows - asserted - set(by_test) == set()
    assert asserted <= rows
    assert set(LEFT_OUT) <= set(TABLE)


def test_a_line_may_be_of_one_mpi_alone(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("# of none\nrank 0\nSend peer=1\nmpich: Recv peer=1 # why\nrank 1\n")
    table = read_table(tmp_path / "some.txt")
    assert table == Table("some", (("Send peer=1", "mpich: Recv peer=1"), ()))
    assert table.expected("mpich") == [["Send peer=1", "Recv peer=1"], []]
    assert table.expected("openmpi") == [["Send peer=1"], []]
    assert table.calls() == {"Send"}


@each_mpi
@each_family
def test_what_is_recorded_is_what_was_called(programs: Programs, family: str) -> None:
    _, traces = programs.run(family)
    assert [lines_of(trace) for trace in traces] == TABLE[family].expected(programs.kind)
    for trace in traces:
        assert trace.totals
        assert trace.totals["unknown_requests"] == 0
        refused, end = (1, ABORTED) if family == "notes" else (0, FINALIZED)
        assert (trace.totals["failed_calls"], trace.totals["ended"]) == (refused, end)


@each_mpi
@each_family
def test_what_is_replayed_is_what_was_recorded(programs: Programs, session: Session, family: str) -> None:
    """All that is sent is received (what is not is refused), nothing waits for ever, and holes are counted."""
    folder, traces = programs.run(family)
    answer = asked(session, "load", trace=str(folder), collectives=LINEAR)
    messages = messages_of(traces)
    assert (answer["messages"], answer["bytes"]) == (len(messages), sum(messages))
    left_out = answer["coverage"]["left_out"]
    assert {each["what"]: each["calls"] for each in left_out} == LEFT_OUT.get(family, {})
    assert all(each["why"] for each in left_out)
    seconds = sum(trace.totals["end_ns"] for trace in traces if trace.totals) * 1e-9
    missing = sum(each["seconds"] for each in left_out) / seconds
    assert answer["coverage"]["share"] == pytest.approx(1 - missing, abs=0.01)
    _replays(session, answer["program"])


@each_mpi
@each_family
def test_it_is_replayed_by_the_librarys_own_algorithms(programs: Programs, session: Session, family: str) -> None:
    answer = asked(session, "load", trace=str(programs.run(family)[0]))
    _replays(session, answer["program"])


@each_mpi
def test_synchronous_sends_may_ask_for_their_answers(programs: Programs, session: Session) -> None:
    """Four of the family's are: MPI_Ssend, MPI_Issend, and MPI_Ssend_init that is started twice."""
    folder, traces = programs.run("messages")
    answer = asked(session, "load", trace=str(folder), collectives={"eager": 0})
    assert answer["messages"] == len(messages_of(traces)) + 4
    assert answer["bytes"] == sum(messages_of(traces))
    _replays(session, answer["program"])


def _replays(session: Session, program: int) -> None:
    """Both engines agree where receiving costs nothing: what one call waits for they take in another order."""
    quiet = {**NETWORK, "receiver_gap": False, "inter": {**NETWORK["inter"], "receive_ps": 0}}
    ends = [asked(session, "replay", program=program, networks=[quiet], engine=engine, detail=True)["runs"][0]
            for engine in ("a", "b")]  # fmt: skip
    assert ends[0]["ps"] == ends[1]["ps"] > 0
    assert ends[0]["ranks"] == ends[1]["ranks"]
    asked(session, "drop", program=program)


@each_mpi
def test_tests_in_vain_are_counted(programs: Programs) -> None:
    """A test each of the four kinds, one of a request's status and a probe: before what they ask for is sent."""
    _, (asking, _) = programs.run("completions")
    (tests,) = [record for record in asking.records if record["op"] == "tests"]
    assert tests["count"] == 6
    assert asking.totals and asking.totals["failed_tests"] == 6
    assert asking.records.index(tests) == len(asking.records) - 4


@each_mpi
def test_the_median_call_takes_twelve_bytes_at_most(programs: Programs) -> None:
    there = [family for family in TABLE if (programs.kind, family) not in REFUSED]
    sizes = [size for family in there for trace in programs.run(family)[1] for size in trace.sizes]
    assert len(sizes) > 700
    assert median(sizes) <= 12


@each_mpi
def test_a_call_site_is_where_the_call_stands(programs: Programs, tmp_path: Path) -> None:
    programs.launch(tmp_path, 1, "notes", str(tmp_path), WULF_TRACE_SITES="1")
    records = read_trace(tmp_path / "rank-000000.wtr").records
    names = {record["site"]: record["text"] for record in records if record["op"] == "site_name"}
    at: dict[str, list[str]] = {}
    for note, call in pairwise(records):
        if note["op"] == "site":
            at.setdefault(call["op"], []).append(names[note["site"]])
    assert {op: len(set(sites)) for op, sites in at.items() if op.startswith("MPI_")} == {
        "MPI_Irecv": 1, "MPI_Send": 1, "MPI_Wait": 1
    }  # fmt: skip
    assert len(at["MPI_Send"]) == 2
    for op, function in (("MPI_Send", "from_here"), ("MPI_Wait", "to_itself")):
        program, _, address = at[op][0].partition("+")
        assert program == programs.program.name
        found = subprocess.run(["addr2line", "-f", "-e", programs.program, address], check=True, capture_output=True,
                               text=True)  # fmt: skip
        assert found.stdout.split()[0] == function


@each_mpi
@pytest.mark.parametrize("level", range(4), ids=["single", "funneled", "serialized", "multiple"])
def test_the_level_of_threads_is_what_mpi_gave(programs: Programs, level: int, tmp_path: Path) -> None:
    done = programs.launch(tmp_path, 1, "notes", str(tmp_path), str(level))
    trace = read_trace(tmp_path / "rank-000000.wtr")
    assert done.stdout.split()[:2] == ["level", str(trace.header["threads"])]
    assert [lines_of(trace)] == TABLE["notes"].expected(programs.kind)


@each_mpi
def test_spawned_processes_leave_no_files_among_the_programs(programs: Programs) -> None:
    """They are more than the ranks: the third one's file would be taken for a rank's."""
    folder, _ = programs.run("spawn")
    assert sorted(path.name for path in folder.iterdir()) == ["rank-000000.wtr", "rank-000001.wtr"]
