"""Two runs side by side: what differs between their nodes, and every cell with the interval of B / A drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wulf.core.names import plural, subject_text
from wulf.core.records import Record
from wulf.core.units import scale_for, show, show_in
from wulf.measure.comparing import ALPHA, GRAVEST_FIRST, CellComparison, FactChange, RunComparison, percent
from wulf.measure.pooling import NodeChange
from wulf.report.kit.figures import cell_name, metric_name
from wulf.report.kit.view import Cell, Columns, Element, Footnotes, Note, Row, Section, Span, View
from wulf.stats.comparison import DELTA, Judgement

MOST_NODES = 3
"""That the headline tells of."""

ROWS = 30
"""That a terminal shows."""

FACTOR = 10.0
"""From here on a ratio is said as a factor: nobody reads +2940 %."""

KEPT = "the runs are kept, `wulf compare A B --html PATH` writes the page again"
"""Said where the page can't be written."""

STYLES = {
    Judgement.SLOWER: "no",
    Judgement.FASTER: "yes",
    Judgement.EQUIVALENT: "",
    Judgement.INCONCLUSIVE: "dim",
}

READING = (
    "Each line is the interval of B / A on a log scale, with no difference in the middle; grey is what counts as equal."
)


def comparison_view(found: RunComparison) -> View:
    """What got slower, what faster, what is the same, and what can't be told."""
    differ = [Section("The nodes differ", ["A difference below may be due to any of these."], _facts(found.facts))]
    return View(
        title=f"wulf compare {found.a.id} {found.b.id}",
        headline=headline(found),
        header=[("A", found.a.id), ("B", found.b.id)],
        brief=f"A {found.a.id}, B {found.b.id}",
        sections=[*(differ if found.facts else []), *([_nodes(found)] if found.nodes else []), _cells(found)],
        notes=[found.unprovable] if found.unprovable else [],
        method=method(found),
    )


def headline(found: RunComparison) -> str:
    """Which nodes changed, where that is told, and how many cells got which verdict."""
    counts = {judgement: sum(c.judgement is judgement for c in found.cells) for judgement in GRAVEST_FIRST}
    said = ", ".join(f"{count} {judgement}" for judgement, count in counts.items() if count)
    of_nodes = "".join(f"{node_sentence(one)}; " for one in found.nodes[:MOST_NODES])
    changed = any(one not in (Judgement.EQUIVALENT, Judgement.INCONCLUSIVE) for one, count in counts.items() if count)
    answer = "" if changed or found.nodes else "; nothing is proven to have changed"
    return f"{of_nodes}{plural(len(found.cells), 'cell')}: {said}{answer}"


def node_sentence(one: NodeChange) -> str:
    """`n3 slower on 6 of 6 links, bandwidth ×0.0115`."""
    ratio = one.comparison.ratio
    change = _change(ratio, as_factor=ratio is not None and max(ratio, 1 / ratio) >= FACTOR)
    return f"{one.node} {one.judgement} on {one.alike} of {one.links} links, {metric_name(one.record.metric)} {change}"


def _nodes(found: RunComparison) -> Section:
    """The nodes whose links changed together."""
    rows: list[Row] = []
    for one in found.nodes:
        c = one.comparison
        as_factor = c.ratio is not None and max(c.ratio, 1 / c.ratio) >= FACTOR
        change, low, high = (_change(ratio, as_factor=as_factor) for ratio in (c.ratio, c.low, c.high))
        what = f"{metric_name(one.record.metric)}, {cell_name(one.record)}"
        verdict = Cell(str(one.judgement), STYLES[one.judgement])
        rows.append((one.node, what, verdict, change, f"{low} to {high}", f"{one.alike} of {one.links}",
                     f"{one.claimed:.2g}"))  # fmt: skip
    heads = ["Node", "What", "Verdict", "B / A", "95 % interval", "Links", "p"]
    said = "All links of a node together, pass by pass, corrected for all nodes; the greatest change is told first."
    return Section("By node", [said], Columns(heads, rows, words=3, unprinted=(4, 6), key="by-node"))


def _facts(changes: Sequence[FactChange]) -> Columns:
    rows = [(one.node, one.fact, _fact(one.a), _fact(one.b)) for one in changes]
    return Columns(["Node", "Fact", "A", "B"], rows, words=4, most=ROWS, key="nodes")


