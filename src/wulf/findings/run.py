"""What stands out in a run, in plain words: a pure function of its records, facts and failures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from wulf.core.errors import NodeError
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.core.units import show_interval
from wulf.findings.expected import expected_findings
from wulf.findings.facts.causes import differences, told_rules
from wulf.findings.facts.differing import fact_findings, with_causes
from wulf.findings.facts.hardware import hardware_findings
from wulf.findings.net.asymmetry import asymmetry_findings
from wulf.findings.net.bottlenecks import bottleneck_findings
from wulf.findings.net.counted import with_verdicts
from wulf.findings.net.link_deviations import deviating
from wulf.findings.net.standing_out import estimate_of, standing_out
from wulf.findings.resembling import resembling
from wulf.measure.comparing import sentence
from wulf.measure.engine.probes import APP, MPI, NODE
from wulf.measure.node.rows import CURVE, MATRIX, ROW
from wulf.stats.cluster.nodes import MARGIN
from wulf.stats.comparison import Comparison, Judgement
from wulf.store.run import Facts

_WORDS = {"rtt": "round trip", "throughput": "throughput"}
"""Metrics of links, for people."""


def _failures(records: Sequence[Record], failed: Mapping[str, NodeError], told: Collection[int]) -> list[Finding]:
    """Nodes that could not be reached or died, then what else failed, but for what is `told` of already."""
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
    rest = [r for r in records if r.verdict is Verdict.FAILED and not set(r.nodes) & set(failed) and id(r) not in told]
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


def deciding(records: Sequence[Record]) -> list[Record]:
    """The records without any of which a run is incomplete.

    The main metrics of links, all that a node's own probes measure, and of MPI's and of applications the metric that
    ends the measuring. A watch that was ended before it had an interval is what its user wanted; one in which all
    failed is not.
    """
    main = [record for record in records if record.metric in _WORDS or _ends_its_cell(record)]
    return [record for record in main if record.supported and not _cut_by_width(record)]


def _ends_its_cell(record: Record) -> bool:
    return record.probe == NODE or (record.probe in (MPI, APP) and record.stopped is not None)


def _cut_by_width(record: Record) -> bool:
    all_failed = not record.replicates and record.failed_replicates
    return record.phase == "watch" and record.verdict is Verdict.UNRESOLVED and not all_failed


def _uncertain(records: Sequence[Record], told: Collection[int]) -> list[Finding]:
    """How much of the run is wider than requested or has no answer."""
    primary = _of_links(records)
    noisy = [record for record in primary if record.verdict is Verdict.NOISY]
    figures = list({id(record): record for record in [*primary, *deciding(records)]}.values())
    none = [record for record in figures if record.verdict is Verdict.UNRESOLVED and id(record) not in told]
    findings = []
    if noisy:
        widest = max(noisy, key=lambda record: estimate_of(record).width or 0.0)
        findings.append(
            Finding(
                kind="noise",
                severity=Severity.INFO,
                subject=widest.subject,
                text=(
                    f"{len(noisy)} of {len(primary)} figures have intervals wider than requested; "
                    f"the widest is the {_WORDS[widest.metric]} {' → '.join(widest.nodes)} "
                    f"({show_interval(widest.low, widest.high, widest.unit)})."
                ),
                next_step="a longer --budget or a wider --width; a quiet machine helps most",
            )
        )
    if none:
        findings.append(
            Finding(
                kind="noise",
                severity=Severity.WARN,
                subject=none[0].subject,
                text=(
                    f"{len(none)} of {len(figures)} figures have no answer; "
                    f"the first: {_named(none[0])}: {none[0].reason}"
                ),
                next_step="a longer --budget, or a quieter machine",
            )
        )
    return findings


def _named(record: Record) -> str:
    """The figure, in a few words: a node's own by its row, or its probe."""
    if record.metric in _WORDS and not record.row:
        return record.subject
    probe = record.params.get("pattern", "")
    return f"{record.subject}, {record.row or f'{probe} {record.metric}'.strip()}"


def _of_links(records: Sequence[Record]) -> list[Record]:
    """The figures that a survey is for; the node survey judges its own."""
    own = (ROW, CURVE, MATRIX)
    return [r for r in records if r.metric in _WORDS and r.phase not in own]


def _judged(records: Sequence[Record]) -> list[Record]:
    """Of all pairs: those whose figures say who stands out."""
    return [record for record in records if record.phase == "pairs"]


def comparison_finding(record: Record, comparison: Comparison) -> Finding:
    """The verdict of a run that compared two configurations."""
    slower = comparison.judgement is Judgement.SLOWER
    return Finding(
        kind="comparison", severity=Severity.BAD if slower else Severity.INFO, subject=record.subject,
        text=sentence(comparison),
        evidence=[
            Evidence(
                subject=record.subject, metric=f"{record.metric} B/A", unit="1", expected=1.0,
                value=comparison.ratio, low=comparison.low, high=comparison.high, p=comparison.p, pairs=comparison.n,
                judgement=str(comparison.judgement), least_visible=comparison.least_visible,
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
    outstanding = standing_out(records, fingerprint, frozenset(failed))
    blamed = frozenset(finding.subject for finding in outstanding.findings if finding.kind == "node")
    blamed = blamed.union(*outstanding.explained.groups)
    deviations = deviating(records, fingerprint, blamed, margin=margin)
    standing = [*outstanding.findings, *(finding for finding in deviations if finding.kind == "deviation")]
    differing = differences(fingerprint)
    standing, rest = with_causes(standing, differing, fingerprint)
    standing, said = with_verdicts(standing, _judged(records))
    told = {id(record) for record in outstanding.told}
    return [
        *_failures(records, failed, told),
        *standing,
        *fact_findings(rest),
        *hardware_findings(fingerprint),
        *bottleneck_findings(records, outstanding.explained, told_rules(differing), said),
        *asymmetry_findings(records),
        *expected_findings(records, fingerprint),
        *_uncertain(records, told),
        *resembling(_of_links(records)),
        *(finding for finding in deviations if finding.kind != "deviation"),
        *noted,
    ]
