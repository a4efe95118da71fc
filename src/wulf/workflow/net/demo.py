"""The demo: a lab with one slowed link, surveyed like any cluster."""

from __future__ import annotations

from dataclasses import dataclass

from wulf import lab as labs
from wulf.cluster.inventory import Inventory
from wulf.core.errors import FOUND, OK
from wulf.measure.engine.watcher import Watcher
from wulf.store.run import RunWriter
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome, measure
from wulf.workflow.engine.study import Conditions
from wulf.workflow.net.survey import Survey

BUDGET = 90.0
"""Seconds of measuring: on a busy machine, wider intervals rather than a longer wait."""


@dataclass
class Demo:
    """The survey's outcome, and whether the lab could slow the link at all."""

    outcome: RunOutcome
    slowed: bool


def demo(
    nodes: int,
    slow: str,
    rate: str,
    writer: RunWriter,
    seed: int,
    *,
    quick: bool,
    backend: str | None,
    watch: Watcher,
) -> Demo:
    """Make the lab, survey it, take it down. A lab of loopback processes has no link to slow, and says so."""
    watch.say(f"making a lab of {nodes} nodes")
    kind = backend or labs.probe_backend()[0]
    rates = {slow: rate} if kind == "netns" else None
    with labs.up(nodes, keep=False, backend=kind, rates=rates) as lab:
        effort = Effort(budget=BUDGET, quick=quick)
        outcome = measure(Survey(Conditions(Inventory.from_lab(lab), effort, writer, seed, watch)))
    return Demo(outcome, slowed=rates is not None)


def verdict(shown: Demo, slow: str) -> tuple[int, str]:
    """Exit code and sentence: do the findings name the slowed node, and only it?"""
    accused = {f.subject for f in shown.outcome.run.findings if f.kind in ("node", "link", "failed")}
    if not shown.slowed:
        clean = "nothing stands out, as it should be" if not accused else f"stands out: {', '.join(sorted(accused))}"
        return (OK if not accused else FOUND), f"demo: no link could be slowed here (loopback lab); {clean}"
    if accused == {slow}:
        return OK, f"demo: {slow}'s link was slowed, and the findings name {slow} and only {slow}"
    return FOUND, f"demo: {slow}'s link was slowed, but the findings name {', '.join(sorted(accused)) or 'nobody'}"
