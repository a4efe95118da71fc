"""What the HTML report says of a node probe's run: the rows over the nodes, sweeps, matrices, noise, machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.core.records import Record
from wulf.measure.machines import Machine, hardware_classes, machine
from wulf.measure.node_rows import Row
from wulf.report.charts import Chart
from wulf.report.machines import Beside, beside, footnote, machine_charts, machine_heads, machine_rows
from wulf.report.names import fold, natural, plural, printable
from wulf.report.node_grid import (
    MOST_NODES,
    Ratio,
    Rows,
    columns,
    grid,
    judged,
    node_names,
    ratios,
    readable,
)
from wulf.report.node_matrices import matrices, matrix_chart, matrix_text
from wulf.report.node_noise import noise_section
from wulf.report.node_sweeps import bandwidth_chart, latency_chart, marks, of_node, sweep_table, unresolved_edges
from wulf.store.run import Facts, Run

MOST_SWEEPS = 8
"""Nodes whose sweeps and matrices are drawn: those that deviate in most rows, then in order of name."""

MOST_MACHINES = 6
"""Of more nodes, the first of every hardware class is compared with the others' first."""

Context = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """What a run's node probe measured, in the units that people read.

    Attributes
    ----------
    rows
        Node → row name → record.
    catalogue
        The rows in the order of the table.
    nodes
        In natural order.
    classes
        The hardware class of each node.
    found
        Node → row → its ratio to its like.
    """

    records: Sequence[Record]
    rows: Rows
    catalogue: Sequence[Row]
    nodes: Sequence[str]
    classes: Sequence[str]
    found: Mapping[str, Mapping[str, Ratio]]

    def most_odd(self, most: int) -> list[str]:
        """At most so many nodes, those that deviate in most rows first."""
        count = {node: sum(r.deviates for r in self.found.get(node, {}).values()) for node in self.nodes}
        return sorted(self.nodes, key=lambda node: (-count[node], natural(node)))[:most]


def measured(
    records: Sequence[Record], rows: Rows, catalogue: Sequence[Row], fingerprint: Mapping[str, Facts]
) -> Measured:
    """Everything that the sections need, computed once."""
    own = [readable(record) for record in records if record.probe == "node"]
    shown = {node: {name: readable(record) for name, record in of.items()} for node, of in rows.items()}
    nodes = sorted(set(node_names(shown)) | {record.subject for record in own}, key=natural)
    shown = {node: shown.get(node, {}) for node in nodes}
    classes = hardware_classes(nodes, fingerprint)
    return Measured(own, shown, catalogue, nodes, classes, ratios(shown, catalogue, nodes, classes))


def node_section(run: Run, rows: Rows, catalogue: Sequence[Row]) -> tuple[Context | None, list[Chart]]:
    """What the page's part about nodes says, and its charts; None for a run without records of wulf-node.

    Parameters
    ----------
    rows
        Node → row name → record: `wulf.measure.node_rows.rows_of`.
    catalogue
        Every row that there is, in order.
    """
    if not any(record.probe == "node" for record in run.records):
        return None, []
    found = measured(run.records, rows, catalogue, run.fingerprint)
    table = _table(found)
    sweeps, sweep_charts = _sweeps(found)
    maps, map_charts = _matrices(found, run.fingerprint)
    noise, noise_charts = noise_section(found.records)
    compared, machine_figures = machines_section(beside(machines_of_run(rows, run.fingerprint), titles(catalogue)))
    context = {
        "links": [
            (key, name)
            for key, name, there in (
                ("node-rows", "Rows", table["blocks"]), ("node-sweeps", "Working set", sweeps["nodes"]),
                ("node-matrices", "Cores", maps), ("node-noise", "Noise", noise["rows"]),
                ("node-machines", "Machines", compared["rows"]),
            )
            if there
        ],
        "table": table, "sweeps": sweeps, "matrices": maps, "noise": noise, "machines": compared,
        "single": printable(found.nodes[0]) if len(found.nodes) == 1 else "",
    }  # fmt: skip
    return context, [*sweep_charts, *map_charts, *noise_charts, *machine_figures]


