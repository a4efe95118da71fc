"""What is said of nodes by themselves: the rows over the nodes, sweeps, matrices, noise, machines."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wulf.core.names import natural, plural
from wulf.core.records import Record, Verdict
from wulf.core.units import show
from wulf.measure.engine.probes import NODE
from wulf.measure.node.rows import curves_of, rows_of, table
from wulf.report.kit.figures import MARKS, usable
from wulf.report.kit.view import Drawing, Element, Fold, Footnotes, Note, Section, SideBySide
from wulf.report.node.comparison import machines_of_run, machines_section, titles
from wulf.report.node.curves import curve_tables, matrix_lines
from wulf.report.node.figures import BETTER, ODD, WORSE, Reasons, marks_of, shown_unit
from wulf.report.node.grid import (
    Marks,
    Rows,
    blocks,
    ends,
    key_rows,
    most_odd,
    node_names,
    one_block,
    readable,
)
from wulf.report.node.machines import beside
from wulf.report.node.matrices import matrices, matrix_section
from wulf.report.node.noise import noise_section
from wulf.report.node.sweeps import (
    SCRIPTS,
    bandwidth_chart,
    bandwidth_curves,
    edge_lines,
    is_drawn,
    latency_chart,
    latency_curves,
    of_node,
    rate_curve,
    sweep_table,
    unresolved_edges,
)
from wulf.stats.cluster.nodes import LEAST_NODES
from wulf.store.run import Facts, Run

MOST_NODES = 24
"""Columns of the table; of more nodes, those that deviate in most rows stand in it, and the first of the others."""

MAX_PRINTED = 12
"""Nodes that have a column each in a terminal; of more, the table shows the median and the ends."""

MOST_SWEEPS = 4
"""Nodes whose sweeps and matrices are drawn, chosen in the same way."""

MOST_CURVES = 2
"""Nodes whose curves are printed side by side."""

TYPICAL = ("cpu.fma.double.all", "mem.triad.all", "mem.random.latency", "net.remote.tcp.latency")
"""Rows of the headline."""

NARROW = 2
"""So many nodes leave room for three blocks of the table side by side."""

HALF = 4
"""So many leave room for two."""

MARKED = {WORSE: "worse than its like", BETTER: "better than its like", ODD: "unlike its like"}
DOUBTS = {
    Verdict.NOISY: "noisy: wider than requested, or disturbed",
    Verdict.UNRESOLVED: "unresolved: not told apart",
    Verdict.FAILED: "failed",
}

READING = (
    "Medians, with their intervals in small print; a raised number leads to the reason why there is none. What "
    "deviates from the median of its like is shaded: orange is worse, blue better, the darker the farther off (up to "
    "10 %, to 50 %, beyond)."
)
CURVES = (
    "Points are medians, bands and bars their intervals, hollow points noisy. Latency is of a chase in random order; "
    "cpu-rate is Brown's loop of four operations an element, and σ its deviation over the runs. Solid lines mark where "
    "a cache was found to end (shaded: the interval), dashed ones the size that the system reports."
)
MAPS = (
    "Yellow is slower, in every map. Core to core is half a round trip of a flag between two CPUs. Hatched cells have "
    "no value."
)


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


def node_sections(run: Run) -> list[Section]:
    """What is said of nodes by themselves; nothing for a run without records of a node survey."""
    if not any(record.probe == NODE or record.row for record in run.records):
        return []
    found = measured(run)
    these = beside(machines_of_run(run), titles())
    return [
        *_rows(found), *_sweeps(found, run), *_matrices(found, run), *noise_section(found.records),
        *([machines_section(these, printed=False)] if these.rows else []),
    ]  # fmt: skip


def _rows(found: NodeMeasurement) -> list[Section]:
    """The rows that matter most, then all of them."""
    shown = most_odd(found.nodes, found.marks, MOST_NODES)
    reasons = Reasons()
    key = _key_figures(found, reasons)
    tables = blocks(found.rows, table().rows, shown, found.marks, reasons)
    if not tables:
        return []
    width = "newspaper" if len(shown) <= NARROW else "two" if len(shown) <= HALF else "large"
    grid = SideBySide([Section(name, table=one) for name, one in tables.items()], width)
    count = plural(sum(len(one.rows) for one in tables.values()), "row")
    nodes = plural(len(found.nodes), "node")
    body: list[Element | str] = [
        Note(f"{count} of {nodes}, in the order of lmbench's summary. {READING}", reading=True)
    ]
    told = _marks(found, shown)
    why = [Footnotes(list(reasons.numbers))] if reasons.numbers else []
    legend = [Section("Marks and reasons", body=[*([Note(told)] if told else []), *why])] if told or why else []
    if len(found.nodes) <= MAX_PRINTED:
        body += [grid, *legend]
    else:
        over = f"over {len(found.nodes):,} nodes"
        spans = ends(found.rows, table().rows, found.marks)
        which = f"The {MOST_NODES} nodes that deviate in most rows" if len(found.nodes) > MOST_NODES else "Every node"
        body += [SideBySide([Section(f"{name}, {over}", table=one) for name, one in spans.items()], "large")]
        body += [Fold(f"{which}, row by row", [grid, *legend], printed=False)]
    every = Section(
        "Every row, every node", body=[Fold(f"All {count}", body, open=True, asked=count)], link="Rows", key="node-rows"
    )
    return [*key, every]


def typical(run: Run) -> str:
    """`241 Gflop/s multiply-adds, double, all CPUs; …`: the medians over the nodes of the first key rows."""
    of = rows_of(run.records).values()
    said = []
    for name in TYPICAL:
        values = [
            one.value for own in of if (one := own.get(name)) is not None and one.value is not None and usable(one)
        ]
        if values:
            row = table().by_name[name]
            said.append(f"{row.key} {show(statistics.median(values), shown_unit(row))}")
    return "; ".join(said)


def _key_figures(found: NodeMeasurement, reasons: Reasons) -> list[Section]:
    """The dozen, and the rows in which a node deviates."""
    chosen, few = one_block(key_rows(table().rows, found.marks)), len(found.nodes) <= NARROW
    if few:
        tables = blocks(found.rows, chosen, found.nodes, found.marks, reasons)
    else:
        tables = ends(found.rows, chosen, found.marks)
    told = _marks(found, found.nodes) if few else ""
    body: list[Element | str] = [*tables.values(), *([Note(told)] if told else [])]
    body += [Note(f"–{number} {text}") for text, number in reasons.numbers.items()]
    if 1 < len(found.nodes) < LEAST_NODES:
        body.append(Note(f"With fewer than {LEAST_NODES} nodes, nobody can say which one is odd."))
    return [Section("Key figures", key="node-key", link="Key figures", body=body)] if tables else []


def _marks(found: NodeMeasurement, shown: Sequence[str]) -> str:
    """What the marks in the table mean, and no others."""
    used = {marked.mark for (node, _), marked in found.marks.items() if node in shown}
    seen = {one.verdict for node in shown for one in found.rows[node].values() if one.value is not None}
    told = [f"{mark} {text}" for mark, text in MARKED.items() if mark in used]
    return "; ".join(told + [f"{MARKS[verdict]} {text}" for verdict, text in DOUBTS.items() if verdict in seen])


def _sweeps(found: NodeMeasurement, run: Run) -> list[Section]:
    own = of_node(found.records)
    with_sweeps = [node for node in found.nodes if sweep_table(own.get(node, [])).rows]
    chosen = most_odd(with_sweeps, found.marks, MOST_SWEEPS)
    body: list[Element | str] = [Note(CURVES, reading=True)]
    for number, node in enumerate(chosen):
        body += _sweep(number, node, own[node], found.facts.get(node, {}))
    body += _side_by_side(run)
    left = len(with_sweeps) - len(chosen)
    body += [Note(f"The sweeps of {plural(left, 'more node')} are in records.jsonl.", reading=True)] if left else []
    there = len(body) > 1
    return [Section("Over the working set", key="node-sweeps", link="Working set", body=body)] if there else []


def _side_by_side(run: Run) -> list[Element | str]:
    """Curves of the first nodes as tables."""
    nodes = sorted(curves_of(run.records), key=natural)
    tables = [Section(node, body=curve_tables(run, node)) for node in nodes[:MOST_CURVES]]
    more = (
        [Note(f"Curves stand side by side for {MOST_CURVES} of {len(nodes):,} nodes.")]
        if len(nodes) > MOST_CURVES
        else []
    )
    return [Fold("Side by side", [*tables, *more], asked="curves over the working set")] if tables else []


def _sweep(number: int, node: str, records: Sequence[Record], facts: Facts) -> list[Element | str]:
    """Charts of one node, where its caches end, and all points as a table."""
    edges, points = edge_lines(records, facts), sweep_table(records)
    latency = [*latency_curves(records), *rate_curve(records, "rate"), *rate_curve(records, "deviation")]
    drawn = []
    if is_drawn(latency):
        about = f"latency, deviation and rate over the working set, {node}; the figures are in the table below"
        chart = Drawing(f"node-latency-{number}", lambda: latency_chart(records, facts) or {}, about, SCRIPTS)
        drawn.append(Section(f"Latency, {node}", body=[chart]))
    if is_drawn(curve for curves in bandwidth_curves(records).values() for curve in curves):
        about = f"bandwidth over the size of the arrays by kernel, {node}; the figures are in the table below"
        chart = Drawing(f"node-bandwidth-{number}", lambda: bandwidth_chart(records) or {}, about, SCRIPTS)
        note = Note("As STREAM counts bytes. Dashed: non-temporal stores.", reading=True)
        drawn.append(Section(f"Bandwidth, {node}", body=[chart, note]))
    said = [f"{node}: {line}" for line in [*edges, *(f"not resolved: {one}" for one in unresolved_edges(records))]]
    return [
        *([SideBySide(drawn, "two")] if drawn else []),
        *(Note(line, reading=True) for line in said),
        Fold(f"All {len(points.rows)} points of {node}, with intervals", [points], printed=False),
    ]


def _matrices(found: NodeMeasurement, run: Run) -> list[Section]:
    own = of_node(found.records)
    maps = [
        matrix_section(kind, matrix)
        for number, node in enumerate(most_odd(found.nodes, found.marks, MOST_SWEEPS))
        for kind, matrix in matrices(node, number, own.get(node, []), found.facts.get(node, {}))
    ]
    lines = matrix_lines(run)
    body: list[Element | str] = [*([Note(MAPS, reading=True), SideBySide(maps)] if maps else []), *lines]
    heading = "Core to core, and NUMA"
    return [Section(heading, key="node-matrices", link="Cores", body=body)] if body else []
