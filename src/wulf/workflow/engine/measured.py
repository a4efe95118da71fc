"""What a run's runners find, one after the other, as its plan is extended; kept even after an interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from wulf.core.errors import NodeError
from wulf.core.records import Record
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.ends import Servers
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.runner import Runner
from wulf.measure.engine.watcher import Watcher
from wulf.stats.comparison import Comparison
from wulf.store.run import RunWriter
from wulf.workflow.engine.baseline import Baseline
from wulf.workflow.engine.connect import Connected


@dataclass
class Measurements:
    """What runners have found so far."""

    records: list[Record] = field(default_factory=list)
    failed: dict[str, NodeError] = field(default_factory=dict)
    comparison: Comparison | None = None

    def take(self, runner: Runner) -> None:
        """Add one runner's records, and the nodes that it lost."""
        self.records += runner.records
        self.comparison = runner.comparison
        for node, why in runner.lost.items():
            self.failed[node] = NodeError(node, f"died while it was measured: {why}")


def measure_all(
    plan: Plan,
    *,
    so_far: Sequence[Replicate],
    connected: Connected,
    writer: RunWriter,
    budget: float | None,
    baseline: Baseline,
    extend: Callable[[Sequence[Record], int], tuple[Cell, ...]] | None,
    watch: Watcher,
    measured: Measurements,
) -> None:
    """Measure the plan, and what it is extended by; what there is stands in `measured`, even after an interrupt."""
    began, cells = time.monotonic(), plan.cells
    servers: Servers = {}
    while plan.cells:
        runner = Runner(
            plan, connected.sessions, connected.addresses, writer,
            others=connected.others, second=connected.second, watch=watch, servers=servers,
            explain=baseline.explain(connected.fingerprint), so_far=so_far,
        )  # fmt: skip
        try:
            runner.run()
        finally:
            measured.take(runner)
        more = extend(measured.records, len(cells)) if extend else ()
        left = None if budget is None else budget - (time.monotonic() - began)
        if not more or (left is not None and left <= 0):
            break
        cells += more
        writer.write_json("plan.json", replace(plan, cells=cells, budget=budget).to_json())
        plan = replace(plan, cells=more, budget=left, seed=plan.seed + 1)
