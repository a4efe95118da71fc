"""Single measurements in full: value, interval, quantiles, replicates, verdict, telling counters, what limits them."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.core.names import plural, subject_text
from wulf.core.records import Record
from wulf.report.kit.figures import (
    cell_name,
    confidence_text,
    counters_of_interest,
    interval_text,
    limits,
    metric_name,
    quantiles,
    value_text,
    verdict_text,
)
from wulf.report.kit.view import Cell, Columns, Element, Note, Section

MAX_SINGLES = 40

HEADS = ("", "value", "interval", "replicates", "verdict")


def singles(records: Sequence[Record]) -> list[Element | str]:
    """A section for what was run where; at most so many records."""
    cells: dict[tuple[str, str, str], list[Record]] = {}
    for record in records[:MAX_SINGLES]:
        arm = record.phase if record.phase in ("A", "B") else ""
        cells.setdefault((arm, record.subject, cell_name(record)), []).append(record)
    found: list[Element | str] = [
        Section("  ".join(filter(None, (arm, subject_text(subject), cell))), body=_single(members))
        for (arm, subject, cell), members in cells.items()
    ]
    more = len(records) - MAX_SINGLES
    return [*found, Note(f"and {plural(more, 'more record')}")] if more > 0 else found


def _single(records: Sequence[Record]) -> list[Element | str]:
    """All metrics of one cell: the main ones in a table, then the tail, the counters, and the limits."""
    said = []
    for record in records:
        tail = ", ".join(f"{name} {value}" for name, value in quantiles(record))
        said += [f"single samples of {metric_name(record.metric)}: {tail}"] if tail else []
    counted = {name: value for record in records for name, value in counters_of_interest(record)}
    if counted:
        said.append(f"counters of both ends: {', '.join(f'{name} {value:,.6g}' for name, value in counted.items())}")
    for rule, text, step in (limit for record in records for limit in limits(record)):
        said += [f"{rule}: {text}", *([f"→ {step}"] if step else [])]
    return [Columns(HEADS, [_row(record) for record in records], tail=1), *said]


def _row(record: Record) -> tuple[str | Cell, ...]:
    cover = confidence_text(record)
    interval = f"{interval_text(record)} ({cover})" if cover and record.low is not None else "–"
    return (
        metric_name(record.metric), Cell(value_text(record), "strong"), interval, str(record.replicates),
        Cell(verdict_text(record), str(record.verdict)),
    )  # fmt: skip
