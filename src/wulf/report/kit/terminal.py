"""Views in a terminal: 80 columns are enough, colour is never needed, nothing in a name is taken as markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, floor, log2

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wulf.core.names import printable, shortened
from wulf.core.units import scale_for, show, show_in
from wulf.report.kit.charts import round_values
from wulf.report.kit.printing import say
from wulf.report.kit.textplot import ForestLine, Marked, middle_range, sparkline, text_forest, text_plot
from wulf.report.kit.trends import Trend
from wulf.report.kit.view import (
    Callout,
    Cell,
    Columns,
    Drawing,
    Element,
    Fold,
    Footnotes,
    Forest,
    Note,
    Plot,
    Section,
    SideBySide,
    Span,
    View,
    walk,
)

STYLES = {
    "noisy": "yellow", "unresolved": "red", "failed": "red", "yes": "green", "no": "bold red", "unknown": "yellow",
    "off": "bold red", "strong": "bold", "dim": "dim", "worse": "bold red", "better": "cyan", "other": "yellow",
}  # fmt: skip
"""Style of a cell → how a terminal shows it; of `worse-2`, the first word decides."""

CALLS = {"bad": "bold red", "warn": "yellow", "info": "cyan", "good": "green"}
"""Style of a callout → how a terminal shows its word."""

INDENT = 2
"""What stands under a heading begins so far in."""

GAP = 2
"""Blanks between columns, where there is room for them."""

BAR = 19
"""Characters of a drawn interval: odd, so that no difference has a middle."""

LONGEST_NAME, MOST_SPANS = 24, 20
"""Of a forest: a row's name, and how many rows there are; a page shows them all."""

LONGEST_HEAD = 13
"""Of columns that are alike: a longer head is shortened, rather than that it takes the room of two columns."""


def print_view(view: View, console: Console, *, whole: bool = False) -> None:
    """What it comes to, its sections, and what to beware of; `whole`: what a terminal leaves out otherwise, too."""
    say(console, Text(printable(view.headline), style="bold"))
    if view.warning:
        say(console, Text(f"! {printable(view.warning)}", style="yellow"))
    if view.brief:
        say(console, Text(printable(view.brief), style="dim"))
    print_all(view.sections if whole else _without_asked(view.sections), console)
    left_out = [one.asked for one in walk(view.sections) if isinstance(one, Fold) and one.asked]
    if left_out and not whole:
        console.print()
        say(console, Text(f"Left out here: {', '.join(left_out)}; `{view.whole}` prints all.", style="dim"))
    if view.notes or view.method:
        console.print()
    for note in view.notes:
        say(console, Text(f"! {printable(note)}", style="yellow"))
    if view.method:
        say(console, Text(view.method, style="dim"))


def _without_asked(sections: Sequence[Section]) -> list[Section]:
    """These sections without the folds that somebody has to ask for."""
    return [replace(one, body=[each for part in one.body for each in _unasked(part)]) for one in sections]


def _unasked(one: Element | str) -> list[Element | str]:
    match one:
        case Section():
            return [*_without_asked([one])]
        case SideBySide():
            return [replace(one, sections=_without_asked(one.sections))]
        case Fold() if one.asked:
            return []
    return [one]


def print_all(elements: Sequence[Element | str], console: Console, indent: int = INDENT) -> None:
    """Each in its turn; what stands under a heading is indented."""
    for above, one in zip([None, *elements], elements, strict=False):
        if isinstance(above, Columns) and isinstance(one, Columns | Fold) and _is_printed(one):
            console.print()
        _print(one, console, indent)


def _print(one: Element | str, console: Console, indent: int) -> None:
    match one:
        case str():
            say(console, one, indent)
        case Note() if _is_printed(one):
            say(console, Text(printable(one.text), style="dim"), indent)
        case Columns():
            _print_table(one, console, indent)
        case Plot() | Forest() | Trend() | Drawing():
            _print_drawn(one, console, indent)
        case Footnotes():
            for number, text in enumerate(one.texts, 1):
                say(console, Text(f"–{number} {printable(text)}", style="dim"), indent)
        case Fold() if one.printed:
            print_all(one.body, console, indent)
        case Fold() if one.brief:
            say(console, one.brief, indent)
        case SideBySide():
            print_all(one.sections, console, indent)
        case Section():
            _print_section(one, console, indent)
        case Callout():
            _print_callout(one, console, indent)


