"""Part `mpi-farm`: wulf-mpi's farm beside the plain loop of MPI_Recv and MPI_Send, under the same MPI and mpirun.

The unit is empty: what is compared is how many messages a second the master takes in. Both sides are compiled with the
MPI's own mpicxx, with -O2. Both are launched anew for every replicate; their clocks start after MPI_Init.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.blocks import Contest, run_blocks
from bench.context import Context, say
from bench.errors import BenchError
from bench.node import BUILT, LOOPS
from bench.rows import Row, without_peer
from bench.session import once
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.mpi.building import build, common_place
from wulf.cluster.mpi.installed import agree, look
from wulf.cluster.programs import agent_program

KINDS = ("openmpi", "mpich")

OPTIONS = {
    "openmpi": ("--allow-run-as-root", "--oversubscribe", "--mca", "btl_vader_single_copy_mechanism", "none"),
    "mpich": (),
}
"""Kind → what its mpirun needs as any user and in a container."""

UNITS = {1: 100_000, 10: 500_000}
"""Batch → units of a replicate."""

PEER = "plain loop of MPI_Recv and MPI_Send"


def measure(context: Context) -> list[Row]:
    """A row for each MPI, batch and style of the master."""
    contests: list[Contest] = []
    rows: list[Row] = []
    ranks = max(2, min(len(os.sched_getaffinity(0)), 8))
    for kind in KINDS:
        if not (shutil.which(f"mpicxx.{kind}") and shutil.which(f"mpirun.{kind}")):
            rows.append(without_peer(f"farm, messages, {kind}", f"{PEER} ({kind} is not installed)", "Hz", "higher"))
            continue
        contests += _contests(kind, ranks)
    run_blocks(contests, context.effort, context.rng, context.say)
    return [*(contest.row() for contest in contests), *rows]


def _contests(kind: str, ranks: int) -> list[Contest]:
    launch = [f"mpirun.{kind}", *OPTIONS[kind], "-n", str(ranks)]
    ours = [*launch, str(program(kind))]
    return [
        Contest(
            f"farm, {style} master, batch {batch}, {ranks - 1} workers, {kind}", PEER, "Hz", "higher",
            functools.partial(_ours, ours, style, batch),
            functools.partial(_theirs, [*launch, str(loop(kind)), str(UNITS[batch]), str(batch)]),
        )
        for style in ("plain", "async")
        for batch in UNITS
    ]  # fmt: skip


def _ours(ranks: Sequence[str], style: str, batch: int) -> float:
    params = {"unit": "spin", "spin_seconds": 0, "units": UNITS[batch], "batch": batch, "style": style}
    return float(once(ranks, "run", probe="farm", params=params)["metrics"]["messages"]["value"])


def _theirs(words: Sequence[str]) -> float:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-300:]}")
    return float(done.stdout.split()[0])


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


def loop(kind: str) -> Path:
    """bench/loops/farm.cpp, compiled with this MPI."""
    return compiled(kind, LOOPS / "farm.cpp")


@functools.cache
def program(kind: str) -> Path:
    """wulf-mpi as `wulf mpi` builds it on this machine with this MPI, in the same cache."""
    inventory = Inventory.this_machine()
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, agent_program())
        (session,) = opened.sessions.values()
        views = look(opened.sessions)
        return Path(build(session, agree(views, kind), common_place(views), say)[0])
