"""Text and tables on a terminal: wrapped, nothing in a name taken as markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, OverflowMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wulf.core.names import plural, printable
from wulf.core.records import Record, Verdict
from wulf.report.kit.figures import verdict_text

VERDICT_STYLES = {Verdict.OK: "", Verdict.NOISY: "yellow", Verdict.UNRESOLVED: "red", Verdict.FAILED: "red"}


def say(console: Console, text: Text | str, indent: int = 0, hang: int = 0) -> None:
    """Print wrapped text without the blanks to its right that Rich's own padding leaves.

    Lines after the first stand `hang` farther in.
    """
    body = text if isinstance(text, Text) else Text(printable(text))
    for number, line in enumerate(body.wrap(console, max(1, console.width - indent - hang))):
        line.rstrip()
        blank = " " * (indent + (hang if number else 0))
        console.print(Text(blank) + line, highlight=False, soft_wrap=True)


def print_rest(count: int, noun: str, console: Console) -> None:
    """`and 7 more records`, where there are more."""
    if count > 0:
        say(console, f"and {plural(count, f'more {noun}')}", indent=2)


def new_table(*heads: str, right: Iterable[int] = (), overflow: OverflowMethod = "ellipsis") -> Table:
    """An empty table with these heads; `right`: columns of figures; `overflow`: of what is too long for its column."""
    columns = set(right)
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for index, head in enumerate(heads):
        made.add_column(Text(printable(head)), justify="right" if index in columns else "left", overflow=overflow)
    return made


def print_titled(title: str, body: Table | Group, console: Console) -> None:
    """A title, and what stands below it."""
    console.print()
    say(console, Text(printable(title), style="bold"))
    console.print(Padding(body, (0, 0, 0, 2), expand=False), highlight=False)


def verdict_cell(record: Record) -> Text:
    """A verdict with its reason, coloured."""
    return Text(printable(verdict_text(record)), style=VERDICT_STYLES[record.verdict])
