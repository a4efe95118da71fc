"""MPI's figures of a run: which ranks ran where, and operations over sizes as tables and charts."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from wulf.core.names import printable, subject_text
from wulf.core.records import Record
from wulf.core.units import scale_for, show, show_in
from wulf.measure.mpi.probes import is_mpi
from wulf.measure.mpi.tuning import THROUGH, TRIED
from wulf.report.kit.charts import Chart, interval_series, size_chart
from wulf.report.kit.figures import MARKS, interval_text, metric_name, usable, verdict_text
from wulf.report.kit.printing import new_table, print_titled
from wulf.report.mpi.farm_page import farm_charts, farm_rows
from wulf.store.run import Run

OVER_SIZES = {
    "collectives": ("op",), "onesided": ("pattern", "sync"), TRIED: ("op", "algorithm"), THROUGH: ("op", "algorithm"),
}  # fmt: skip
"""Phase → the parameters that name a row of its tables; columns are sizes."""

HEADS = {
    "collectives": "Collectives", "onesided": "One-sided", TRIED: "Algorithms tried", THROUGH: "Through the file",
}  # fmt: skip

ROOTED = ("bcast", "reduce", "gather", "scatter")
"""Operations with a root are drawn apart from the others: ten curves in one chart can't be told apart."""

MOST_NODES = 64
"""Rows of the table of ranks."""


@dataclass(frozen=True)
class Grid:
    """One metric of operations over message size: row → size → record."""

    phase: str
    subject: str
    metric: str
    unit: str
    rows: Mapping[str, Mapping[int, Record]]

    @property
    def key(self) -> str:
        """Of its charts, in the page."""
        return f"mpi-{self.phase.replace(' ', '-')}-{self.metric}"

    @property
    def title(self) -> str:
        """`Collectives, n[1-4]: time`."""
        return f"{HEADS[self.phase]}, {subject_text(self.subject)}: {metric_name(self.metric)}"

    @property
    def sizes(self) -> list[int]:
        """Those that most rows have: a guideline may need one operation at a size of its own."""
        sizes = {size for row in self.rows.values() for size in row if size > 0}
        sized = [row for row in self.rows.values() if set(row) != {0}]
        return sorted(size for size in sizes if 2 * sum(size in row for row in sized) >= len(sized))

    @property
    def scale(self) -> tuple[float, str]:
        """The one unit in which the table reads best."""
        values = [r.value for row in self.rows.values() for r in row.values() if r.value is not None and usable(r)]
        return scale_for(statistics.median(values), self.unit) if values else (1.0, self.unit)


def is_tabled(record: Record) -> bool:
    """Whether one of these tables shows the record, or says by its own what it would."""
    return is_mpi(record) and record.phase in OVER_SIZES


def grids(run: Run) -> list[Grid]:
    """A grid for each phase and metric, in the order measured: the metric that decides first."""
    found: dict[tuple[str, str, str], dict[str, dict[int, Record]]] = {}
    units: dict[str, str] = {}
    for record in filter(is_tabled, run.records):
        kind = record.phase
        row = " ".join(str(record.params.get(name)) for name in OVER_SIZES[kind])
        size = int(record.params.get("bytes") or 0)
        found.setdefault((kind, record.subject, record.metric), {}).setdefault(row, {})[size] = record
        units[record.metric] = record.unit
    return [
        Grid(kind, subject, metric, units[metric], dict(sorted(rows.items())))
        for (kind, subject, metric), rows in sorted(found.items(), key=lambda item: not _decides(item[1]))
    ]


def _decides(rows: Mapping[str, Mapping[int, Record]]) -> bool:
    """Whether these records are of the metric that ends the measuring."""
    return any(record.stopped is not None for row in rows.values() for record in row.values())


def main_grids(run: Run) -> list[Grid]:
    """Those of the metrics that decide, and of rates and latencies; the others stand with the records."""
    return [grid for grid in grids(run) if _decides(grid.rows) or grid.metric in ("latency", "throughput")]