def _fact(value: Any) -> str:
    """A fact's value; what a node does not have is none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _cells(found: RunComparison) -> Section:
    """Every cell; why some have no interval stands below."""
    reach = reach_of(found.cells)
    undrawn = [cell.comparison.reason for cell in found.cells if not cell.comparison.low]
    reasons = list(dict.fromkeys(filter(None, undrawn)))
    confidence = found.cells[0].comparison.confidence if found.cells else 1 - ALPHA
    drawn = len(undrawn) < len(found.cells)
    heads = [
        "Cell", "Verdict", f"B / A\n1/{reach:.3g} to {reach:.3g}" if drawn else "B / A", "Change",
        f"{100 * confidence:.3g} % interval", "A", "B", "Visible", "Samples", "p (Holm)",
    ]  # fmt: skip
    rows = [_row(cell, reach, reasons) for cell in found.cells]
    body: list[Element | str] = [Note(READING, reading=True)] if drawn else []
    body += [Columns(heads, rows, words=3, most=ROWS, unprinted=(4, 5, 6, 8, 9), key="cells")]
    body += [Footnotes(reasons)] if reasons else []
    return Section("B against A", body=body)


def reach_of(cells: Sequence[CellComparison]) -> float:
    """The ratio at the ends of all drawn intervals: the farthest bound; what counts as equal takes half at most."""
    bounds = [bound for c in cells for bound in (c.comparison.low, c.comparison.high) if bound]
    return max([1.02, (1 + _delta(cells)) ** 2, *(max(bound, 1 / bound) for bound in bounds)])


def _delta(cells: Sequence[CellComparison]) -> float:
    return cells[0].comparison.delta if cells else DELTA


def _row(cell: CellComparison, reach: float, reasons: Sequence[str]) -> list[str | Cell]:
    c = cell.comparison
    style = "noisy" if cell.suspect else STYLES[cell.judgement]
    as_factor = c.ratio is not None and max(c.ratio, 1 / c.ratio) >= FACTOR
    change, low, high = (_change(ratio, as_factor=as_factor) for ratio in (c.ratio, c.low, c.high))
    interval = f"{low} to {high}" if c.low else "–"
    drawn = Cell("–", note=1 + reasons.index(c.reason) if c.reason in reasons else 0)
    if c.low and c.ratio and c.high:
        drawn = Cell(f"{change}, {interval}", style, span=Span(c.low, c.ratio, c.high, reach, 1 + c.delta))
    return [
        _name(cell.a), Cell(_word(cell), style), drawn, change, interval,
        _value(cell.a.value, cell), _value(cell.b.value, cell),
        "–" if c.least_visible is None else f"{c.least_visible:.1%}",
        str(c.n), "–" if c.p is None else f"{cell.claimed:.2g}",
    ]  # fmt: skip


def _name(record: Record) -> str | Cell:
    """A cell of a node survey goes by the name of its row or curve, and its parameters stand below."""
    subject, what, size = subject_text(record.subject), cell_name(record), record.params.get("bytes")
    if record.row or record.curve:
        over = f", {show(size, 'B')}" if isinstance(size, int) and size else ""
        return Cell(f"{subject}, {record.row or record.curve + over}", small=[what] if what else [])
    return f"{subject}, {what}" if what else subject


def _word(cell: CellComparison) -> str:
    """The verdict in a cell of the table."""
    return "suspect" if cell.suspect else str(cell.judgement)


def _change(ratio: float | None, *, as_factor: bool) -> str:
    """A ratio as people say it: +2.10%, or ×30.4."""
    return f"×{ratio:.3g}" if as_factor and ratio is not None else percent(ratio)


def _value(value: float | None, cell: CellComparison) -> str:
    """`20.0 µs`: both runs' figures in one unit, and with the same digits."""
    divisor, unit = scale_for(max(abs(record.value or 0.0) for record in (cell.a, cell.b)), cell.a.unit)
    return "–" if value is None else f"{show_in(value, divisor)} {unit}".rstrip()


def method(found: RunComparison) -> str:
    """How to read the table."""
    alone = ""
    if found.only_a or found.only_b:
        alone = f" Not compared: {plural(found.only_a, 'cell')} of A alone, {plural(found.only_b, 'cell')} of B alone."
    return (
        f"Differences are claimed at 5% over all cells together (Holm); 'suspect' is worth a second look "
        f"(false discovery rate 10%); within ±{_delta(found.cells):.1%} counts as equivalent; 'visible' is the least "
        "difference that nine of ten such comparisons would find. The runs were measured one after the other: what "
        f"differs may be time. `wulf net … --versus` measures both at once.{alone}"
    )


def rows_of(found: RunComparison) -> list[dict[str, object]]:
    """Every cell as one JSON object."""
    return [
        {
            "subject": cell.a.subject,
            "metric": cell.a.metric,
            "unit": cell.a.unit,
            "params": dict(cell.a.params),
            "a": cell.a.value,
            "b": cell.b.value,
            "ratio": cell.comparison.ratio,
            "low": cell.comparison.low,
            "high": cell.comparison.high,
            "confidence": cell.comparison.confidence,
            "n": cell.comparison.n,
            "p": cell.comparison.p,
            "p_holm": cell.claimed,
            "q": cell.screened,
            "verdict": str(cell.judgement),
            "suspect": cell.suspect,
            "least_visible": cell.comparison.least_visible,
            "paired": cell.comparison.paired,
            "reason": cell.comparison.reason,
        }
        for cell in found.cells
    ]


def node_rows_of(found: RunComparison) -> list[dict[str, object]]:
    """Every node whose links changed together as one JSON object."""
    return [
        {
            "node": one.node,
            "metric": one.record.metric,
            "transport": one.record.params.get("transport"),
            "links": one.links,
            "alike": one.alike,
            "ratio": one.comparison.ratio,
            "low": one.comparison.low,
            "high": one.comparison.high,
            "p_bonferroni": one.claimed,
            "verdict": str(one.judgement),
        }
        for one in found.nodes
    ]
