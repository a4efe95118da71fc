"""From verdicts of single cells to findings: one a rule, and directions of a pair that are not alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.measure.bottleneck import UNDETERMINED
from wulf.stats.outliers import LEAST_RATIO

_SEVERE = {str(Severity.WARN): Severity.WARN}


def _verdicts(record: Record) -> list[Mapping[str, Any]]:
    """What the record says limits it: the strongest, and whatever else is worth a look."""
    held = [one for one in (record.model_extra or {}).get("bottleneck", []) if one["rule"] != UNDETERMINED]
    return [*held[:1], *(one for one in held[1:] if one["severity"] in _SEVERE)]


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
        evidence=[Evidence.model_validate(one) for one in first["evidence"]],
    )


def bottleneck_findings(records: Sequence[Record]) -> list[Finding]:
    """What limits the figures of a run: one finding a rule and severity, the sweep's sizes aside; then asymmetries."""
    held: dict[str, list[tuple[Record, Mapping[str, Any]]]] = {}
    judged = 0
    for record in records:
        extra = record.model_extra or {}
        if "bottleneck" not in extra or extra.get("phase") == "sweep":
            continue
        judged += 1
        for one in _verdicts(record):
            held.setdefault(one["rule"], []).append((record, one))
    found = [_finding(rule, cases, judged) for rule, cases in held.items()]
    return sorted([*found, *asymmetric(records)], key=lambda finding: finding.severity is not Severity.WARN)


def asymmetric(records: Sequence[Record]) -> list[Finding]:
    """Pairs whose throughput is not the same both ways: by 25 % at least, and whole intervals apart.

    The limit is the one from which a node or link stands out (`wulf.stats.outliers`): the same difference, the same
    word.
    """
    ways = {
        (record.nodes, str(record.params.get("transport"))): record
        for record in records
        if record.metric == "throughput" and record.low and record.high and len(record.nodes) == 2
    }
    findings = []
    for (nodes, transport), fast in ways.items():
        slow = ways.get((nodes[::-1], transport))
        if slow is None or nodes[0] == nodes[1] or (fast.low or 0.0) < LEAST_RATIO * (slow.high or 0.0):
            continue
        text = (
            f"asymmetric: {' → '.join(fast.nodes)} carries {show(fast.value, 'B/s')} "
            f"({show_interval(fast.low, fast.high, 'B/s')}), the way back {show(slow.value, 'B/s')} "
            f"({show_interval(slow.low, slow.high, 'B/s')})."
        )
        evidence = [
            Evidence(subject=one.subject, metric=one.metric, unit=one.unit, value=one.value, low=one.low, high=one.high)
            for one in (fast, slow)
        ]
        findings.append(
            Finding(
                kind="bottleneck", severity=Severity.WARN, subject=slow.subject, text=text, evidence=evidence,
                next_step="look at what only one way has: a shaper, a lost duplex or pause setting, another route",
            )
        )  # fmt: skip
    return findings