def titles(catalogue: Sequence[Row]) -> dict[str, str]:
    """Row name → what people call it."""
    return {row.name: f"{row.title}, {row.block[0].lower()}{row.block[1:]}" for row in catalogue}


def _table(found: Measured) -> Context:
    shown = columns(found.nodes, found.found)
    blocks = grid(found.rows, found.catalogue, shown, found.found) if shown else []
    deviations = sum(r.deviates for own in found.found.values() for r in own.values())
    return {
        "nodes": [printable(node) for node in shown],
        "blocks": blocks,
        "summary": f"{plural(sum(len(b['rows']) for b in blocks), 'row')} of {plural(len(found.nodes), 'node')}",
        "deviations": deviations,
        "judged": judged(found.nodes, found.classes),
        "comparable": len(found.nodes) > 1,
        "left_out": len(found.nodes) - len(shown),
        "most": MOST_NODES,
    }


def _sweeps(found: Measured) -> tuple[Context, list[Chart]]:
    own = of_node(found.records)
    nodes = [node for node in found.most_odd(MOST_SWEEPS) if sweep_table(own.get(node, []))]
    charts: list[Chart] = []
    parts = []
    for number, node in enumerate(sorted(nodes, key=natural)):
        latency = latency_chart(f"node-latency-{number}", own[node])
        bandwidth = bandwidth_chart(f"node-bandwidth-{number}", own[node])
        charts += [chart for chart in (latency, bandwidth) if chart is not None]
        parts.append({
            "node": printable(node),
            "latency": latency["id"] if latency else "",
            "marks": [mark.text for mark in marks(own[node])],
            "bandwidth": bandwidth["id"] if bandwidth else "",
            "unresolved": unresolved_edges(own[node]),
            "rows": sweep_table(own[node]),
        })  # fmt: skip
    others = sum(bool(sweep_table(own.get(node, []))) for node in found.nodes) - len(parts)
    return {"nodes": parts, "left_out": others}, charts


def _matrices(found: Measured, fingerprint: Mapping[str, Facts]) -> tuple[list[Context], list[Chart]]:
    own = of_node(found.records)
    texts, charts = [], []
    for number, node in enumerate(sorted(found.most_odd(MOST_SWEEPS), key=natural)):
        for kind, matrix in matrices(node, number, own.get(node, []), fingerprint.get(node, {})):
            chart = matrix_chart(kind, matrix)
            text = matrix_text(kind, matrix, chart)
            texts.append(text)
            charts += [chart] if chart is not None and text["drawn"] else []
    return texts, charts


def machines_of_run(rows: Rows, fingerprint: Mapping[str, Facts]) -> list[Machine]:
    """The machines that a run's page compares: its nodes, or the first of each hardware class where they are many."""
    nodes = node_names(rows)
    alike: dict[str, list[str]] = {}
    for node, kind in zip(nodes, hardware_classes(nodes, fingerprint), strict=True):
        alike.setdefault(kind if len(nodes) > MOST_MACHINES else node, []).append(node)
    return [
        machine(f"{of[0]} (of {fold(of)})" if len(of) > 1 else of[0], rows[of[0]], fingerprint.get(of[0], {}))
        for of in list(alike.values())[:MOST_MACHINES]
    ]


def machines_section(these: Beside) -> tuple[Context, list[Chart]]:
    """The comparison of machines, for a run's page and for the page of `wulf compare --machines`."""
    charts = machine_charts("machines", these)
    words = {"time": "Time", "cycles": "Clock × time", "cost": "Price × time"}
    return {
        "heads": machine_heads(these.machines),
        "rows": machine_rows(these),
        "charts": [{"id": chart["id"], "title": words[chart["id"].rpartition("-")[2]]} for chart in charts],
        "footnote": footnote(these.machines),
        "priced": any(machine.price is not None for machine in these.machines),
    }, charts