def _print_drawn(one: Plot | Forest | Trend | Drawing, console: Console, indent: int) -> None:
    match one:
        case Drawing() if one.printed:
            for line in one.printed(min(console.width, 100) - indent):
                console.print(Text(" " * indent + printable(line)), highlight=False, soft_wrap=True)
        case Plot():
            _print_plot(one, console, indent)
        case Forest() if one.rows:
            _print_forest(one, console, indent)
        case Trend():
            _print_trend(one, console, indent)


def _print_section(section: Section, console: Console, indent: int) -> None:
    """The heading, where the section has anything of its own to print, and all below it."""
    if any(map(_is_printed, section.elements)):
        console.print()
        say(console, Text(printable(section.heading), style="bold"))
    print_all(section.elements, console, indent)


def _print_callout(one: Callout, console: Console, indent: int) -> None:
    console.print()
    say(console, Text.assemble((one.word.upper(), CALLS[one.style]), f"  {printable(one.head)}".rstrip()))
    for line in one.lines:
        say(console, line, indent)
    if one.next_step:
        say(console, f"→ {one.next_step}", indent)


def _is_printed(one: Element | str) -> bool:
    """Whether a terminal shows anything of it under the heading that it stands under."""
    match one:
        case Note():
            return not one.reading
        case Columns() | Forest():
            return bool(one.rows)
        case Fold():
            return any(map(_is_printed, one.body)) if one.printed else bool(one.brief)
        case Drawing():
            return one.printed is not None
    return isinstance(one, str | Plot | Trend | Footnotes)


def _print_table(columns: Columns, console: Console, indent: int) -> None:
    shown = columns.rows[: columns.most] if columns.most else columns.rows
    cells = [[_cell(cell) for cell in row] for row in shown]
    if columns.merged:
        texts = [row[0].plain for row in cells]
        for row, above, own in zip(cells[1:], texts, texts[1:], strict=False):
            row[0] = Text() if own == above else row[0]
    heads = [Text("\n".join(map(printable, head.split("\n")))) for head in columns.heads]
    for number, part in enumerate(_parts(columns, heads, cells, console.width - indent)):
        if number:
            console.print()
        console.print(Padding(part, (0, 0, 0, indent), expand=False), highlight=False)
    if len(columns.rows) > len(shown):
        say(console, f"and {len(columns.rows) - len(shown):,} more on the page", indent)


