"""What a notebook shows of an object: a few elements, every text escaped, no style that reaches beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from wulf.core.findings import Severity
from wulf.core.names import printable

MOST_ROWS = 30
"""Of a table in a notebook; all of them are in `.table()`."""


def paragraph(text: str, *, strong: bool = False, faint: bool = False) -> str:
    """One sentence, or several."""
    said = escape(printable(text))
    style = ' style="opacity:0.7"' if faint else ""
    return f"<p{style}>{f'<strong>{said}</strong>' if strong else said}</p>"


def items(texts: Iterable[tuple[Severity, str]]) -> str:
    """A list of sentences, each with how grave it is."""
    made = [f"<li>{grave.sign} {escape(printable(text))}</li>" for grave, text in texts]
    return f'<ul style="list-style:none;padding-left:0.5em">{"".join(made)}</ul>' if made else ""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], most: int = MOST_ROWS) -> str:
    """The first rows of a table, and how many there are beyond."""
    head = "".join(f"<th>{escape(printable(name))}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>" for row in rows[:most])
    more = paragraph(f"and {len(rows) - most:,} more", faint=True) if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
