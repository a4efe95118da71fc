"""`wulf trace`: a program run once with libwulf-trace in its ranks, on this machine or over nodes, and what it left."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wulf.agent.mpi.profile import mpi_of
from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi.spec import WorldSpec
from wulf.core.errors import FOUND, OK, UsageError
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.report.trace import trace_view
from wulf.store.run import RunWriter
from wulf.trace.errors import TraceError
from wulf.trace.manifest import manifest_of, write_manifest
from wulf.trace.reader import open_trace
from wulf.trace.summary import Fault, Summary, summarise
from wulf.workflow.app.run import AppRequest
from wulf.workflow.engine.done import Done
from wulf.workflow.trace.launch import launched, machine_code, traced_words
from wulf.workflow.trace.network import measure_network
from wulf.workflow.trace.nodes import run_on_nodes
from wulf.workflow.trace.noise import recorded

FOLDER = "trace"
"""Of a run: where its trace lies."""

SUMMARY = "summary.json"

STEPS = 10
"""Times that the progress is told while a trace is read."""


@dataclass(frozen=True)
class CommandEnd:
    """How the traced command ended.

    Attributes
    ----------
    trouble
        Why it did not end well; empty where it did.
    seconds
        That it took, its launcher's included.
    """

    command: Sequence[str]
    seconds: float | None
    trouble: str = ""
    mpi: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Here:
    """A command of this machine that starts its ranks itself.

    Attributes
    ----------
    mpi
        As --mpi has it; None: the launcher's that the command names.
    environment
        For the command, besides its own.
    """

    words: tuple[str, ...]
    mpi: str | None = None
    sites: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    quiet: bool = False
    """Whether what the program prints goes to standard error, since standard output is ours."""
    network: bool = False
    """Whether what a message costs here is measured right after."""
    noise: bool = False
    """Whether it is recorded who has the CPUs meanwhile."""


def trace_here(asked: Here, writer: RunWriter, *, watch: Watcher = UNWATCHED) -> Done:
    """Run a command of this machine under the tracer, with its own terminal, input and folder.

    Raises
    ------
    UsageError
        Its MPI is not known, or can't build the tracer; the program uses another one.
    """
    folder, here = _folder(writer), Inventory.this_machine()
    with access_to(here) as access:
        mpi, library = launched(access, asked.words, asked.mpi, watch.say)
        words, environment = traced_words(asked.words, mpi, library, folder, sites=asked.sites)
        with recorded(access, here.nodes, wanted=asked.noise) as recorder:
            watch.say(f"tracing with {mpi.title}")
            trouble, seconds = _run(asked, words, environment)
            noise = recorder.told(folder)
    notes = list(recorder.notes)
    if asked.network and not trouble:
        spec = WorldSpec(per_node=2, mpi=asked.mpi or mpi.kind)
        notes += measure_network(here, spec, writer.path, folder, watch)
    told = CommandEnd(asked.words, seconds, trouble, mpi.title, notes)
    return _finished(writer, told, lambda: why_none(asked.words), UNWATCHED, noise)


def _run(asked: Here, words: Sequence[str], environment: Mapping[str, str]) -> tuple[str, float]:
    """The command, until it has ended: why it did not end well, and the seconds that it took."""
    began = time.monotonic()
    try:
        status = subprocess.run(
            words,
            env={**os.environ, **asked.environment, **environment},
            stdout=2 if asked.quiet else None,
            check=False,
        ).returncode
    except OSError as error:
        raise UsageError(f"{asked.words[0]} can't be started: {error.strerror}", "is it in the PATH?") from error
    return _ended(status), time.monotonic() - began


def _ended(status: int) -> str:
    if status == 0:
        return ""
    return f"the command was killed by signal {-status}" if status < 0 else f"the command ended with status {status}"


def trace_nodes(
    inventory: Inventory, application: AppRequest, writer: RunWriter, *, sites: bool = False, network: bool = False,
    noise: bool = False, watch: Watcher = UNWATCHED,
) -> Done:  # fmt: skip
    """Run a program over nodes under the tracer, bring its trace here, and perhaps measure the network that it was on.

    Raises
    ------
    UsageError, NodeError
        The program is not on the nodes, or its ranks can't be started there; the program uses another MPI.
    """
    folder = _folder(writer)
    ran = run_on_nodes(inventory, application, folder, sites=sites, noise=noise, watch=watch)
    notes = list(ran.notes)
    if network and not ran.trouble:
        notes += measure_network(inventory, application.spec, writer.path, folder, watch)
    words = shlex.split(ran.command)
    told = CommandEnd(words, ran.seconds, ran.trouble, ran.mpi.title if ran.mpi else "", notes)
    return _finished(writer, told, lambda: why_none(words), watch, ran.noise)


def _folder(writer: RunWriter) -> Path:
    return writer.make_folder(FOLDER).resolve()


def why_none(words: Sequence[str]) -> str:
    """Why a command may have left no trace: what of its words is a program, and what that is linked with."""
    for path in machine_code(words):
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        if "not a dynamic executable" in done.stdout + done.stderr or "statically linked" in done.stdout:
            return f"{path} is statically linked: nothing can be loaded into it; link it with the MPI's shared library"
        if not mpi_of(path):
            return f"{path} is not linked with an MPI's shared library (see ldd {path}): is it an MPI program?"
        return f"{path} is an MPI program: did it end before MPI_Init returned?"
    return "nothing that called MPI_Init was started with this MPI; is it a program of another one, or of none?"


def _finished(writer: RunWriter, told: CommandEnd, none: Callable[[], str], watch: Watcher,
              noise: Mapping[str, Any] | None = None) -> Done:  # fmt: skip
    """Read what is there, write manifest and summary, and judge."""
    folder = writer.path / FOLDER
    faults = [Fault("program", told.trouble)] if told.trouble else []
    try:
        found = read_summary(folder, watch)
        faults += found.faults
    except TraceError as error:
        lost = "no rank left a trace" if not list(folder.glob("rank-*.wtr")) else error.what
        found = Summary(0, [], [])
        faults.append(Fault("none", f"{lost}: {none()}"))
    mpis = sorted({rank.mpi for rank in found.ranks})
    manifest = manifest_of(
        command=told.command, ranks=found.size, mpi=mpis[0] if mpis else told.mpi,
        hosts={rank.rank: rank.host for rank in found.ranks}, wall=told.seconds, missing=found.missing,
        faults=[fault.to_json() for fault in faults],
    )  # fmt: skip
    write_manifest(folder, manifest)
    found.faults = faults
    result = result_of(found, manifest, writer.id, folder) | {"notes": list(told.notes), "noise": noise}
    code = FOUND if faults else OK
    writer.write_json(SUMMARY, result | {"exit_code": code})
    writer.write_findings([])
    state = "complete" if found.ranks else "failed"
    writer.finish(state, exit_code=code, headline=trace_view(result).headline)
    return Done(result | {"exit_code": code}, writer.path, code)


def read_summary(folder: Path, watch: Watcher = UNWATCHED) -> Summary:
    """Read a trace once. Raises TraceError where there is none."""
    trace = open_trace(folder)
    often = max(1, len(trace.ranks) // STEPS)

    def told(done: int) -> None:
        if done % often == 0:
            watch.say(f"reading rank {done} of {len(trace.ranks)}")

    return summarise(trace, told)


def result_of(found: Summary, manifest: Mapping[str, Any], run: str, folder: Path) -> dict[str, Any]:
    """A summary as JSON holds it, with what the manifest says of its run."""
    size = sum(path.stat().st_size for path in folder.glob("rank-*.wtr") if path.is_file())
    about = {name: manifest.get(name) for name in ("command", "mpi", "wall_seconds", "source", "kind")}
    return {"run": run, "trace": str(folder), "trace_bytes": size, **about, **found.to_json()}
