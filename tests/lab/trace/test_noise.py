"""`wulf trace --noise`: a rank whose CPU a planted task takes is told late for it, here and over a lab's nodes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import WULF
from tests.lab.node import planted
from tests.lab.node.planted import planting
from tests.process.native.mpi_session import OPTIONS
from wulf import lab as labs

BUILDING = 1200
"""Seconds: the first trace with an MPI builds the library with it, on a machine that others use, too."""

pytestmark = [
    pytest.mark.lab,
    pytest.mark.full,
    pytest.mark.timeout(BUILDING + 60),
    pytest.mark.skipif(os.geteuid() != 0, reason="tracing the system needs root"),
]

ROUNDS = 500

PROGRAM = """
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <time.h>
static double had(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char **argv)
{
    int rank;
    cpu_set_t own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CPU_ZERO(&own);
    CPU_SET(rank, &own);
    sched_setaffinity(0, sizeof own, &own);
    for (int round = 0; round < ROUNDS; ++round) {
        for (double end = had() + 0.002; had() < end;) {
        }
#ifdef MESSAGES
        int sent = round, got;
        MPI_Sendrecv(&sent, 1, MPI_INT, 1 - rank, 7, &got, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        MPI_Barrier(MPI_COMM_WORLD);
#endif
    }
    return MPI_Finalize();
}
"""


def built(folder: Path, *more: str) -> Path:
    source, program = folder / "bulk.c", folder / "bulk"
    source.write_text(PROGRAM)
    subprocess.run(["mpicc.openmpi", f"-DROUNDS={ROUNDS}", *more, "-o", str(program), str(source)], check=True)
    return program


def traced(run: Path, *words: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [*WULF, "trace", "--noise", "--no-network", "--json", "--out", str(run), *words],
        capture_output=True, text=True, timeout=BUILDING, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["noise"] is not None, found["notes"]
    return found["noise"]  # type: ignore[no-any-return]


def taken(rows: list[dict[str, Any]], rank: int) -> float:
    """Seconds that the planted task took of a rank."""
    own = [one for one in rows if one["rank"] == rank]
    return sum(by["seconds"] for one in own for by in one["by"] if by["name"] == planted.NAME)


def check(noise: dict[str, Any], share: float) -> None:
    """Rank 1, which has the culprit beside it, lost to it, was late for it, and rank 0 was not."""
    first, second = noise["ranks"]
    assert first["seen"]
    assert second["seen"]
    assert taken(noise["ranks"], 0) == 0
    assert share / 3 < taken(noise["ranks"], 1) / second["computing_seconds"] < 3 * share
    assert noise["late"]["collectives"] + noise["late"]["messages"] / 2 >= ROUNDS
    assert taken(noise["late_ranks"], 1) > 0
    assert taken(noise["late_ranks"], 0) == 0
    assert noise["late"]["stolen_seconds"] > noise["late"]["late_seconds"] / 2


def test_a_program_of_this_machine(tmp_path: Path) -> None:
    with planting("task", 1) as said:
        noise = traced(tmp_path / "run", "--", "mpirun.openmpi", *OPTIONS["openmpi"], "-n", "2", str(built(tmp_path)))
    check(noise, said["share"])


def test_a_program_whose_ranks_only_send_messages(tmp_path: Path) -> None:
    with planting("task", 1) as said:
        program = str(built(tmp_path, "-DMESSAGES"))
        noise = traced(tmp_path / "run", "--", "mpirun.openmpi", *OPTIONS["openmpi"], "-n", "2", program)
    check(noise, said["share"])
    assert noise["late"]["messages"] == 2 * ROUNDS
    own = [one for one in noise["worst"] if one.get("call") == "Sendrecv"]
    assert (1, 0) in {(one["rank"], one["for"]) for one in own}


def test_a_program_over_a_lab_whose_nodes_number_their_processes_themselves(
    two_nodes: labs.Lab, tmp_path: Path
) -> None:
    words = ["n[1-2]", "--lab", "--ranks", "2", "--mpi", "openmpi", "--timeout", "120s"]
    with planting("task", 1) as said:
        noise = traced(tmp_path / "run", *words, "--", str(built(tmp_path)), WULF_LAB=two_nodes.name)
    check(noise, said["share"])
