"""The rows of the node probe over the nodes, in the order of lmbench's summary; who deviates from its like, and where.

A cell's shade says how far a figure lies from the median of the nodes of its hardware class. Only what the screening of
`wulf.stats.nodes` calls a deviation gets one; sign, number and word say the same without colour.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wulf.core.records import Record
from wulf.core.units import BYTES_PER_SECOND, scale_for, show_in
from wulf.measure.node_rows import Row
from wulf.report.figures import MARKS, cell_name, record_lines, usable
from wulf.report.names import natural, printable
from wulf.stats.nodes import LEAST_NODES, screen

Rows = Mapping[str, Mapping[str, Record]]
"""Node → row name → record."""

MOST_NODES = 24
"""Columns of the table; of more nodes, those that deviate most stand in it, and the first ones."""

SHADES = (0.1, 0.5)
"""Where the lighter shades end, as a share of the median of the like: beyond the last is the darkest."""


@dataclass(frozen=True)
class Ratio:
    """A node's figure by the median of its like; `worse` is None where neither way is."""

    value: float
    worse: bool | None
    deviates: bool

    @property
    def shade(self) -> str:
        """The cell's class: `worse-1` to `worse-3`, `better-…`, `other-…`; empty where nothing deviates."""
        if not self.deviates:
            return ""
        away = max(self.value, 1 / self.value) - 1
        return f"{self.word or 'other'}-{1 + sum(away > limit for limit in SHADES)}"

    @property
    def word(self) -> str:
        """`worse` or `better`; empty where neither can be said."""
        return "" if self.worse is None else "worse" if self.worse else "better"

    @property
    def text(self) -> str:
        """`+31 % worse`, `×2.4 worse`: read without colour."""
        if self.value >= 2:
            figure = f"×{self.value:.2g}"
        elif self.value <= 0.5:
            figure = f"÷{1 / self.value:.2g}"
        else:
            figure = f"{'+' if self.value >= 1 else '−'}{abs(self.value - 1) * 100:.2g} %"
        return f"{figure} {self.word}".strip()


def readable(record: Record) -> Record:
    """The record in the unit that people read here: bytes a second, not bits."""
    return record.model_copy(update={"unit": BYTES_PER_SECOND}) if record.unit == "B/s" else record


def node_names(rows: Rows) -> list[str]:
    """The nodes that have any row, in natural order."""
    return sorted((node for node, own in rows.items() if own), key=natural)


def ratios(
    rows: Rows, catalogue: Sequence[Row], nodes: Sequence[str], classes: Sequence[str]
) -> dict[str, dict[str, Ratio]]:
    """Node → row → its ratio to the median of its class, where that has at least two nodes with a figure.

    Parameters
    ----------
    classes
        Hardware class of each node.
    """
    known = [row for row in catalogue if any(_figure(rows[node].get(row.name)) for node in nodes)]
    if not known:
        return {node: {} for node in nodes}
    table = np.array([[_bounds(rows[node].get(row.name)) for row in known] for node in nodes], dtype=float)
    values, low, high = (table[:, :, i] for i in range(3))
    found = screen(values, low=low, high=high, classes=classes, worse=[row.worse for row in known])
    odd = {(deviation.node, deviation.metric) for deviation in found.deviations}
    centre = _centres(values, classes)
    return {
        node: {
            row.name: Ratio(ratio, None if row.worse == 0 else (ratio - 1) * row.worse > 0, (i, j) in odd)
            for j, row in enumerate(known)
            if math.isfinite(ratio := float(values[i, j] / centre[i, j]))
        }
        for i, node in enumerate(nodes)
    }


def _centres(values: Any, classes: Sequence[str]) -> Any:
    """For each value the median of its row over the nodes of its class; NaN where fewer than two have one."""
    centre = np.full(values.shape, np.nan)
    for kind in set(classes):
        own = np.flatnonzero(np.array(classes) == kind)
        enough = np.isfinite(values[own]).sum(axis=0) >= 2
        for j in np.flatnonzero(enough):
            centre[own, j] = np.nanmedian(values[own, j])
    return centre


def _figure(record: Record | None) -> float | None:
    """A figure that may be compared: usable, and above zero."""
    return record.value if record is not None and usable(record) and (record.value or 0) > 0 else None


def _bounds(record: Record | None) -> tuple[float, float, float]:
    value = _figure(record)
    if record is None or value is None:
        return (math.nan,) * 3
    low = record.low if record.low is not None and 0 < record.low <= value else math.nan
    high = record.high if record.high is not None and record.high >= value else math.nan
    return value, low, high


