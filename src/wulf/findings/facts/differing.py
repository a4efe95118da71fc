"""Findings about facts that differ, and what stands out joined with what differs there: the likely cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.findings.facts.causes import Difference, acts, how_to_prove
from wulf.findings.standing_words import MOST_NAMES, named

MOST_CAUSES = 3
"""Named as likely; what else differs is told by itself."""


def fact_findings(found: Iterable[Difference]) -> list[Finding]:
    """One for each cause, or fact without one, and the nodes that have it alike."""
    return [_finding(one) for one in found]


def _finding(one: Difference) -> Finding:
    nodes, more = one.nodes, len(one.facts) - 1
    if not one.majority:
        first = one.facts[one.fact]
        who = [f"{node} has {shown(value)}" for node, value in sorted(first.items())[:MOST_NAMES]]
        rest = f" and {len(first) - MOST_NAMES:,} more" if len(first) > MOST_NAMES else ""
        text = f"{one.fact} differs: {', '.join(who)}{rest}.{_folded(more)}"
    elif one.cause is None or not more:
        has = "has" if len(nodes) == 1 else "have"
        text = f"{one.fact} differs: {named(nodes)} {has} {shown(one.facts[one.fact])}; the other nodes have "
        text += f"{shown(one.majority[one.fact])}."
    else:
        text = f"{named(nodes)} {'has' if len(nodes) == 1 else 'have'} {one.cause.words}: {_told(one)}.{_folded(more)}"
    subject = ", ".join(nodes[:MOST_NAMES]) + (f" and {len(nodes) - MOST_NAMES:,} more" if nodes[MOST_NAMES:] else "")
    return Finding(
        kind="fact",
        severity=Severity.WARN if one.cause is None or one.cause.alone else Severity.INFO,
        subject=subject,
        text=text,
        next_step=_step(one),
        evidence=_evidence(one),
        expected_of="the others",
    )


def _step(one: Difference) -> str:
    return one.cause.step.format(node=named(one.nodes)) if one.cause is not None else ""


def _told(one: Difference) -> str:
    return f"{one.fact} is {shown(one.facts[one.fact])}, the others' {shown(one.majority[one.fact])}"


def _folded(more: int) -> str:
    return f" {more:,} more fact{'s' * (more > 1)} of it differ{'s' * (more == 1)}." if more else ""


def _evidence(one: Difference) -> list[Evidence]:
    def each(value: Any) -> Iterable[tuple[str, Any]]:
        return sorted(value.items()) if not one.majority else ((node, value) for node in one.nodes)

    return [
        Evidence(subject=node, metric=fact, value=_text(own), expected=_text(one.majority.get(fact)))
        for fact, value in one.facts.items()
        for node, own in each(value)
    ]


def shown(value: object) -> str:
    """A fact's value in a sentence; a node without the thing has `none`."""
    return "none" if value is None else str(value)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def with_causes(
    standing: Sequence[Finding], found: Sequence[Difference], nodes: Iterable[str]
) -> tuple[list[Finding], list[Difference]]:
    """Findings about nodes and links with what may be their cause, and the differences left to tell by themselves."""
    healthy = sorted(set(nodes) - {finding.subject for finding in standing})
    by_node: dict[str, list[Difference]] = {}
    for one in found:
        for node in one.nodes:
            by_node.setdefault(node, []).append(one)
    joined, told = [], set[tuple[int, str]]()
    for finding in standing:
        effects = effects_of(finding)
        likely = [
            (node, one) for node in _places(finding, effects) for one in by_node.get(node, []) if acts(one, effects)
        ][:MOST_CAUSES]
        told |= {(id(one), node) for node, one in likely}
        joined.append(_with(finding, likely, healthy, effects) if likely else finding)
    return joined, [
        rest for one in found if (rest := _without(one, {node for ident, node in told if ident == id(one)}))
    ]


def effects_of(finding: Finding) -> list[str]:
    """What stands out, as the table of causes calls it."""
    effects = []
    for one in finding.evidence:
        metric = one.metric if one.metric in ("rtt", "throughput") else _in_words(one.metric)
        effects.append(one.effect or (f"{metric}/{one.way}" if one.way in ("send", "receive") else metric))
    return list(dict.fromkeys(effects))


def _in_words(metric: str) -> str:
    """Of metrics that are named for people: `TCP round trip, node / its like`."""
    return "rtt" if "round trip" in metric else "throughput" if "throughput" in metric else metric


def _places(finding: Finding, effects: Sequence[str]) -> list[str]:
    """The nodes whose facts may be the cause: of a link its ends, where nothing comes through.

    What a node does to all its links is a finding about the node.
    """
    if finding.kind in ("node", "deviation"):
        return [finding.subject]
    return finding.subject.split(">") if finding.kind == "link" and "blocked" in effects else []


def _with(
    finding: Finding, likely: Sequence[tuple[str, Difference]], healthy: Sequence[str], effects: Sequence[str]
) -> Finding:
    words, before = [], ""
    for node, one in likely:
        told = f"{one.cause.words if one.cause else one.fact} ({_told(one)}{_and(len(one.facts) - 1)})"
        words.append(told if node == before else f"{node} has {told}")
        before = node
    node, first = likely[0]
    step = first.cause.step.format(node=node) if first.cause else ""
    proof = how_to_prove(first, node, healthy, effects)
    return finding.model_copy(
        update={
            "text": f"{finding.text} Likely cause{'s' * (len(words) > 1)}: {'; '.join(words)}.",
            "next_step": f"to prove it: {proof}; to mend it: {step}",
            "evidence": [
                *finding.evidence,
                *(e for node, one in likely for e in _evidence(one) if e.subject == node),
            ],
        }
    )


def _and(more: int) -> str:
    return f", and {more:,} more" if more else ""


def _without(one: Difference, nodes: set[str]) -> Difference | None:
    """The difference on the other nodes that have it; None where there are none."""
    left = tuple(node for node in one.nodes if node not in nodes)
    return Difference(one.cause, left, one.facts, one.majority) if left else None
