"""Graphs of tasks: METG of every pattern, and efficiency over the tasks' time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.measure.mpi.graph import DEPENDENCE, GRAPH, NEEDED, efficiencies
from wulf.model.farm.costs import Metg, metg
from wulf.report.kit.figures import usable
from wulf.report.kit.matrices import record_curve
from wulf.report.kit.view import Columns, Plot, Section
from wulf.store.run import Run

MARKS = "·+x~*"


def metgs(records: Iterable[Record]) -> dict[str, Metg]:
    """Pattern → its METG(50 %)."""
    return {name: metg(points, np.random.default_rng(0)) for name, points in efficiencies(records).items()}


def sentences(records: Sequence[Record]) -> list[str]:
    """A sentence a pattern: its METG with its interval, or on which side of it all points were."""
    return [f"METG(50 %) of {name}: {_said(found)}." for name, found in metgs(records).items()]


def _said(found: Metg) -> str:
    value, interval, between = _cells(found)
    return f"{value} ({interval}), between tasks of {between}" if found.value else f"not reached, {between}"


def _cells(found: Metg) -> tuple[str, str, str]:
    """METG, its interval, and the points on its two sides."""
    if found.value is None:
        where = "above" if found.below is None else "below"
        end = found.above if found.below is None else found.below
        return "–", "–", f"every task's efficiency was {where} 50 %, the last at {show(end, 's')}"
    one = found.value.interval()
    between = f"{show(found.below, 's')} and {show(found.above, 's')}"
    return show(one.value, "s"), show_interval(one.low, one.high, "s"), between


def graph_section(run: Run) -> list[Section]:
    """METG by pattern, and the chart; none for a run without a graph."""
    found = metgs(run.records)
    if not found:
        return []
    heads = ["pattern", "a task needs", "METG(50 %)", "95 % interval", "between tasks of"]
    rows = [(name, NEEDED[name], *_cells(one)) for name, one in found.items()]
    note = (
        "METG: the task's time at which half of the ranks' time is its own (Slaughter et al., Task Bench, SC'20). "
        "Every rank has one task a step, and each needs its own rank's of the step before; both ends of a message were "
        "checked for who sent it after which step."
    )
    table = Columns(heads, rows, words=2, tail=1)
    return [Section("Graph of tasks", key="graph", link="Graph", table=table, plot=_plot(run), small=[note])]


def _plot(run: Run) -> Plot:
    curves: dict[str, dict[float, Record]] = {}
    for record in run.records:
        if record.phase == GRAPH and record.metric == "efficiency" and usable(record) and record.low and record.high:
            curves.setdefault(record.text(DEPENDENCE), {})[record.number("task_seconds")] = record
    drawn = [
        record_curve(name, curves[name], mark, dotted=True)
        for name, mark in zip(NEEDED, MARKS, strict=True)
        if name in curves
    ]
    return Plot("graph-efficiency", drawn, "a task's time", "efficiency", "s", "1")
