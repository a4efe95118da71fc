"""A sentry from a plan's file to its end: one round, or for as long as it is left to run."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wulf.cluster.inventory import Inventory
from wulf.cluster.slurm.jobs import granted_job
from wulf.cluster.slurm.words import state_of
from wulf.core.durations import DAY
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.state import Measurement, SentryState
from wulf.workflow.sentry import holding
from wulf.workflow.sentry.children import COMPLAINED, Children, Job
from wulf.workflow.sentry.idle import ByLoad, BySlurm
from wulf.workflow.sentry.telling import Say, Teller, tell_and_drain
from wulf.workflow.sentry.watch import Outside, Watch

TICK = 0.2
"""Seconds between two looks at what runs."""

LOOK = 10.0
"""Seconds after which it is looked what is to be measured, and who is to be told, where nothing has ended."""

RECOVER = 600.0
"""Seconds after which what is left of measurements is looked for again."""

ENDING = 20.0
"""Seconds for what runs to end with the sentry, before it is killed with it."""

SLURM_DEFAULTS = {"job-name": "wulf-sentry", "immediate": "60"}
"""A job that can't begin within a minute is not waited for: the node was taken meanwhile."""


@dataclass(frozen=True)
class Given:
    """What a sentry is started with.

    Attributes
    ----------
    way
        Options for the plan's commands that say how nodes are reached.
    """

    state: Path
    plan: SentryPlan
    inventory: Inventory
    way: Sequence[str]
    say: Say


@contextmanager
def watching(given: Given, clock: Callable[[], float] = time.time) -> Iterator[Watch]:
    """A watch that has begun: nobody else has its state; what runs when the block ends is ended."""
    plan, path = given.plan, given.state
    runs = Path(plan.runs) if plan.runs else path.with_name(f"{path.stem}-runs")
    with holding.held(path), SentryState(path) as state:
        slurm = BySlurm(lambda: {(node, incident) for node, incident, _ in state.drained()})
        by_slurm = plan.idle.by == "slurm"

        def is_job(measure: Measure, nodes: Sequence[str]) -> bool:
            return by_slurm and measure.on == "idle" and not set(nodes) <= slurm.apart

        def way(job: Job) -> list[str]:
            return [*given.way, *(slurm_way(plan.idle.options) if is_job(job.measure, job.nodes) else ())]

        def preempted(one: Measurement, measure: Measure) -> bool:
            return is_job(measure, one.nodes) and was_preempted(one, slurm)

        outside = Outside(
            Children(path, way), slurm if by_slurm else ByLoad(given.inventory, plan.idle), clock, holding.myself(),
            holding.is_alive, lambda one: holding.ended(holding.mark_of(path, one.id)), preempted, given.say,
        )  # fmt: skip
        watch = Watch(state, plan, given.inventory.names, runs.absolute(), outside)
        try:
            watch.begin()
            yield watch
        finally:
            _end(watch)


def slurm_way(options: Mapping[str, str]) -> list[str]:
    """Options of a command that measures in a job."""
    chosen = {**SLURM_DEFAULTS, **options}
    return [
        "--launcher", "slurm",
        *(f"--slurm-option={name}={value}" if value else f"--slurm-option={name}" for name, value in chosen.items()),
    ]  # fmt: skip


def was_preempted(one: Measurement, slurm: BySlurm, state: Callable[[str], str | None] = state_of) -> bool:
    """Whether a measurement failed since its job gave way, or since none was to be had on nodes that others took."""
    try:
        lines = (Path(one.run) / COMPLAINED).read_text(errors="replace").splitlines()
    except OSError:
        return False
    job = next(filter(None, map(granted_job, lines)), None)
    if job is not None:
        return state(job) == "PREEMPTED"
    return slurm.of(one.nodes) != set(one.nodes)


def _end(watch: Watch) -> None:
    """End what runs; what has ended by itself by now is taken in."""
    watch.collect()
    watch.stop()
    deadline = time.monotonic() + ENDING
    while any(one.child.poll(0.0) is None for one in watch.running.values()) and time.monotonic() < deadline:
        time.sleep(TICK)
    watch.give_up()


def once(given: Given, seconds: float, *, anew: bool = False, clock: Callable[[], float] = time.time) -> None:
    """One round: measure what is to be measured, begin nothing after so many seconds, tell, and end.

    Parameters
    ----------
    anew
        Whether all is measured, whenever it last was.
    """
    with watching(given, clock) as watch:
        watch.anew = clock() if anew else 0.0
        until = clock() + seconds
        going = clock() < until and watch.start() > 0
        while going or watch.running:
            time.sleep(TICK)
            ended = watch.collect()
            if ended and clock() < until:
                watch.start()
            going = False
        _tidy(watch, clock())
        tell_and_drain(given.state, given.plan, clock(), given.say)


def stay(given: Given, clock: Callable[[], float] = time.time) -> None:
    """Until SIGTERM or Ctrl-C."""
    with stopping() as stopped, watching(given, clock) as watch:
        teller = Teller(given.state, given.plan, clock, given.say)
        looked = recovered = tidied = -DAY
        while not stopped():
            ended, now = watch.collect(), time.monotonic()
            if ended or now - looked >= LOOK:
                watch.start()
                teller.begin()
                looked = now
            if now - recovered >= RECOVER:
                watch.recover()
                recovered = now
            if now - tidied >= DAY:
                _tidy(watch, clock())
                tidied = now
            time.sleep(TICK)
        teller.wait(ENDING)


def _tidy(watch: Watch, now: float) -> None:
    """Forget what is older than the plan keeps, with its runs."""
    before = now - watch.plan.keep
    folders = [
        Path(one.run)
        for one in watch.state.measurements(0.0)
        if one.ended is not None and one.ended < before and one.run
    ]
    watch.state.forget(before)
    for folder in folders:
        if folder.parent == watch.runs:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Whether the sentry was asked to end, by SIGTERM or SIGINT, for the length of the block."""
    asked: list[int] = []

    def note(number: int, _frame: object) -> None:
        asked.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
