"""Which node of a survey deviates from its like, in what, how sure, and why perhaps: pure, of records and facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show
from wulf.findings.levelled import figures_of
from wulf.findings.node.causes import Likely, differing_facts, likely_causes
from wulf.findings.resembling import resembling
from wulf.measure.comparing import percent
from wulf.measure.node.rows import Row, rows_of, table
from wulf.measure.node.shape import BEYOND, NotHereError, shape_of
from wulf.stats.cluster.nodes import LEAST_NODES, MARGIN, Deviation, Screening, screen
from wulf.stats.cluster.outliers import LEAST_RATIO
from wulf.store.run import Facts

CLASS_FACTS = ("cpu.model", "system.product")
"""Nodes that agree in these should be alike. Not the amount of memory or the number of CPUs that are on: a module less,
or a CPU that is off, is what may make one deviate."""

MOST_ROWS = 5
"""Named in the sentence; all of them are in the evidence."""

MOST_FIGURES = 0.9
"""Share of the figures in which a deviation is to be seen that is told beside the half."""

Rows = Mapping[str, Mapping[str, Record]]


def node_findings(records: Sequence[Record], fingerprint: Mapping[str, Facts], margin: float = MARGIN) -> list[Finding]:
    """Deviating nodes with their likely causes, what could have been seen, noise, and sets too small for memory."""
    found = rows_of(records)
    seen = screened(found, fingerprint, margin)
    return [
        *(deviating_nodes(found, fingerprint, seen) if seen is not None else []),
        *(_visible(seen) if seen is not None else []),
        *_too_few(found, fingerprint),
        *_disturbed(found),
        *resembling(records),
        *_within_caches(found, fingerprint),
    ]


def classes_of(nodes: Sequence[str], fingerprint: Mapping[str, Facts]) -> list[str]:
    """Of each node, the class of those that should be alike."""
    return [" ".join(_known(fingerprint.get(node, {}), fact) for fact in CLASS_FACTS) for node in nodes]


def _known(facts: Facts, name: str) -> str:
    return str(facts.get(name, {}).get("value") or "")


@dataclass(frozen=True)
class Screened:
    """All nodes and rows of a survey of which ratios can be taken, as `stats.cluster.nodes.screen` judges them."""

    nodes: list[str]
    rows: list[Row]
    screening: Screening

    @property
    def marked(self) -> dict[str, dict[str, Deviation]]:
        """Node → row → how it deviates, the clearest first."""
        found: dict[str, dict[str, Deviation]] = {}
        for one in self.screening.deviations:
            found.setdefault(self.nodes[one.node], {})[self.rows[one.metric].name] = one
        return found


def screened(found: Rows, fingerprint: Mapping[str, Facts], margin: float = MARGIN) -> Screened | None:
    """The judgement of all rows; None where there is nothing to compare.

    Only clear figures count: a figure of zero, say of a node without any detour, has no ratio to others.
    """
    nodes = list(found)
    known = set[str]().union(*found.values())
    rows = [row for row in table().rows if row.name in known]
    if len(nodes) < LEAST_NODES or not rows:
        return None
    figures = [figures_of([found[node].get(row.name) for node in nodes]) for row in rows]
    screening = screen(
        np.stack([one.values for one in figures], axis=1),
        errors=np.stack([one.errors for one in figures], axis=1),
        freedom=np.stack([one.freedom for one in figures], axis=1),
        resolution=[one.resolution for one in figures],
        classes=classes_of(nodes, fingerprint),
        worse=[row.worse for row in rows],
        margin=margin,
    )
    return Screened(nodes, rows, screening)


def deviating_nodes(found: Rows, fingerprint: Mapping[str, Facts], seen: Screened) -> list[Finding]:
    """One finding a node: the rows in which it deviates, the clearest first, and what may be the cause."""
    kinds = dict(zip(found, classes_of(list(found), fingerprint), strict=True))
    like: dict[str, list[str]] = {}
    for node, kind in kinds.items():
        like.setdefault(kind, []).append(node)
    marked = seen.marked
    differing = {kind: differing_facts(like[kind], fingerprint) for kind in {kinds[node] for node in marked}}
    findings = []
    for node, deviations in marked.items():
        alike = like[kinds[node]]
        causes = likely_causes(node, list(deviations), alike, differing[kinds[node]], found)
        findings.append(_finding(node, len(alike) - 1, deviations, causes, found[node], margin=seen.screening.margin))
    return sorted(findings, key=lambda finding: finding.severity is not Severity.BAD)


def _visible(seen: Screened) -> list[Finding]:
    """How small a deviation nine of ten surveys would have found, of half and of nearly all figures."""
    told = []
    for kind, visible in enumerate(seen.screening.visible):
        known = visible[np.isfinite(visible)]
        if known.size:
            half, most = np.quantile(known, [0.5, MOST_FIGURES], method="higher")
            size = int(seen.screening.sizes[kind].max())
            where = f" in half of the {known.size} figures, by {most:.1%} in {MOST_FIGURES:.0%} of them"
            told.append(f"of {size:,} like nodes one that deviates by {half:.1%}{where if known.size > 1 else ''}")
    if not told:
        return []
    text = f"Nine surveys in ten would have found: {'; '.join(told)}."
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]


def _finding(
    node: str,
    others: int,
    deviations: Mapping[str, Deviation],
    causes: Sequence[Likely],
    found: Mapping[str, Record],
    *,
    margin: float,
) -> Finding:
    rows = table().by_name
    named = [_sentence(rows[name], found[name], one) for name, one in list(deviations.items())[:MOST_ROWS]]
    more = f" and {len(deviations) - MOST_ROWS} more" if len(deviations) > MOST_ROWS else ""
    why = f" Likely: {'; '.join(cause.text for cause in causes[:3])}." if causes else ""
    return Finding(
        kind="deviation",
        severity=Severity.BAD if any(_harmful(one, rows[name]) for name, one in deviations.items()) else Severity.WARN,
        subject=node,
        text=f"{node} deviates from the {others} others of its kind in {len(deviations)} of {len(found)} "
        f"figures: {'; '.join(named)}{more}. {doubt(deviations.values(), margin)}{why}",
        next_step=causes[0].step if causes else f"compare {node}'s facts, slots and temperature with its like's",
        evidence=[
            Evidence(
                subject=node, metric=f"{name}, node / its like", unit="1", value=one.ratio,
                low=one.low, high=one.high, expected=1.0, p=one.p, row=name,
            )
            for name, one in deviations.items()
        ],
    )  # fmt: skip


LEAST_TOLD = 1e-4
"""Smaller chances are told as less than that."""


def doubt(deviations: Iterable[Deviation], margin: float) -> str:
    """How likely it is that an accusation is false, in words."""
    p = max(one.p for one in deviations)
    chance = f"{p:.1g}" if p >= LEAST_TOLD else f"less than {LEAST_TOLD:g}"
    return f"The chance that one of these is within {100 * margin:g} % of theirs in truth is {chance}."


def _sentence(row: Row, record: Record, one: Deviation) -> str:
    return (
        f"{row.name} ({row.title}) {show(record.value, row.unit)}, {percent(one.ratio)} of theirs "
        f"({percent(one.low)} to {percent(one.high)})"
    )


def _harmful(one: Deviation, row: Row) -> bool:
    """Worse, and by as much as makes a link or node stand out in a survey of the network."""
    times = one.ratio if row.worse > 0 else 1 / one.ratio
    return row.worse != 0 and times >= LEAST_RATIO


def _too_few(found: Rows, fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """Nodes of a class that is too small to say which of them is odd."""
    if len(found) < 2:
        return []
    kinds = classes_of(list(found), fingerprint)
    sizes = Counter(kinds)
    few = [node for node, kind in zip(found, kinds, strict=True) if sizes[kind] < LEAST_NODES]
    if not few:
        return []
    who = ", ".join(few[:6]) + (f" and {len(few) - 6} more" if len(few) > 6 else "")
    text = (
        f"Whether {who} deviate{'s' if len(few) == 1 else ''} can't be judged: fewer than {LEAST_NODES} nodes of "
        f"{'its' if len(few) == 1 else 'their'} kind were measured."
    )
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]


def _disturbed(found: Rows) -> list[Finding]:
    """Nodes whose clock moved, or whose time was stolen, while they were measured."""
    findings = []
    for node, rows in found.items():
        for flag in ("steal", "clock"):
            told = [(name, words) for name, one in rows.items() if (words := one.flags.get(flag))]
            if told:
                text = f"{node}: in {len(told)} of {len(rows)} figures {told[0][1]} ({told[0][0]})."
                findings.append(Finding(kind="noise", severity=Severity.INFO, subject=node, text=text))
    return findings


def _within_caches(found: Rows, fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """Nodes on which a working set of the size that could be afforded may lie in the last cache."""
    nodes: list[str] = []
    for node in found:
        size = found[node].get("mem.random.latency")
        bytes_ = size.params.get("bytes") if size is not None else None
        shape = shape_of(fingerprint.get(node, {}))
        try:
            if isinstance(bytes_, int) and bytes_ < BEYOND * shape.cache(shape.last):
                nodes.append(f"{node} ({show(bytes_, 'B')}, last cache {show(shape.cache(shape.last), 'B')})")
        except NotHereError:
            continue
    if not nodes:
        return []
    who = ", ".join(nodes[:3]) + (f" and {len(nodes) - 3} more" if len(nodes) > 3 else "")
    text = (
        f"What is called memory is less than {BEYOND} times the last cache on {who}: time or memory allow no more, and "
        "the caches may hold a part of it."
    )
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]
