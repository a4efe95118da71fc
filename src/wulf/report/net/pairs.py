"""Every pair of a run: matrices, or the slowest of many; on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from wulf.core.names import plural, printable
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_in
from wulf.report.kit.charts import LEAST_SPAN, MAX_HEAT_NODES, pair_chart
from wulf.report.kit.figures import MARKS, MEANINGS, interval_text, usable, value_text, verdict_text
from wulf.report.kit.matrices import Matrix, arrow, pair_matrices
from wulf.report.kit.parts import Block, Part
from wulf.report.kit.printing import VERDICT_STYLES, new_table, print_rest, print_titled, say, verdict_cell
from wulf.report.run.summary import state
from wulf.store.run import Run

MAX_MATRIX_NODES = 16
"""The largest cluster whose matrix is printed, or written out as a table; beyond, the worst ten pairs."""

MAX_REASONS = 6

Context = dict[str, Any]


class Pairs(Part):
    """A matrix for each pattern and transport."""

    place = 20

    def all_well(self, run: Run) -> str:
        """Of all pairs."""
        measured = any(record.phase == "pairs" for record in run.records)
        return "No node and no link stands out." if measured else ""

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of pairs."""
        return (record for record in run.records if record.phase.split(" ")[0] == "pairs")

    def print(self, run: Run, console: Console) -> None:
        """The matrices, then what their marks mean."""
        matrices = pair_matrices(run)
        for matrix in matrices:
            _print_matrix(matrix, console)
        if matrices:
            _print_legend(matrices, console)

    def block(self, run: Run) -> Block | None:
        """A map for each matrix, with its table."""
        matrices = pair_matrices(run)
        if not matrices:
            return None
        ended = state(run)
        why_absent = f"not measured: the run is {ended.name}" if ended.warning else "not measured"
        content = {
            "pairs": [_pairs(matrix) for matrix in matrices],
            "least_span": f"{LEAST_SPAN:g}",
            "directed": any(matrix.directed for matrix in matrices),
            "large": any(len(matrix.nodes) > MAX_MATRIX_NODES for matrix in matrices),
        }
        charts = [pair_chart(matrix, why_absent) for matrix in matrices]
        return Block("pairs.html.j2", content, [("pairs", "Pairs")], charts, covers_records=True)


