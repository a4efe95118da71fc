"""Nodes and measurements that are played, for tests of the watch: no process is started, and no time passes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.sentry.messages import when
from wulf.sentry.plan import Budget, Measure, SentryPlan
from wulf.sentry.state import SentryState
from wulf.store.run import RunWriter
from wulf.workflow.sentry.children import End, Job
from wulf.workflow.sentry.watch import Outside, Watch

HOUR, DAY = 3600.0, 86400.0
START = 1.7e9
PLAN = SentryPlan(
    measure=(Measure(name="node", command=("node", "--quick"), every=DAY, seconds=60.0),), budget=Budget(at_once=2)
)


@dataclass
class Played:
    """Nodes that measure what `value` says of them, and take a minute for it; the time is `now`."""

    value: Callable[[str, float], float | None]
    now: float = START
    busy: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    started: list[Job] = field(default_factory=list)
    refuses: bool = False
    unreached: dict[str, str] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    apart: set[str] = field(default_factory=set)
    silent: bool = False

    def of(self, nodes: Sequence[str]) -> set[str]:
        self.asked += nodes
        if self.silent:
            raise UsageError("sinfo did not answer")
        self.unreached = {node: f"{node}: no route" for node in nodes if node in self.down}
        return set(nodes) - self.busy - self.down

    def start(self, job: Job, now: float) -> PlayedChild:
        if self.refuses:
            raise OSError("no more processes")
        self.started.append(job)
        return PlayedChild(self, job, now + 60.0)


@dataclass
class PlayedChild:
    played: Played
    job: Job
    until: float
    end: End = field(default_factory=lambda: End(0))

    def poll(self, now: float) -> End | None:
        if now < self.until:
            return None
        if self.end.status == 0:
            leave(self.job.folder, {node: self.played.value(node, now) for node in self.job.nodes}, now)
        return self.end

    def stop(self) -> None:
        self.until, self.end = 0.0, End(130)


def leave(folder: Path, values: dict[str, float | None], now: float = START) -> None:
    """A run that a command left, of that time."""
    at = when(now)
    with RunWriter(folder, "node", {"nodes": list(values), "started": at}) as writer:
        for node, value in values.items():
            fields = {"metric": "copy", "unit": "B/s", "verdict": Verdict.OK, "value": value, "at": at}
            if value is not None:
                writer.append(Record(run=writer.id, subject=node, probe="node", **fields))
        writer.write_findings([])
        writer.finish("complete", exit_code=0)
    meta = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**meta, "ended": at}))


def watch_of(state: SentryState, played: Played, nodes: Sequence[str] = ("n1", "n2", "n3"), *,
             plan: SentryPlan = PLAN, gone: bool = True, preempted: bool = False) -> Watch:  # fmt: skip
    outside = Outside(
        played, played, lambda: played.now, {"boot": "b", "pid": "1", "started": "1"}, lambda _: False, lambda _: gone,
        lambda *_: preempted,
    )  # fmt: skip
    watch = Watch(state, plan, nodes, state.path.parent / "runs", outside)
    watch.begin()
    return watch


def round_of(watch: Watch, played: Played) -> None:
    """Measure all that is due."""
    while watch.start() or watch.running:
        played.now += 61.0
        watch.collect()
