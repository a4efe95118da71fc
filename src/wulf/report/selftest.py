"""The self-test's table, for a terminal and for a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wulf.stats.claims import Claim


def goal(claim: Claim) -> str:
    """What is claimed: at most, or at least, so much."""
    if claim.bound is None:
        return "–"
    return f"{'≤' if claim.at_most else '≥'} {claim.bound:.0%}"


def met(claim: Claim) -> str:
    """Whether the claim holds; a naive method claims nothing."""
    return "–" if claim.met is None else "yes" if claim.met else "NO"


def print_claims(claims: Sequence[Claim], console: Console) -> None:
    """One line a claim, grouped by noise; 80 columns are enough."""
    for stream in dict.fromkeys(claim.stream for claim in claims):
        table = Table(box=None, pad_edge=False, show_header=True, padding=(0, 1, 0, 0))
        table.add_column(Text(stream, style="bold"), overflow="fold", width=49)
        table.add_column("share", justify="right")
        table.add_column("goal", justify="right")
        table.add_column("of", justify="right")
        table.add_column("met")
        for claim in claims:
            if claim.stream == stream:
                style = "bold red" if claim.met is False else "dim" if claim.met is None else ""
                share, of = f"{claim.share:.1%}", str(claim.n)
                table.add_row(Text(claim.what, style), share, goal(claim), of, Text(met(claim), style))
        console.print(table)
        console.print()


def markdown(claims: Sequence[Claim]) -> str:
    """The table as Markdown."""
    lines = ["| claim | noise | share | goal | campaigns | met |", "| --- | --- | ---: | --- | ---: | --- |"]
    lines += [
        f"| {claim.what} | {claim.stream} | {claim.share:.1%} | {goal(claim)} | {claim.n} | {met(claim)} |"
        for claim in claims
    ]
    return "\n".join(lines) + "\n"


def as_json(claim: Claim) -> dict[str, Any]:
    """One claim as a JSON object."""
    return {
        "claim": claim.what, "noise": claim.stream, "share": claim.share, "campaigns": claim.n,
        "bound": claim.bound, "at_most": claim.at_most, "met": claim.met,
    }  # fmt: skip
