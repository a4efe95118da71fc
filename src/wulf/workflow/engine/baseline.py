"""The idle second: what every node counts while nothing is measured, so that its background can be taken off."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any, Protocol

from wulf.agent.counting import difference
from wulf.core.errors import NodeError
from wulf.core.findings import Finding, Severity
from wulf.measure.engine.collect import Explain, add_counters
from wulf.measure.engine.ends import ProbeSession
from wulf.measure.engine.plan import Plan
from wulf.measure.net.bottleneck import figure
from wulf.measure.net.rules import explainer
from wulf.measure.net.situation import End
from wulf.store.run import Facts

IDLE_SECONDS, LEAST_IDLE_SECONDS = 1.0, 0.25
"""At most, which is 100 ticks of a CPU's clock, and at least, which is 25: still far finer than `BUSY_BEFORE`."""

IDLE_SHARE = 0.1
"""Each idle time is at most that share of the measuring that the plan has at least: it is not to be most of a run."""

ANSWER_TIMEOUT = 10.0

BUSY_BEFORE = 0.2
"""The busy share of one core that is worth telling: what is measured there has to share it."""


def idle_seconds(plan: Plan) -> float:
    """How long nodes are looked at while at rest, before and after; 0 where nothing is measured."""
    if not plan.cells:
        return 0.0
    least = plan.rule.least * sum(cell.seconds for cell in plan.cells)
    return min(IDLE_SECONDS, max(LEAST_IDLE_SECONDS, IDLE_SHARE * least))


Idle = dict[str, dict[str, Any]]
"""Node → {"seconds", "counters": deltas, "frequency"} of an idle second."""


def _snapshots(sessions: Mapping[str, ProbeSession]) -> Idle:
    """The counters of all nodes, asked at the same time; a node that does not answer is left out."""
    pending = {node: session.call("counters") for node, session in sessions.items() if session.alive}
    found: Idle = {}
    for node, future in pending.items():
        try:
            answer = future.result(timeout=ANSWER_TIMEOUT)
        except (NodeError, FutureTimeout):  # it fails again where it is measured, which says so
            continue
        if answer.get("counters"):
            found[node] = answer
    return found


def idle_second(
    sessions: Mapping[str, ProbeSession], seconds: float = IDLE_SECONDS, sleep: Callable[[float], None] = time.sleep
) -> Idle:
    """What every node counts in `seconds` of rest, all nodes at the same time."""
    first = _snapshots(sessions)
    if not first:
        return {}
    sleep(seconds)
    last = _snapshots(sessions)
    return {
        node: {
            "seconds": last[node]["at"] - first[node]["at"],
            "counters": difference(first[node]["counters"], last[node]["counters"]),
            "frequency": last[node].get("frequency"),
        }
        for node in first
        if node in last
    }


def joined(*idle: Idle) -> Idle:
    """Several idle seconds as one."""
    total: Idle = {}
    for one in idle:
        for node, seen in one.items():
            sums = total.setdefault(node, {"seconds": 0.0, "counters": {}})
            sums["seconds"] += seen["seconds"]
            add_counters(sums["counters"], seen["counters"])
    return total


class Keeper(Protocol):
    """Who keeps baseline.json (`wulf.store.run.RunWriter`)."""

    def write_json(self, name: str, content: Any) -> None:
        """Replace one of the run's JSON files."""


@dataclass
class Baseline:
    """The idle seconds of one run; none are taken where `seconds` is 0."""

    sessions: Mapping[str, ProbeSession] = field(default_factory=dict)
    seconds: float = 0.0
    keeper: Keeper | None = None
    seen: dict[str, Idle] = field(default_factory=dict)

    def take(self, when: str) -> None:
        """Count one, `before` or `after`, and keep it."""
        if self.seconds and self.keeper and self.sessions:
            self.seen[when] = idle_second(self.sessions, self.seconds)
            self.keeper.write_json("baseline.json", self.seen)

    def explain(self, fingerprint: Mapping[str, Facts]) -> Explain:
        """What says why a cell is not faster."""
        return explainer(fingerprint, joined(*self.seen.values()))


def background_findings(baseline: Mapping[str, Idle], fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """Machines that were not at rest when nothing was measured, each told once."""
    findings: list[Finding] = []
    told: set[str] = set()
    for when, idle in baseline.items():
        for node, seen in idle.items():
            cpu = next(iter(End(node, counters=seen["counters"]).cpus()), None)
            machine = str(fingerprint.get(node, {}).get("kernel.boot_id", {}).get("value") or node)
            if cpu is None or cpu.earnest < BUSY_BEFORE or machine in told:
                continue
            told.add(machine)
            text = f"{node} was not at rest in the idle second {when} the measurement: CPU {cpu.name} was "
            findings.append(
                Finding(
                    kind="background",
                    severity=Severity.INFO,
                    subject=node,
                    text=f"{text}{cpu.earnest:.0%} used. What is measured there shares it.",
                    next_step="end what else runs there (`top -1`), or measure on other CPUs with --cpu",
                    evidence=[figure(node, f"CPU {cpu.name} used at rest", cpu.earnest, "1", BUSY_BEFORE)],
                )
            )
    return findings
