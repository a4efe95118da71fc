"""Applications: run on each node, or over ranks, as often as their figure needs; every run judged, and kept at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from wulf.apps.driver import Driver, Job, checked, leading_of, programs_for, titles_of
from wulf.apps.ran import OK, Ran, Read, judge
from wulf.cluster.access import Access
from wulf.cluster.applications import Applications, Executable, common_program, open_applications
from wulf.cluster.mpi import Installed, WorldSpec
from wulf.cluster.mpi.spec import layout
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError, WulfError
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import APP, Metric, Probe
from wulf.measure.mpi.probes import EACH, folded
from wulf.workflow.app.outputs import keep_output
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.mpi.launching import launch_finding
from wulf.workflow.mpi.probes import LANE

ATTEMPTS = 3
"""Runs that may go wrong before an application is given up; no more than it is to be run at all."""

PATIENCE = 180.0
"""Seconds beyond a run's own time: it is ended, its ranks on other nodes are waited for, files are read back."""


@dataclass(frozen=True)
class AppRequest:
    """What to run, how, and how to read it.

    Attributes
    ----------
    name
        The driver's, or "run" for any command.
    params
        What a record says of it.
    make
        The job, given the program's path ("" where none is looked for) and the number of ranks.
    programs
        What to look for on the nodes, the best first; none: the job names its own.
    read, main
        What reads its output, and its main figure's name.
    spec
        Over how many ranks, and with which MPI, where it is an MPI's program.
    timeout
        Seconds for one run; None: the job's own.
    leading
        The figures for which a difference is claimed, where it has several; empty: all of them.
    titles
        Name → in words, of its figures.
    """

    name: str
    params: Mapping[str, Param]
    make: Callable[[str, int], Job]
    read: Read
    main: str
    programs: tuple[str, ...] = ()
    spec: WorldSpec = field(default_factory=WorldSpec)
    timeout: float | None = None
    leading: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    def job(self, program: str, ranks: int) -> Job:
        """The job, with the time that the user gave it."""
        made = self.make(program, ranks)
        return made if self.timeout is None else replace(made, timeout=self.timeout)


def driver_request(
    driver: Driver, given: Mapping[str, Param], spec: WorldSpec, *, program: str | None = None, timeout: float | None
) -> AppRequest:
    """A driver's application with these parameters.

    Raises
    ------
    UsageError
        A parameter is wrong: names field, value and limit.
    """
    params = checked(driver, given)
    programs = (program,) if program else programs_for(driver, params)
    return AppRequest(
        driver.NAME, params, lambda path, ranks: driver.job(path, params, ranks), driver.read, driver.FIGURE,
        programs, spec, timeout, leading_of(driver), titles_of(driver),
    )  # fmt: skip


def run_once(
    applications: Applications, job: Job, read: Read, main: str, *,
    node: str | None = None, spec: WorldSpec | None = None, mpi: Installed | None = None,
) -> Ran:  # fmt: skip
    """One run of a job, and what became of it; a node that is lost meanwhile is a NodeError.

    Parameters
    ----------
    node
        Where a job runs that is no MPI's; None: on the first.
    spec, mpi
        The ranks, and whose launcher starts them, of a job that is; None: one on each node, with the nodes' own MPI.
    """
    if not job.mpi:
        return judge(applications.alone(node or applications.nodes[0], job), read, main)
    wanted = spec or WorldSpec()
    return judge(applications.ranks(job, wanted, mpi or applications.mpi_for(None, wanted)), read, main)


class _Session:
    """An application as the runner sees it: every request is a run."""

    alive = True

    def __init__(
        self, node: str, name: str, runs: Mapping[str, Callable[[], Ran]], keep: Callable[[Ran], object]
    ) -> None:
        self._node, self._name, self._runs, self._keep = node, name, runs, keep
        self._thread = ThreadPoolExecutor(1, "wulf-app")

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """One run with these params; the future fails with a NodeError where it has no figure, and says why."""
        if op != "run":
            return self._thread.submit(dict)
        return self._thread.submit(self._once, self._runs[_key(fields["params"])])

    def close(self) -> None:
        """Nothing is asked any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _once(self, run: Callable[[], Ran]) -> dict[str, Any]:
        try:
            ran = run()
        except NodeError:
            raise
        except WulfError as error:
            raise NodeError(self._node, error.what, error.next_step) from error
        self._keep(ran)
        if ran.verdict != OK:
            raise RequestError(self._node, self._name, ran.verdict, ran.reason)
        return answer_of(ran)


def _key(params: Mapping[str, Param]) -> str:
    return json.dumps(dict(params), sort_keys=True)


def answer_of(ran: Ran) -> dict[str, Any]:
    """A run as the runner takes a probe's answer: figures as metrics, checks and facts as info."""
    metrics = {
        figure.name: {"unit": figure.unit, "better": figure.better, "value": figure.value}
        | ({"reason": figure.reason} if figure.reason else {})
        for figure in ran.figures
    }
    said = {check.name: check.said for check in ran.checks}
    info = {**ran.facts, **({"checks": said} if said else {}), **({"notes": list(ran.notes)} if ran.notes else {})}
    return {
        "metrics": metrics, "counters": ran.counters, "seconds": ran.seconds,
        "info": {**info, "usage": dict(ran.usage)},
    }  # fmt: skip


