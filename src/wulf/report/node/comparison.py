"""Machines side by side, as a section of a run's report and as a report of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from wulf.core.names import fold, plural, uncapitalised
from wulf.measure.node.machines import Machine, machine
from wulf.measure.node.rows import rows_of, table
from wulf.report.kit.view import Columns, Drawing, Element, Fold, Note, Section, SideBySide, View
from wulf.report.node.grid import node_names
from wulf.report.node.machines import (
    MachineComparison,
    drawn_views,
    footnote,
    machine_chart,
    machine_lines,
    machine_rows,
)
from wulf.report.node.overlays import overlay_sections
from wulf.report.node.sweeps import SCRIPTS
from wulf.store.run import Run

MOST_MACHINES = 6
"""Of more nodes, one of each kind is compared with the others."""

TITLES = {"time": "Time", "cycles": "Clock × time", "cost": "Price × time"}


def titles() -> dict[str, str]:
    """Row name → what people call it: `add, integer, 32 bit`."""
    return {row.name: f"{row.title}, {uncapitalised(row.block)}" for row in table().rows}


def machines_of_run(run: Run) -> list[Machine]:
    """The machines that a run's page compares: its nodes, or one of each kind of processor where they are many."""
    rows = rows_of(run.records)
    nodes = [machine(node, rows[node], run.fingerprint.get(node, {})) for node in node_names(rows)]
    alike: dict[str, list[Machine]] = {}
    for one in nodes:
        alike.setdefault(one.kind if len(nodes) > MOST_MACHINES else one.name, []).append(one)
    kinds = list(alike.values())[:MOST_MACHINES]
    return [
        replace(of[0], name=f"{of[0].name}, one of {fold(m.name for m in of)}") if of[1:] else of[0] for of in kinds
    ]


def machines_view(these: MachineComparison, *, curves: bool = True) -> View:
    """The report of `wulf compare --machines`; `curves`: with what was swept, too."""
    return View(
        title=f"wulf compare --machines: {', '.join(one.name for one in these.machines)}",
        headline=f"{plural(len(these.machines), 'machine')} in {plural(len(these.rows), 'row')}",
        sections=[machines_section(these), *(overlay_sections(these.machines) if curves else ())],
    )


def machines_section(these: MachineComparison, *, printed: bool = True) -> Section:
    """Charts and a table; a run's report prints neither, as its rows stand there already."""
    priced = ", price × time which is worth its money" if any(one.price is not None for one in these.machines) else ""
    reading = f"Time says which is faster, clock × time whether by its clock or by its design{priced}."
    drawn = [
        Section(
            TITLES[view.key],
            body=[
                Drawing(
                    f"machines-{view.key}", partial(machine_chart, these, view),
                    f"{TITLES[view.key]} of each row, each machine by the best one; the figures are in the table below",
                    SCRIPTS, low=True,
                )
            ],
        )
        for view in drawn_views(these)
    ]  # fmt: skip
    heads = ["row", "", *(one.name for one in these.machines)]
    shown: list[Element | str] = [
        *machine_lines(these.machines),
        Columns(heads, machine_rows(these), words=2, merged=True, key="machine-table"),
        Note(footnote(these.machines)),
    ]
    body: list[Element | str] = [Note(reading, reading=True), *([SideBySide(drawn)] if drawn else [])]
    body += shown if printed else [Fold("As a table", shown, printed=False)]
    return Section("Machines side by side", key="node-machines", link="Machines", body=body)
