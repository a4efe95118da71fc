"""The table of BLAS libraries for the terminal: at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table as Grid

from wulf.core.units import show, show_in, show_interval

if TYPE_CHECKING:
    from wulf.core.records import Record
    from wulf.measure.blas import LibraryRates, Table

GIGA = 1e9


def blas_table(table: Table) -> Iterator[Grid | str]:
    """One grid a node, what it has that can't be used, and how the fastest is chosen."""
    for node in dict.fromkeys(row.node for row in table.rows):
        rows = [row for row in table.rows if row.node == node]
        peak = table.peaks.get(node)
        yield _grid(node, rows, peak)
        yield from (f"{row.label}: {_why_not(row)}" for row in rows if row.best is None)
        fastest = next((row for row in rows if row.plain and row.best is not None), None)
        if any(not row.plain for row in rows):
            yield "*: of a Python wheel, by names of its own: not for other programs"
        if fastest is not None and fastest.best is not None:
            chosen = " ".join(f"{name}={value}" for name, value in fastest.choose.items())
            yield f"fastest: {fastest.label} with NB {fastest.best.params['k']}; a program takes it by\n  {chosen}"


def _grid(node: str, rows: list[LibraryRates], peak: Record | None) -> Grid:
    blocks = sorted({block for row in rows for block in row.rates})
    known = "" if peak is None or peak.value is None else f", peak {show(peak.value, 'flop/s')}"
    grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), title_justify="left",
                title=f"{node}: Gflop/s of all cores at once{known}")  # fmt: skip
    grid.add_column("library", overflow="fold")
    for block in blocks:
        grid.add_column(f"NB {block}", justify="right")
    grid.add_column("of the peak", justify="right")
    grid.add_column("best, 95 %", justify="right")
    for row in rows:
        if row.best is not None:
            grid.add_row(
                row.label + ("" if row.plain else " *"),
                *(_rate(row.rates.get(block)) for block in blocks),
                *_ends(row.best, peak),
            )
    return grid


def _rate(record: Record | None) -> str:
    return show_in(record.value if record is not None else None, GIGA)


def _ends(best: Record, peak: Record | None) -> tuple[str, str]:
    share = "–" if peak is None or not peak.value else f"{(best.value or 0.0) / peak.value:.0%}"
    return share, show_interval(best.low, best.high, "flop/s")


def _why_not(row: LibraryRates) -> str:
    return next((record.reason for record in row.rates.values() if record.reason), None) or "no rate"
