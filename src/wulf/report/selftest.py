"""The self-test's table, for a terminal and for a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wulf.stats.claims import Claim, ClaimVerdict


def goal(claim: Claim) -> str:
    """What is claimed: at most, or at least, so much."""
    if claim.bound is None:
        return "–"
    return f"{'≤' if claim.at_most else '≥'} {claim.bound:.0%}"


_WORDS = {ClaimVerdict.MET: "yes", ClaimVerdict.MISSED: "NO", ClaimVerdict.OPEN: "open", None: "–"}
_STYLES = {ClaimVerdict.MISSED: "bold red", ClaimVerdict.OPEN: "yellow", None: "dim"}


def met(claim: Claim) -> str:
    """Whether the claim holds; a naive method claims nothing."""
    return _WORDS[claim.verdict]


def interval(claim: Claim) -> str:
    """Of the share, in per cent."""
    low, high = claim.interval
    return f"{100 * low:.1f}–{100 * high:.1f}"


def summary(claims: Sequence[Claim]) -> str:
    """How many goals are met, missed and open."""
    found = Counter(claim.verdict for claim in claims)
    goals = found.total() - found[None]
    met, missed, left_open = (found[each] for each in (ClaimVerdict.MET, ClaimVerdict.MISSED, ClaimVerdict.OPEN))
    return f"{met} of {goals} goals met, {missed} missed, {left_open} open"


def print_claims(claims: Sequence[Claim], console: Console) -> None:
    """One line a claim, grouped by noise; 80 columns are enough."""
    for stream in dict.fromkeys(claim.stream for claim in claims):
        table = Table(box=None, pad_edge=False, show_header=True, padding=(0, 1, 0, 0))
        table.add_column(Text(stream, style="bold"), overflow="fold", width=38)
        table.add_column("share", justify="right")
        table.add_column("95 %", justify="right")
        table.add_column("goal", justify="right")
        table.add_column("of", justify="right")
        table.add_column("met")
        for claim in claims:
            if claim.stream == stream:
                style = _STYLES.get(claim.verdict, "")
                share, of = f"{claim.share:.1%}", str(claim.n)
                told = Text(met(claim), style)
                table.add_row(Text(claim.what, style), share, interval(claim), goal(claim), of, told)
        console.print(table)
        console.print()


def markdown(claims: Sequence[Claim]) -> str:
    """The table as Markdown."""
    lines = ["| claim | noise | share | 95 % interval | goal | campaigns | met |"]
    lines += ["| --- | --- | ---: | --- | --- | ---: | --- |"]
    for claim in claims:
        share = f"{claim.share:.1%} | {interval(claim)}"
        lines.append(f"| {claim.what} | {claim.stream} | {share} | {goal(claim)} | {claim.n} | {met(claim)} |")
    return "\n".join(lines) + "\n"


def as_json(claim: Claim) -> dict[str, Any]:
    """One claim as a JSON object."""
    low, high = claim.interval
    return {
        "claim": claim.what, "noise": claim.stream, "share": claim.share, "low": low, "high": high,
        "campaigns": claim.n, "bound": claim.bound, "at_most": claim.at_most, "verdict": claim.verdict,
    }  # fmt: skip
