"""What stands out in a run, in plain words: a pure function of its records, facts and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wulf.agent.facts import is_uniform
from wulf.core.errors import NodeError
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.core.units import show_interval
from wulf.measure.comparing import sentence
from wulf.measure.node_rows import CURVE, MATRIX, ROW
from wulf.stats.comparison import Comparison, Judgement
from wulf.stats.nodes import MARGIN
from wulf.store.run import Facts
from wulf.workflow.asymmetry import asymmetry_findings
from wulf.workflow.bottlenecks import bottleneck_findings
from wulf.workflow.deviations import deviating_facts
from wulf.workflow.link_deviations import deviating
from wulf.workflow.standing_out import estimate_of, standing_out

_WORDS = {"rtt": "round trip", "throughput": "throughput"}
"""Metrics of links, for people."""


def _fact_findings(fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """Facts that differ between the nodes of the run."""
    findings = []
    for deviation in deviating_facts({n: dict(f) for n, f in fingerprint.items()}, is_uniform):
        others = f"; the other nodes have {_shown(deviation.majority)}" if deviation.has_majority else ""
        who = ", ".join(f"{node} has {_shown(value)}" for node, value in sorted(deviation.nodes.items())[:6])
        more = f" and {len(deviation.nodes) - 6} more" if len(deviation.nodes) > 6 else ""
        findings.append(
            Finding(
                kind="fact",
                severity=Severity.WARN,
                subject=", ".join(sorted(deviation.nodes)[:6]) + more,
                text=f"{deviation.fact} differs: {who}{more}{others}.",
                evidence=[
                    Evidence(
                        subject=node, metric=deviation.fact, value=_text(value), expected=_text(deviation.majority)
                    )
                    for node, value in sorted(deviation.nodes.items())
                ],
            )
        )
    return findings


def _shown(value: object) -> str:
    """A fact's value in a sentence; a node without the thing has `none`."""
    return "none" if value is None else str(value)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _failures(records: Sequence[Record], failed: Mapping[str, NodeError]) -> list[Finding]:
    """Nodes that could not be reached or died, then what else failed or has no answer."""
    findings = [
        Finding(
            kind="failed",
            severity=Severity.BAD,
            subject=node,
            text=f"{error.what}." + (" The other nodes were measured." if records else ""),
            next_step=error.next_step,
        )
        for node, error in failed.items()
    ]
    rest = [r for r in records if r.verdict is Verdict.FAILED and not set(r.nodes) & set(failed)]
    by_reason: dict[str, list[Record]] = {}
    for record in rest:
        by_reason.setdefault(record.reason or "", []).append(record)
    for reason, group in by_reason.items():
        subjects = sorted({record.subject for record in group})
        named = ", ".join(subjects[:4]) + (f" and {len(subjects) - 4} more" if len(subjects) > 4 else "")
        findings.append(
            Finding(
                kind="failed",
                severity=Severity.BAD,
                subject=subjects[0] if len(subjects) == 1 else named,
                text=f"{named}: {len(group)} records failed: {reason}",
            )
        )
    return findings


def _uncertain(records: Sequence[Record]) -> list[Finding]:
    """How much of the run is wider than wished or has no answer."""
    own = (ROW, CURVE, MATRIX)  # of the node survey, whose table marks each
    primary = [r for r in records if r.metric in _WORDS and (r.model_extra or {}).get("phase") not in own]
    noisy = [record for record in primary if record.verdict is Verdict.NOISY]
    none = [record for record in primary if record.verdict is Verdict.UNRESOLVED]
    findings = []
    if noisy:
        widest = max(noisy, key=lambda record: estimate_of(record).width or 0.0)
        findings.append(
            Finding(
                kind="noise",
                severity=Severity.INFO,
                subject=widest.subject,
                text=(
                    f"{len(noisy)} of {len(primary)} figures have intervals wider than wished; "
                    f"the widest is the {_WORDS[widest.metric]} {' → '.join(widest.nodes)} "
                    f"({show_interval(widest.low, widest.high, widest.unit)})."
                ),
                next_step="a longer --budget or a wider --wish; a quiet machine helps most",
            )
        )
    if none:
        findings.append(
            Finding(
                kind="noise",
                severity=Severity.WARN,
                subject=none[0].subject,
                text=(
                    f"{len(none)} of {len(primary)} figures have no answer; "
                    f"the first: {none[0].subject}: {none[0].reason}"
                ),
                next_step="a longer --budget",
            )
        )
    return findings


def comparison_finding(record: Record, comparison: Comparison) -> Finding:
    """The verdict of a run that compared two configurations."""
    slower = comparison.judgement is Judgement.SLOWER
    return Finding(
        kind="comparison",
        severity=Severity.BAD if slower else Severity.INFO,
        subject=record.subject,
        text=sentence(comparison),
        evidence=[
            Evidence.model_validate(
                {
                    "subject": record.subject, "metric": f"{record.metric} B/A", "unit": "1", "expected": 1.0,
                    "value": comparison.ratio, "low": comparison.low, "high": comparison.high,
                    "judgement": str(comparison.judgement), "p": comparison.p, "pairs": comparison.n,
                    "least_visible": comparison.least_visible,
                }
            )
        ],
    )  # fmt: skip


def find(
    records: Sequence[Record],
    fingerprint: Mapping[str, Facts],
    failed: Mapping[str, NodeError],
    notes: Sequence[str] = (),
    *,
    margin: float = MARGIN,
) -> list[Finding]:
    """All findings, the gravest first.

    Parameters
    ----------
    failed
        Nodes that could not be opened, or died.
    notes
        What the user should know of the circumstances: a lab without namespaces, nodes that share a machine.
    margin
        Deviations of a node from its like up to this accuse nobody.
    """
    noted = [Finding(kind="note", severity=Severity.INFO, subject="", text=note) for note in notes]
    outstanding = standing_out(records)
    blamed = frozenset(finding.subject for finding in outstanding if finding.kind == "node")
    deviations = deviating(records, fingerprint, blamed, margin=margin)
    return [
        *_failures(records, failed),
        *outstanding,
        *(finding for finding in deviations if finding.kind == "deviation"),
        *_fact_findings(fingerprint),
        *bottleneck_findings(records),
        *asymmetry_findings(records),
        *_uncertain(records),
        *(finding for finding in deviations if finding.kind != "deviation"),
        *noted,
    ]
