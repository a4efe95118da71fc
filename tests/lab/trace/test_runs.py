"""`wulf trace` of a real program, here and over a lab's nodes, under every MPI of this machine; then every export."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import WULF
from tests.process.native.mpi_session import OPTIONS, each_mpi
from wulf import lab as labs
from wulf.model.network.file import parse_network
from wulf.trace.imports.goal import read_goal
from wulf.trace.reader import open_trace
from wulf.trace.steps import Post, Walk, outcomes
from wulf.workflow.model.networks import OWN_FILE

BUILDING = 1200
"""Seconds: the first trace with an MPI builds the library with it, on a machine that others use, too."""

pytestmark = [pytest.mark.lab, pytest.mark.timeout(BUILDING + 60)]

RANKS, ROUNDS = 4, 20

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    char in[4096], out[4096] = {0};
    double mine = 1, sum;
    MPI_Comm half;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Irecv(in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 1000, MPI_BYTE, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
        MPI_Bcast(out, 64, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (argc > 1 && rank == 1) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) {
        printf("the sum is %g\\n", sum);
    }
    return 0;
}
"""


def built(folder: Path, kind: str) -> Path:
    source, program = folder / "ring.c", folder / "ring"
    source.write_text(PROGRAM)
    words = [f"mpicc.{kind}", f"-DROUNDS={ROUNDS}", "-o", str(program), str(source)]
    subprocess.run(words, check=True, capture_output=True)
    return program


def wulf(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WULF, "trace", *words], capture_output=True, text=True, timeout=BUILDING, check=False,
        env=os.environ | environment,
    )  # fmt: skip


def check(result: dict[str, Any], hosts: int, ranks: int = RANKS) -> None:
    """What the program did, exactly."""
    assert result["faults"] == [] and result["size"] == ranks and len(result["ranks"]) == ranks
    assert len({rank["host"] for rank in result["ranks"]}) == hosts
    calls = {name: (line["count"], line["bytes"]) for name, line in result["calls"].items()}
    many = ranks * ROUNDS
    assert calls["Isend"] == (many, many * 1000) and calls["Irecv"] == (many, 0)
    assert calls["Allreduce"] == (many, many * 8) and calls["Bcast"] == (many, many * 64)
    assert calls["Waitall"] == (many, 0) and calls["Comm_split"][0] == calls["finalize"][0] == ranks
    assert sorted((one["from"], one["to"], one["messages"], one["bytes"]) for one in result["pairs"]) == [
        (rank, (rank + 1) % ranks, ROUNDS, ROUNDS * 1000) for rank in range(ranks)
    ]
    assert all(0 < rank["mpi_seconds"] <= rank["seconds"] for rank in result["ranks"])


def check_exports(run: Path, out: Path, ranks: int = RANKS) -> None:
    """Every message has a partner in every format; a wildcard's is the rank before."""
    for one in open_trace(run / "trace").ranks:
        walk = Walk(one.rank, outcomes(one.records()))
        steps = [step for record in one.records() for step in walk.take(record)]
        taken = {(step.peer, step.tag, step.bytes) for step in steps if isinstance(step, Post) and not step.sent}
        assert taken == {((one.rank - 1) % ranks, 3, 1000)}
    for format_, place in (("goal", "p.goal"), ("simgrid", "ti"), ("perfetto", "p.json")):
        done = wulf("export", str(run), "--to", format_, str(out / place))
        assert done.returncode == 0, done.stderr
    assert not read_goal(out / "p.goal").unmatched
    events = json.loads((out / "p.json").read_text())["traceEvents"]
    assert {e["id"] for e in events if e["ph"] == "s"} == {e["id"] for e in events if e["ph"] == "f"}
    assert sum(e["ph"] == "s" for e in events) == ranks * ROUNDS
    assert len((out / "ti/trace.txt").read_text().splitlines()) == ranks


@pytest.mark.full
@each_mpi
def test_a_program_of_this_machine(tmp_path: Path, kind: str) -> None:
    run = tmp_path / "run"
    command = [f"mpirun.{kind}", *OPTIONS[kind], "-n", str(RANKS), str(built(tmp_path, kind))]
    done = wulf("--no-network", "--json", "--out", str(run), "--", *command)
    assert done.returncode == 0, done.stderr
    assert "the sum is 2" in done.stderr  # standard output is ours
    check(json.loads(done.stdout), hosts=1)
    check_exports(run, tmp_path)
    shown = wulf("show", str(run))
    assert shown.returncode == 0 and max(map(len, shown.stdout.splitlines())) <= 80


@pytest.mark.command("trace run")
@each_mpi
def test_a_program_over_the_lab(two_nodes: labs.Lab, tmp_path: Path, kind: str) -> None:
    """One rank on each node: with two, MPICH 4.0.2 over UCX's TCP at times hangs in MPI_Finalize, traced or not."""
    run = tmp_path / "run"
    words = ["n[1-2]", "--lab", "--ranks", "2", "--mpi", kind, "--timeout", "120s", "--json", "--out", str(run)]
    done = wulf(*words, "--no-network", "--", str(built(tmp_path, kind)), WULF_LAB=two_nodes.name)
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout), hosts=2, ranks=2)
    check_exports(run, tmp_path, ranks=2)


@pytest.mark.full
def test_the_network_is_measured_right_after_and_predict_takes_it(two_nodes: labs.Lab, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["n[1-2]", "--lab", "--ranks", "2", "--mpi", "openmpi", "--timeout", "120s", "--json", "--out", str(run)]
    done = wulf(*words, "--", str(built(tmp_path, "openmpi")), WULF_LAB=two_nodes.name)
    assert done.returncode == 0, done.stderr
    file = parse_network((run / "trace" / OWN_FILE).read_text(), "own")
    assert file.inter.byte is not None and file.inter.byte.low is not None
    predict = [*WULF, "predict", str(run), "--network", "this*latency=10", "--json", "--draws", "39"]
    predicted = subprocess.run(predict, capture_output=True, text=True, timeout=120, check=False)
    assert predicted.returncode in (0, 1), predicted.stderr
    assert json.loads(predicted.stdout)["baseline"]["from"].endswith(OWN_FILE)


@each_mpi
def test_a_program_that_aborts_leaves_what_it_did(tmp_path: Path, kind: str) -> None:
    run = tmp_path / "run"
    command = [f"mpirun.{kind}", *OPTIONS[kind], "-n", str(RANKS), str(built(tmp_path, kind)), "abort"]
    done = wulf("--json", "--out", str(run), "--", *command)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    texts = [fault["text"] for fault in result["faults"]]
    assert "rank 1: it called MPI_Abort with 5" in texts and "ended with status" in texts[0]
    assert result["calls"]["abort"]["count"] == 1


@each_mpi
def test_a_program_of_another_mpi_is_refused_before_it_runs(tmp_path: Path, kind: str) -> None:
    others = [other for other in OPTIONS if other != kind]
    program = built(tmp_path, kind)
    done = wulf("--out", str(tmp_path / "run"), "--", f"mpirun.{others[0]}", "-n", "2", str(program))
    assert done.returncode == 2 and "is linked with" in done.stderr
