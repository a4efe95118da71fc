"""`wulf search` builds a small MPI program with every MPI and compiler of a lab, and finds the best of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab.commands import WULF
from tests.lab.conftest import needs, ssh
from tests.process.native.mpi_session import installed
from wulf import lab as labs

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(900)]

SOURCE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double rate = 10.0;
#ifdef __clang__
    rate *= 2;
#endif
#ifdef OPEN_MPI
    rate *= 3;
#ifdef BROKEN
#error "this one is not for Open MPI"
#endif
#endif
    if (rank == 0) printf("rate %g of %d ranks\\n", rate, ranks);
    return MPI_Finalize();
}
"""
"""What it was built with decides its figure, to the digit: nothing else can win."""

MY = """
command = "{{program}}"
figure = "rate ([0-9.]+) of 2 ranks"
better = "higher"
ranks = 2
[build]
source = "{source}"
commands = ["{{mpicc}} -O1 {flags} -o rate rate.c"]
product = "rate"
"""


def searched(lab: labs.Lab, tmp_path: Path, flags: str = "") -> dict[str, Any]:
    source = tmp_path / "source"
    source.mkdir()
    (source / "rate.c").write_text(SOURCE)
    mine = tmp_path / "my.toml"
    mine.write_text(MY.format(source=source, flags=flags))
    words = ["search", str(mine), "n[1-2]", "--lab", "--quick", "--seed", "1", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [*WULF, *words], capture_output=True, text=True, timeout=800, check=False,
        env=os.environ | {"WULF_LAB": lab.name}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((tmp_path / "run" / "search.json").read_text())
    return found


@needs(len(installed()) > 1 and shutil.which("gcc") and shutil.which("clang"), "a second MPI, gcc or clang")
def test_every_mpi_and_compiler_is_built_with_once_and_told_apart(two_nodes: labs.Lab, tmp_path: Path) -> None:
    found = searched(two_nodes, tmp_path)
    builds = found["builds"]
    made = {(one["values"]["mpi"].split("-")[0], one["values"]["compiler"].split("-")[0]) for one in builds}
    assert {("openmpi", "gcc"), ("openmpi", "clang"), ("mpich", "gcc"), ("mpich", "clang")} <= made
    assert all(one["path"] for one in builds)
    winner = found["winner"]
    assert winner["mpi"].startswith("openmpi") and winner["compiler"].startswith("clang")
    assert found["value"]["value"] == 60
    assert found["failed"] == []
    (joint,) = found["joint"]
    assert joint["names"] == ["mpi", "compiler"]
    assert (joint["together"]["ratio"], joint["together"]["judgement"]) == (pytest.approx(1), "equivalent")
    path = next(one["path"] for one in builds if one["values"] == winner)
    assert ssh(two_nodes, "n2", f"{path} 2>/dev/null | cut -c1-7").stdout == "rate 60\n"  # copied there


@needs(len(installed()) > 1, "a second MPI")
def test_an_mpi_with_which_it_can_not_be_built_is_told_with_the_compilers_words(
    two_nodes: labs.Lab, tmp_path: Path
) -> None:
    found = searched(two_nodes, tmp_path, "-DBROKEN")
    builds = found["builds"]
    failed = [one for one in builds if one["path"] is None]
    assert {one["values"]["mpi"].split("-")[0] for one in failed} == {"openmpi"}
    assert all("this one is not for Open MPI" in one["reason"] for one in failed)
    assert found["winner"]["mpi"].startswith("mpich")
