"""`wulf search`: trials run as an application over nodes, journalled, and what came of them as one object."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any, Literal, Protocol

from wulf.apps.driver import Job
from wulf.apps.ran import OK, TIMEOUT, Ran, Read
from wulf.cluster.access import Access, access_to
from wulf.cluster.applications import Applications, open_applications
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import Installed, WorldSpec
from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, UsageError
from wulf.core.errors import OK as FINE
from wulf.core.records import Param, Record, Verdict
from wulf.measure.engine.watcher import UNWATCHED, Progress, Watcher
from wulf.measure.mpi.probes import folded
from wulf.report.model.steps import worth_object
from wulf.report.search.outcome import OUTCOME
from wulf.report.search.worth import machine_of
from wulf.search.history import History
from wulf.search.journal import NAME, Journal, conduct
from wulf.search.plan import LEAST_BLOCKS, SearchPlan
from wulf.search.stages.claims import blocks_for
from wulf.search.strategy import SearchOutcome
from wulf.search.trial import CUT, FAILED, TRIAL, Outcome, Trial
from wulf.store.run import Facts, RunWriter, utc_now
from wulf.workflow.search.result import result_object

RESULT = "search.json"
FACTS_TIMEOUT = 60.0
SHORTEST = 5.0
"""Seconds below which no run is cut: starting a program takes as long, and says nothing of its speed."""


@dataclass(frozen=True)
class Task:
    """What is searched.

    Attributes
    ----------
    job
        The start of a trial's configuration and size.
    spec
        Over how many ranks a configuration runs; None: it is no MPI's program.
    mpi
        Whose launcher starts a configuration's ranks; None: it has none.
    about
        What was found before the first trial: held by the journal besides the plan, and part of the result.
    """

    name: str
    plan: SearchPlan
    job: Callable[[Trial], Job]
    read: Read
    main: str
    unit: str
    better: Literal["higher", "lower"]
    spec: Callable[[Trial], WorldSpec | None] = lambda _: None
    mpi: Callable[[Trial], Installed | None] = lambda _: None
    files: Callable[[SearchOutcome], Mapping[str, str]] = lambda _: {}
    about: Mapping[str, Any] = field(default_factory=dict)


Prepare = Callable[[Applications, Mapping[str, Facts], SearchPlan | None], Task]
"""Makes the task once the nodes are known; of a search that is resumed the plan is the journal's."""


Visit = Callable[[Trial, Callable[[], Outcome]], Outcome]
"""Runs a trial within what its configuration wants of the nodes."""


class Knobs(Protocol):
    """What of the nodes is changed for a trial (`wulf.workflow.search.settings.NodeKnobs`)."""

    def visit(self, trial: Trial, run: Callable[[], Outcome], /) -> Outcome: ...

    @property
    def impossible(self) -> Collection[tuple[str, Param]]: ...

    @property
    def undone(self) -> bool: ...

    def about(self) -> dict[str, Any]: ...


Around = Callable[[Access, SearchPlan, bool], AbstractContextManager[Knobs]]
"""Opens knobs for the length of a search, given its plan and whether it goes on where it was cut short."""


@dataclass(frozen=True)
class Searched:
    """What a search came to."""

    result: dict[str, Any]
    exit_code: int


def cost_of(figure: float, size: float, power: float, better: str) -> float:
    """What is minimised: seconds, or of a rate the time that its work takes, which grows with size."""
    return figure if better == "lower" else float(size**power) / figure


def outcome_of(ran: Ran, trial: Trial, task: Task) -> Outcome:
    """A run as the strategy sees it. A run that the search ended before its own time is cut, and no failure."""
    seconds = ran.seconds or 0.0
    if ran.verdict == OK and ran.value is not None and ran.value > 0:
        cost = cost_of(ran.value, trial.size, task.plan.power, task.better)
        return Outcome(OK, cost, seconds, ran.value)
    if ran.verdict == TIMEOUT and trial.limit is not None:
        return Outcome(CUT, None, seconds, reason=f"ended after {seconds:.3g} s: slower than the best of its size")
    verdict = ran.verdict if ran.verdict != OK else FAILED
    return Outcome(verdict, None, seconds, reason=ran.reason or f"its figure is {ran.value}, not above 0")


class Runner:
    """Runs trials on the nodes, says how far the search is, and keeps a record of each."""

    def __init__(
        self, apps: Applications, task: Task, writer: RunWriter, *,
        done: int = 0, visit: Visit = lambda _, run: run(), watch: Watcher = UNWATCHED,
    ) -> None:  # fmt: skip
        self._apps, self._task, self._writer, self._visit, self._watch = apps, task, writer, visit, watch
        self._done, self._expected = done, expected_trials(task.plan)
        self._subject = folded(list(apps.nodes))

    def __call__(self, trial: Trial) -> Outcome:
        """One run. Raises NodeError where a node is lost: the journal goes on from there."""
        self._watch.on_progress(Progress(self._done, max(self._expected, self._done + 1), None, trial.stage))
        outcome = self._visit(trial, lambda: self._ran(trial))
        self._done += 1
        self._writer.append(self._record(trial, outcome))
        return outcome

    def _ran(self, trial: Trial) -> Outcome:
        try:
            job = self._task.job(trial)
            if trial.limit is not None:
                job = replace(job, timeout=min(job.timeout, max(trial.limit, SHORTEST)))
            ran = run_trial(self._apps, job, self._task, trial)
        except UsageError as error:  # of this configuration: the nodes, or the program, do not take it
            return Outcome(FAILED, None, 0.0, reason=error.what)
        return outcome_of(ran, trial, self._task)

    def _record(self, trial: Trial, outcome: Outcome) -> Record:
        task = self._task
        of_trial: tuple[Param, ...] = (trial.size, trial.stage, outcome.verdict)
        params = dict(zip(TRIAL, of_trial, strict=True)) | task.plan.space.named(trial.config)
        value = outcome.figure
        return Record(
            run=self._writer.id, subject=self._subject, probe="app", metric=f"{task.name} {task.main}", unit=task.unit,
            params=params, value=value, replicates=int(value is not None), statistic="one run",
            samples=[] if value is None else [value],
            verdict=Verdict.OK if value is not None else Verdict.FAILED, reason=outcome.reason or None, at=utc_now(),
        )  # fmt: skip


