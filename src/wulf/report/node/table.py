"""The node survey in a terminal: lmbench's table over nodes, curves a line a size, matrices in one line."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wulf.core.names import natural, plural, printable
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show, show_in
from wulf.measure.node.rows import CURVE, MATRIX, ROW, Row, curves_of, rows_of, table
from wulf.report.kit.figures import MARKS, usable
from wulf.report.kit.printing import new_table, print_titled, say
from wulf.report.node.figures import BETTER, ODD, WORSE, Marked, Reasons, cell_text, marks_of, scale_of
from wulf.store.run import Run

MAX_NODES = 12
"""Nodes that have a column each; of more, the table shows the median and the ends."""

MAX_CURVE_NODES = 2
"""Nodes whose curves are printed; of more they stand in report.html."""

MAX_REASONS = 24

_STYLES = {WORSE: "bold red", BETTER: "cyan", ODD: "yellow"}
_DOUBTS = {
    Verdict.NOISY: "noisy: wider than requested, or disturbed",
    Verdict.UNRESOLVED: "unresolved: not told apart",
    Verdict.FAILED: "failed",
}
_TITLE_WIDTH, _UNIT_WIDTH, _CELL_WIDTH = 30, 8, 13

Marks = Mapping[tuple[str, str], Marked]


def is_tabled(record: Record) -> bool:
    """Whether the record stands in one of these tables."""
    return record.phase in (ROW, CURVE, MATRIX)


def print_node_tables(run: Run, console: Console) -> None:
    """Print what a run has of the node survey; nothing where it has none."""
    found = rows_of(run.records)
    nodes = sorted(found, key=natural)
    if nodes:
        marks, reasons = marks_of(run.findings, table().by_name), Reasons()
        if len(nodes) <= MAX_NODES:
            fit = max(1, (console.width - _TITLE_WIDTH - _UNIT_WIDTH - 4) // (_CELL_WIDTH + 2))
            for start in range(0, len(nodes), fit):
                _print_blocks(found, nodes[start : start + fit], marks, reasons, console)
        else:
            _print_ends(found, nodes, marks, console)
        _print_legend(found, marks, reasons, console)
    _print_curves(run, console)
    _print_matrices(run, console)


def _short(text: str, width: int) -> str:
    shown = printable(text)
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"


def _scale(row: Row, found: Mapping[str, Mapping[str, Record]], nodes: Sequence[str]) -> tuple[float, str]:
    records = [found[node].get(row.name) for node in nodes]
    return scale_of(row, [record.value for record in records if record is not None and record.value is not None])


def _print_blocks(
    found: Mapping[str, Mapping[str, Record]], nodes: Sequence[str], marks: Marks, reasons: Reasons, console: Console
) -> None:
    """Rows times these nodes, a table a block."""
    for title, rows in table().blocks.items():
        wanted = [row for row in rows if any(row.name in found[node] for node in nodes)]
        if not wanted:
            continue
        body = new_table()
        body.add_column("", min_width=min(_TITLE_WIDTH, console.width // 3), no_wrap=True)
        body.add_column("", no_wrap=True)
        for node in nodes:
            body.add_column(Text(_short(node, _CELL_WIDTH)), justify="right", min_width=_CELL_WIDTH, no_wrap=True)
        for row in wanted:
            divisor, unit = _scale(row, found, nodes)
            cells = [_cell(found[node].get(row.name), divisor, marks.get((node, row.name)), reasons) for node in nodes]
            body.add_row(Text(_short(row.title, _TITLE_WIDTH)), Text(unit, style="dim"), *cells)
        print_titled(title, body, console)


def _cell(record: Record | None, divisor: float, marked: Marked | None, reasons: Reasons) -> Text:
    style = _STYLES[marked.mark] if marked else ""
    if record is not None and not style:
        style = "dim" if record.value is None else "yellow" if record.verdict is Verdict.NOISY else ""
    return Text(cell_text(record, divisor, marked, reasons), style=style)


def _print_ends(
    found: Mapping[str, Mapping[str, Record]], nodes: Sequence[str], marks: Marks, console: Console
) -> None:
    """Of many nodes: the median, the ends, and how many deviate."""
    for title, rows in table().blocks.items():
        body = new_table()
        for head in ("", "", "median", "least", "most", "nodes", "deviate"):
            body.add_column(head, justify="left" if not head else "right", no_wrap=True)
        for row in rows:
            records = [found[node][row.name] for node in nodes if row.name in found[node]]
            values = [record.value for record in records if record.value is not None and usable(record)]
            if not records:
                continue
            divisor, unit = scale_of(row, values)
            three = (statistics.median(values), min(values), max(values)) if values else (None, None, None)
            odd = [node for node in nodes if (node, row.name) in marks]
            body.add_row(
                Text(_short(row.title, _TITLE_WIDTH)), Text(unit, style="dim"),
                *(show_in(value, divisor) for value in three), f"{len(values):,}",
                Text(f"{len(odd):,}" if odd else "", style="bold red"),
            )  # fmt: skip
        if body.row_count:
            print_titled(f"{title}, over {len(nodes):,} nodes", body, console)


def _print_legend(found: Mapping[str, Mapping[str, Record]], marks: Marks, reasons: Reasons, console: Console) -> None:
    """Explain the marks that were printed, and no other; then the reasons."""
    used = {marked.mark for marked in marks.values()}
    words = {WORSE: "worse than its like", BETTER: "better than its like", ODD: "unlike its like"}
    seen = {one.verdict for rows in found.values() for one in rows.values() if one.value is not None}
    told = [f"{mark} {text}" for mark, text in words.items() if mark in used]
    told += [f"{MARKS[verdict]} {text}" for verdict, text in _DOUBTS.items() if verdict in seen]
    console.print()
    if told:
        console.print(Text(f"  {'; '.join(told)}", style="dim"), soft_wrap=True)
    for reason, number in list(reasons.numbers.items())[:MAX_REASONS]:
        say(console, Text(f"–{number} {printable(reason)}", style="dim"), indent=2)
    if len(reasons.numbers) > MAX_REASONS:
        console.print(f"  and {plural(len(reasons.numbers) - MAX_REASONS, 'more reason')}")


def _print_curves(run: Run, console: Console) -> None:
    """Every curve of a node, those over one parameter side by side: a line a place."""
    curves = {curve.name: curve for curve in table().curves}
    found = curves_of(run.records)
    for node in sorted(found, key=natural)[:MAX_CURVE_NODES]:
        groups: dict[tuple[str, str, str], list[str]] = {}
        for name in found[node]:
            curve = curves[name]
            family = name.rsplit(".", 2)[0] if curve.probe == "bandwidth" else ""
            threads = str(curve.params.get("threads", ""))
            groups.setdefault((curve.over, family, threads), []).append(name)
        for (over, family, threads), names in groups.items():
            body = _curve_table(found[node], names, over)
            what = "bandwidth of each kernel" if family else "one line a size"
            what += {"0": ", all CPUs", "1": ", one CPU"}.get(threads, "") if family else ""
            what += ", non-temporal stores" if family.endswith("nontemporal") else ""
            print_titled(f"Over {over}, {node}: {what}", body, console)
    if len(found) > MAX_CURVE_NODES:
        console.print(f"  the curves of {plural(len(found) - MAX_CURVE_NODES, 'more node')} are in report.html")


def _curve_table(found: Mapping[str, Sequence[Record]], names: Sequence[str], over: str) -> Table:
    curves = {curve.name: curve for curve in table().curves}
    points = {name: {float(point.params[over] or 0): point for point in found[name]} for name in names}
    scales = {}
    body = new_table()
    body.add_column(over, justify="right", no_wrap=True)
    for name in names:
        curve = curves[name]
        values = [point.value for point in points[name].values() if point.value is not None]
        unit = found[name][0].unit
        scales[name] = scale_for(statistics.median(values), "byte/s" if unit == "B/s" else unit) if values else (1, "")
        head = str(curve.params.get("kernel") or name.removeprefix("mem.").removeprefix("chase."))
        body.add_column(Text(f"{head}\n{scales[name][1]}"), justify="right", no_wrap=True)
    for place in sorted({place for name in names for place in points[name]}):
        cells = [_point(points[name].get(place), scales[name][0]) for name in names]
        body.add_row(show(place, "B") if over == "bytes" else f"{place:g}", *cells)
    return body


def _point(record: Record | None, divisor: float) -> str:
    if record is None:
        return ""
    return "–" if record.value is None else f"{MARKS[record.verdict]}{show_in(record.value, divisor)}"


def _print_matrices(run: Run, console: Console) -> None:
    """A matrix in one line a node: its pairs, their median and ends."""
    titles = {grid.name: grid for grid in table().grids}
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in run.records:
        grid = titles.get(record.matrix)
        if grid is not None and record.metric == grid.metric and record.value is not None:
            groups.setdefault((grid.name, record.nodes[0]), []).append(record)
    for (name, node), records in list(groups.items())[:MAX_NODES]:
        values = sorted(record.value or 0.0 for record in records)
        ends = f"{show(values[0], records[0].unit)} to {show(values[-1], records[0].unit)}"
        text = f"{titles[name].title}, {node}: {ends}, median {show(statistics.median(values), records[0].unit)}, "
        console.print(f"  {printable(text)}{plural(len(records), 'pair')}", highlight=False, soft_wrap=True)
