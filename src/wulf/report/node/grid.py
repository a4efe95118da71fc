"""The rows of the node probe over the nodes, in the order of lmbench's summary.

A cell is shaded where the run's findings say that the node deviates from its like; the shade says by how much. Mark,
sign, number and word say the same without colour.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wulf.core.names import natural, shortened
from wulf.core.records import Record
from wulf.core.units import show_in
from wulf.measure.node.rows import Row, display_unit
from wulf.report.kit.figures import MARKS, cell_name, record_lines, usable
from wulf.report.kit.view import Cell, Columns
from wulf.report.kit.view import Row as TableRow
from wulf.report.node.figures import BETTER, ODD, WORSE, Marked, Reasons, margin, scale_of

Rows = Mapping[str, Mapping[str, Record]]
"""Node → row name → record."""

SHADES = (0.1, 0.5)
"""Where the lighter shades end, as a share of the median of the like: beyond the last is the darkest."""

MARKS_OF_NODES = {WORSE: "worse", BETTER: "better", ODD: "other"}
"""The first half of a shade's name."""

MOST_ODD_ROWS = 20
"""Rows in which a node deviates that stand below the dozen."""

LONGEST_NAME = 10
"""Of a node, beside its figure."""

Marks = Mapping[tuple[str, str], Marked]
"""(node, row) → how it deviates from its like: `wulf.report.node.figures.marks_of`."""


def readable(record: Record) -> Record:
    """The record in the unit that people read here."""
    unit = display_unit(record)
    return record if unit == record.unit else record.model_copy(update={"unit": unit})


def shade(marked: Marked) -> str:
    """The cell's class: `worse-1` to `worse-3`, `better-…`, `other-…`."""
    away = max(marked.ratio, 1 / marked.ratio) - 1
    return f"{MARKS_OF_NODES[marked.mark]}-{1 + sum(away > limit for limit in SHADES)}"


def ratio_text(marked: Marked) -> str:
    """`▲ +31 % worse`, `▽ ÷2.4 better`: read without colour."""
    ratio = marked.ratio
    if ratio >= 2:
        figure = f"×{ratio:.2g}"
    elif ratio <= 0.5:
        figure = f"÷{1 / ratio:.2g}"
    else:
        figure = f"{'+' if ratio >= 1 else '−'}{abs(ratio - 1) * 100:.2g} %"
    word = "" if marked.mark == ODD else MARKS_OF_NODES[marked.mark]
    return f"{marked.mark} {figure} {word}".rstrip()


def node_names(rows: Rows) -> list[str]:
    """The nodes that have any row, in natural order."""
    return sorted((node for node, own in rows.items() if own), key=natural)


def most_odd(nodes: Sequence[str], marks: Marks, most: int) -> list[str]:
    """At most so many nodes, in natural order: those that deviate in most rows, and the first of the others."""
    count = dict.fromkeys(nodes, 0)
    for node, _ in marks:
        count[node] = count.get(node, 0) + 1
    return sorted(sorted(nodes, key=lambda node: (-count[node], natural(node)))[:most], key=natural)


def blocks(
    rows: Rows, catalogue: Sequence[Row], nodes: Sequence[str], marks: Marks, reasons: Reasons
) -> dict[str, Columns]:
    """The title of a block → its rows over these nodes; `reasons` get those that numbers in their cells stand for.

    Rows that nobody measured are left out.
    """
    found: dict[str, list[TableRow]] = {}
    for row in catalogue:
        if any(row.name in rows[node] for node in nodes):
            found.setdefault(row.block, []).append(_line(row, rows, nodes, marks, reasons))
    heads = ["", "", *nodes]
    return {name: Columns(heads, own, words=2, alike=True) for name, own in found.items()}


def key_rows(catalogue: Sequence[Row], marks: Marks) -> list[Row]:
    """The dozen, under titles of their own, then those in which a node deviates: most nodes first."""
    odd = Counter(name for _, name in marks)
    dozen = [replace(row, title=row.key) for row in catalogue if row.key]
    others = [replace(row, title=row.name) for row in catalogue if row.name in odd and not row.key]
    return [*dozen, *sorted(others, key=lambda row: -odd[row.name])[:MOST_ODD_ROWS]]


