"""Every pair of a run: maps with their matrices, or the slowest of many."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from functools import partial

from wulf.core.names import plural
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_in, show_interval
from wulf.report.kit.charts import LEAST_SPAN, MAX_HEAT_NODES, pair_chart
from wulf.report.kit.figures import MARKS, MEANINGS, interval_text, usable, value_text, verdict_text
from wulf.report.kit.matrices import Matrix, arrow, pair_matrices
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Drawing, Element, Fold, Note, Row, Section, SideBySide
from wulf.report.run.summary import state
from wulf.store.run import Run

MAX_MATRIX_NODES = 16
"""The largest cluster whose matrix is written out as a table; beyond, the worst ten pairs."""

MAX_REASONS = 6
LONGEST_NAME = 7
"""Longer names of nodes stand at the rows alone; columns have their numbers."""

READING = (
    "Yellow is slower, in every map. Hatched cells have no value. Point at a cell, or tap it, for its interval. "
    f"Colours span at least a factor of {LEAST_SPAN:g}, so that small differences look small."
)


class Pairs(Part):
    """A matrix for each pattern and transport."""

    place = 20

    def answer(self, run: Run) -> str:
        """Of all pairs, with the median of each metric and its ends over them."""
        told = [f"{one.title} {_over_pairs(one)}" for one in pair_matrices(run) if one.values]
        measured = any(record.phase == "pairs" for record in run.records)
        figures = f" Over all pairs: {'; '.join(told)}." if told else ""
        return f"No node and no link stands out.{figures}" if measured else ""

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of pairs."""
        return (record for record in run.records if record.phase.split(" ")[0] == "pairs")

    def view(self, run: Run) -> Sequence[Section]:
        """A map and a table for each matrix, then what their marks mean."""
        matrices = pair_matrices(run)
        if not matrices:
            return []
        ended = state(run)
        why_absent = f"not measured: the run is {ended.name}" if ended.warning else "not measured"
        body = [Note(READING, reading=True), pair_maps(matrices, why_absent), *_legend(matrices)]
        return [Section("Every pair", key="pairs", link="Pairs", body=body)]


def _over_pairs(matrix: Matrix) -> str:
    """The median, and its ends, of a matrix that has values."""
    values = matrix.values
    return f"{show(statistics.median(values), matrix.unit)} ({show_interval(min(values), max(values), matrix.unit)})"


def pair_maps(matrices: Sequence[Matrix], why_absent: str) -> SideBySide:
    """The maps of several metrics, side by side where there is room."""
    large = any(len(matrix.nodes) > MAX_MATRIX_NODES for matrix in matrices)
    return SideBySide([_pair_map(matrix, why_absent) for matrix in matrices], "large" if large else "")


def _pair_map(matrix: Matrix, why_absent: str) -> Section:
    """A map of one metric over all pairs, and its table; of many nodes, the worst pairs."""
    unit = matrix.scale[1] if matrix.values and len(matrix.nodes) <= MAX_MATRIX_NODES else ""
    heading = f"{matrix.title}{f' ({unit})' if unit else ''}{', from row to column' if matrix.directed else ''}"
    summary = _summary(matrix)
    about = f"{matrix.title}: {summary}; the figures are in the table below"
    drawing = Drawing(matrix.key, partial(pair_chart, matrix, why_absent), about)
    body: list[Element | str] = [Note(summary), drawing]
    if len(matrix.nodes) > MAX_HEAT_NODES:
        many = f"More than {MAX_HEAT_NODES} nodes: each point is a node's median over its links."
        body.append(Note(f"{many} Every pair is in records.jsonl.", reading=True))
    if len(matrix.nodes) <= MAX_MATRIX_NODES:
        body.append(Fold("As a table", [_table(matrix, why_absent)]))
    else:
        count = f"The slowest of {plural(len(matrix.cells), 'pair')} ({matrix.expected:,} to measure):"
        body += [count, _worst(matrix)]
    return Section(heading, body=body)


def _summary(matrix: Matrix) -> str:
    values = matrix.values
    spread = f"{show(min(values), matrix.unit)} to {show(max(values), matrix.unit)}" if values else "no value"
    noisy = sum(record.verdict is Verdict.NOISY for record in matrix.cells.values())
    count = f"{len(values):,} of {plural(matrix.expected, 'pair')}"
    return ", ".join([count, spread, *([f"{noisy:,} noisy"] if noisy else [])])


def _table(matrix: Matrix, why_absent: str) -> Columns:
    names = list(matrix.nodes)
    numbered = max(map(len, names)) > LONGEST_NAME
    heads = [str(number) for number in range(1, len(names) + 1)] if numbered else names
    labels = [f"{head} {name}" if numbered else name for head, name in zip(heads, names, strict=True)]
    rows: list[Row] = [
        (label, *(_cell(matrix, a, b, why_absent) for b in names)) for label, a in zip(labels, names, strict=True)
    ]
    return Columns(["", *heads], rows, alike=True)


def _cell(matrix: Matrix, a: str, b: str, why_absent: str) -> Cell:
    record = matrix.get(a, b)
    if record is None:
        return Cell("·" if a == b else "–", "dim", title="" if a == b else why_absent)
    figure = show_in(record.value, matrix.scale[0]) if record.value is not None else ""
    title = f"{interval_text(record)}, {verdict_text(record)}"
    return Cell(f"{MARKS[record.verdict]}{figure}", str(record.verdict), title)


def _worst(matrix: Matrix) -> Columns:
    rows = [
        (arrow(matrix, *pair), Cell(value_text(record), "strong"), interval_text(record),
         Cell(verdict_text(record), str(record.verdict)))
        for pair, record in matrix.worst(10)
    ]  # fmt: skip
    return Columns(["pair", "value", "interval", "verdict"], rows, tail=1)


def _legend(matrices: Sequence[Matrix]) -> list[Element | str]:
    """What the marks of the tables mean, and no other; then why values are missing."""
    if all(len(matrix.nodes) > MAX_MATRIX_NODES for matrix in matrices):
        return []
    marked = [(m, pair, r) for m in matrices for pair, r in m.cells.items() if r.verdict is not Verdict.OK]
    verdicts = [verdict for verdict in Verdict if any(r.verdict is verdict for _, _, r in marked)]
    words: list[Element | str] = [Note(f"{MARKS[verdict]} {verdict}: {MEANINGS[verdict]}") for verdict in verdicts]
    if any(len(matrix.cells) < matrix.expected for matrix in matrices):
        words.append(Note("– not measured"))
    reasons: dict[tuple[str, str], list[str]] = {}
    for matrix, pair, record in marked:
        if not usable(record):
            places = reasons.setdefault((MARKS[record.verdict], record.reason or ""), [])
            places.append(f"{matrix.title}, {arrow(matrix, *pair)}")
    for (mark, reason), places in list(reasons.items())[:MAX_REASONS]:
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        words.append(f"{mark} {places[0]}{more}: {reason}")
    if len(reasons) > MAX_REASONS:
        words.append(f"and {plural(len(reasons) - MAX_REASONS, 'more reason')}")
    return [Section("Marks and reasons", body=words)] if words else []
