"""Runs that go on where they were cut short: what is kept of the earlier turns, and what a reader must know of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wulf.agent.facts import is_uniform
from wulf.core.records import Record, Verdict
from wulf.measure.engine.collect import Replicate
from wulf.measure.engine.plan import Plan
from wulf.store.run import Facts, Run
from wulf.workflow.engine.connect import Connected

MOST_CHANGES = 5
"""Facts that changed since a run began, told one by one; of more, the number."""


def lacks_nothing(run: Run) -> bool:
    """Whether a run has been measured to its end, and no cell of it failed or had no budget left: nothing to resume."""
    return run.meta.get("state") == "complete" and not any(_owes(record) for record in run.records)


def _owes(record: Record) -> bool:
    return record.verdict is Verdict.FAILED or (record.stopped or "").startswith("the budget of ")


def resumed_notes(earlier: Run, now: Mapping[str, Facts]) -> list[str]:
    """What a reader has to know of a run that went on after a pause, on nodes that may have changed meanwhile."""
    turns = len(earlier.meta.get("resumed", [])) + 2
    text = (
        f"This run was cut short and resumed: it was measured in {turns} turns, the first on {earlier.meta['started']}"
    )
    changed = [
        f"{node}: {name}"
        for node, facts in now.items()
        for name, fact in facts.items()
        if name in earlier.fingerprint.get(node, {})
        and (is_uniform(name) or name == "kernel.boot_id")
        and fact.get("value") != earlier.fingerprint[node][name].get("value")
    ]
    if not changed:
        return [f"{text}."]
    more = len(changed) - MOST_CHANGES
    shown = ", ".join(changed[:MOST_CHANGES]) + (f" and {more} more" if more > 0 else "")
    return [f"{text}. Since then the nodes have changed ({shown}): what follows compares figures of both times."]


def remembered(earlier: Run | None, connected: Connected) -> tuple[Connected, list[str]]:
    """What is to be said of the nodes of a run that goes on; nodes that are gone now keep the facts they had."""
    if earlier is None:
        return connected, []
    notes = resumed_notes(earlier, connected.fingerprint)
    return replace(connected, fingerprint={**earlier.fingerprint, **connected.fingerprint}), notes


def gone_on_with(earlier: Run | None, plan: Plan) -> tuple[Plan, Sequence[Replicate]]:
    """The plan of an earlier turn of the run, where it got so far as to have one, and what it has measured of it.

    Its budget begins anew, and what shares a machine is as it is now.
    """
    if earlier is None or not earlier.plan:
        return plan, ()
    return replace(Plan.from_json(earlier.plan), hosts=plan.hosts, budget=plan.budget), earlier.replicates
