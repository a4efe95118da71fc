"""`wulf app hpl` and `wulf app hpcc`: sizes that fit the nodes, the BLAS checked, each result beside three peaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.apps import hpl
from wulf.apps.driver import Driver, checked
from wulf.apps.linpack.size import size_for
from wulf.cluster.applications import Applications
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.mpi.spec import counts, layout
from wulf.core.errors import UsageError
from wulf.core.findings import Finding
from wulf.core.records import Param, Record
from wulf.measure.blas import common_path
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NODE, Probe
from wulf.measure.engine.watcher import UNWATCHED, Watcher
from wulf.store.run import RunWriter
from wulf.workflow.app.build import Source, build_hpl
from wulf.workflow.app.peaks import peak_cells, share_records
from wulf.workflow.app.run import ATTEMPTS, HOW, Apps, Request, driver_request
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.measuring import Effort, Outcome, measure, write_html

MEMORY_SHARE = 0.8
"""Of the nodes' memory, for the matrix of an N that nobody named; the system and the MPI need some, too."""

FIND_BLAS = 60.0


@dataclass(frozen=True)
class HplRequest:
    """What to run.

    Attributes
    ----------
    driver
        hpl or hpcc.
    configurations
        Sets of parameters, each measured in turn.
    source
        HPL's source tree on the first node, to build xhpl from; None: one that is there is used.
    """

    driver: Driver
    configurations: Sequence[Mapping[str, Param]]
    spec: WorldSpec
    program: str | None = None
    timeout: float | None = None
    source: Source | None = None

    def requests(self, configurations: Sequence[Mapping[str, Param]], program: str | None) -> list[Request]:
        """One for each set of parameters."""
        return [
            driver_request(self.driver, given, self.spec, program=program, timeout=self.timeout)
            for given in configurations
        ]


def run_hpl(
    inventory: Inventory, asked: HplRequest, effort: Effort, writer: RunWriter, seed: int, *, watch: Watcher = UNWATCHED
) -> Outcome:
    """Run every configuration until its figure is known as well as was requested, in random order; report included.

    Raises
    ------
    UsageError
        A configuration does not fit the nodes: names field, value and limit, before anything was run.
    """
    seen: dict[str, Connected] = {}

    def prepare(connected: Connected, apps: Applications, _: Sequence[Request]) -> Sequence[Request]:
        seen["connected"] = connected
        program = asked.program if asked.source is None else build_hpl(apps, asked.source, asked.spec, watch.say)
        complete = [completed(each, asked, connected, apps) for each in asked.configurations]
        return asked.requests(complete, program)

    first, *also = asked.requests([checked(asked.driver, each) for each in asked.configurations], asked.program)
    attempts = min(ATTEMPTS, effort.looks[-1])
    apps = Apps(inventory, first, writer, attempts=attempts, also=also, prepare=prepare, watch=watch)

    def cells(connected: Connected, _: Probe) -> tuple[Cell, ...]:
        made = apps.cells()
        return (*made, *peak_cells(connected, apps.places, len(made)))

    def judge(records: Sequence[Record]) -> tuple[list[Record], list[Finding]]:
        facts = seen["connected"].fingerprint if seen else {}
        nodes = list(dict.fromkeys(apps.places))
        return share_records(records, facts, nodes, writer.id), apps.findings()

    outcome = measure(
        inventory, cells, effort, writer, seed, judge=judge, programs=(NODE,), attach=apps, how=HOW, watch=watch
    )
    write_html(outcome.run)
    return outcome


def completed(
    given: Mapping[str, Param], asked: HplRequest, connected: Connected, apps: Applications
) -> dict[str, Param]:
    """A configuration's parameters with N and the grid filled in, once they are known to fit the nodes.

    Raises
    ------
    UsageError
        They do not: the memory, the number of ranks, the BLAS.
    """
    params = checked(asked.driver, given)
    places = layout(apps.nodes, asked.spec)
    memory = memory_of(connected.fingerprint, list(dict.fromkeys(places)))
    nb = int(str(params["nb"]))
    if params["n"] is None:
        if not memory:
            raise UsageError("n is missing, and the nodes do not say how much memory they have", "name it with --n")
        params["n"] = size_for(memory, nb, MEMORY_SHARE)
    dat = hpl.dat_of(params, len(places))
    dat.check(len(places), memory or None)
    (params["p"], params["q"]), *_ = dat.grids
    params["blas"] = _blas_path(params["blas"], apps)
    note = threads_note(int(str(params["threads"])), counts(places), connected.fingerprint)
    if note and note not in connected.notes:
        connected.notes.append(note)
    return params


def memory_of(fingerprint: Mapping[str, Mapping[str, Any]], nodes: Sequence[str]) -> dict[str, int]:
    """Bytes that each node has for itself; nodes of one machine, as a lab's are, share its memory.

    Empty where one does not say.
    """
    machines = {node: str(_fact(fingerprint, node, "kernel.boot_id") or node) for node in nodes}
    sharing = Counter(machines.values())
    totals = {node: _fact(fingerprint, node, "memory.total") for node in nodes}
    if not all(totals.values()):
        return {}
    return {node: int(total) // sharing[machines[node]] for node, total in totals.items()}


def _fact(fingerprint: Mapping[str, Mapping[str, Any]], node: str, name: str) -> Any:
    return fingerprint.get(node, {}).get(name, {}).get("value")


def _blas_path(path: Param, apps: Applications) -> str | None:
    if path is None:
        return None
    if "scipy_openblas" in str(path):
        raise UsageError(
            f"blas = {str(path)!r} gives its functions names of its own, which no program looks for",
            "name another: `wulf app blas` lists those that there are",
        )
    return common_path(str(path), apps.ask("blas_find", FIND_BLAS, also=[str(path)]))


def threads_note(threads: int, ranks: Mapping[str, int], fingerprint: Mapping[str, Mapping[str, Any]]) -> str:
    """What a reader should know where ranks x threads are not the node's cores; empty where they are."""
    for node, count in ranks.items():
        cores = _fact(fingerprint, node, "cpu.cores")
        if cores and count * threads != cores:
            words = "more than" if count * threads > cores else "of"
            return f"{node}: {count} ranks x {threads} threads = {count * threads}, {words} its {cores} cores"
    return ""


def of_file(text_params: Sequence[Mapping[str, Param]], given: Mapping[str, Param]) -> list[dict[str, Param]]:
    """The configurations of an HPL.dat with what else the user gave: threads and BLAS.

    Raises
    ------
    UsageError
        Something that the file says, too.
    """
    twice = sorted(set(given) & set(text_params[0]))
    if twice:
        raise UsageError(f"--{twice[0].replace('_', '-')} and --dat both say {twice[0]}", "say it in one of them")
    return [{**each, **given} for each in text_params]
