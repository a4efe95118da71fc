"""Runs that were cut short: what their replicates say, collected into records as the runner would have."""

from __future__ import annotations

from pathlib import Path

from wulf.findings.node.deviating import node_findings
from wulf.findings.run import find
from wulf.measure.engine.collect import records_of_run
from wulf.measure.engine.plan import Plan
from wulf.measure.net.layers import PHASE, DifferenceRule, differences
from wulf.measure.net.rules import explainer
from wulf.measure.node.rows import rows_of
from wulf.stats.cluster.nodes import MARGIN
from wulf.store.run import Run, read_run
from wulf.workflow.engine.baseline import joined


def load(path: Path) -> Run:
    """A run from disk; one that kill -9 cut short gets records for the cells that have replicates but no record.

    Nothing on disk is changed: the run stays what it was.
    """
    run = read_run(path)
    if run.meta.get("state") != "running" or run.being_written or not run.plan:
        return run
    plan = Plan.from_json(run.plan)
    at = str(run.replicates[-1]["at"]) if run.replicates else str(run.meta["started"])
    have = {(r.subject, r.metric, str(sorted(r.params.items(), key=str))) for r in run.records}
    explain = explainer(run.fingerprint, joined(*run.baseline.values()))
    for record in records_of_run(plan, run.replicates, run.id, at=at, stopped="the run was cut short", explain=explain):
        if (record.subject, record.metric, str(sorted(record.params.items(), key=str))) not in have:
            if record.reason:
                record.reason = f"{record.reason}; the run was cut short"
            run.records.append(record)
    if all(cell.phase == PHASE for cell in plan.cells):
        run.records += differences(run.records, DifferenceRule(plan.looks, plan.confidence, plan.watch))
    run.meta = {**run.meta, "state": "interrupted"}
    margin = run.meta.get("margin") or MARGIN
    run.findings = [
        *(node_findings(run.records, run.fingerprint, margin) if rows_of(run.records) else []),
        *find(run.records, run.fingerprint, {}, ["This run was cut short before it was judged."], margin=margin),
    ]
    return run
