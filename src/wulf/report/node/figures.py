"""The node survey as data for tables: figures scaled, marks, reasons. Pure; no layout, no colour."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wulf.core.findings import Finding
from wulf.core.records import Record
from wulf.core.units import scale_for
from wulf.measure.node.rows import Row

WORSE, BETTER, ODD = "▲", "▽", "◆"
"""Marks of a deviating figure, which can be read without colour."""


@dataclass(frozen=True)
class Marked:
    """How a figure deviates from the node's like."""

    mark: str
    ratio: float


def marks_of(findings: Sequence[Finding], rows: Mapping[str, Row]) -> dict[tuple[str, str], Marked]:
    """(node, row) → how it deviates, as the run's findings say."""
    return {
        (one.subject, row.name): Marked(_mark(row, one.value), float(one.value))
        for finding in findings
        if finding.kind == "deviation"
        for one in finding.evidence
        if isinstance(one.value, int | float) and (row := rows.get(one.row)) is not None
    }


def _mark(row: Row, ratio: float) -> str:
    if row.worse == 0:
        return ODD
    return WORSE if (ratio > 1) == (row.worse > 0) else BETTER


def shown_unit(row: Row) -> str:
    """The unit to scale by: memory's rates are known in bytes, the network's in bits."""
    return "byte/s" if row.unit == "B/s" and row.group != "net" else row.unit


def scale_of(row: Row, values: Sequence[float]) -> tuple[float, str]:
    """Divisor and name of the unit in which a row reads best."""
    if row.metric == "lost":
        return 0.01, "%"
    return scale_for(statistics.median(values), shown_unit(row)) if values else (1.0, "")


def margin(record: Record) -> str:
    """Half the interval relative to the value: `±1.2%`; empty where there is none."""
    if not record.value or record.low is None or record.high is None:
        return ""
    half = (record.high - record.low) / 2 / abs(record.value)
    if half >= 9.995:
        return "±>999%"
    return f"±{half:.1%}" if half < 0.0995 else f"±{half:.0%}"


@dataclass
class Reasons:
    """Why figures are missing: each reason has a number, in the order met."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, reason: str) -> int:
        """The reason's number."""
        return self.numbers.setdefault(reason, len(self.numbers) + 1)
