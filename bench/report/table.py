"""Rows for people: a table in the terminal (100 columns), and the same in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.engine.rows import LIKE, MET, MISSED, NONE, OPEN, Row
from wulf.core.units import show

WIDTH = 100
HEADINGS = ("comparison", "ours", "peer", "ratio", "95 % interval", "goal", "met")
_WORDS = {MET: "yes", MISSED: "no", OPEN: "open", NONE: NONE}
_COLOURS = {"yes": "green", "no": "red", "open": "yellow", NONE: "dim"}
RIGHT = {"ours", "peer", "ratio"}


def cells(row: Row) -> tuple[str, ...]:
    """One row's texts, in the order of `HEADINGS`."""
    peer = row.peer_name if row.peer is None else f"{row.peer_name} {show(row.peer, row.unit)}"
    ratio = "–" if row.ratio is None else f"{row.ratio:.3f}"
    interval = "–" if row.low is None or row.high is None else f"{row.low:.3f}–{row.high:.3f}"
    goal = (
        f"{row.goal:g} ± {LIKE:g}" if row.better == "same" else f"{'≤' if row.better == 'lower' else '≥'} {row.goal:g}"
    )
    return (row.name, show(row.ours, row.unit), peer, ratio, interval, goal, _WORDS[row.verdict])


def terminal(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in RIGHT else "left", no_wrap=heading not in HEADINGS[::2])
    for row in rows:
        *texts, met = cells(row)
        table.add_row(*texts, f"[{_COLOURS[met]}]{met}[/]")
    console.print(table)


def markdown(rows: Sequence[Row]) -> str:
    """The table in GitHub's Markdown."""
    rule = ["---:" if heading in RIGHT else "---" for heading in HEADINGS]
    return "\n".join("| " + " | ".join(line) + " |" for line in (HEADINGS, rule, *map(cells, rows)))
