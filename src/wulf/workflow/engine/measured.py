"""What a study's runners find, one after the other, as its plan is extended; kept even after an interrupt."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from wulf.core.errors import NodeError
from wulf.core.records import Record
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.ends import Servers
from wulf.measure.engine.plan import Plan
from wulf.measure.engine.runner import Runner
from wulf.measure.engine.watcher import Watcher
from wulf.stats.comparison import Comparison
from wulf.store.run import Facts
from wulf.workflow.engine.baseline import Baseline
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Study


@dataclass
class Measurements:
    """What was found so far.

    Attributes
    ----------
    failed
        Node → why it was not measured, or not to its end.
    comparison
        B against A, where two cells are compared.
    fingerprint, notes
        Of the nodes that answered; what a reader has to know of how the figures came about.
    """

    records: list[Record] = field(default_factory=list)
    failed: dict[str, NodeError] = field(default_factory=dict)
    comparison: Comparison | None = None
    fingerprint: Mapping[str, Facts] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    baseline: Baseline = field(default_factory=Baseline)

    def take(self, runner: Runner) -> None:
        """Add one runner's records, and the nodes that it lost."""
        self.records += runner.records
        self.comparison = runner.comparison
        for node, why in runner.lost.items():
            self.failed[node] = NodeError(node, f"died while it was measured: {why}")


def measure_all(
    study: Study,
    plan: Plan,
    so_far: Sequence[Replicate],
    *,
    connected: Connected,
    found: Measurements,
    watch: Watcher,
) -> None:
    """Measure the plan, and what the study extends it by; what there is stands in `found`, even after an interrupt."""
    began, cells, budget = time.monotonic(), plan.cells, study.effort.budget
    writer, servers = study.given.writer, Servers()
    while plan.cells:
        runner = Runner(
            plan, connected.sessions, connected.addresses, writer,
            others={**connected.others, **study.beside.sessions}, second=connected.second, watch=watch,
            servers=servers, explain=found.baseline.explain(connected.fingerprint), so_far=so_far,
        )  # fmt: skip
        try:
            runner.run()
        finally:
            found.take(runner)
        more = tuple(study.extend(found.records, len(cells)))
        left = None if budget is None else budget - (time.monotonic() - began)
        if not more or (left is not None and left <= 0):
            break
        cells += more
        writer.write_json("plan.json", replace(plan, cells=cells, budget=budget).to_json())
        plan = replace(plan, cells=more, budget=left, seed=plan.seed + 1, together=study.together)
