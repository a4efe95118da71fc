"""Text and tables on a terminal: wrapped, nothing in a name taken as markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, OverflowMethod
from rich.table import Table
from rich.text import Text

from wulf.core.names import printable


def say(console: Console, text: Text | str, indent: int = 0, hang: int = 0) -> None:
    """Print wrapped text without the blanks to its right that Rich's own padding leaves.

    Lines after the first stand `hang` farther in.
    """
    body = text if isinstance(text, Text) else Text(printable(text))
    for number, line in enumerate(body.wrap(console, max(1, console.width - indent - hang))):
        line.rstrip()
        blank = " " * (indent + (hang if number else 0))
        console.print(Text(blank) + line, highlight=False, soft_wrap=True)


def new_table(*heads: str, right: Iterable[int] = (), overflow: OverflowMethod = "ellipsis") -> Table:
    """An empty table with these heads; `right`: columns of figures; `overflow`: of what is too long for its column."""
    columns = set(right)
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for index, head in enumerate(heads):
        made.add_column(Text(printable(head)), justify="right" if index in columns else "left", overflow=overflow)
    return made
