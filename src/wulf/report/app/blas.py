"""BLAS libraries side by side: a section for each node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wulf.core.records import Record
from wulf.core.units import show, show_in, show_interval
from wulf.measure.blas import LibraryRates, Table
from wulf.report.kit.view import Columns, Element, Row, Section

GIGA = 1e9


def blas_sections(table: Table) -> list[Section]:
    """For each node its libraries by their rates, those that can't be used and why, and how the fastest is chosen."""
    nodes = dict.fromkeys(row.node for row in table.rows)
    return [_section(node, [row for row in table.rows if row.node == node], table.peaks.get(node)) for node in nodes]


def _section(node: str, rows: Sequence[LibraryRates], peak: Record | None) -> Section:
    known = "" if peak is None or peak.value is None else f", peak {show(peak.value, 'flop/s')}"
    body: list[Element | str] = [*_columns(rows, peak), *_unusable(rows), *_fastest(rows)]
    return Section(f"{node}: Gflop/s of all cores at once{known}", body=body)


def _columns(rows: Sequence[LibraryRates], peak: Record | None) -> Iterator[Columns]:
    """A table of those that have a rate, where there are any."""
    blocks = sorted({block for row in rows for block in row.rates})
    heads = ["library", *(f"NB {block}" for block in blocks), "of the peak", "best, 95 %"]
    rated = [_row(row, row.best, blocks, peak) for row in rows if row.best is not None]
    if rated:
        yield Columns(heads, rated)


def _row(row: LibraryRates, best: Record, blocks: Sequence[int], peak: Record | None) -> Row:
    share = "–" if peak is None or not peak.value else f"{(best.value or 0.0) / peak.value:.0%}"
    return (
        row.label if row.plain else f"{row.label} *",
        *(_rate(row.rates.get(block)) for block in blocks),
        share,
        show_interval(best.low, best.high, "flop/s"),
    )


def _rate(record: Record | None) -> str:
    return show_in(record.value if record is not None else None, GIGA)


def _unusable(rows: Sequence[LibraryRates]) -> Iterator[str]:
    for row in rows:
        if row.best is None:
            yield f"{row.label}: {next((r.reason for r in row.rates.values() if r.reason), 'no rate')}"
    if any(not row.plain for row in rows):
        yield "*: of a Python wheel, by names of its own: not for other programs"


def _fastest(rows: Sequence[LibraryRates]) -> Iterator[str]:
    """The first that any program can use, and the variables by which it does."""
    for row in rows:
        if row.plain and row.best is not None:
            yield f"fastest: {row.label} with NB {row.best.params['k']}; a program takes it by"
            yield " ".join(f"{name}={value}" for name, value in row.choose.items())
            return