def run_trial(apps: Applications, job: Job, task: Task, trial: Trial) -> Ran:
    """One run of a job over the ranks that its configuration wants."""
    from wulf.workflow.app.run import run_once

    return run_once(apps, job, task.read, task.main, spec=task.spec(trial), mpi=task.mpi(trial))


def expected_trials(plan: SearchPlan) -> int:
    """About how many runs a search takes, for its progress."""
    screened = min(24, 4 * (len(plan.space.knobs) // 4 + 1))
    looked = screened + sum(plan.rungs) + plan.repeats
    steps = min(8, len(plan.space.knobs))
    compared = 2 * plan.blocks + blocks_for(steps + 1, plan.blocks) * (steps + 3 + len(plan.baselines))
    together = sum(len(knob.values) > 1 for knob in plan.space.knobs if knob.name in plan.joint)
    joint = 2**together * blocks_for(comb(together, 2), plan.blocks) if together > 1 else 0
    return looked + looked // plan.anchor_every + 1 + compared + joint


def run_search(
    inventory: Inventory, prepare: Prepare, spec: WorldSpec, writer: RunWriter, *,
    around: Around | None = None, machine: Mapping[str, Any] | None = None, watch: Watcher = UNWATCHED,
) -> Searched:  # fmt: skip
    """Search on these nodes, or go on where the run's journal ends.

    Parameters
    ----------
    machine
        Price and peaks that figures in flop/s are held against (`wulf.workflow.search.worth`).
    around
        Of a search that changes nodes: what does so, and undoes it before this returns or raises.

    Raises
    ------
    UsageError
        The space, the program or the nodes do not fit: says what, before anything was run.
    NodeError
        A node was lost; the journal is kept.
    """
    path = writer.path / NAME
    with access_to(inventory) as access, open_applications(access, spec, watch.say) as apps:
        for error in apps.failed.values():
            raise error
        facts = {node: answer["facts"] for node, answer in apps.ask("facts", FACTS_TIMEOUT).items()}
        writer.write_json("fingerprint.json", facts)
        old = Journal.resume(path) if path.exists() else None
        task = prepare(apps, facts, old.plan if old else None)
        try:
            with around(access, task.plan, old is not None) if around else nullcontext() as knobs:
                if knobs is not None and old is None:
                    task = _possible(task, knobs.impossible)
                with old or Journal.begin(path, task.plan, {"name": task.name, **task.about}) as journal:
                    visit: dict[str, Any] = {} if knobs is None else {"visit": knobs.visit}
                    runner = Runner(apps, task, writer, done=len(journal.recorded), watch=watch, **visit)
                    found = conduct(journal, runner)
        except KeyboardInterrupt:
            writer.finish("interrupted", exit_code=INTERRUPTED)
            raise
    about = dict(journal.about) if machine is None else {**journal.about, "machine": dict(machine)}
    return _finished(found, task, about, writer, knobs)


def _possible(task: Task, impossible: Collection[tuple[str, Param]]) -> Task:
    """Without what no node can have: every run of it would fail, and tell nothing of the other knobs."""
    return replace(task, plan=replace(task.plan, space=task.plan.space.without(impossible)))


def _finished(
    found: SearchOutcome, task: Task, about: Mapping[str, Any], writer: RunWriter, knobs: Knobs | None = None
) -> Searched:
    """The result, written; exit code 1 where settings of nodes are not as before."""
    result = {**about, **result_object(found, task.name, task.main, task.unit, task.better)}
    if knobs is not None:
        result["settings"] = knobs.about()
        result["notes"] = [*result["notes"], *result["settings"]["notes"]]
    for name, text in task.files(found).items():
        result["files"].append(os.fspath(writer.write_text(name, text)))
    for step in result["path"]:
        if (spec := machine_of(result, step.get("figure"))) is not None:
            step["worth"] = worth_object(spec, places=result["machine"]["places"])
    writer.write_json(RESULT, result)
    code = FINE if found.winner is not None else INCOMPLETE
    if knobs is not None and not knobs.undone:
        code = FOUND
    writer.finish("complete", exit_code=code, headline=OUTCOME.view(result).headline)
    OUTCOME.write(result, writer.path / "report.html")
    return Searched(result, code)


__all__ = ["LEAST_BLOCKS", "History", "Prepare", "Searched", "Task", "run_search"]
