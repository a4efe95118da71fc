"""A model's report in a terminal, 80 columns wide."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log2

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wulf.core.names import printable
from wulf.core.units import show
from wulf.report.kit.charts import _round_values
from wulf.report.kit.printing import say
from wulf.report.kit.textplot import Marked, text_plot
from wulf.report.kit.view import Columns, Plot, Section, View


def print_view(view: View, console: Console) -> None:
    """All sections, then what to beware of."""
    say(console, Text(printable(view.headline), style="bold"))
    for section in view.sections:
        _print_section(section, console)
    console.print()
    for note in view.notes:
        say(console, Text(f"! {printable(note)}", style="yellow"))
    say(console, Text(view.method, style="dim"))


def _print_section(section: Section, console: Console) -> None:
    console.print()
    say(console, Text(printable(section.heading), style="bold"))
    for line in section.lines:
        say(console, Text(printable(line)))
    if section.table is not None:
        console.print(_table(section.table))
    if section.plot is not None:
        _print_plot(section.plot, console)
    for line in section.small:
        say(console, Text(printable(line), style="dim"))


def _table(columns: Columns) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for number, head in enumerate(columns.heads):
        table.add_column(Text(head, style="dim"), justify="left" if number < columns.words else "right")
    for row in columns.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _print_plot(plot: Plot, console: Console) -> None:
    series = [Marked(curve.mark, curve.x, curve.y) for curve in plot.curves]
    width = min(console.width, 100) - 2
    across = plot.x_ticks or ticks([c.x for c in plot.curves], plot.x_unit)
    lines = text_plot(series, across, ticks([c.y for c in plot.curves], plot.y_unit), width)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    marks = "  ".join(f"{curve.mark} {curve.name}" for curve in plot.curves)
    say(console, Text(f"{plot.y_title} over {plot.x_title}:  {marks}", style="dim"))


def ticks(values: Sequence[Sequence[float]], unit: str, most: int = 7) -> list[tuple[float, str]]:
    """Round values of an axis with their texts."""
    flat = [v for some in values for v in some if v > 0]
    if unit == "B" and flat:
        return [(value, show(value, unit)) for value in _powers(min(flat), max(flat), most)]
    return [(value, show(value, unit)) for value in _round_values(min(flat), max(flat), most)] if flat else []


def _powers(low: float, high: float, most: int) -> list[float]:
    """Powers of two: sizes are round there."""
    first, last = ceil(log2(low)), floor(log2(high))
    return [2.0**power for power in range(first, last + 1, max(1, ceil((last - first + 1) / most)))]
