"""Curves of a node side by side, a line a place; matrices in one line."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from wulf.core.names import plural
from wulf.core.records import Record
from wulf.core.units import scale_for, show, show_in
from wulf.measure.node.rows import curves_of, table
from wulf.report.kit.figures import MARKS
from wulf.report.kit.view import Columns, Section
from wulf.store.run import Run

MAX_NODES = 12
"""Nodes whose matrices have a line."""


def curve_tables(run: Run, node: str) -> list[Section]:
    """Every curve of a node, those over one parameter side by side."""
    curves = {curve.name: curve for curve in table().curves}
    found = curves_of(run.records).get(node, {})
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in found:
        curve = curves[name]
        family = name.rsplit(".", 2)[0] if curve.probe == "bandwidth" else ""
        groups.setdefault((curve.over, family, str(curve.params.get("threads", ""))), []).append(name)
    sections = []
    for (over, family, threads), names in groups.items():
        what = "bandwidth of each kernel" if family else "one line a size"
        what += {"0": ", all CPUs", "1": ", one CPU"}.get(threads, "") if family else ""
        what += ", non-temporal stores" if family.endswith("nontemporal") else ""
        sections.append(Section(f"Over {over}, {node}: {what}", table=_curve_table(found, names, over)))
    return sections


def _curve_table(found: Mapping[str, Sequence[Record]], names: Sequence[str], over: str) -> Columns:
    curves = {curve.name: curve for curve in table().curves}
    points = {name: {point.number(over, 0): point for point in found[name]} for name in names}
    divisors, heads = [], [over]
    for name in names:
        curve = curves[name]
        values = [point.value for point in points[name].values() if point.value is not None]
        unit = "byte/s" if found[name][0].unit == "B/s" else found[name][0].unit
        divisor, shown = scale_for(statistics.median(values), unit) if values else (1.0, "")
        divisors.append(divisor)
        head = str(curve.params.get("kernel") or name.removeprefix("mem.").removeprefix("chase."))
        heads.append(f"{head}\n{shown}")
    rows = [
        (
            show(place, "B") if over == "bytes" else f"{place:g}",
            *(_point(points[name].get(place), divisor) for name, divisor in zip(names, divisors, strict=True)),
        )
        for place in sorted({place for name in names for place in points[name]})
    ]
    return Columns(heads, rows, alike=True)


def _point(record: Record | None, divisor: float) -> str:
    if record is None:
        return ""
    return "–" if record.value is None else f"{MARKS[record.verdict]}{show_in(record.value, divisor)}"


def matrix_lines(run: Run) -> list[str]:
    """A matrix in one line a node: its pairs, their median and ends."""
    titles = {grid.name: grid for grid in table().grids}
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in run.records:
        grid = titles.get(record.matrix)
        if grid is not None and record.metric == grid.metric and record.value is not None:
            groups.setdefault((grid.name, record.nodes[0]), []).append(record)
    lines = []
    for (name, node), records in list(groups.items())[:MAX_NODES]:
        values = sorted(record.value or 0.0 for record in records)
        unit = records[0].unit
        ends = f"{show(values[0], unit)} to {show(values[-1], unit)}, median {show(statistics.median(values), unit)}"
        lines.append(f"{titles[name].title}, {node}: {ends}, {plural(len(records), 'pair')}")
    return lines
