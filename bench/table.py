"""Rows for people: a table in the terminal (100 columns), and the same in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.rows import Row
from wulf.core.units import show

HEADINGS = ("comparison", "ours", "peer", "", "ratio", "95 % interval", "goal", "met")
WIDTH = 100


def cells(row: Row) -> tuple[str, ...]:
    """One row's texts, in the order of `HEADINGS`."""
    interval = "" if row.low is None or row.high is None else f"{row.low:.3f} – {row.high:.3f}"
    ratio = "–" if row.ratio is None else f"{row.ratio:.3f}"
    goal = f"{'≤' if row.better == 'lower' else '≥'} {row.goal:.2f}"
    figures = (show(row.ours, row.unit), show(row.peer, row.unit))
    return (row.name, *figures, row.peer_name, ratio, interval, goal, "yes" if row.met else "no")


def terminal(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold", width=WIDTH)
    for heading in HEADINGS:
        numeric = heading in {"ours", "peer", "ratio"}
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=heading not in {"comparison", ""})
    for row in rows:
        *texts, met = cells(row)
        table.add_row(*texts, f"[{'green' if row.met else 'red'}]{met}[/]")
    console.print(table)


def markdown(rows: Sequence[Row]) -> str:
    """The table in GitHub's Markdown."""
    lines = ["| " + " | ".join(heading or "peer's name" for heading in HEADINGS) + " |"]
    lines.append("| --- | ---: | ---: | --- | ---: | --- | --- | --- |")
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines)
