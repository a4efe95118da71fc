"""MPI's figures of a run: which ranks ran where, and operations over sizes as tables and charts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from wulf.core.findings import LAUNCH
from wulf.core.names import plural, subject_text
from wulf.core.records import Record
from wulf.core.units import scale_for, show, show_in
from wulf.measure.mpi.probes import is_mpi
from wulf.measure.mpi.tuning import THROUGH, TRIED
from wulf.report.kit.charts import Chart, interval_series, size_chart
from wulf.report.kit.figures import MARKS, interval_text, metric_name, usable, value_text, verdict_text
from wulf.report.kit.view import Cell, Columns, Drawing, Element, Fold, Note, Row, Section, SideBySide
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

TYPICAL: tuple[tuple[str, Callable[[Iterable[int]], int]], ...] = (
    ("barrier", min), ("allreduce", min), ("alltoall", max),
)  # fmt: skip
"""Operations of the headline, and which end of the sizes of each."""

MOST_NODES = 64
"""Rows of the table of ranks."""

CURVES = "Points are medians over replicates, bands their intervals, hollow points noisy. Both axes are logarithmic."


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
        size = int(record.number("bytes", 0))
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


def typical(run: Run) -> str:
    """`n[1-4]: barrier 21 µs (19–24 µs); allreduce of 8 B 30 µs (…); …`; empty without a table of collectives."""
    grid = next((one for one in grids(run) if one.phase == "collectives" and one.metric == "time"), None)
    if grid is None:
        return ""
    said = []
    for name, end in TYPICAL:
        sizes = {size: record for size, record in grid.rows.get(name, {}).items() if usable(record)}
        if sizes:
            size = end(sizes)
            of = f" of {show(size, 'B')}" if size else ""
            said.append(f"{name}{of} {value_text(sizes[size])} ({interval_text(sizes[size])})")
    return f"{subject_text(grid.subject)}: {'; '.join(said)}." if said else ""


def mpi_section(run: Run) -> list[Section]:
    """Where the ranks ran, curves, and tables; nothing where no ranks were launched."""
    launch = next((finding for finding in run.findings if finding.kind == LAUNCH), None)
    shown = main_grids(run)
    if launch is None and not shown:
        return []
    nodes = _nodes(launch.about.get("places", ()) if launch else ())
    ranks: list[Element | str] = [
        *([Columns(["Node", "Ranks"], nodes[:MOST_NODES], words=2)] if nodes else []),
        *_more_nodes(nodes),
    ]
    drawn = [chart for grid in shown for chart in _charts(grid)]
    records = [(name, record) for grid in shown for name, row in grid.rows.items() for record in row.values()]
    body: list[Element | str] = [Fold("Ranks and their nodes", ranks, printed=False)] if ranks else []
    body += [Note(CURVES, reading=True), SideBySide(drawn, "two")] if drawn else []
    body += [_table(grid) for grid in shown]
    body += [Fold("All figures with their intervals", [figure_table(records)], printed=False)] if records else []
    return [Section("MPI", key="mpi", link="MPI", body=body)]


def _table(grid: Grid) -> Section:
    """Operations down, sizes across; then why there is no value, a line each reason."""
    divisor, unit = grid.scale
    sizes = grid.sizes or [0]
    rows: list[Row] = [
        (name, *(_cell(row.get(size) or row.get(0), divisor) for size in sizes)) for name, row in grid.rows.items()
    ]
    table = Columns(["", *(show(size, "B") for size in sizes)], rows, alike=True)
    return Section(f"{grid.title}{f' ({unit})' if unit else ''}", body=[table, *_doubtful(grid)])


def _cell(record: Record | None, divisor: float) -> Cell:
    if record is None:
        return Cell("–", "dim")
    figure = show_in(record.value, divisor) if record.value is not None else ""
    title = f"{interval_text(record)}, {verdict_text(record)}"
    return Cell(f"{MARKS[record.verdict]}{figure}", str(record.verdict), title)


def _doubtful(grid: Grid) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for name, row in grid.rows.items():
        for size, record in row.items():
            if not usable(record):
                reasons.setdefault(f"{MARKS[record.verdict]} {record.reason}", []).append(f"{name} {show(size, 'B')}")
    return [
        f"{places[0]}{f' and {len(places) - 1} more' if len(places) > 1 else ''}: {reason}"
        for reason, places in reasons.items()
    ]


def _nodes(places: Sequence[str]) -> list[tuple[str, str]]:
    """Node → its ranks, folded."""
    found: dict[str, list[int]] = {}
    for rank, node in enumerate(places):
        found.setdefault(str(node), []).append(rank)
    return [(node, _ranges(ranks)) for node, ranks in found.items()]


def _ranges(ranks: Sequence[int]) -> str:
    """`0-3, 8`."""
    parts = []
    for _, run in groupby(enumerate(ranks), key=lambda item: item[1] - item[0]):
        members = [rank for _, rank in run]
        parts.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ", ".join(parts)


def _more_nodes(nodes: Sequence[tuple[str, str]]) -> list[str]:
    more = len(nodes) - MOST_NODES
    return [f"and {plural(more, 'more node')}"] if more > 0 else []


def figure_table(figures: Sequence[tuple[str, Record]]) -> Columns:
    """Every figure of an operation by its name, with its interval."""
    heads = ["Operation", "Metric", "Size", "Value", "Interval", "Replicates", "Verdict"]
    return Columns(heads, [_row(*one) for one in figures], words=2, tail=1)


def _row(name: str, record: Record) -> tuple[str | Cell, ...]:
    size = int(record.number("bytes", 0))
    return (
        name, metric_name(record.metric), show(size, "B") if size else "–", Cell(value_text(record), "strong"),
        interval_text(record), str(record.replicates), Cell(verdict_text(record), str(record.verdict)),
    )  # fmt: skip


def _charts(grid: Grid) -> list[Section]:
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
        title = f"{grid.title}{words}"
        drawing = Drawing(
            f"{grid.key}-{number}", partial(_chart, grid, rows), f"{title}; the figures are in the tables"
        )
        charts.append(Section(title, body=[drawing]))
    return charts


def _chart(grid: Grid, rows: Mapping[str, Mapping[int, Record]]) -> Chart:
    series = [interval_series(name, {size: r for size, r in row.items() if size > 0}) for name, row in rows.items()]
    return size_chart(metric_name(grid.metric), grid.unit, series)
