"""libwulf-profile under each MPI of this machine: programs of C and Fortran whose calls are known beforehand."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.native.mpi_session import OPTIONS, compiled, each_mpi, library
from wulf.cluster.mpi.building import WULF_PROFILE
from wulf.model.mpi_share import mpi_share

RANKS = 3
SOURCES = Path(__file__).parent / "profile"


def run(kind: str, program: Path, folder: Path, *words: str, before: tuple[str, ...] = ()) -> dict[int, Any]:
    """Rank → its profile; the program's own end is not looked at."""
    profiles = folder / "profiles"
    profiles.mkdir()
    environment = {"LD_PRELOAD": library(WULF_PROFILE, kind), "WULF_PROFILE": str(profiles)}
    flag = "-x" if kind == "openmpi" else "-genv"
    given = [part for name, value in environment.items()
             for part in ([flag, f"{name}={value}"] if kind == "openmpi" else [flag, name, value])]  # fmt: skip
    subprocess.run(
        [f"mpirun.{kind}", *OPTIONS[kind], *given, "-n", str(RANKS), *before, str(program), *words],
        timeout=240, check=False, capture_output=True, cwd=folder,
    )  # fmt: skip
    assert not list(profiles.glob(".*")), "a file that is not whole was left"
    return {int(p.stem.removeprefix("rank-")): json.loads(p.read_text()) for p in profiles.glob("rank-*.json")}


def seconds(profile: dict[str, Any], call: str) -> float:
    return sum(profile["calls"][call][place] for place in ("same", "other", "open"))


@each_mpi
def test_c_calls_bytes_and_waiting_are_as_they_were_made(kind: str, tmp_path: Path) -> None:
    profiles = run(kind, compiled(f"mpicc.{kind}", SOURCES / "known.c", tmp_path), tmp_path)
    assert sorted(profiles) == [0, 1, 2]
    own = profiles[1]
    counts = {name: (call["calls"], call["bytes"]) for name, call in own["calls"].items()}
    assert counts == {
        "MPI_Send": (1, 0), "MPI_Isend": (10, 10000), "MPI_Recv": (10, 0), "MPI_Wait": (10, 0),
        "MPI_Sendrecv": (4, 2400), "MPI_Comm_split": (1, 0), "MPI_Gather": (1, 4), "MPI_Allgather": (1, 4),
        "MPI_Allreduce": (1, 4), "MPI_Bcast": (1, 4096), "MPI_Barrier": (1, 0),
    }  # fmt: skip
    assert profiles[0]["calls"]["MPI_Gather"]["bytes"] == 0  # the root's count means nothing
    assert own["sent"] == {"same": [[0, 1, 0], [10, 13, 12400]], "other": [], "open": []}
    assert seconds(own, "MPI_Barrier") >= 0.25  # rank 0 slept for 0.3 s
    assert own["calls"]["MPI_Recv"]["same"] == 0 < own["calls"]["MPI_Recv"]["open"]  # any source
    assert 0 < own["cost"] < 1e-5
    share = mpi_share(list(profiles.values()))
    assert share.missing == () and share.most == 0.0 and share.mpi > 0


@each_mpi
@pytest.mark.parametrize("flags", [("-cpp",), ("-cpp", "-DF08")], ids=["mpi", "mpi_f08"])
def test_fortrans_calls_are_counted_once(kind: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    profiles = run(kind, compiled(f"mpif90.{kind}", SOURCES / "known.f90", tmp_path, *flags), tmp_path)
    assert sorted(profiles) == [0, 1, 2]
    counts = {name: (call["calls"], call["bytes"]) for name, call in profiles[2]["calls"].items()}
    assert counts == {"MPI_Sendrecv": (5, 4000), "MPI_Allreduce": (2, 8), "MPI_Barrier": (1, 0)}


@each_mpi
def test_a_rank_that_dies_leaves_none_and_is_named(kind: str, tmp_path: Path) -> None:
    profiles = run(kind, compiled(f"mpicc.{kind}", SOURCES / "known.c", tmp_path), tmp_path, "dies")
    assert RANKS - 1 not in profiles
    if profiles:  # what the launcher did not end first
        assert RANKS - 1 in mpi_share(list(profiles.values())).missing


@each_mpi
@pytest.mark.skipif(os.geteuid() != 0, reason="another host's name takes a namespace of one's own")
def test_ranks_under_other_hosts_names_are_elsewhere(kind: str, tmp_path: Path) -> None:
    if kind == "mpich":
        pytest.skip("MPICH's ranks of other names would look for each other over the network")
    own = tmp_path / "own.sh"
    own.write_text('#!/bin/sh\nhostname "h$OMPI_COMM_WORLD_RANK"\nexec "$@"\n')
    own.chmod(0o755)
    program = compiled(f"mpicc.{kind}", SOURCES / "known.c", tmp_path)
    profiles = run(kind, program, tmp_path, before=("unshare", "--uts", str(own)))
    assert {one["host"] for one in profiles.values()} == {"h0", "h1", "h2"}
    assert profiles[1]["sent"]["other"] == [[0, 1, 0], [10, 13, 12400]]
    assert profiles[1]["calls"]["MPI_Barrier"]["other"] >= 0.25
    assert profiles[1]["calls"]["MPI_Bcast"]["same"] > 0 == profiles[1]["calls"]["MPI_Bcast"]["other"]  # of itself
    assert mpi_share(list(profiles.values())).hosts == RANKS
