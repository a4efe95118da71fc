"""What was counted of a node or link that stands out: where it says why, it is told with it, and not again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.stats.outliers import Way
from wulf.workflow.bottlenecks import verdicts_of

Said = frozenset[tuple[str, str]]
"""(rule, subject) of verdicts that are told with what stands out."""


def with_verdicts(standing: Sequence[Finding], records: Sequence[Record]) -> tuple[list[Finding], Said]:
    """Findings about nodes and links, each with the verdict that says most of it.

    Only verdicts that are worth a look by themselves: losses, a window that is full, a duplex mode.
    """
    about = {finding.subject: finding for finding in standing if finding.kind in ("node", "link")}
    held: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for one in verdicts_of(record):
            finding = _whom(str(one["subject"]), about) if one["severity"] == Severity.WARN else None
            if finding is not None:
                held.setdefault(finding.subject, []).append(one)
    said = {(str(one["rule"]), str(one["subject"])) for own in held.values() for one in own
            if one["rule"] == own[0]["rule"]}  # fmt: skip
    told = [
        _with(finding, held[finding.subject][0]) if about.get(finding.subject) is finding and finding.subject in held
        else finding
        for finding in standing
    ]  # fmt: skip
    return told, frozenset(said)


def _whom(subject: str, about: Mapping[str, Finding]) -> Finding | None:
    """The finding that a verdict belongs to: of its node, of its link by either way, of who sends or receives on it."""
    client, _, server = subject.partition(">")
    own = about.get(subject) or about.get(f"{server}>{client}")
    if own is not None or not server:
        return own
    ways = ((client, Way.RECEIVE), (server, Way.SEND))
    return next((about[node] for node, other in ways if node in about and _way(about[node]) != other), None)


def _way(finding: Finding) -> str:
    return str((finding.evidence[0].model_extra or {}).get("way", Way.BOTH)) if finding.evidence else str(Way.BOTH)


def _with(finding: Finding, one: Mapping[str, Any]) -> Finding:
    known = "Likely cause" in finding.text
    where = "" if one["subject"] == finding.subject else f" of {' → '.join(str(one['subject']).split('>'))}"
    return finding.model_copy(
        update={
            "text": f"{finding.text} What was counted{where}: {one['text']}",
            "next_step": finding.next_step if known or not one["next_step"] else str(one["next_step"]),
            "evidence": [*finding.evidence, *(Evidence.model_validate(each) for each in one["evidence"])],
        }
    )
