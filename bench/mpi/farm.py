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

from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.places import LOOPS
from bench.engine.rows import Row, without_peer
from bench.engine.session import once
from bench.mpi.building import OPTIONS, compiled, program

KINDS = ("openmpi", "mpich")

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


def loop(kind: str) -> Path:
    """bench/loops/farm.cpp, compiled with this MPI."""
    return compiled(kind, LOOPS / "farm.cpp")
