"""A measurer with injected figures: the product's own runner, and sessions that answer what they are told to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from wulf.core.records import Record
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import NET, Metric
from wulf.measure.engine.runner import Runner
from wulf.stats.comparison import Comparison

Figure = Callable[[str, str, str], float | None]
"""From client, server, and pattern or probe to what the next replicate measures; None: no answer."""


@dataclass
class SimulatedRun:
    """What a simulated run kept, as a run's directory would."""

    records: list[Record]
    replicates: list[dict[str, Any]]
    comparison: Comparison | None = None


@dataclass
class _Sink:
    id: str
    kept: SimulatedRun

    def append(self, record: Record) -> None:
        self.kept.records.append(record)

    def append_replicate(self, replicate: Mapping[str, Any]) -> None:
        self.kept.replicates.append(dict(replicate))


@dataclass
class _Session:
    """One program on one node, which answers at once."""

    node: str
    metrics: Mapping[str, tuple[Metric, ...]]
    figure: Figure
    alive: bool = True

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        if op == "serve":
            future.set_result({"ok": True, "server": 1, "address": fields["address"], "port": 1})
        else:
            future.set_result(self._run(fields))
        return future

    def _run(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        pattern = fields.get("pattern") or fields["probe"]
        value = self.figure(self.node, fields.get("address", self.node), pattern)
        metric = self.metrics[pattern][0]
        answer = {"unit": metric.unit, "value": value} | ({} if value else {"reason": "nothing came back"})
        return {"ok": True, "metrics": {metric.name: answer}, "counters": {}, "info": {}, "seconds": 0.0}


def measured(plan: Plan, figure: Figure, **options: Any) -> SimulatedRun:
    """Run a plan to its end by the product's runner, over sessions that answer with `figure`.

    Parameters
    ----------
    figure
        Asked once a replicate, in the order in which the runner measures; draws its noise itself.
    options
        Handed to the runner: a clock that budgets are held against, other programs' sessions.
    """
    metrics = {cell.pattern: cell.metrics for cell in plan.cells}
    nodes = dict.fromkeys(node for cell in plan.cells for node in (cell.client, cell.server))
    sessions = {node: _Session(node, metrics, figure) for node in nodes}
    others = {cell.program: sessions for cell in plan.cells if cell.program != NET} | options.pop("others", {})
    kept = SimulatedRun([], [])
    addresses = {node: node for node in nodes}  # so that whoever is asked knows whom it measures
    runner = Runner(plan, sessions, addresses, _Sink("selftest", kept), others=others, **options)
    runner.run()
    kept.comparison = runner.comparison
    return kept


RTT = (Metric("rtt", "s"),)


def pair_cell(number: int = 0, client: str = "n1", server: str = "n2", metrics: tuple[Metric, ...] = RTT) -> Cell:
    """A cell of one metric between two nodes."""
    return Cell(number, client, server, "tcp", "pingpong", {"bytes": 1}, metrics, "pairs")
