"""What signals do to a program under libwulf-trace: what they do to it without."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.process.native.mpi_session import compiled, each_mpi, library
from tests.process.native.trace_reading import FINALIZED, SIGNALLED, ended, read_trace
from tests.running.tiers import first_of
from wulf.cluster.mpi.building import WULF_TRACE

SOURCE = Path(__file__).parent / "trace" / "signals.c"

SURVIVED = {
    "barrier": "1280 faults",
    "barrier_threads": "64 faults",
    "overflow": "1 overflow",
    "illegal": "1 caught, code 2",
    "divide": "1 caught, code 1",
    "beyond": "1 caught, code 2",
    **{
        f"sent_{signal}": "1 caught, code -1, value 42, of this process: 1"
        for signal in ("segv", "fpe", "term", "int", "usr2", "abrt")
    },
    "profiler": "5 samples",
    "checkpoint": "3 checkpoints",
    "fork": "the child ended by 6",
}
"""What a program does with signals that it handles → what it says of them: of x86, as the kernel's numbers are."""

ENDED = {"segv": 11, "term": 15, "int": 2, "usr1": 10, "usr2": 12, "fpe": 8, "abrt": 6, "once": 11, "chain_segv": 11,
         "chain_term": 15}  # fmt: skip
"""What ends a program → by which signal."""

TAKEN = {("mpich", "usr1")}
"""Signals that an MPI takes for itself: MPICH's tells it of ranks that died, and ends nobody."""

LEFT_ALONE = {("once", "after"), ("chain_term", "before")}
"""Handlers of the program's own that the tracer neither comes before nor is called by: the last second is lost."""


def alone(program: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The only rank, started without mpirun: how it ends is seen as it is."""
    return subprocess.run(
        [program, *words], env=os.environ | environment, timeout=60, check=False, capture_output=True, text=True
    )


def traced(kind: str, program: Path, folder: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder.mkdir()
    done = alone(program, *words, LD_PRELOAD=library(WULF_TRACE, kind), WULF_TRACE_DIR=str(folder))
    return done, folder / "rank-000000.wtr"


@each_mpi
@pytest.mark.parametrize("when", first_of(["before", "after"]))
def test_who_handles_signals_gets_them_as_they_are(kind: str, when: str, tmp_path: Path) -> None:
    """Where they are from, what they carry, on which stack, in which thread: and the trace goes on to its end."""
    program = compiled(f"mpicc.{kind}", SOURCE, tmp_path, "-pthread")
    for way, said in SURVIVED.items():
        plain = alone(program, way, when)
        assert (plain.stdout.splitlines(), plain.returncode) == (["begins", said, "ends"], 0), (way, plain.stderr)
        done, file = traced(kind, program, tmp_path / way, way, when)
        assert (done.stdout, done.returncode) == (plain.stdout, 0), (way, done.stderr)
        trace = read_trace(file)
        assert ended(trace) == (FINALIZED, 0), way
        assert [call["op"] for call in trace.calls("MPI_Iprobe")] == ["MPI_Barrier", "MPI_Barrier"], way


@each_mpi
def test_threads_that_fault_at_one_moment_leave_one_trace(kind: str, tmp_path: Path) -> None:
    """Every fourth run had the end that one thread wrote in the midst of the chunk that another did."""
    program = compiled(f"mpicc.{kind}", SOURCE, tmp_path, "-pthread")
    for number in range(10):
        done, file = traced(kind, program, tmp_path / str(number), "barrier_threads", "before")
        assert done.returncode == 0, done.stderr
        trace = read_trace(file)
        assert ended(trace) == (FINALIZED, 0)
        assert [call["op"] for call in trace.calls("MPI_Iprobe")] == ["MPI_Barrier", "MPI_Barrier"]


@each_mpi
@pytest.mark.parametrize("when", first_of(["before", "after"]))
def test_who_ends_by_a_signal_ends_by_it_and_leaves_its_calls(kind: str, when: str, tmp_path: Path) -> None:
    program = compiled(f"mpicc.{kind}", SOURCE, tmp_path, "-pthread")
    for way, signal in ENDED.items():
        if (kind, way) in TAKEN:
            continue
        plain = alone(program, way, when)
        assert (plain.stdout, plain.returncode) == ("begins\n", -signal), (way, plain)
        done, file = traced(kind, program, tmp_path / way, way, when)
        assert (done.stdout, done.returncode) == (plain.stdout, -signal), (way, done.stderr)
        trace = read_trace(file)
        if (way, when) in LEFT_ALONE:
            assert trace.totals is None, way
            continue
        assert ended(trace) == (SIGNALLED, signal), way
        assert [call["op"] for call in trace.calls()] == ["MPI_Barrier"], way
