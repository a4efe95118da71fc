"""wulf-mpi under each MPI of this machine, started by its own mpirun, as a session over pipes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import caches
from tests.caches import one_at_a_time
from tests.process.native.session import PATIENCE, Session
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.mpi.building import WULF_MPI, BuildTarget, build, common_place
from wulf.cluster.mpi.installed import agree, look
from wulf.cluster.programs import agent_program

OPTIONS = {
    "openmpi": (
        *("--allow-run-as-root", "--oversubscribe", "--bind-to", "none"),
        *("--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1"),
        # treematch of Open MPI 4.1.4 hangs in MPI_Dist_graph_create, in one run of 150 on a busy machine
        *("--mca", "topo", "basic"),
    ),
    "mpich": (),
}
"""Kind → what its mpirun needs to start more ranks than there are CPUs, as any user and in a container."""


def installed() -> list[str]:
    """The kinds of MPI that this machine has with a compiler."""
    return [kind for kind in OPTIONS if shutil.which(f"mpicxx.{kind}") and shutil.which(f"mpirun.{kind}")]


def _kinds() -> list[Any]:
    """The kinds as parameters: those that are not there are skipped and said; all but one are for `make test-all`."""
    there = installed()
    absent = {kind: [pytest.mark.skipif(kind not in there, reason=f"{kind} is not installed")] for kind in OPTIONS}
    return [pytest.param(kind, marks=[*absent[kind], *([pytest.mark.full] if kind in there[1:] else [])])
            for kind in OPTIONS]  # fmt: skip


each_mpi = pytest.mark.parametrize("kind", _kinds(), scope="module")
"""Runs a test under every MPI; says which is not there. A module's fixtures may ask for the `kind`."""


@functools.cache
def library(part: BuildTarget, kind: str) -> str:
    """The path of what an agent builds with this MPI: a library for ranks, or wulf-mpi."""
    inventory = Inventory.this_machine()
    with one_at_a_time(f"{part.name}-{kind}"), make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, agent_program())
        (session,) = opened.sessions.values()
        views = look(opened.sessions)
        return build(session, agree(views, kind), common_place(views), say=lambda _: None, part=part)[0]


def compiled(compiler: str, source: Path, folder: Path, *flags: str) -> Path:
    """A test's program; skips where the compiler is not there."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = folder / "known"
    subprocess.run([compiler, *flags, "-w", "-O1", "-o", program, source], check=True, capture_output=True)
    return program


def built(kind: str) -> Path:
    """wulf-mpi as an agent builds it with this MPI; a lab's tests find it in the same cache, and need not build it."""
    return Path(library(WULF_MPI, kind))


@functools.cache
def yielding() -> Path:
    """A library that has MPICH's idle ranks yield, as Open MPI's do when asked: many on few CPUs are then fast."""
    source = Path(__file__).with_name("yielding.cpp")
    path = caches.CACHE / f"yielding-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}.so"
    with one_at_a_time("yielding"):
        if not path.is_file():
            partial = path.with_suffix(".partial")
            command = ["mpicxx.mpich", "-O2", "-shared", "-fPIC", "-o", str(partial), str(source), "-ldl"]
            subprocess.run(command, check=True, timeout=300)
            partial.rename(path)
    return path


ENDING = 5.0
"""Seconds that ranks have to end once their session's input is closed."""


class MpiSession(Session):
    """A session with so many ranks on this machine."""

    def __init__(self, kind: str, ranks: int) -> None:
        idle = ("env", f"LD_PRELOAD={yielding()}") if kind == "mpich" else ()
        super().__init__(*idle, f"mpirun.{kind}", *OPTIONS[kind], "-n", str(ranks), path=built(kind))

    def __exit__(self, *_: object) -> None:
        """Let the ranks end: they remove from /dev/shm what they share. Where mpirun is killed it stays for good."""
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self.close(ENDING)
        self.process.terminate()  # mpirun ends ranks that hang, and clears up after them
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=PATIENCE)
        super().__exit__()


if __name__ == "__main__":  # before `make test`'s tests, whose time is limited; those of the others build theirs
    caches.use()
    for each in installed()[:1]:
        print(f"wulf-mpi with {each}: {built(each)}", flush=True)