def columns(nodes: Sequence[str], found: Mapping[str, Mapping[str, Ratio]]) -> list[str]:
    """The nodes that the table shows: all, or those that deviate in most rows and the first of the others."""
    if len(nodes) <= MOST_NODES:
        return list(nodes)
    count = {node: sum(ratio.deviates for ratio in found.get(node, {}).values()) for node in nodes}
    chosen = sorted(nodes, key=lambda node: (-count[node], natural(node)))[:MOST_NODES]
    return sorted(chosen, key=natural)


def grid(
    rows: Rows, catalogue: Sequence[Row], nodes: Sequence[str], found: Mapping[str, Mapping[str, Ratio]]
) -> list[dict[str, Any]]:
    """The table's blocks, for the template: `{"name", "rows", "notes"}`; rows that nobody measured are left out."""
    blocks: dict[str, list[Row]] = defaultdict(list)
    for row in catalogue:
        if any(row.name in rows[node] for node in nodes):
            blocks[row.block].append(row)
    return [_block(name, own, rows, nodes, found) for name, own in blocks.items()]


def _block(
    name: str, own: Sequence[Row], rows: Rows, nodes: Sequence[str], found: Mapping[str, Mapping[str, Ratio]]
) -> dict[str, Any]:
    notes: dict[str, int] = {}
    lines = [_line(row, rows, nodes, found, notes) for row in own]
    return {
        "name": printable(name),
        "rows": lines,
        "notes": [(number, printable(reason)) for reason, number in notes.items()],
        "deviating": sum(cell["shade"] != "" for line in lines for cell in line["cells"]),
    }


def _line(
    row: Row, rows: Rows, nodes: Sequence[str], found: Mapping[str, Mapping[str, Ratio]], notes: dict[str, int]
) -> dict[str, Any]:
    records = [rows[node].get(row.name) for node in nodes]
    one = next(record for record in records if record is not None)
    values = [abs(record.value) for record in records if record is not None and record.value]
    divisor, unit = scale_for(statistics.median(values), one.unit) if values else (1.0, "")
    return {
        "id": printable(row.name),
        "title": printable(row.title),
        "unit": unit,
        "what": printable(cell_name(one)),
        "lmbench": printable(row.lmbench or ""),
        "cells": [
            _cell(record, divisor, found.get(node, {}).get(row.name), notes)
            for node, record in zip(nodes, records, strict=True)
        ],
    }


def _cell(record: Record | None, divisor: float, ratio: Ratio | None, notes: dict[str, int]) -> dict[str, Any]:
    if record is None:
        return {"text": "", "interval": "", "title": "not measured", "shade": "", "ratio": "", "note": 0}
    why = record.reason or "" if record.value is None else ""
    lines = record_lines(record) + ([f"{ratio.text} than the median of its like"] if ratio and ratio.word else [])
    return {
        "text": _text(record, divisor),
        "interval": _interval(record, divisor),
        "title": printable("; ".join(lines)),
        "shade": ratio.shade if ratio else "",
        "ratio": ratio.text if ratio and ratio.deviates else "",
        "note": notes.setdefault(why, len(notes) + 1) if why else 0,
    }


def _text(record: Record, divisor: float) -> str:
    """A figure with its verdict's mark; a dash where the host has nothing to measure."""
    if record.value is not None:
        return f"{MARKS[record.verdict]}{show_in(record.value, divisor)}"
    supported = (record.model_extra or {}).get("supported", True)
    return (MARKS[record.verdict] if supported else "") or "–"


def _interval(record: Record, divisor: float) -> str:
    if record.value is None or record.low is None or record.high is None:
        return ""
    return f"{show_in(record.low, divisor)}–{show_in(record.high, divisor)}"


def judged(nodes: Sequence[str], classes: Sequence[str]) -> str:
    """Whose deviations could be judged, in a sentence."""
    sizes = {kind: sum(other == kind for other in classes) for kind in classes}
    alone = [node for node, kind in zip(nodes, classes, strict=True) if sizes[kind] < LEAST_NODES]
    if not alone:
        return ""
    who = "No node" if len(alone) == len(nodes) else f"{len(alone)} of {len(nodes)} nodes"
    verb = "can be" if len(alone) == len(nodes) else "can't be"
    return f"{who} {verb} judged: of fewer than {LEAST_NODES} nodes of one hardware class, nobody can say which is odd."
