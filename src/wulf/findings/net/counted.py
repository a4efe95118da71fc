"""What was counted of a node or link that stands out: where it says why, it is told with it, and not again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.findings.net.bottlenecks import verdicts_of
from wulf.stats.cluster.outliers import Way

Said = frozenset[tuple[int, str]]
"""(identity of a record, rule) of verdicts that are told with what stands out."""

ONE_WAY = ("stream", "traffic")
"""Patterns in which data goes from the first node to the second."""

MOST_RULES = 2
"""Told in the sentence; others follow from the same."""

_Held = list[tuple[Record, Mapping[str, Any]]]


def with_verdicts(standing: Sequence[Finding], records: Sequence[Record]) -> tuple[list[Finding], Said]:
    """Findings about nodes and links, each with what was counted of it.

    Only verdicts that are worth a look by themselves: losses, a window that is full, a duplex mode. A queue before a
    slow link fills the window of a receiver that has no fault: so what a slow way shows is told of whoever makes it so.
    """
    about = {finding.subject: finding for finding in standing if finding.kind in ("node", "link")}
    held: dict[str, _Held] = {}
    for record in records:
        for one in verdicts_of(record):
            finding = _whom(str(one["subject"]), record, about) if one["severity"] == Severity.WARN else None
            if finding is not None:
                held.setdefault(finding.subject, []).append((record, one))
    said = {(id(record), str(one["rule"])) for own in held.values() for record, one in own}
    told = [
        _with(finding, held[finding.subject]) if about.get(finding.subject) is finding and finding.subject in held
        else finding
        for finding in standing
    ]  # fmt: skip
    return told, frozenset(said)


def _whom(subject: str, record: Record, about: Mapping[str, Finding]) -> Finding | None:
    """The finding that a verdict belongs to: of its node or link, else of who or what makes the record's way slow."""
    for name in (subject, ">".join(reversed(subject.split(">"))), record.subject):
        if name in about:
            return about[name]
    if record.params.get("pattern") not in ONE_WAY:
        return None
    client, server = record.pair
    back = about.get(f"{server}>{client}")
    if back is not None and _way(back) == Way.BOTH:
        return back
    ways = ((client, Way.RECEIVE), (server, Way.SEND))
    return next((about[node] for node, other in ways if node in about and _way(about[node]) != other), None)


def _way(finding: Finding) -> str:
    return (finding.evidence[0].way if finding.evidence else None) or str(Way.BOTH)


def _with(finding: Finding, held: _Held) -> Finding:
    """The finding with the first verdict of each rule, its own before others'."""
    ordered = sorted(held, key=lambda pair: pair[1]["subject"] != finding.subject)
    first = list({str(one["rule"]): (record, one) for record, one in reversed(ordered)}.values())[::-1][:MOST_RULES]
    counted = " ".join(f"What was counted{_where(record, one, finding)}: {one['text']}" for record, one in first)
    step = str(first[0][1]["next_step"])
    return finding.model_copy(
        update={
            "text": f"{finding.text} {counted}",
            "next_step": finding.next_step if "Likely cause" in finding.text or not step else step,
            "evidence": [*finding.evidence, *(Evidence.model_validate(e) for _, one in first for e in one["evidence"])],
        }
    )


def _where(record: Record, one: Mapping[str, Any], finding: Finding) -> str:
    """On which link, where that does not go without saying."""
    return "" if finding.subject in (one["subject"], record.subject) else f" of {' → '.join(record.nodes)}"
