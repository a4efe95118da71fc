"""The watch: what was left is recovered, idle nodes are measured, what ended is taken in, again and again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from wulf.core.durations import DAY, HOUR
from wulf.core.errors import UsageError
from wulf.core.names import fold
from wulf.sentry import judging
from wulf.sentry.choosing import Choice, Known, allowance, choose
from wulf.sentry.harvest import LOST
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.state import Measurement, SentryState
from wulf.workflow.sentry.children import Child, End, Executor, Job, limit
from wulf.workflow.sentry.idle import IdleNodes
from wulf.workflow.sentry.taking import (
    DONE,
    FAILED,
    GONE,
    PREEMPTED,
    Result,
    last_words,
    lost_in_a_row,
    note_unreached,
    result_of,
    take_in,
)

NEW = 0.1
"""The chance that a node that was never measured is not as it should be: a judgement, until there are figures."""

BUSY_FOR = 300.0
"""Seconds for which a node that was not idle, or did not answer, is not asked again: longer than a reboot takes."""

AFTER_FAILURE, AFTER_FAILURES = 60.0, 3600.0
"""Seconds until nodes are measured again after that failed: doubled each time, up to so many."""

ASKED_FOR_IDLE = 6
"""Rounds of choosing and asking whether those chosen are idle."""

Say = Callable[[str], None]


def _hushed(_text: str) -> None:
    """Nobody is told."""


@dataclass
class _Running:
    measurement: Measurement
    measure: Measure
    child: Child


@dataclass
class Outside:
    """What a watch does outside of this process, and by what it tells time; tests give their own.

    Attributes
    ----------
    alive
        Whether the holder of a measurement lives.
    gone
        Ends what is left of a measurement's processes, and tells whether all are gone.
    preempted
        Whether a measurement that failed was ended since its nodes were wanted for a job.
    """

    executor: Executor
    idle: IdleNodes
    clock: Callable[[], float]
    holder: Mapping[str, str]
    alive: Callable[[Mapping[str, str]], bool]
    gone: Callable[[Measurement], bool]
    preempted: Callable[[Measurement, Measure], bool] = lambda *_: False
    say: Say = _hushed


@dataclass
class Watch:
    """A plan that is carried out over some nodes.

    Attributes
    ----------
    runs
        Folder of the runs.
    anew
        What was measured before that counts as never measured.
    """

    state: SentryState
    plan: SentryPlan
    nodes: Sequence[str]
    runs: Path
    outside: Outside
    anew: float = 0.0
    running: dict[int, _Running] = field(default_factory=dict)
    _busy: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Write down what is watched, and take in what an earlier sentry left."""
        now = self.outside.clock()
        with self.state.transaction():
            classes = {one.name: one.hardware for one in self.state.nodes()}
            self.state.watch({name: classes.get(name, "") for name in self.nodes}, now, NEW)
            self.state.keep_text("plan", self.plan.without_secrets().model_dump_json())
        self.recover()

    def recover(self) -> None:
        """Measurements of a sentry that is no more: runs that are whole are taken in, the others are lost."""
        for one in self.state.running():
            if one.id in self.running or self.outside.alive(one.holder):
                continue
            if not self.outside.gone(one):
                self.outside.say(f"measurement {one.id} on {fold(one.nodes)}: its processes can't be ended")
                continue
            measure = self.plan.measure_named(one.measure)
            now = self.outside.clock()
            known = self.state.facts(one.nodes)
            result = result_of(one, measure, None, known, now) if measure else Result(GONE, "no longer in the plan")
            ended = result.harvest.at or now
            self._take(one, result, max(0.0, min(ended, now) - one.began))

    def start(self) -> int:
        """Choose, and start as much as there is room for: how many measurements."""
        started = 0
        for choice in self.choices():
            if len(self.running) >= self.plan.budget.at_once:
                break
            started += self._start(choice)
        return started

    def choices(self) -> list[Choice]:
        """What is to be measured now, as far as there is room; of idle nodes alone, which are asked."""
        room = self.plan.budget.at_once - len(self.running)
        if room <= 0:
            return []
        now = self.outside.clock()
        asked: set[str] = set()
        idle = {name for name in self.nodes if now - self._busy.get(name, -BUSY_FOR) >= BUSY_FOR}
        found = self._chooser(now)
        for _ in range(ASKED_FOR_IDLE):
            chosen = found(idle)[:room]
            unsure = [
                name for one in chosen if self._measure(one).on == "idle" for name in one.nodes if name not in asked
            ]
            if not unsure:
                return chosen
            asked |= set(unsure)
            idle -= set(unsure) - self._idle_of(unsure, now)
        return [one for one in found(idle & asked)[:room] if self._measure(one).on == "any" or set(one.nodes) <= asked]

    def _idle_of(self, nodes: Sequence[str], now: float) -> set[str]:
        """Those of these that are idle; the others are remembered."""
        try:
            free = self.outside.idle.of(nodes)
        except UsageError as error:  # Slurm is down, say: the watch outlasts that
            self.outside.say(error.what)
            return set()
        unreached = self.outside.idle.unreached
        note_unreached(self.state, self.plan, unreached, now)
        self._busy |= {name: now for name in nodes if name not in free and name not in unreached}
        return free

    def _chooser(self, now: float) -> Callable[[set[str]], list[Choice]]:
        """Chooses among idle nodes by what the state holds now."""
        state, plan = self.state, self.plan
        with state.snapshot():
            suspects = judging.suspects(state, plan)
            counted = {key: at for key, at in state.last_measured().items() if at >= self.anew}
            known = Known(
                state.nodes(),
                put_off(plan, counted, state.measurements(max(self.anew, now - DAY)), suspects),
                {name for one in state.running() for name in one.nodes} | resting(state, now),
                state.signs(now - 30 * DAY),
                suspects,
                usual_seconds(state, plan),
            )
            left = allowance(plan, state.spent(now - DAY, now), state.spent(now - HOUR, now))
        left -= sum(
            known.seconds.get(one.measure.name, one.measure.seconds) * len(one.measurement.nodes)
            for one in self.running.values()
        )
        return lambda idle: choose(plan, known, now, idle=idle, left=left)

    def _measure(self, choice: Choice) -> Measure:
        measure = self.plan.measure_named(choice.measure)
        assert measure is not None  # noqa: S101 - it was chosen out of the plan
        return measure

    def _start(self, choice: Choice) -> bool:
        now, measure = self.outside.clock(), self._measure(choice)
        if measure.nodes_at_once != 1 and measure.on == "idle":
            together = tuple(name for name in choice.nodes if name not in self.outside.idle.apart)
            choice = replace(choice, nodes=together)
            if len(together) < 2:
                return False
        number = self.state.claim(
            choice.measure, choice.nodes, choice.why, now, self.outside.holder,
            run=lambda number: str(self.runs / f"{_stamp(now)}-{choice.measure}-{number}"),
        )  # fmt: skip
        if number is None:
            return False
        one = next(each for each in self.state.running() if each.id == number)
        usual = max(measure.seconds, self.state.usual_seconds(measure.name) or 0.0)
        job = Job(number, measure, choice.nodes, Path(one.run), limit(usual, len(choice.nodes)))
        try:
            self.running[number] = _Running(one, measure, self.outside.executor.start(job, now))
        except OSError as error:
            self._take(one, Result(FAILED, f"it could not be started: {error}"), 0.0)
            return False
        self.outside.say(f"{choice.measure} on {fold(choice.nodes)} ({choice.why})")
        return True

    def collect(self) -> int:
        """Take in what has ended: how many measurements."""
        now, ended = self.outside.clock(), 0
        for number, one in list(self.running.items()):
            end = one.child.poll(now)
            if end is not None:
                del self.running[number]
                self._ended(one, end, now)
                ended += 1
        return ended

    def _ended(self, one: _Running, end: End, now: float) -> None:
        own = one.measurement
        result = result_of(own, one.measure, end, self.state.facts(own.nodes), now)
        if (result.state != DONE or result.harvest.unreached) and self.outside.preempted(own, one.measure):
            result = Result(PREEMPTED, last_words(Path(own.run)) or "its nodes were wanted for a job")
        self._take(own, result, now - own.began)

    def _take(self, one: Measurement, result: Result, seconds: float) -> None:
        now = self.outside.clock()
        take_in(self.state, self.plan, one, result, seconds=seconds * len(one.nodes), now=now)
        why = f": {result.reason}" if result.reason else ""
        self.outside.say(f"{one.measure} on {fold(one.nodes)}: {result.state}{why}")

    def stop(self) -> None:
        """End what runs, and say so: those who measure keep what they have."""
        for one in self.running.values():
            one.child.stop()

    def give_up(self) -> None:
        """What was ended with us is lost: it says nothing of its nodes. What is whole all the same counts."""
        now = self.outside.clock()
        for number, one in list(self.running.items()):
            del self.running[number]
            own = one.measurement
            result = result_of(own, one.measure, None, self.state.facts(own.nodes), now)
            self._take(own, result if result.state == DONE else Result(GONE, "the sentry was ended"), now - own.began)


