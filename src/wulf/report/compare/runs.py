"""Two runs side by side: a table with the intervals drawn, in the terminal and as one HTML page."""

from __future__ import annotations

from math import log

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wulf.core.names import plural, printable
from wulf.measure.comparing import GRAVEST_FIRST, ONE_LAUNCH, CellComparison, RunComparison, described, percent
from wulf.stats.comparison import Judgement

ROWS = 30
BAR = 21
"""Characters of the drawn interval: odd, so that no difference has a middle."""

STYLES = {
    Judgement.SLOWER: "bold red",
    Judgement.FASTER: "green",
    Judgement.EQUIVALENT: "",
    Judgement.INCONCLUSIVE: "yellow",
}


def word(cell: CellComparison) -> str:
    """The verdict in a cell of the table."""
    return "suspect" if cell.suspect else str(cell.judgement)


def span_of(cells: list[CellComparison]) -> float:
    """The ratio at the ends of all drawn intervals: the farthest bound, at least 2 %."""
    bounds = [bound for c in cells for bound in (c.comparison.low, c.comparison.high) if bound]
    return max([1.02, *(max(bound, 1 / bound) for bound in bounds)])


def drawn(cell: CellComparison, span: float) -> str:
    """The interval of B / A as a line of characters on a log scale, no difference in the middle."""
    low, ratio, high = cell.comparison.low, cell.comparison.ratio, cell.comparison.high
    line = [" "] * BAR
    line[BAR // 2] = "│"
    if low and ratio and high:

        def column(value: float) -> int:
            return round((log(value) / log(span) + 1) / 2 * (BAR - 1))

        for i in range(column(low), column(high) + 1):
            line[i] = "─" if i != BAR // 2 else "┼"
        line[column(ratio)] = "●"
    return "".join(line)


def headline(found: RunComparison) -> str:
    """How many cells got which verdict."""
    counts = {judgement: sum(c.judgement is judgement for c in found.cells) for judgement in GRAVEST_FIRST}
    said = ", ".join(f"{count} {judgement}" for judgement, count in counts.items() if count)
    return f"{plural(len(found.cells), 'cell')}: {said}"


def print_comparison(found: RunComparison, console: Console) -> None:
    """What got slower, what faster, what is the same, what nobody can say; 80 columns are enough."""
    console.print(Text(headline(found), style="bold"))
    for name, run in (("A", found.a), ("B", found.b)):
        console.print(Text(printable(f"{name} {run.id}"), style="dim"), soft_wrap=True)
    for change in found.facts[:ROWS]:
        console.print(Text(printable(f"! {change.node}: {change.fact} {change.a} → {change.b}"), style="yellow"))
    span = span_of(found.cells[:ROWS])
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("cell", overflow="ellipsis", no_wrap=True, max_width=28)
    table.add_column("B / A", justify="right", no_wrap=True)
    table.add_column(f"1/{span:.3g}".ljust(BAR - 6) + f"{span:.3g}×".rjust(6), no_wrap=True, min_width=BAR)
    table.add_column("verdict", no_wrap=True)
    table.add_column("visible", justify="right", no_wrap=True)
    for cell in found.cells[:ROWS]:
        visible = cell.comparison.least_visible
        table.add_row(
            printable(described(cell.a)),
            percent(cell.comparison.ratio),
            drawn(cell, span),
            Text(word(cell), style=STYLES[cell.judgement]),
            "–" if visible is None else f"{visible:.1%}",
        )
    console.print()
    console.print(table)
    if len(found.cells) > ROWS:
        console.print(f"and {plural(len(found.cells) - ROWS, 'more cell')} (--json, --html)")
    console.print()
    console.print(Text(footnote(found), style="dim"))


def footnote(found: RunComparison) -> str:
    """How to read the table."""
    delta = found.cells[0].comparison.delta if found.cells else 0.0
    alone = ""
    if found.only_a or found.only_b:
        alone = f" Not compared: {plural(found.only_a, 'cell')} of A alone, {plural(found.only_b, 'cell')} of B alone."
    if any(cell.comparison.reason == ONE_LAUNCH for cell in found.cells):
        alone += f" Of MPI nothing is claimed: {ONE_LAUNCH}."
    return (
        f"Differences are claimed at 5% over all cells together (Holm); 'suspect' is worth a second look "
        f"(false discovery rate 10%); within ±{delta:.1%} counts as equivalent; 'visible' is the least difference that "
        f"nine of ten such comparisons would find. The runs were measured one after the other: what differs may be "
        f"time. `wulf net … --versus` measures both at once.{alone}"
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
