"""`wulf app hpl` and `wulf app hpcc`: sizes that fit the nodes, the BLAS checked, each result beside three peaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.apps import hpl
from wulf.apps.driver import Driver, checked
from wulf.apps.linpack.peaks import computed
from wulf.apps.linpack.size import size_for
from wulf.cluster.applications import Applications
from wulf.cluster.mpi import WorldSpec
from wulf.cluster.mpi.spec import counts, layout
from wulf.core.errors import UsageError
from wulf.core.names import fold, plural
from wulf.core.records import Param, Record
from wulf.core.units import show
from wulf.measure.blas import common_path
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NODE, Probe
from wulf.store.run import Facts
from wulf.workflow.app.build import Source, build_hpl
from wulf.workflow.app.peaks import one_a_machine, peak_cells, share_records
from wulf.workflow.app.run import AppRequest, AppStudy, driver_request
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement

MEMORY_SHARE = 0.8
"""Of the nodes' memory, for the matrix of an N that nobody named; the system and the MPI need some, too."""

LONG = 300.0
"""Seconds: a run of more, whose size nobody named, is not begun unasked."""

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

    def requests(self, configurations: Sequence[Mapping[str, Param]], program: str | None) -> list[AppRequest]:
        """One for each set of parameters."""
        return [
            driver_request(self.driver, given, self.spec, program=program, timeout=self.timeout)
            for given in configurations
        ]


class HplStudy(AppStudy):
    """Every configuration, in random order, and the nodes' peaks between them.

    Raises
    ------
    UsageError
        A configuration does not fit the nodes: names field, value and limit, before anything was run.
    """

    programs = (NODE,)

    def __init__(self, given: Conditions, asked: HplRequest) -> None:
        known = [checked(asked.driver, each) for each in asked.configurations]
        super().__init__(given, *asked.requests(known, asked.program))
        self._asked = asked
        self._fingerprint: Mapping[str, Facts] = {}

    def prepared(self, connected: Connected, apps: Applications) -> Sequence[AppRequest]:
        """Each configuration with N, grid and BLAS that fit the nodes, by an xhpl that is built where it has to be."""
        asked, self._fingerprint = self._asked, connected.fingerprint
        say = self.given.watch.say
        program = asked.program if asked.source is None else build_hpl(apps, asked.source, asked.spec, say)
        complete = [completed(each, asked, connected, apps) for each in asked.configurations]
        places = layout(apps.nodes, asked.spec)
        self._announce(complete, places)
        self.beside.notes += threads_notes(complete, places, connected.fingerprint)
        return asked.requests(complete, program)

    def _announce(self, complete: Sequence[Mapping[str, Param]], places: Sequence[str]) -> None:
        """What N takes of memory and time, before it is spent; a long run that nobody sized is asked for.

        Raises
        ------
        UsageError
            Somebody was asked, and declined.
        """
        nodes = list(dict.fromkeys(places))
        largest = max(int(str(each["n"])) for each in complete)
        seconds = least_seconds(largest, self._fingerprint, nodes)
        said = f"N = {largest:,}: a matrix of {show(8.0 * largest**2, 'B')} over {plural(len(places), 'rank')}"
        machines = len(one_a_machine(nodes, self._fingerprint))
        said += f" on {fold(nodes)}" + (f", which are {plural(machines, 'machine')}" if machines < len(nodes) else "")
        said += "; how long a run takes is not known" if seconds is None else f"; a run takes {at_least(seconds)}"
        self.given.watch.say(said)
        unsized = any(each["n"] is None for each in self._asked.configurations)
        if unsized and (seconds or 0.0) > LONG and not self.given.watch.agrees(f"{said}. Run it?"):
            raise UsageError("HPL was not run", "name a smaller problem with --n, or a time with --budget")

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The configurations, and the peak beside them."""
        made = super().cells(connected, probe)
        return [*made, *peak_cells(connected, self.beside, self.places, len(made))]

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What share of each peak was reached."""
        nodes = list(dict.fromkeys(self.places))
        return share_records(records, self._fingerprint, nodes, self.given.writer.id), super().judge(records)[1]


def least_seconds(n: int, fingerprint: Mapping[str, Facts], nodes: Sequence[str]) -> float | None:
    """What solving N equations takes at the nodes' highest peak; None where that isn't known."""
    machines = one_a_machine(nodes, fingerprint)
    peaks = [computed(fingerprint.get(node, {})) for node in machines]
    known = [next((peak[kind].value for kind in ("turbo", "base") if peak[kind].value), None) for peak in peaks]
    rate = sum(value for value in known if value is not None)
    return None if None in known or not rate else 2 / 3 * n**3 / rate


def at_least(seconds: float) -> str:
    """`at least 20 s`, `at least 6 min`."""
    return f"at least {seconds:.0f} s" if seconds < 120 else f"at least {seconds / 60:.0f} min"


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


def threads_notes(
    configurations: Sequence[Mapping[str, Param]], places: Sequence[str], fingerprint: Mapping[str, Facts]
) -> list[str]:
    """What a reader should know of each configuration whose ranks x threads are not the node's cores; each once."""
    notes = (threads_note(int(str(each["threads"])), counts(places), fingerprint) for each in configurations)
    return list(dict.fromkeys(filter(None, notes)))


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