def usual_seconds(state: SentryState, plan: SentryPlan) -> dict[str, float]:
    """Measure → node-seconds that it takes for each node, where that is known."""
    return {one.name: took for one in plan.measure if (took := state.usual_seconds(one.name)) is not None}


def _stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%S}"


def resting(state: SentryState, now: float) -> set[str]:
    """Nodes that are left alone for a while, since they could not be reached."""
    newest = {one.node: one.at for one in state.signs(now - DAY) if one.name == LOST}
    lost = lost_in_a_row(state, now)
    return {node for node, (times, _) in lost.items() if now - newest[node] < pause(times, BUSY_FOR)}


def put_off(
    plan: SentryPlan,
    last: Mapping[tuple[str, str], float],
    newest: Sequence[Measurement],
    suspects: Collection[str] = (),
) -> dict[tuple[str, str], float]:
    """When each node was last measured, by measure; what failed or gave way counts as measured so long ago that it is
    tried again after a pause.

    Parameters
    ----------
    newest
        Measurements of the last day, the newest first.
    suspects
        Nodes that are to be confirmed: sooner than others.
    """
    failed: dict[tuple[str, str], tuple[int, float]] = {}
    over: set[tuple[str, str]] = set()
    for one in newest:
        for key in ((node, one.measure) for node in one.nodes):
            if one.state == DONE:
                over.add(key)
            elif one.state in (FAILED, PREEMPTED) and one.ended is not None and key not in over:
                times, at = failed.get(key, (0, one.ended))
                failed[key] = times + 1, at
    bases = {one.name: plan.budget.rest if one.nodes_at_once == 1 else one.every for one in plan.measure}
    tried = {
        (node, name): at + pause(times) - (min(plan.alarm.confirm, bases[name]) if node in suspects else bases[name])
        for (node, name), (times, at) in failed.items()
        if name in bases
    }
    return {**last, **{key: max(at, last.get(key, at)) for key, at in tried.items()}}


def pause(failures: int, first: float = AFTER_FAILURE) -> float:
    """Seconds until the next attempt after so many failures; `first`: after the first one."""
    return float(min(AFTER_FAILURES, first * 2 ** (min(failures, 12) - 1)))
