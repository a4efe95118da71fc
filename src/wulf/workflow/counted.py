"""What was counted of a node or link that stands out: where it says why, it is told with it, and not again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.workflow.bottlenecks import verdicts_of

Said = frozenset[tuple[str, str]]
"""(rule, subject) of verdicts that are told with what stands out."""


def with_verdicts(standing: Sequence[Finding], records: Sequence[Record]) -> tuple[list[Finding], Said]:
    """Findings about nodes and links, each with the verdict that says most of that very node or link.

    Only verdicts that are worth a look by themselves: losses, a window that is full, a duplex mode.
    """
    subjects = {subject for finding in standing for subject in _subjects(finding)}
    by_subject: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for one in verdicts_of(record):
            if one["subject"] in subjects and one["severity"] == Severity.WARN:
                by_subject.setdefault(str(one["subject"]), []).append(one)
    joined, said = [], set[tuple[str, str]]()
    for finding in standing:
        held = [one for subject in _subjects(finding) for one in by_subject.get(subject, [])]
        joined.append(_with(finding, held[0]) if held else finding)
        said |= {(str(one["rule"]), str(one["subject"])) for one in held if one["rule"] == held[0]["rule"]}
    return joined, frozenset(said)


def _subjects(finding: Finding) -> list[str]:
    """As verdicts name whom a finding is about: a link by either way."""
    if finding.kind not in ("node", "link"):
        return []
    ends = finding.subject.split(">")
    return [finding.subject, *([">".join(reversed(ends))] if len(ends) == 2 else [])]


def _with(finding: Finding, one: Mapping[str, Any]) -> Finding:
    known = "Likely cause" in finding.text
    return finding.model_copy(
        update={
            "text": f"{finding.text} What was counted: {one['text']}",
            "next_step": finding.next_step if known or not one["next_step"] else str(one["next_step"]),
            "evidence": [*finding.evidence, *(Evidence.model_validate(each) for each in one["evidence"])],
        }
    )
