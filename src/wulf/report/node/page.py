"""What the HTML report says of a node probe's run: the rows over the nodes, sweeps, matrices, noise, machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wulf.core.names import fold, natural, plural, printable
from wulf.core.records import Record
from wulf.measure.engine.probes import NODE
from wulf.measure.node.machines import Machine, machine
from wulf.measure.node.rows import rows_of, table
from wulf.report.kit.charts import Chart
from wulf.report.node.figures import marks_of
from wulf.report.node.grid import Marks, Rows, grid, most_odd, node_names, readable
from wulf.report.node.machines import Beside, beside, footnote, machine_charts, machine_heads, machine_rows
from wulf.report.node.matrices import matrices, matrix_chart, matrix_text
from wulf.report.node.noise import noise_section
from wulf.report.node.sweeps import bandwidth_chart, edge_lines, latency_chart, of_node, sweep_table, unresolved_edges
from wulf.stats.cluster.nodes import LEAST_NODES
from wulf.store.run import Facts, Run

MOST_NODES = 24
"""Columns of the table; of more nodes, those that deviate in most rows stand in it, and the first of the others."""

MOST_SWEEPS = 4
"""Nodes whose sweeps and matrices are drawn, chosen in the same way."""

MOST_MACHINES = 6
"""Of more nodes, one of each kind is compared with the others."""

NARROW = 2
"""So many nodes leave room for several blocks of the table side by side."""

Context = dict[str, Any]


@dataclass(frozen=True)
class NodeMeasurement:
    """What the node probe measured in a run, in the units that people read.

    Attributes
    ----------
    records
        Those of wulf-node.
    rows
        Node → row name → record.
    nodes
        In natural order.
    marks
        (node, row) → how it deviates.
    facts
        Of every node.
    """

    records: Sequence[Record]
    rows: Rows
    nodes: Sequence[str]
    marks: Marks
    facts: Mapping[str, Facts]


def measured(run: Run) -> NodeMeasurement:
    """What all sections need, computed once."""
    own = [readable(record) for record in run.records if record.probe == NODE]
    rows = {node: {name: readable(one) for name, one in of.items()} for node, of in rows_of(run.records).items()}
    nodes = sorted(set(node_names(rows)) | {record.subject for record in own}, key=natural)
    marks = marks_of(run.findings, table().by_name)
    return NodeMeasurement(own, {node: rows.get(node, {}) for node in nodes}, nodes, marks, run.fingerprint)


def node_section(run: Run) -> tuple[Context | None, list[Chart]]:
    """What the page's part about nodes says, and its charts; None for a run without records of wulf-node."""
    if not any(record.probe == NODE for record in run.records):
        return None, []
    found = measured(run)
    rows = _table(found)
    sweeps, sweep_charts = _sweeps(found)
    maps, map_charts = _matrices(found)
    noise, noise_charts = noise_section(found.records)
    compared, machine_figures = machines_section(beside(machines_of_run(run), titles()))
    sections = (
        ("node-rows", "Rows", rows["blocks"]), ("node-sweeps", "Working set", sweeps["nodes"]),
        ("node-matrices", "Cores", maps), ("node-noise", "Noise", noise["rows"]),
        ("node-machines", "Machines", compared["rows"]),
    )  # fmt: skip
    context = {
        "links": [(key, name) for key, name, there in sections if there],
        "table": rows,
        "sweeps": sweeps,
        "matrices": maps,
        "noise": noise,
        "machines": compared,
        "single": len(found.nodes) == 1,
    }
    return context, [*sweep_charts, *map_charts, *noise_charts, *machine_figures]


def titles() -> dict[str, str]:
    """Row name → what people call it: `add, integer, 32 bit`."""
    return {row.name: f"{row.title}, {row.block[0].lower()}{row.block[1:]}" for row in table().rows}


def _table(found: NodeMeasurement) -> Context:
    shown = most_odd(found.nodes, found.marks, MOST_NODES)
    blocks, reasons = grid(found.rows, table().rows, shown, found.marks)
    count = sum(len(block["rows"]) for block in blocks)
    few = f"With fewer than {LEAST_NODES} nodes, nobody can say which one is odd." if len(found.nodes) > 1 else ""
    return {
        "nodes": [printable(node) for node in shown],
        "blocks": blocks,
        "reasons": reasons,
        "summary": f"{plural(count, 'row')} of {plural(len(found.nodes), 'node')}",
        "deviations": any(node in shown for node, _ in found.marks),
        "judged": few if len(found.nodes) < LEAST_NODES else "",
        "left_out": len(found.nodes) - len(shown),
        "most": MOST_NODES,
        "narrow": len(shown) <= NARROW,
    }


def _sweeps(found: NodeMeasurement) -> tuple[Context, list[Chart]]:
    own = of_node(found.records)
    with_sweeps = [node for node in found.nodes if sweep_table(own.get(node, []))]
    charts: list[Chart] = []
    parts = []
    for number, node in enumerate(most_odd(with_sweeps, found.marks, MOST_SWEEPS)):
        latency = latency_chart(f"node-latency-{number}", own[node], found.facts.get(node, {}))
        bandwidth = bandwidth_chart(f"node-bandwidth-{number}", own[node])
        charts += [chart for chart in (latency, bandwidth) if chart is not None]
        parts.append({
            "node": printable(node),
            "latency": latency["id"] if latency else "",
            "marks": edge_lines(own[node], found.facts.get(node, {})),
            "bandwidth": bandwidth["id"] if bandwidth else "",
            "unresolved": unresolved_edges(own[node]),
            "rows": sweep_table(own[node]),
        })  # fmt: skip
    return {"nodes": parts, "left_out": len(with_sweeps) - len(parts)}, charts


def _matrices(found: NodeMeasurement) -> tuple[list[Context], list[Chart]]:
    own = of_node(found.records)
    texts, charts = [], []
    for number, node in enumerate(most_odd(found.nodes, found.marks, MOST_SWEEPS)):
        for kind, matrix in matrices(node, number, own.get(node, []), found.facts.get(node, {})):
            chart = matrix_chart(kind, matrix)
            text = matrix_text(kind, matrix, chart)
            texts.append(text)
            charts += [chart] if chart is not None and text["drawn"] else []
    return texts, charts


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
