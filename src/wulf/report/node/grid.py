"""The rows of the node probe over the nodes, in the order of lmbench's summary, as the HTML report shows them.

A cell is shaded where the run's findings say that the node deviates from its like; the shade says by how much. Mark,
sign, number and word say the same without colour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wulf.core.names import natural, printable
from wulf.core.records import Record
from wulf.core.units import show_in
from wulf.measure.engine.probes import NODE
from wulf.measure.node.rows import Row
from wulf.report.kit.figures import MARKS, cell_name, record_lines
from wulf.report.node.figures import BETTER, ODD, WORSE, Marked, Reasons, scale_of

Rows = Mapping[str, Mapping[str, Record]]
"""Node → row name → record."""

MOST_NODES = 24
"""Columns of the table; of more nodes, those that deviate most stand in it, and the first ones."""

SHADES = (0.1, 0.5)
"""Where the lighter shades end, as a share of the median of the like: beyond the last is the darkest."""

MARKS_OF_NODES = {WORSE: "worse", BETTER: "better", ODD: "other"}
"""The first half of a shade's name."""

Marks = Mapping[tuple[str, str], Marked]
"""(node, row) → how it deviates from its like: `wulf.report.node.figures.marks_of`."""


def readable(record: Record) -> Record:
    """The record in the unit that people read here: what a node does alone is counted in bytes, not in bits."""
    bits = record.unit == "B/s" and record.probe == NODE
    return record.model_copy(update={"unit": "byte/s"}) if bits else record


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


def grid(
    rows: Rows, catalogue: Sequence[Row], nodes: Sequence[str], marks: Marks
) -> tuple[list[dict[str, Any]], list[str]]:
    """The table's blocks, for the template, and the reasons that its numbers stand for.

    Rows that nobody measured are left out.
    """
    blocks: dict[str, list[Row]] = defaultdict(list)
    for row in catalogue:
        if any(row.name in rows[node] for node in nodes):
            blocks[row.block].append(row)
    reasons = Reasons()
    content = [
        {"name": printable(name), "rows": [_line(row, rows, nodes, marks, reasons) for row in own]}
        for name, own in blocks.items()
    ]
    return content, [printable(reason) for reason in reasons.numbers]


def _line(row: Row, rows: Rows, nodes: Sequence[str], marks: Marks, reasons: Reasons) -> dict[str, Any]:
    records = [rows[node].get(row.name) for node in nodes]
    values = [abs(record.value) for record in records if record is not None and record.value]
    one = next(record for record in records if record is not None)
    divisor, unit = scale_of(replace(row, unit=one.unit), values)  # the probe knows better than the table
    return {
        "id": printable(row.name),
        "title": printable(row.title),
        "unit": unit if values else "",
        "what": printable(cell_name(one)),
        "beside": printable(row.beside),
        "cells": [
            _cell(record, divisor, marks.get((node, row.name)), reasons)
            for node, record in zip(nodes, records, strict=True)
        ],
    }


def _cell(record: Record | None, divisor: float, marked: Marked | None, reasons: Reasons) -> dict[str, Any]:
    if record is None:
        return {"text": "", "interval": "", "title": "not measured", "shade": "", "ratio": "", "note": 0}
    why = "" if record.value is not None else record.reason or "no reason was given"
    return {
        "text": _text(record, divisor),
        "interval": _interval(record, divisor),
        "title": printable("; ".join(record_lines(record))),
        "shade": shade(marked) if marked else "",
        "ratio": ratio_text(marked) if marked else "",
        "note": reasons.number(why) if why else 0,
    }


def _text(record: Record, divisor: float) -> str:
    """A figure with its verdict's mark; a dash where the host has nothing to measure."""
    if record.value is not None:
        return f"{MARKS[record.verdict]}{show_in(record.value, divisor)}"
    return (MARKS[record.verdict] if record.supported else "") or "–"


def _interval(record: Record, divisor: float) -> str:
    if record.value is None or record.low is None or record.high is None:
        return ""
    return f"{show_in(record.low, divisor)}–{show_in(record.high, divisor)}"
