"""From verdicts of single cells to findings: one a rule, and directions of a pair that are not alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from wulf.core.findings import Finding, Severity, evidence_of
from wulf.core.records import Record
from wulf.findings.explained import Explained
from wulf.findings.net.anchors import round_of
from wulf.measure.net.bottleneck import UNDETERMINED
from wulf.measure.net.rules import bottlenecks
from wulf.measure.net.situation import End, Situation

CPU_BOUND = "cpu-bound"
NOTHING = Explained()
NO_RULES: Mapping[str, Collection[str]] = {}

_SEVERE = {str(Severity.WARN): Severity.WARN}


def verdicts_of(record: Record) -> list[Mapping[str, Any]]:
    """What the record says limits it: the strongest, and whatever else is worth a look."""
    held = [
        one for one in record.bottleneck
        if one["rule"] != UNDETERMINED and not (one["rule"] == CPU_BOUND and _on_one_cpu(record))
    ]  # fmt: skip
    return [*held[:1], *(one for one in held[1:] if one["severity"] in _SEVERE)]


def _on_one_cpu(record: Record) -> bool:
    """Whether both ends of a ping-pong take turns on one CPU, as they are put where nodes share a machine.

    That it is busy is then how it was measured, and no finding: one of the two always runs.
    """
    params = record.params
    return (
        params.get("pattern") == "pingpong"
        and params.get("cpu") is not None
        and params["cpu"] == params.get("server_cpu")
    )


def _named(record: Record) -> str:
    words = [str(record.params[key]) for key in ("transport", "pattern") if record.params.get(key)]
    return f"{' → '.join(record.nodes)} ({' '.join(words)})"


def _finding(rule: str, held: Sequence[tuple[Record, Mapping[str, Any]]], judged: int) -> Finding:
    """One rule's finding: the first case in full, the others by number."""
    record, first = held[0]
    subjects = {str(one["subject"]) for _, one in held}
    more = f" The same holds for {len(held) - 1} more of {judged} figures." if len(held) > 1 else ""
    return Finding(
        kind="bottleneck",
        severity=Severity(first["severity"]),
        subject=str(first["subject"]) if len(subjects) == 1 else "",
        text=f"{rule}: {_named(record)}: {first['text']}{more}",
        next_step=str(first["next_step"]),
        evidence=[evidence_of(one) for one in first["evidence"]],
    )


def bottleneck_findings(
    records: Sequence[Record],
    explained: Explained = NOTHING,
    told: Mapping[str, Collection[str]] = NO_RULES,
    said: Collection[tuple[int, str]] = (),
) -> list[Finding]:
    """What limits the figures of a run: one finding a rule and severity, the sweep's sizes aside; then asymmetries.

    Parameters
    ----------
    explained
        What stands out already: it is not told again for each pair.
    told
        Rule → nodes of which a differing fact says the same.
    said
        (identity of a record, rule) of what is told with a node or link that stands out.
    """
    held: dict[str, list[tuple[Record, Mapping[str, Any]]]] = {}
    judged = 0
    for record in records:
        if not record.bottleneck or record.phase == "sweep" or round_of(record) is not None:
            continue
        judged += 1
        for one in verdicts_of(record):
            known = any(node in told.get(one["rule"], ()) for node in record.nodes)
            if not known and (id(record), one["rule"]) not in said:
                held.setdefault(one["rule"], []).append((record, one))
    found = [_finding(rule, cases, judged) for rule, cases in held.items()]
    return sorted([*found, *asymmetric(records, explained)], key=lambda finding: finding.severity is not Severity.WARN)


def asymmetric(records: Sequence[Record], explained: Explained = NOTHING) -> list[Finding]:
    """Pairs whose throughput is not the same both ways, and nothing says why: the one rule that takes two cells."""
    ways = {
        (record.nodes, str(record.params.get("transport"))): record
        for record in records
        if record.metric == "throughput" and record.low and record.high and len(set(record.nodes)) == 2
    }
    findings: list[Finding] = []
    for (nodes, transport), there in ways.items():
        back = ways.get((nodes[::-1], transport))
        if back is None or explained.one_way(*nodes[::-1]):
            continue
        client, server = (End(node) for node in nodes)
        pair = Situation(client, server, transport, "both ways", interval=_interval(there), back=_interval(back))
        findings += [
            Finding(
                kind="bottleneck",
                severity=one.severity,
                subject=one.subject,
                text=f"{one.rule}: {one.text}",
                next_step=one.next_step,
                evidence=list(one.evidence),
            )
            for one in bottlenecks(pair)
            if one.rule != UNDETERMINED
        ]
    return findings


def _interval(record: Record) -> tuple[float, float]:
    return record.low or 0.0, record.high or 0.0