def _print_matrix(matrix: Matrix, console: Console) -> None:
    unit = matrix.scale[1]
    title = f"{matrix.title}{f' ({unit})' if unit and matrix.values else ''}"
    if matrix.directed:
        title += ", from row to column"
    if len(matrix.nodes) > MAX_MATRIX_NODES:
        _print_worst(matrix, console)
        return
    names = [printable(node) for node in matrix.nodes]
    numbered = max(map(len, names)) > 7
    heads = [str(number) for number in range(1, len(names) + 1)] if numbered else names
    labels = [f"{head} {name}" for head, name in zip(heads, names, strict=True)] if numbered else names
    cells = [[_printed(matrix, a, b) for b in matrix.nodes] for a in matrix.nodes]
    room = max(8, console.width // 2 - 4)
    labels = [label if len(label) <= room else f"{label[: room - 1]}…" for label in labels]
    width = 2 + max(len(text) for text in [*heads, *(cell.plain for row in cells for cell in row)])
    fit = max(1, (console.width - 4 - max(map(len, labels))) // width)
    for start in range(0, len(names), fit):
        stop = min(start + fit, len(names))
        table = new_table("", *heads[start:stop], right=range(1, stop - start + 1))
        for label, row in zip(labels, cells, strict=True):
            table.add_row(Text(label), *row[start:stop])
        part = f", columns {heads[start]} to {heads[stop - 1]}" if fit < len(names) else ""
        print_titled(title + part, table, console)


def _printed(matrix: Matrix, a: str, b: str) -> Text:
    record = matrix.get(a, b)
    if record is None:
        return Text("·" if a == b else "–", style="dim")
    figure = show_in(record.value, matrix.scale[0]) if record.value is not None else ""
    return Text(f"{MARKS[record.verdict]}{figure}", style=VERDICT_STYLES[record.verdict])


def _print_worst(matrix: Matrix, console: Console) -> None:
    table = new_table("pair", "value", "interval", "verdict", right=(1, 2))
    for pair, record in matrix.worst(10):
        table.add_row(
            Text(printable(arrow(matrix, *pair))), value_text(record), interval_text(record), verdict_cell(record)
        )
    count = plural(len(matrix.cells), "pair")
    print_titled(f"{matrix.title}: the slowest of {count} ({matrix.expected:,} to measure)", table, console)


def _print_legend(matrices: Sequence[Matrix], console: Console) -> None:
    """Explain the marks that were printed, and no other; then say why values are missing."""
    if all(len(matrix.nodes) > MAX_MATRIX_NODES for matrix in matrices):
        return
    marked = [(m, pair, r) for m in matrices for pair, r in m.cells.items() if r.verdict is not Verdict.OK]
    verdicts = [verdict for verdict in Verdict if any(r.verdict is verdict for _, _, r in marked)]
    words = [f"{MARKS[verdict]} {verdict}: {MEANINGS[verdict]}" for verdict in verdicts]
    if any(len(matrix.cells) < matrix.expected for matrix in matrices):
        words.append("– not measured")
    if words:
        console.print()
    for word in words:
        say(console, Text(word, style="dim"), indent=2)
    reasons: dict[tuple[str, str], list[str]] = {}
    for matrix, pair, record in marked:
        if usable(record):
            continue
        places = reasons.setdefault((MARKS[record.verdict], record.reason or ""), [])
        places.append(f"{matrix.title}, {arrow(matrix, *pair)}")
    for (mark, reason), places in list(reasons.items())[:MAX_REASONS]:
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        say(console, f"{mark} {places[0]}{more}: {reason}", indent=2)
    print_rest(len(reasons) - MAX_REASONS, "reason", console)


def _pairs(matrix: Matrix) -> Context:
    small = len(matrix.nodes) <= MAX_MATRIX_NODES
    divisor, unit = matrix.scale
    values = matrix.values
    return {
        "id": matrix.key,
        "title": matrix.title,
        "unit": unit,
        "directed": matrix.directed,
        "summary": _pairs_summary(matrix),
        "heat": len(matrix.nodes) <= MAX_HEAT_NODES,
        "limit": MAX_HEAT_NODES,
        "nodes": [printable(node) for node in matrix.nodes],
        "rows": [(printable(a), [_cell(matrix, a, b, divisor) for b in matrix.nodes]) for a in matrix.nodes if small],
        "worst": [] if small else [_worst(matrix, pair, record) for pair, record in matrix.worst()],
        "empty": not values,
    }


def _pairs_summary(matrix: Matrix) -> str:
    values = matrix.values
    spread = f"{show(min(values), matrix.unit)} to {show(max(values), matrix.unit)}" if values else "no value"
    parts = [f"{len(values):,} of {plural(matrix.expected, 'pair')}", spread]
    noisy = sum(record.verdict is Verdict.NOISY for record in matrix.cells.values())
    if noisy:
        parts.append(f"{noisy:,} noisy")
    return ", ".join(parts)


def _cell(matrix: Matrix, a: str, b: str, divisor: float) -> Context:
    record = matrix.get(a, b)
    if record is None:
        return {"text": "" if a == b else "–", "title": "" if a == b else "not measured", "verdict": ""}
    return {
        "text": f"{MARKS[record.verdict]}{show_in(record.value, divisor)}",
        "title": f"{interval_text(record)}, {verdict_text(record)}",
        "verdict": str(record.verdict),
    }


def _worst(matrix: Matrix, pair: tuple[str, str], record: Record) -> Context:
    return {
        "pair": printable(arrow(matrix, *pair)),
        "value": show(record.value, record.unit),
        "interval": interval_text(record),
        "verdict": printable(verdict_text(record)),
    }
