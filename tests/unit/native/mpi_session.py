"""wulf-mpi under each MPI of this machine, started by its own mpirun, as a session over pipes."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.native.session import ROOT, Session

OPTIONS = {
    "openmpi": (
        *("--allow-run-as-root", "--oversubscribe", "--bind-to", "none"),
        *("--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1"),
    ),
    "mpich": (),
}
"""Kind → what its mpirun needs to start more ranks than there are CPUs, as any user and in a container."""


def installed() -> list[str]:
    """The kinds of MPI that this machine has with a compiler."""
    return [kind for kind in OPTIONS if shutil.which(f"mpicxx.{kind}") and shutil.which(f"mpirun.{kind}")]


each_mpi = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.skipif(kind not in installed(), reason=f"{kind} is not installed"))
        for kind in OPTIONS
    ],
)
"""Runs a test under every MPI; says which is not there."""


@functools.cache
def built(kind: str) -> Path:
    """wulf-mpi built with this MPI, in build/mpi-KIND."""
    folder = ROOT / f"build/mpi-{kind}"
    environment = {**os.environ, "CXX": ""}
    options = ["-DWULF_MPI=ON", "-DWULF_TESTS=OFF", "-DWULF_STATIC=OFF", f"-DCMAKE_CXX_COMPILER=mpicxx.{kind}"]
    for command in (
        ["cmake", "-S", ROOT / "native", "-B", folder, "-G", "Ninja", *options],
        ["cmake", "--build", folder, "--target", "wulf-mpi"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return folder / "wulf-mpi"


class MpiSession(Session):
    """A session with so many ranks on this machine."""

    def __init__(self, kind: str, ranks: int) -> None:
        super().__init__(f"mpirun.{kind}", *OPTIONS[kind], "-n", str(ranks), path=built(kind))
