"""Which pairs were chosen, and what that may miss, in words."""

from __future__ import annotations

from wulf.core.findings import Evidence, Finding, Severity
from wulf.measure.net.pairing import Coverage, all_rounds


def coverage_words(found: Coverage) -> str:
    """What was chosen, and what that may miss, in a sentence or two."""
    if found.complete:
        return f"All {found.pairs:,} pairs of {found.nodes:,} nodes, in {found.rounds:,} rounds of disjoint pairs."
    each = f"{found.least}" if found.least == found.most else f"{found.least} or {found.most}"
    seen = found.links_seen()
    words = (
        f"A sample: {found.pairs:,} of {found.all_pairs:,} pairs, in {found.rounds:,} of {all_rounds(found.nodes):,} "
        f"rounds of disjoint pairs, each node in {each}. One bad link would be missed with a chance of "
        f"{found.miss_links():.2%}"
    )
    words += f"; of {seen:,} bad links at least one is seen with 95 %. " if seen else ". "
    return words + f"One bad node would be missed with a chance of {found.miss_node:.2%}."


def coverage_finding(found: Coverage) -> Finding:
    """The same, with the chances as figures."""
    chances = [
        ("chance of missing one bad link", found.miss_links()),
        ("chance of missing one bad node", found.miss_node),
    ]
    return Finding(
        kind="coverage",
        severity=Severity.INFO,
        subject="",
        text=coverage_words(found),
        next_step="" if found.complete else "more `--rounds`, or `--all`; each round adds one pair a node",
        evidence=[Evidence(subject="all pairs", metric=name, unit="1", value=chance) for name, chance in chances],
    )
