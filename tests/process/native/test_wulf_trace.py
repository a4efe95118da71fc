"""libwulf-trace under each MPI of this machine: programs of C and Fortran whose calls are known beforehand."""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.native.mpi_session import OPTIONS, compiled, each_mpi, library
from tests.process.native.trace_reading import (
    ABORTED,
    EXITED,
    FINALIZED,
    SIGNALLED,
    UNWRITABLE,
    Trace,
    ended,
    read_trace,
)
from wulf.cluster.mpi.building import WULF_TRACE

SOURCES = Path(__file__).parent / "trace"


def launch(kind: str, ranks: int, program: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The program's end, whatever it is."""
    environment = {"LD_PRELOAD": library(WULF_TRACE, kind), "WULF_TRACE_DIR": str(folder)}
    given = [part for name, value in environment.items()
             for part in (["-x", f"{name}={value}"] if kind == "openmpi" else ["-genv", name, value])]  # fmt: skip
    return subprocess.run(
        [f"mpirun.{kind}", *OPTIONS[kind], *given, "-n", str(ranks), str(program), *words],
        timeout=240, check=False, capture_output=True, text=True,
    )  # fmt: skip


def run(kind: str, ranks: int, program: Path, folder: Path, *words: str) -> list[Trace]:
    """The traces of all ranks; the program's own end is not looked at."""
    traces = folder / "traces"
    traces.mkdir()
    launch(kind, ranks, program, traces, *words)
    return [read_trace(traces / f"rank-{rank:06d}.wtr") for rank in range(ranks)]


def send(op: str, peer: int, tag: int, size: int, **more: int) -> dict[str, Any]:
    return {"op": f"MPI_{op}", "peer": peer, "tag": tag, "comm": 0, "bytes": size, **more}


def wait(request: int, **more: Any) -> dict[str, Any]:
    return {"op": "MPI_Wait", "completion": {"request": request, **more}}


def waits(op: str, given: int, *completions: dict[str, Any]) -> dict[str, Any]:
    return {"op": f"MPI_{op}", "given": given, "completions": list(completions)}


@each_mpi
def test_messages_are_as_they_were_sent(kind: str, tmp_path: Path) -> None:
    traces = run(kind, 2, compiled(f"mpicc.{kind}", SOURCES / "messages.c", tmp_path), tmp_path)
    assert traces[0].calls()[:6] == [
        send("Send", 1, 1, 40), send("Ssend", 1, 2, 44), send("Bsend", 1, 3, 48), send("Recv", 1, 4, 0),
        send("Rsend", 1, 5, 52), send("Send", -2, 0, 5),
    ]  # fmt: skip
    second = {"request": 1, "source": 0, "tag": 11, "bytes": 21}
    assert traces[1].calls() == [
        send("Recv", 0, 1, 40),
        send("Recv", -1, 2, 44, source=0, source_tag=2),
        send("Recv", 0, -1, 48, source=0, source_tag=3),
        send("Irecv", 0, 5, 4000, request=0),
        send("Send", 0, 4, 0),
        wait(0, bytes=52),
        send("Recv", -2, 0, 0),
        {"op": "MPI_Sendrecv", "peer": 0, "tag": 7, "bytes": 101, "peer2": -1, "tag2": 7, "bytes2": 100, "comm": 0,
         "source": 0, "source_tag": 7},
        {"op": "MPI_Sendrecv_replace", "peer": 0, "tag": 8, "bytes": 50, "peer2": 0, "tag2": 8, "bytes2": 50,
         "comm": 0},
        send("Recv", 0, 9, 480),  # of 3 columns of 10 x 2 numbers
        send("Recv_init", 0, 10, 20, request=0),
        send("Recv_init", -1, 11, 100, request=1),
        *2 * [{"op": "MPI_Start", "requests": [0]}, {"op": "MPI_Startall", "requests": [1]},
              waits("Waitall", 2, {"request": 0}, second)],
        waits("Waitall", 2),
        {"op": "MPI_Request_free", "request": 0}, {"op": "MPI_Request_free", "request": 1},
        send("Probe", -1, 12, 30, source=0, source_tag=12), send("Recv", 0, 12, 30),
        send("Iprobe", 0, 13, 31), send("Recv", 0, 13, 31),
        send("Mprobe", -1, -1, 32, source=0, source_tag=14), send("Mrecv", 0, 14, 32),
        send("Improbe", 0, 15, 33), send("Imrecv", 0, 15, 100, request=0), wait(0, bytes=33),
        send("Irecv", 0, 99, 4, request=0), {"op": "MPI_Cancel", "request": 0}, wait(0, cancelled=True), wait(-1),
    ]  # fmt: skip
    assert ended(traces[1]) == (FINALIZED, 0)
    assert traces[1].totals and traces[1].totals["unknown_requests"] == traces[1].totals["failed_calls"] == 0


@each_mpi
def test_collectives_have_bytes_where_they_mean_something(kind: str, tmp_path: Path) -> None:
    traces = run(kind, 3, compiled(f"mpicc.{kind}", SOURCES / "collectives.c", tmp_path), tmp_path)
    calls = traces[2].calls()
    assert calls[:19] == [
        {"op": f"MPI_{op}", "comm": 0, **more} for op, more in (
            ("Barrier", {}), ("Bcast", {"root": 1, "bytes": 40}), ("Reduce", {"root": 2, "bytes": 44}),
            ("Allreduce", {"bytes": 48}), ("Allreduce", {"bytes": 52}), ("Scan", {"bytes": 56}),
            ("Exscan", {"bytes": 60}), ("Reduce_scatter_block", {"bytes": 64}),
            ("Reduce_scatter", {"counts": [4, 8, 12]}), ("Gather", {"root": 0, "bytes": 8, "bytes2": 0}),
            ("Gatherv", {"root": 0, "bytes": 12, "counts": []}), ("Scatter", {"root": 0, "bytes": 0, "bytes2": 16}),
            ("Scatterv", {"root": 0, "bytes2": 12, "counts": []}), ("Allgather", {"bytes": 20, "bytes2": 20}),
            ("Allgather", {"bytes": 24, "bytes2": 24}), ("Allgatherv", {"bytes": 12, "counts": [4, 8, 12]}),
            ("Alltoall", {"bytes": 28, "bytes2": 28}),
            ("Alltoallv", {"bytes": 12, "bytes2": 12, "counts": [4, 4, 4], "counts2": [4, 4, 4]}),
            ("Alltoallw", {"bytes": 12, "bytes2": 12, "counts": [4, 4, 4], "counts2": [4, 4, 4]}),
        )
    ]  # fmt: skip
    root = traces[0].calls()[9:13]
    assert [(call.get("bytes"), call.get("bytes2"), call.get("counts")) for call in root] == [
        (8, 8, None), (4, None, [4, 8, 12]), (16, 16, None), (None, 4, [4, 8, 12])
    ]  # fmt: skip
    assert calls[19:26] == [
        {"op": "MPI_Ibarrier", "comm": 0, "request": 0}, wait(0),
        {"op": "MPI_Ibcast", "comm": 0, "root": 2, "bytes": 80, "request": 0},
        {"op": "MPI_Iallreduce", "comm": 0, "bytes": 84, "request": 1},
        {"op": "MPI_Ialltoallv", "comm": 0, "bytes": 12, "bytes2": 12, "counts": [4, 4, 4], "counts2": [4, 4, 4],
         "request": 2},
        {"op": "MPI_Igatherv", "comm": 0, "root": 1, "bytes": 12, "counts": [], "request": 3},
        waits("Waitall", 4, *({"request": id} for id in range(4))),
    ]  # fmt: skip


@each_mpi
def test_communicators_are_numbered_and_their_ranks_are_those_of_the_world(kind: str, tmp_path: Path) -> None:
    traces = run(kind, 3, compiled(f"mpicc.{kind}", SOURCES / "collectives.c", tmp_path), tmp_path)

    def made(rank: int) -> list[tuple[Any, ...]]:
        return [(record["op"], record["comm"], record["newcomm"], record["members"], record["members2"])
                for record in traces[rank].records if "newcomm" in record]  # fmt: skip

    assert made(0) == [
        ("MPI_Cart_create", 0, 2, [0, 1, 2], []), ("MPI_Dist_graph_create_adjacent", 0, 3, [0, 1, 2], []),
        ("MPI_Comm_dup", 0, 4, [0, 1, 2], []), ("MPI_Comm_split", 4, 5, [2, 1, 0], []),
        ("MPI_Comm_split", 0, 6, [0, 2], []), ("MPI_Comm_create_group", 0, 7, [0, 1], []),
        ("MPI_Comm_split", 0, 8, [0], []), ("MPI_Intercomm_create", 8, 9, [0], [1, 2]),
        ("MPI_Intercomm_merge", 9, 10, [1, 2, 0], []),
    ]  # fmt: skip
    assert made(1)[4] == ("MPI_Comm_split", 0, -1, [], [])
    neighbours = [record for record in traces[0].records if record["op"] == "neighbours"]
    assert [(one["comm"], one["members"], one["members2"]) for one in neighbours] == [
        (2, [2, 1], [2, 1]),
        (3, [2], [1]),
    ]
    turned = [call for call in traces[0].calls() if call.get("comm") == 5]
    assert turned == [
        {"op": "MPI_Bcast", "comm": 5, "root": 2, "bytes": 4},
        {"op": "MPI_Send", "peer": 2, "tag": 5, "comm": 5, "bytes": 4},
        {"op": "MPI_Comm_free", "comm": 5},
    ]
    (got,) = [call for call in traces[2].calls("MPI_Recv_init") if call["op"] == "MPI_Recv"]
    assert (got["peer"], got["source"], got["source_tag"]) == (-1, 0, 5)
    assert {"op": "MPI_Bcast", "comm": 9, "root": 0, "bytes": 32} in traces[0].calls()  # its own, as MPI_ROOT
    assert {"op": "pcontrol", "number": 2}.items() <= traces[0].records[-2].items()


@each_mpi
def test_any_order_is_told_and_failed_tests_are_one_record(kind: str, tmp_path: Path) -> None:
    trace = run(kind, 3, compiled(f"mpicc.{kind}", SOURCES / "ends.c", tmp_path), tmp_path, "any")[0]
    ops = [record["op"] for record in trace.records]
    assert ops == ["MPI_Irecv", "MPI_Irecv", "tests", "MPI_Testany", "MPI_Waitany", "MPI_Waitany", "finalize"]
    completed = [one for record in trace.records for one in record.get("completions", ())]
    assert sorted((one["source"], one["tag"], one["bytes"]) for one in completed) == [(1, 21, 4), (2, 22, 4)]
    assert {one["request"] for one in completed} == {0, 1}
    tests = trace.records[2]
    assert trace.totals and trace.totals["failed_tests"] == tests["count"] > 0
    assert trace.totals["calls"] == tests["count"] + 6
    assert tests["gap"] + tests["call"] + tests["between"] >= 20_000_000  # rank 1 sleeps for 50 ms


@each_mpi
@pytest.mark.parametrize("flags", [("-cpp",), ("-cpp", "-DF08")], ids=["mpi", "mpi_f08"])
def test_fortrans_calls_are_recorded_once(kind: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    calls = run(kind, 3, compiled(f"mpif90.{kind}", SOURCES / "known.f90", tmp_path, *flags), tmp_path)[1].calls()
    assert calls == [
        {"op": "MPI_Sendrecv", "peer": 2, "tag": 0, "bytes": 800, "peer2": 0, "tag2": 0, "bytes2": 800, "comm": 0},
        send("Irecv", -1, 1, 800, request=0), send("Isend", 2, 1, 400, request=1),
        waits("Waitall", 2, {"request": 0, "source": 0, "tag": 1, "bytes": 400}, {"request": 1}),
        send("Irecv", 0, 2, 800, request=0), send("Irecv", 0, 3, 800, request=1), send("Send", 2, 2, 80),
        waits("Waitany", 2, {"request": 0, "bytes": 80}), send("Send", 2, 3, 88), wait(1, bytes=88),
        {"op": "MPI_Allreduce", "comm": 0, "bytes": 4}, {"op": "MPI_Allgather", "comm": 0, "bytes": 160, "bytes2": 160},
        {"op": "MPI_Comm_split", "comm": 0, "newcomm": 2, "members": [2, 1, 0], "members2": []},
        {"op": "MPI_Bcast", "comm": 2, "root": 2, "bytes": 24}, {"op": "MPI_Comm_free", "comm": 2},
    ]  # fmt: skip


@each_mpi
@pytest.mark.parametrize(
    ("way", "end", "calls"),
    [
        ("fault", (SIGNALLED, 11), 30),
        ("abort", (ABORTED, 3), 30),
        ("exit", (EXITED, 0), 30),
        ("fork", (FINALIZED, 0), 30),
    ],
)
def test_however_a_program_ends_its_calls_are_there(
    kind: str, way: str, end: tuple[int, int], calls: int, tmp_path: Path
) -> None:
    trace = run(kind, 1, compiled(f"mpicc.{kind}", SOURCES / "ends.c", tmp_path), tmp_path, way)[0]
    assert ended(trace) == end
    assert len(trace.calls()) == calls
    requests = [one["request"] for call in trace.calls() for one in call.get("completions", ())]
    assert requests == [0, 1] * (calls // 3)


@each_mpi
def test_who_is_killed_has_lost_a_second_at_most(kind: str, tmp_path: Path) -> None:
    trace = run(kind, 1, compiled(f"mpicc.{kind}", SOURCES / "ends.c", tmp_path), tmp_path, "killed")[0]
    assert trace.totals is None
    assert 31 <= len(trace.calls()) <= 60  # the first call after a second writes all


@each_mpi
def test_a_full_disk_cuts_the_trace_and_not_the_program(kind: str, tmp_path: Path) -> None:
    traces, program = tmp_path / "traces", compiled(f"mpicc.{kind}", SOURCES / "ends.c", tmp_path)
    traces.mkdir()
    done = launch(kind, 1, program, traces, "full")
    assert "went on" in done.stdout and "wulf: the trace of rank 0 is cut" in done.stderr
    assert done.returncode == 0
    trace = read_trace(traces / "rank-000000.wtr")
    assert ended(trace)[0] == UNWRITABLE and trace.totals
    assert trace.totals["calls"] == len(trace.records) > 0
    assert trace.totals["calls"] + trace.totals["lost_calls"] == 300_001  # MPI_Finalize is one


@each_mpi
def test_a_call_takes_few_bytes_and_a_folder_one_trace(kind: str, tmp_path: Path) -> None:
    program = compiled(f"mpicc.{kind}", SOURCES / "ends.c", tmp_path)
    (trace,) = run(kind, 1, program, tmp_path, "many", "5")
    assert len(trace.records) == 15_001
    assert statistics.median(trace.sizes) <= 12
    before = (tmp_path / "traces/rank-000000.wtr").read_bytes()
    again = launch(kind, 1, program, tmp_path / "traces", "many", "1")
    assert "ns a call" in again.stdout and "is not traced" in again.stderr
    assert (tmp_path / "traces/rank-000000.wtr").read_bytes() == before


@each_mpi
def test_windows_have_their_epochs(kind: str, tmp_path: Path) -> None:
    trace = run(kind, 2, compiled(f"mpicc.{kind}", SOURCES / "onesided.c", tmp_path, "-pthread"), tmp_path)[0]
    windows = [(call["op"].removeprefix("MPI_"), call.get("peer"), call.get("bytes")) for call in trace.calls()]
    assert windows == [
        ("Win_allocate", None, None), ("Win_fence", None, None), ("Put", 1, 8), ("Get", 1, 4),
        ("Win_fence", None, None),
        ("Win_lock", 1, None), ("Accumulate", 1, 12), ("Rput", 1, 4), ("Wait", None, None), ("Win_flush", 1, None),
        ("Win_unlock", 1, None), ("Win_post", None, None), ("Win_start", None, None), ("Win_complete", None, None),
        ("Win_wait", None, None), ("Win_free", None, None),
    ]  # fmt: skip
    assert [call["members"] for call in trace.calls() if "members" in call] == [[1], [1]]


@each_mpi
def test_each_thread_waits_for_its_own_requests(kind: str, tmp_path: Path) -> None:
    program = compiled(f"mpicc.{kind}", SOURCES / "onesided.c", tmp_path, "-pthread")
    trace = run(kind, 2, program, tmp_path, "threads")[0]
    if trace.header["threads"] < 3:
        pytest.skip(f"{kind} is built without support for threads")
    threads = {record["thread"] for record in trace.records}
    assert threads == {0, 1}
    for thread in threads:
        rest = [record for record in trace.records if record["thread"] == thread and record["op"] != "thread"]
        made = [record for record in rest if record["op"] == "MPI_Irecv"]
        waited = [record for record in rest if record["op"] == "MPI_Wait"]
        assert len(made) == len(waited) == 200
        for receive, wait_for in zip(made, waited, strict=True):
            completion = wait_for["completion"]
            assert (completion["request"], completion["bytes"]) == (receive["request"], 10 * receive["tag"])