def one_block(rows: Sequence[Row]) -> list[Row]:
    """The same rows as if they stood in one block."""
    return [replace(row, block="") for row in rows]


def _line(row: Row, rows: Rows, nodes: Sequence[str], marks: Marks, reasons: Reasons) -> TableRow:
    records = [rows[node].get(row.name) for node in nodes]
    values = [abs(record.value) for record in records if record is not None and record.value]
    one = next(record for record in records if record is not None)
    divisor, unit = scale_of(replace(row, unit=one.unit), values)  # the probe knows better than the table
    about = "; ".join(filter(None, [f"{row.name}: {cell_name(one)}", row.beside]))
    cells = [
        _cell(record, divisor, marks.get((node, row.name)), reasons)
        for node, record in zip(nodes, records, strict=True)
    ]
    return Cell(row.title, title=about), Cell(unit if values else "", "dim"), *cells


def _cell(record: Record | None, divisor: float, marked: Marked | None, reasons: Reasons) -> Cell:
    """`▲12.3`, its interval and how it deviates; or the number of the reason why there is none."""
    if record is None:
        return Cell("", title="not measured")
    title = "; ".join(record_lines(record))
    if record.value is None:
        dash = (MARKS[record.verdict] if record.supported else "") or "–"
        return Cell(dash, "dim", title, note=reasons.number(record.reason or "no reason was given"))
    mark = marked.mark if marked else ""
    doubt = MARKS[record.verdict] if not usable(record) or not mark else ""
    small = [_interval(record, divisor), ratio_text(marked) if marked else ""]
    style = shade(marked) if marked else str(record.verdict)
    return Cell(f"{mark}{doubt}{show_in(record.value, divisor)}", style, title, [*filter(None, small)], margin(record))


def _interval(record: Record, divisor: float) -> str:
    if record.low is None or record.high is None:
        return ""
    return f"{show_in(record.low, divisor)}–{show_in(record.high, divisor)}"


def ends(rows: Rows, catalogue: Sequence[Row], marks: Marks) -> dict[str, Columns]:
    """The title of a block → the median of each row over the nodes, its ends, who has them, and how many deviate.

    The rows' nodes are in natural order.
    """
    found: dict[str, list[TableRow]] = {}
    odd = Counter(name for _, name in marks)
    for row in catalogue:
        records = {node: own[row.name] for node, own in rows.items() if row.name in own}
        if not records:
            continue
        values = {node: one.value for node, one in records.items() if one.value is not None and usable(one)}
        divisor, unit = scale_of(replace(row, unit=next(iter(records.values())).unit), [*values.values()])
        middle = show_in(statistics.median(values.values()) if values else None, divisor)
        in_order = sorted(values, key=values.__getitem__)  # of equal ones as they come: in natural order
        least, most = (_end(in_order[i], values, divisor, row, marks) if values else ("–", "") for i in (0, -1))
        found.setdefault(row.block, []).append((
            row.title, Cell(unit, "dim"), Cell(middle, "strong"), *least, *most, f"{len(values):,}",
            Cell(f"{odd[row.name]:,}" if odd[row.name] else "", "off"),
        ))  # fmt: skip
    heads = ["", "", "median", "least", "at", "most", "at", "nodes", "deviate"]
    return {name: Columns(heads, own, words=2) for name, own in found.items()}


def _end(node: str, values: Mapping[str, float], divisor: float, row: Row, marks: Marks) -> tuple[Cell | str, Cell]:
    """The figure of a node at an end, marked where it deviates, and the node."""
    marked, shown = marks.get((node, row.name)), show_in(values[node], divisor)
    return Cell(f"{marked.mark}{shown}", shade(marked)) if marked else shown, Cell(shortened(node, LONGEST_NAME), "dim")
