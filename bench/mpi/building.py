"""Programs built with the MPIs of this machine."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.engine.context import say
from bench.engine.errors import BenchError
from bench.engine.places import BUILT
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.mpi.building import build, common_place
from wulf.cluster.mpi.installed import agree, look
from wulf.cluster.programs import agent_program

OPTIONS = {
    "openmpi": ("--allow-run-as-root", "--oversubscribe", "--mca", "btl_vader_single_copy_mechanism", "none"),
    "mpich": (),
}
"""Kind → what its mpirun needs as any user and in a container."""


def _compile(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{command[0]} failed: {(done.stdout + done.stderr)[-300:]}")


@functools.cache
def compiled(kind: str, source: Path) -> Path:
    """A program of one file, compiled with this MPI."""
    BUILT.mkdir(parents=True, exist_ok=True)
    path = BUILT / f"{source.stem}-{kind}"
    _compile([f"mpicxx.{kind}", "-std=c++20", "-O2", "-o", path, source])
    return path


@functools.cache
def program(kind: str) -> Path:
    """wulf-mpi as `wulf mpi` builds it on this machine with this MPI, in the same cache."""
    inventory = Inventory.this_machine()
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, agent_program())
        (session,) = opened.sessions.values()
        views = look(opened.sessions)
        return Path(build(session, agree(views, kind), common_place(views), say)[0])