def _parts(columns: Columns, heads: Sequence[Text], cells: Sequence[Sequence[Text]], room: int) -> Iterator[Table]:
    """One table, or several below each other where columns that are alike have no room beside each other."""
    if not columns.alike:
        yield _table(columns, heads, cells, [i for i in range(len(heads)) if i not in columns.unprinted], room)
        return
    for text in heads[columns.words :]:
        text.plain = shortened(text.plain, LONGEST_HEAD)
    for text in (row[column] for row in [heads, *cells] for column in range(columns.words)):
        text.plain = shortened(text.plain, room // 2)
    widths = _widths(heads, cells)
    names, free = range(columns.words), room - sum(widths[: columns.words])
    block: list[int] = []
    for column in range(columns.words, len(heads)):
        if block and sum(widths[one] + GAP for one in [*block, column]) > free - GAP * (columns.words - 1):
            yield _table(columns, heads, cells, [*names, *block], room)
            block = []
        block.append(column)
    yield _table(columns, heads, cells, [*names, *block], room)


def _table(
    columns: Columns, heads: Sequence[Text], cells: Sequence[Sequence[Text]], chosen: Sequence[int], room: int
) -> Table:
    widths = _widths(heads, cells)
    gap = GAP if sum(widths[i] + GAP for i in chosen) - GAP <= room else 1
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim", show_header=any(heads))
    for i in chosen:
        justify: JustifyMethod = "right" if columns.figures[i] else "left"
        drawn = any(isinstance(cell := row[i], Cell) and cell.span for row in columns.rows)
        table.add_column(heads[i], justify=justify, overflow="fold", no_wrap=columns.alike or drawn)
    for row in cells:
        table.add_row(*(row[i] for i in chosen))
    return table


def _widths(heads: Sequence[Text], cells: Sequence[Sequence[Text]]) -> list[int]:
    """What each column takes whose texts are not wrapped."""
    return [max(measure_text(row[i]) for row in [heads, *cells]) for i in range(len(heads))]


def measure_text(text: Text) -> int:
    """Columns of the longest of its lines."""
    return max((cell_len(line) for line in text.plain.split("\n")), default=0)


def _cell(cell: str | Cell) -> Text:
    if isinstance(cell, str):
        return Text(printable(cell))
    style = STYLES.get(cell.style.split("-")[0], "")
    if cell.span is not None:
        return Text(_bar(cell.span), style=style)
    note = str(cell.note or "")
    return Text(printable(f"{cell.text}{note} {cell.brief}").rstrip(), style=style)


def _bar(span: Span) -> str:
    """The interval as a line of characters, no difference in its middle."""
    low, value, high = (round(span.at(ratio) * (BAR - 1)) for ratio in (span.low, span.value, span.high))
    line = ["─" if low <= i <= high else " " for i in range(BAR)]
    line[BAR // 2] = "┼" if low <= BAR // 2 <= high else "│"
    line[value] = "●"
    return "".join(line)


def _print_plot(plot: Plot, console: Console, indent: int) -> None:
    series = [Marked(curve.mark, curve.x, curve.y) for curve in plot.curves]
    width = min(console.width, 100) - 2 - indent
    across = plot.x_ticks or ticks([c.x for c in plot.curves], plot.x_unit)
    lines = text_plot(series, across, ticks([c.y for c in plot.curves], plot.y_unit), width)
    for line in lines:
        console.print(Text(" " * indent + line), soft_wrap=True)
    marks = "  ".join(f"{curve.mark} {curve.name}" for curve in plot.curves)
    say(console, Text(printable(f"{plot.y_title} over {plot.x_title}:  {marks}"), style="dim"), indent)


def _print_trend(trend: Trend, console: Console, indent: int) -> None:
    """A line of bars with its scale, and below it the marks of the changes."""
    values = trend.values[trend.first :]
    low, high = middle_range(values)
    divisor, unit = scale_for(max(abs(low), abs(high)), trend.unit)
    scale = f"{show_in(low, divisor)}–{show_in(high, divisor)} {unit}".rstrip()
    changes = [(one.mark, one.at - trend.first) for one in trend.changes if one.at > trend.first]
    bars, marks = sparkline(values, max(4, console.width - indent - len(scale) - 2), changes)
    say(console, Text.assemble(bars, "  ", (scale, "dim")), indent)
    if marks:
        console.print(Text(" " * indent + marks, style="bold"), highlight=False, soft_wrap=True)


def _print_forest(forest: Forest, console: Console, indent: int) -> None:
    spans = [
        ForestLine(shortened(printable(row.name), LONGEST_NAME), row.inner.value, *(
            (one.low, one.high) for one in (row.inner, row.outer or row.inner)
        ))
        for row in forest.rows[:MOST_SPANS]
    ]  # fmt: skip
    console.print()
    for line in text_forest(spans, forest.axis, forest.unit, min(console.width, 100) - indent):
        console.print(Text(" " * indent + line), soft_wrap=True)
    wide = f"  ─ {forest.outer}" if any(row.outer for row in forest.rows) else ""
    say(console, Text(printable(f"{forest.title}:  ━ {forest.inner}{wide}"), style="dim"), indent)


def ticks(values: Sequence[Sequence[float]], unit: str, most: int = 7) -> list[tuple[float, str]]:
    """Round values of an axis with their texts."""
    flat = [v for some in values for v in some if v > 0]
    if unit == "B" and flat:
        return [(value, show(value, unit)) for value in _powers(min(flat), max(flat), most)]
    return [(value, show(value, unit)) for value in round_values(min(flat), max(flat), most)] if flat else []


def _powers(low: float, high: float, most: int) -> list[float]:
    """Powers of two: sizes are round there."""
    first, last = ceil(log2(low)), floor(log2(high))
    return [2.0**power for power in range(first, last + 1, max(1, ceil((last - first + 1) / most)))]
