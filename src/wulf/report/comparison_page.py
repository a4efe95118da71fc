"""Two runs side by side as one HTML page: the intervals drawn, beside the figures."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

from wulf.core.units import show
from wulf.measure.comparing import CellComparison, RunComparison, described, percent
from wulf.report.comparison import footnote, headline, span_of, word
from wulf.report.html import fill_template, write_page
from wulf.stats.comparison import Judgement

WIDTH = 220.0
"""Of a drawn interval, in the units of its picture."""

CLASSES = {
    Judgement.SLOWER: "bad",
    Judgement.FASTER: "good",
    Judgement.EQUIVALENT: "same",
    Judgement.INCONCLUSIVE: "open",
}


def write_comparison(found: RunComparison, path: Path) -> None:
    """Write the comparison of two runs as one file that needs no network.

    Raises
    ------
    StoreError
        The disk is full, or there is no permission.
    """
    span = span_of(found.cells)
    edge = log(1 + found.cells[0].comparison.delta) if found.cells else 0.0
    content = fill_template(
        "comparison.html.j2",
        headline=headline(found),
        runs=[("A", found.a.id), ("B", found.b.id)],
        facts=[(c.node, c.fact, str(c.a), str(c.b)) for c in found.facts],
        rows=[_row(cell, span) for cell in found.cells],
        span=f"{span:.3g}",
        width=WIDTH,
        equal=(_x(-edge, span), _x(edge, span)),
        footnote=footnote(found),
    )
    write_page(path, content, "the runs are kept, `wulf compare A B --html PATH` writes the page again")


def _x(logarithm: float, span: float) -> float:
    """Where a ratio lies on the picture's log scale."""
    return round((logarithm / log(span) + 1) / 2 * WIDTH, 2)


def _row(cell: CellComparison, span: float) -> dict[str, Any]:
    c = cell.comparison
    drawn = None
    if c.low and c.ratio and c.high:
        drawn = {"low": _x(log(c.low), span), "ratio": _x(log(c.ratio), span), "high": _x(log(c.high), span)}
    return {
        "cell": described(cell.a),
        "a": show(cell.a.value, cell.a.unit),
        "b": show(cell.b.value, cell.b.unit),
        "ratio": percent(c.ratio),
        "interval": f"{percent(c.low)} to {percent(c.high)}" if c.low else "–",
        "word": word(cell),
        "kind": "suspect" if cell.suspect else CLASSES[cell.judgement],
        "visible": "–" if c.least_visible is None else f"{c.least_visible:.1%}",
        "n": c.n,
        "p": f"{cell.claimed:.2g}",
        "drawn": drawn,
    }