def print_mpi_tables(run: Run, console: Console) -> None:
    """Print each grid: operations down, sizes across, as many as there is room for."""
    for grid in main_grids(run):
        divisor, unit = grid.scale
        sizes = grid.sizes or [0]
        room = max(1, (console.width - 4 - max(map(len, grid.rows))) // 11)
        for start in range(0, len(sizes), room):
            table = new_table()
            table.add_column("")
            for size in sizes[start : start + room]:
                table.add_column(Text(show(size, "B")), justify="right", min_width=9)
            for name, row in grid.rows.items():
                cells = [_cell(row.get(size) or row.get(0), divisor) for size in sizes[start : start + room]]
                table.add_row(Text(printable(name)), *cells)
            print_titled(f"{grid.title}{f' ({unit})' if unit else ''}", table, console)
        _print_doubtful(grid, console)


def _cell(record: Record | None, divisor: float) -> Text:
    if record is None:
        return Text("–", style="dim")
    return Text(f"{MARKS[record.verdict]}{show_in(record.value, divisor) if record.value is not None else ''}")


def _print_doubtful(grid: Grid, console: Console) -> None:
    """Why there is no value, a line each reason."""
    reasons: dict[str, list[str]] = {}
    for name, row in grid.rows.items():
        for size, record in row.items():
            if not usable(record):
                reasons.setdefault(f"{MARKS[record.verdict]} {record.reason}", []).append(f"{name} {show(size, 'B')}")
    for reason, places in reasons.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        line = Text(f"{printable(places[0])}{more}: {printable(reason)}")
        console.print(Padding(line, (0, 0, 0, 2), expand=False), highlight=False)


def mpi_section(run: Run) -> tuple[dict[str, Any] | None, list[Chart]]:
    """What the page's section says, and its charts; None where no ranks were launched."""
    launch = next((finding for finding in run.findings if finding.kind == "launch"), None)
    shown = main_grids(run)
    if launch is None and not shown:
        return None, []
    charts = [*(chart for grid in shown for chart in _charts(grid)), *farm_charts(run)]
    records = [(grid, name, record) for grid in shown for name, row in grid.rows.items() for record in row.values()]
    places = launch.about.get("places", ()) if launch else ()
    nodes = _nodes(places)
    return {
        "words": printable(launch.text) if launch else "",
        "nodes": nodes[:MOST_NODES],
        "more_nodes": max(0, len(nodes) - MOST_NODES),
        "charts": [{"id": chart["id"], "title": chart["title"]} for chart in charts],
        "rows": [*(_row(*one) for one in records), *farm_rows(run)],
    }, charts


def _nodes(places: Sequence[str]) -> list[tuple[str, str]]:
    """Node → its ranks, folded."""
    found: dict[str, list[int]] = {}
    for rank, node in enumerate(places):
        found.setdefault(str(node), []).append(rank)
    return [(printable(node), _ranges(ranks)) for node, ranks in found.items()]


def _ranges(ranks: Sequence[int]) -> str:
    """`0-3, 8`."""
    parts = []
    for _, run in groupby(enumerate(ranks), key=lambda item: item[1] - item[0]):
        members = [rank for _, rank in run]
        parts.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ", ".join(parts)


def _row(grid: Grid, name: str, record: Record) -> dict[str, Any]:
    size = int(record.params.get("bytes") or 0)
    return {
        "name": printable(name),
        "size": show(size, "B") if size else "–",
        "metric": printable(metric_name(grid.metric)),
        "value": show(record.value, record.unit),
        "interval": interval_text(record),
        "replicates": record.replicates,
        "verdict": printable(verdict_text(record)),
    }


def _charts(grid: Grid) -> list[Chart]:
    """The rows with sizes as curves; operations with a root in a chart of their own."""
    curves = {name: row for name, row in grid.rows.items() if len([size for size in row if size > 0]) > 1}
    parts = {"": curves}
    if grid.phase == "collectives":
        parts = {
            ", with a root": {name: row for name, row in curves.items() if name in ROOTED},
            ", among all": {name: row for name, row in curves.items() if name not in ROOTED},
        }
    charts = []
    for number, (words, rows) in enumerate(parts.items()):
        if not rows:
            continue
        series = [interval_series(name, {size: r for size, r in row.items() if size > 0}) for name, row in rows.items()]
        chart = size_chart(f"{grid.key}-{number}", metric_name(grid.metric), grid.unit, series)
        charts.append({**chart, "title": f"{grid.title}{words}"})
    return charts