class AppStudy(Study):
    """Applications, run until their figures are known as well as was requested.

    Parameters
    ----------
    requests
        What to run. Several differ in their parameters alone: each is a cell, and they are run in turn.

    Raises
    ------
    UsageError
        No node has it, or the nodes can't run it together: says why, before anything was run.
    """

    how = "the application ran on one of them after the other"

    def __init__(self, given: Conditions, *requests: AppRequest) -> None:
        super().__init__(given)
        self._requests: Sequence[AppRequest] = requests
        self._attempts = min(ATTEMPTS, given.effort.looks[-1])
        self._sessions: dict[str, _Session] = {}
        self._about: dict[str, dict[str, Param]] = {}
        self._patience = 0.0
        self._launched: Installed | None = None
        self._runs = 0
        self.places: tuple[str, ...] = ()

    @property
    def _request(self) -> AppRequest:
        return self._requests[0]

    def prepared(self, connected: Connected, apps: Applications) -> Sequence[AppRequest]:
        """The requests made complete, once the nodes are known: sizes that follow from their memory, programs built
        there.
        """
        return self._requests

    @contextmanager
    def attach(self, connected: Connected, access: Access) -> Iterator[None]:
        """Agents on the nodes that answered, for the length of the block."""
        if not connected.sessions:
            yield
            return
        with open_applications(access.pick(connected.sessions), self._request.spec, self.given.watch.say) as apps:
            self.beside.failed |= apps.failed
            try:
                self._enter(connected, apps)
                yield
            finally:
                for session in self._sessions.values():
                    session.close()

    def _enter(self, connected: Connected, apps: Applications) -> None:
        self._requests = self.prepared(connected, apps)
        self.given.watch.say(f"looking for {self._request.name}")
        programs = self._find(apps)
        first, found = next(iter(programs.items()))
        places = layout(apps.nodes, self._request.spec)
        job = self._request.job(found.path if found else "", len(places))
        self._patience = job.timeout + PATIENCE
        if job.mpi:
            self._over_ranks(apps, job, self._common(apps, programs), places)
            return
        for node, program in programs.items():
            own = job if node == first else self._request.job(program.path if program else "", len(places))
            self._add(node, own, self._runs_of(apps, program.path if program else "", len(places), node=node))

    def _find(self, apps: Applications) -> dict[str, Executable | None]:
        """Each node's program; one that lacks it, or does not say, has failed, and the others go on."""
        names = self._request.programs
        if not names:
            return dict.fromkeys(apps.nodes)
        found = apps.find(names, failed=self.beside.failed)
        if not found:
            raise next(iter(self.beside.failed.values()))
        best = {node: [p for name in names for p in rows[name]] for node, rows in found.items()}
        for node in [node for node, places in best.items() if not places and len(best) > 1]:
            where = f"{' or '.join(names)} is neither in the PATH, nor in a module's, Spack's or a package's folder"
            self.beside.failed[node] = NodeError(node, where, "install it there, or name its path with --program")
        if not any(best.values()):
            common_program(found, names, self._request.name)  # says so
        return {node: places[0] for node, places in best.items() if places}

    def _common(self, apps: Applications, programs: Mapping[str, Executable | None]) -> Executable | None:
        """Ranks need one program at one place on all nodes."""
        if not self._request.programs:
            return None
        return common_program(apps.find(self._request.programs, list(apps.nodes)), self._request.programs, "it")

    def _over_ranks(self, apps: Applications, job: Job, program: Executable | None, places: Sequence[str]) -> None:
        spec = self._request.spec
        if program is not None:
            job = self._request.job(program.path, len(places))
        mpi = apps.mpi_for(program, spec)
        self.beside.notes += apps.launch_words(job, spec, mpi).notes
        self.places, self._launched = tuple(places), mpi
        subject = folded(list(dict.fromkeys(places)))
        self.beside.lanes[subject] = LANE
        about: dict[str, Param] = {"ranks": len(places), "per_node": spec.per_node, "mpi": mpi.name}
        runs = self._runs_of(apps, program.path if program else "", len(places), spec=spec, mpi=mpi)
        self._add(subject, job, runs, about)

    def _runs_of(self, apps: Applications, path: str, ranks: int, **how: Any) -> dict[str, Callable[[], Ran]]:
        """Each request's run, by its parameters."""
        return {_key(each.params): partial(self._once, apps, each.job(path, ranks), **how) for each in self._requests}

    def _add(
        self, subject: str, job: Job, runs: Mapping[str, Callable[[], Ran]],
        about: Mapping[str, Param] = {},
    ) -> None:  # fmt: skip
        folder = self.given.writer.path
        session = _Session(subject, self._request.name, runs, lambda ran: keep_output(folder, subject, ran))
        self._sessions[subject] = session
        looked_for = {} if "command" in self._request.params else {"program": job.command[0]}
        self._about[subject] = {**looked_for, **about}
        self.beside.sessions.setdefault(APP, {})[subject] = session

    def _once(
        self, apps: Applications, job: Job, *,
        node: str | None = None, spec: WorldSpec | None = None, mpi: Installed | None = None,
    ) -> Ran:  # fmt: skip
        self._runs += 1
        return run_once(apps, job, self._request.read, self._request.main, node=node, spec=spec, mpi=mpi)

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """One a request and subject: the node, or all that have ranks."""
        metric = Metric(self._request.main, "1")
        return tuple(
            Cell(
                number, subject, subject, "", request.name, dict(request.params), (metric,), "app",
                program=APP, about=self._about[subject], patience=self._patience, attempts=self._attempts,
            )
            for number, (request, subject) in enumerate(product(self._requests, self._sessions))
        )  # fmt: skip

    def judge(self, records: Sequence[Record]) -> Judgement:
        """Which MPI ran which ranks."""
        if self._launched is None:
            return [], []
        return [], [launch_finding(self._launched.title, self.places, self._runs, how=EACH)]
