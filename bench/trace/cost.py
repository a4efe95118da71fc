"""Part `trace`: what libwulf-trace costs, a call and over a run of a real application, beside the same without it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.errors import BenchError
from bench.engine.places import LOOPS
from bench.engine.rows import Row, limited, without_peer
from bench.mpi.building import compiled
from wulf.apps import phyml
from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.workflow.trace.launch import launched, traced_words

LOOP = LOOPS / "calls.cpp"
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}

OWN = {"openmpi": ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none"), "mpich": ()}
"""Options of each one's mpirun."""

ROUNDS = 300_000
"""Of three calls each: a tenth of a second."""

MOST_A_CALL = 100e-9
"""Seconds that a traced call may take longer."""

MOST_OF_A_RUN = 1.01
"""Times the run without the tracer."""

APPLICATION = "phyml-mpi"
PHYML = {"taxa": 24, "sites": 1500, "bootstraps": 4, "seed": 7}
"""Half a minute over two ranks."""


class Side:
    """Programs of one MPI, with or without the tracer."""

    def __init__(self, kind: str, scratch: Path) -> None:
        self._start, self._scratch = [f"mpirun.{kind}", *OWN[kind]], scratch
        with access_to(Inventory.this_machine()) as access:
            self._mpi, self._library = launched(access, self._start, None, lambda _: None)

    def run(self, ranks: int, words: Sequence[str], *, traced: bool) -> tuple[float, str]:
        """Seconds of the whole command, and what it printed.

        Raises
        ------
        BenchError
            It failed, or left no trace.
        """
        command = [*self._start, "-n", str(ranks), *words]
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            if traced:
                command, _ = traced_words(command, self._mpi, self._library, Path(folder))
            began = time.perf_counter()
            done = subprocess.run(command, cwd=self._scratch, capture_output=True, text=True, timeout=600, check=False)
            seconds = time.perf_counter() - began
            if done.returncode != 0 or (traced and not list(Path(folder).iterdir())):
                said = (done.stdout + done.stderr)[-300:]
                raise BenchError(f"{words[0]} left no trace, or ended with {done.returncode}: {said}")
        return seconds, done.stdout


def measure(context: Context) -> list[Row]:
    """All rows of the part."""
    scratch = Path(context.stack.enter_context(tempfile.TemporaryDirectory()))
    rows: list[Row] = []
    for kind, title in TITLES.items():
        if shutil.which(f"mpirun.{kind}") and shutil.which(f"mpicxx.{kind}"):
            rows.append(_a_call(Side(kind, scratch), compiled(kind, LOOP), title, context))
        else:
            rows.append(without_peer(f"a traced call, {title}", f"{title} is not installed", "s", "lower"))
    return [*rows, *_a_run(scratch, context)]


def _a_call(side: Side, loop: Path, title: str, context: Context) -> Row:
    """What a call takes longer, of three that a rank sends itself a byte with."""

    def seconds(*, traced: bool) -> float:
        return float(side.run(1, [str(loop), str(ROUNDS)], traced=traced)[1])

    longer = []
    for block in range(context.effort.looks[0]):
        context.say(f"a traced call, {title}: block {block + 1} of {context.effort.looks[0]}")
        order = [True, False]
        context.rng.shuffle(order)
        found = {traced: seconds(traced=traced) for traced in order}
        longer.append(found[True] - found[False])
    return limited(f"a traced call takes longer, {title}, tight loop", "s", longer, MOST_A_CALL)


def _a_run(scratch: Path, context: Context) -> Iterator[Row]:
    """PhyML, which Debian builds with Open MPI."""
    name = "PhyML over 2 ranks, traced"
    if shutil.which(APPLICATION) is None or shutil.which("mpirun.openmpi") is None:
        yield without_peer(name, f"{APPLICATION} is not installed", "s", "lower")
        return
    side, job = Side("openmpi", scratch), phyml.job(APPLICATION, PHYML, 2)
    for file, text in job.files.items():
        (scratch / file).write_text(text)

    def seconds(*, traced: bool) -> float:
        return side.run(2, job.command, traced=traced)[0]

    contest = Contest(
        name, "untraced", "s", "lower", lambda: seconds(traced=True), lambda: seconds(traced=False), MOST_OF_A_RUN
    )
    run_blocks([contest], context.effort, context.rng, context.say)
    yield contest.row()
