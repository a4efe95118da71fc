"""Two runs side by side as one HTML page: the intervals drawn, beside the figures."""

from __future__ import annotations

import re
from math import log
from pathlib import Path
from typing import Any

from wulf.core.names import printable, subject_text
from wulf.core.units import scale_for, show_in
from wulf.measure.comparing import CellComparison, RunComparison, percent
from wulf.report.compare.runs import footnote, headline, span_of, word
from wulf.report.kit.figures import cell_name
from wulf.report.kit.html import fill_template, write_page
from wulf.stats.comparison import DELTA, Judgement

MARGIN = 5.0
"""Per cent of a drawn interval's width at both ends, so that a point at the end of the scale is whole."""

FACTOR = 10.0
"""From here on a ratio is said as a factor: nobody reads +2940 %."""

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
    delta = found.cells[0].comparison.delta if found.cells else DELTA
    span = max(span_of(found.cells), (1 + delta) ** 2)  # what counts as equal takes half of the picture at most
    edge = log(1 + delta)
    names = [printable(run.id) for run in (found.a, found.b)]
    rows = [_row(cell, span) for cell in found.cells]
    content = fill_template(
        "comparison.html.j2",
        title=f"wulf compare {' '.join(names)}",
        headline=re.sub(r"(\d) ", "\\1\u00a0", headline(found)),
        runs=list(zip("AB", names, strict=True)),
        facts=[(printable(c.node), printable(c.fact), _fact(c.a), _fact(c.b)) for c in found.facts],
        rows=rows,
        any_drawn=any(row["drawn"] for row in rows),
        confidence=f"{100 * (found.cells[0].comparison.confidence if found.cells else 0.95):.3g}",
        span=f"{span:.3g}",
        equal=(_x(-edge, span), _x(edge, span)),
        footnote=footnote(found),
    )
    write_page(path, content, "the runs are kept, `wulf compare A B --html PATH` writes the page again")


def _x(logarithm: float, span: float) -> float:
    """Where a ratio lies on the picture's log scale, in per cent of its width."""
    return round(MARGIN + (logarithm / log(span) + 1) / 2 * (100 - 2 * MARGIN), 2)


def _fact(value: Any) -> str:
    """A fact's value; what a node does not have is none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else printable(value)


def _change(ratio: float | None, *, as_factor: bool) -> str:
    """A ratio as people say it: +2.10%, or ×30.4."""
    return f"×{ratio:.3g}" if as_factor and ratio is not None else percent(ratio)


def _row(cell: CellComparison, span: float) -> dict[str, Any]:
    c = cell.comparison
    drawn = None
    if c.low and c.ratio and c.high:
        drawn = {"low": _x(log(c.low), span), "ratio": _x(log(c.ratio), span), "high": _x(log(c.high), span)}
    as_factor = c.ratio is not None and max(c.ratio, 1 / c.ratio) >= FACTOR
    low, high = (_change(bound, as_factor=as_factor) for bound in (c.low, c.high))
    return {
        "subject": subject_text(cell.a.subject),
        "what": ", ".join(part.replace(" ", "\u00a0") for part in printable(cell_name(cell.a)).split(", ")),
        "a": _value(cell.a.value, cell),
        "b": _value(cell.b.value, cell),
        "ratio": _change(c.ratio, as_factor=as_factor),
        "interval": f"{low} to {high}" if c.low else "–",
        "why_not": c.reason,
        "word": word(cell),
        "kind": "suspect" if cell.suspect else CLASSES[cell.judgement],
        "visible": "–" if c.least_visible is None else f"{c.least_visible:.1%}",
        "n": c.n,
        "p": "–" if c.p is None else f"{cell.claimed:.2g}",
        "drawn": drawn,
    }


def _value(value: float | None, cell: CellComparison) -> str:
    """`20.0 µs`: both runs' figures in one unit, and with the same digits."""
    divisor, unit = scale_for(max(abs(record.value or 0.0) for record in (cell.a, cell.b)), cell.a.unit)
    return "–" if value is None else f"{show_in(value, divisor)} {unit}".rstrip()
