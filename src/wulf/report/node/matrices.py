"""Between the parts of one node: core to core, and from its CPUs to the memory of each NUMA node."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from wulf.agent.cpulist import parse
from wulf.core.names import natural, plural
from wulf.core.records import Record
from wulf.core.units import show, show_in
from wulf.report.kit.charts import MAX_HEAT_NODES, Chart, heat_map, hover, label
from wulf.report.kit.figures import MARKS, interval_text, record_lines, verdict_text
from wulf.report.kit.matrices import Matrix
from wulf.report.kit.view import Cell, Columns, Drawing, Element, Fold, Note, Row, Section

MOST_PRINTED = 16
"""The largest matrix whose figures are printed, too, in its cells where there is room and as a table."""

_NUMA_CPUS = re.compile(r"numa\.(?:node)?(\d+)\.cpus")


@dataclass(frozen=True)
class Kind:
    """One kind of matrix: what its rows and columns are."""

    key: str
    title: str
    metric: str
    rows: str
    columns: str


CORES = Kind("cores", "Core to core", "latency", "CPU", "CPU")
NUMA_LATENCY = Kind("numa-latency", "NUMA latency", "latency", "CPUs of node", "memory of node")
NUMA_BANDWIDTH = Kind("numa-bandwidth", "NUMA bandwidth", "throughput", "CPUs of node", "memory of node")


def core_cells(records: Sequence[Record]) -> dict[tuple[str, str], Record]:
    """(CPU, other CPU) → half a round trip of a flag between them."""
    return {
        (record.text("cpu"), record.text("other")): record
        for record in records
        if record.params.get("pattern") == "core-to-core" and record.metric == "latency"
        and isinstance(record.params.get("cpu"), int) and isinstance(record.params.get("other"), int)
    }  # fmt: skip


def numa_cells(records: Sequence[Record], metric: str, places: Mapping[int, str]) -> dict[tuple[str, str], Record]:
    """(NUMA node of the CPU, NUMA node of the memory) → latency or throughput.

    A record whose CPU's node is not known has no place in the matrix; it stands in the table of records.
    """
    return {
        (places[cpu], record.text("memory_node")): record
        for record in records
        if record.params.get("pattern") == "numa" and record.metric == metric
        and isinstance(record.params.get("memory_node"), int) and (cpu := _cpu(record)) in places
    }  # fmt: skip


def _cpu(record: Record) -> int:
    """The CPU that measured: as asked for, else as the probe chose it; -1 where neither is known."""
    info = record.info
    cpu = record.params.get("cpu", info.get("cpu"))
    return cpu if isinstance(cpu, int) else -1


def numa_places(facts: Mapping[str, Mapping[str, Any]]) -> dict[int, str]:
    """CPU → its NUMA node, from the node's facts; empty where they do not tell."""
    places = {}
    for name, fact in facts.items():
        found = _NUMA_CPUS.fullmatch(name)
        if found:
            with suppress(ValueError):  # "none", or what no kernel says
                places.update(dict.fromkeys(parse(str(fact.get("value"))), found[1]))
    return places


def matrices(
    node: str, number: int, records: Sequence[Record], facts: Mapping[str, Mapping[str, Any]]
) -> list[tuple[Kind, Matrix]]:
    """The matrices of one node."""
    places = numa_places(facts)
    parts = [
        (CORES, core_cells(records)),
        (NUMA_LATENCY, numa_cells(records, "latency", places)),
        (NUMA_BANDWIDTH, numa_cells(records, "throughput", places)),
    ]
    found = []
    for kind, cells in parts:
        if not cells:
            continue
        names = sorted({name for pair in cells for name in pair}, key=natural)
        directed = kind is not CORES or any((b, a) in cells for a, b in cells if a != b)
        unit = next(iter(cells.values())).unit
        key = f"{kind.key}-{number}"
        found.append((kind, Matrix(key, f"{kind.title}, {node}", kind.metric, unit, tuple(names), cells, directed)))
    return found


def matrix_chart(kind: Kind, matrix: Matrix) -> Chart:
    """A heat map of the matrix."""
    chart = heat_map(matrix, "not measured")
    chart["hover"] = [[_hover(kind, matrix, a, b) for b in matrix.nodes] for a in matrix.nodes]
    return chart | {"nodes": [label(name, 18) for name in matrix.nodes]}


def _hover(kind: Kind, matrix: Matrix, a: str, b: str) -> str:
    record = matrix.get(a, b)
    if record is None and a == b:
        return ""
    lines = record_lines(record) if record is not None else ["not measured"]
    return hover(f"{pair_text(kind, a, b)}: {matrix.title}", lines)


def pair_text(kind: Kind, a: str, b: str) -> str:
    """`CPU 0 and CPU 3`, `CPUs of node 0, memory of node 1`."""
    if kind is CORES:
        return f"CPU {a} and CPU {b}"
    return f"{kind.rows} {a}, {kind.columns} {b}"


def matrix_section(kind: Kind, matrix: Matrix) -> Section:
    """A map, and its figures as a table where they are few."""
    values = matrix.values
    unit = matrix.scale[1]
    span = f"{show(min(values), matrix.unit)} to {show(max(values), matrix.unit)}" if values else "no value"
    corner = f"{kind.rows} ↓, {kind.columns} →"
    summary = f"{plural(len(matrix.cells), 'pair')} measured, {span}"
    body: list[Element | str] = [Note(f"{summary}; {corner}", reading=True)]
    if values and len(matrix.nodes) <= MAX_HEAT_NODES:
        body.append(Drawing(matrix.key, partial(matrix_chart, kind, matrix), f"{matrix.title}: {summary}"))
    body += [Note(f"Without a value: {line}.", reading=True) for line in _missing(kind, matrix)]
    if values and len(matrix.nodes) <= MOST_PRINTED:
        rows: list[Row] = [(a, *(_cell(matrix, a, b) for b in matrix.nodes)) for a in matrix.nodes]
        table = Columns([corner, *matrix.nodes], rows)
        body.append(Fold(f"As a table{f' ({unit})' if unit else ''}", [table], printed=False))
    return Section(matrix.title, body=body)


def _cell(matrix: Matrix, a: str, b: str) -> Cell:
    record = matrix.get(a, b)
    if record is None:
        return Cell("", title="" if a == b else "not measured")
    figure = show_in(record.value, matrix.scale[0]) if record.value is not None else ""
    title = f"{interval_text(record)}, {verdict_text(record)}"
    return Cell(f"{MARKS[record.verdict]}{figure}", str(record.verdict), title)


def _missing(kind: Kind, matrix: Matrix) -> list[str]:
    """Why cells have no value, a line each reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for (a, b), record in matrix.cells.items():
        if record.value is None:
            reasons[record.reason or ""].append(pair_text(kind, a, b))
    return [
        f"{', '.join(pairs) if len(pairs) <= 3 else plural(len(pairs), 'pair')}: {reason}"
        for reason, pairs in reasons.items()
    ]
