"""What stands out in a run, in plain words: a pure function of its records, facts and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wulf.agent.facts import is_uniform
from wulf.core.errors import NodeError
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_interval
from wulf.measure.comparing import percent, sentence
from wulf.measure.mpi import carrier
from wulf.measure.node_rows import CURVE, MATRIX, ROW
from wulf.stats.comparison import Comparison, Judgement
from wulf.stats.intervals import Estimate
from wulf.stats.nodes import FALSE_DISCOVERIES, Deviation, Screening, screen
from wulf.stats.outliers import Link, Outlier, node_reach, slow_links, slow_nodes
from wulf.store.run import Facts
from wulf.workflow.asymmetry import asymmetry_findings
from wulf.workflow.bottlenecks import bottleneck_findings
from wulf.workflow.deviations import deviating_facts

_NAMES = {
    ("tcp", "pingpong"): ("TCP round trip", "rtt", True),
    ("udp", "pingpong"): ("UDP round trip", "rtt", True),
    ("tcp", "stream"): ("TCP throughput", "throughput", False),
    ("mpi", "pingpong"): ("MPI round trip", "rtt", True),
}
"""What is compared over all pairs: (transport, pattern) → words, metric, lower is better."""


_WORDS = {"rtt": "round trip", "throughput": "throughput"}


def _estimate(record: Record) -> Estimate:
    return Estimate(record.value, record.low, record.high, record.confidence, record.replicates, record.reason)


def _links(records: Sequence[Record], transport: str, pattern: str, metric: str) -> dict[Link, Estimate]:
    """(client, server) → estimate of one metric over the pairs phase."""
    found: dict[Link, Estimate] = {}
    for record in records:
        params = record.params
        if (carrier(record), params.get("pattern"), record.metric) != (transport, pattern, metric):
            continue
        if (record.model_extra or {}).get("phase") == "pairs" and record.verdict is not Verdict.FAILED:
            client, server = record.nodes
            found[client, server] = _estimate(record)
    return found


def _times(times: float) -> str:
    return f"{times:.1f} times" if times < 10 else f"{times:.0f} times"


def node_finding(words: str, unit: str, metric: str, outlier: Outlier) -> Finding:
    """A node that stands out, in words."""
    node = str(outlier.subject)
    interval = show_interval(outlier.low, outlier.high, unit)
    text = (
        f"{node} stands out: {words} over its links is {show(outlier.value, unit)} ({interval}), where the other "
        f"nodes reach {show(outlier.expected, unit)}: {_times(outlier.times)} worse."
    )
    return Finding(
        kind="node",
        severity=Severity.BAD,
        subject=node,
        text=text,
        next_step=f"look at {node}'s cable, switch port, negotiated speed and qdisc, then measure it again",
        evidence=[_evidence(node, metric, unit, outlier)],
    )


def _link_finding(words: str, unit: str, metric: str, outlier: Outlier) -> Finding:
    subject = ">".join(outlier.subject)
    step = "look at the path between the two: routing, the switches' uplink, a full port buffer"
    whose = "Neither node is slow elsewhere."
    if outlier.unsure:
        who = " and ".join(outlier.unsure)
        whose = f"Cannot tell node from link: of {who} no other link is known to be clear."
        step = f"measure {who} with more partners: `wulf net pairs --rounds 4`, or `--all` over a few nodes"
    text = (
        f"The link {' → '.join(outlier.subject)} stands out: {words} is {show(outlier.value, unit)} "
        f"({show_interval(outlier.low, outlier.high, unit)}), where the other links reach "
        f"{show(outlier.expected, unit)}: {_times(outlier.times)} worse. {whose}"
    )
    return Finding(
        kind="link",
        severity=Severity.BAD,
        subject=subject,
        text=text,
        next_step=step,
        evidence=[_evidence(subject, metric, unit, outlier)],
    )


def _evidence(subject: str, metric: str, unit: str, outlier: Outlier) -> Evidence:
    return Evidence(
        subject=subject,
        metric=metric,
        unit=unit,
        value=outlier.value,
        low=outlier.low,
        high=outlier.high,
        expected=outlier.expected,
    )


CLASS_FACTS = ("cpu.model", "cpu.threads", "memory.size", "system.product")
"""Nodes that agree in these are alike, and are compared."""

LEAST_LIKE = 8
"""Of fewer nodes, the spread of so few says nothing that five standard deviations would not."""

TOLD = 0.5
"""A visible deviation of more than half is not worth telling."""


def hardware_classes(nodes: Sequence[str], fingerprint: Mapping[str, Facts]) -> list[str]:
    """The hardware class of each node; a node whose facts are not known is of the class of all such."""
    return [str([fingerprint.get(node, {}).get(fact, {}).get("value") for fact in CLASS_FACTS]) for node in nodes]


def deviating(
    records: Sequence[Record], fingerprint: Mapping[str, Facts], blamed: frozenset[str] = frozenset()
) -> list[Finding]:
    """Nodes that are a little worse than their like, beyond chance; and how little could have been seen.

    Over what each node reaches on its better links, all metrics together (`wulf.stats.nodes`).
    """
    reaches, lowers = [], []
    for (transport, pattern), (_, metric, lower) in _NAMES.items():
        clear = {
            link: estimate
            for link, estimate in _links(records, transport, pattern, metric).items()
            if not blamed.intersection(link)
        }
        reaches.append(node_reach(clear, lower_is_better=lower))
        lowers.append(lower)
    nodes = sorted(set().union(*reaches))
    if len(nodes) < LEAST_LIKE:
        return []
    figures = np.array(
        [[_bounds(reach.get(node)) for reach in reaches] for node in nodes], dtype=float
    )  # nodes × metrics × (value, low, high)
    values, low, high = (np.where(figures[:, :, i] > 0, figures[:, :, i], np.nan) for i in range(3))
    found = screen(
        values, low=low, high=high, classes=hardware_classes(nodes, fingerprint),
        worse=[1 if lower else -1 for lower in lowers],
    )  # fmt: skip
    words = [name for name, _, _ in _NAMES.values()]
    return [_deviation(nodes[d.node], words[d.metric], d) for d in found.deviations] + _visible(words, found)


def _bounds(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)


def _deviation(node: str, words: str, found: Deviation) -> Finding:
    return Finding(
        kind="deviation",
        severity=Severity.WARN,
        subject=node,
        text=(
            f"{node} deviates: {words} over its better links is {percent(found.ratio)} of its like "
            f"({percent(found.low)} to {percent(found.high)}); of such accusations, one in {1 / FALSE_DISCOVERIES:.0f} "
            "is false."
        ),
        next_step=f"compare {node}'s facts with its like's: clock rate, governor, temperature, slot of the card",
        evidence=[
            Evidence(
                subject=node, metric=f"{words}, node / its like", unit="1", value=found.ratio,
                low=found.low, high=found.high, expected=1.0,
            )
        ],
    )  # fmt: skip


def _visible(words: Sequence[str], found: Screening) -> list[Finding]:
    """One sentence on what could have been seen, in the largest class that has an answer."""
    least = np.nanmin(found.visible, axis=0, initial=np.inf, where=~np.isnan(found.visible))
    told = [f"{name} {value:.1%}" for name, value in zip(words, least, strict=True) if value <= TOLD]
    if not told:
        return []
    text = f"A node would have been seen to deviate from its like from this on, nine times in ten: {', '.join(told)}."
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]


def standing_out(records: Sequence[Record]) -> list[Finding]:
    """Slow nodes, then slow links that no slow node explains."""
    nodes: list[Finding] = []
    links: list[Finding] = []
    blamed: set[str] = set()
    compared = []
    for (transport, pattern), (words, metric, lower) in _NAMES.items():
        estimates = _links(records, transport, pattern, metric)
        unit = "s" if metric == "rtt" else "B/s"
        compared.append((words, metric, unit, lower, estimates))
        for outlier in slow_nodes(estimates, lower_is_better=lower):
            blamed.add(str(outlier.subject))
            nodes.append(node_finding(words, unit, metric, outlier))
    for words, metric, unit, lower, estimates in compared:
        links += [
            _link_finding(words, unit, metric, outlier)
            for outlier in slow_links(estimates, lower_is_better=lower, explained=frozenset(blamed))
        ]
    return nodes + links


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
        widest = max(noisy, key=lambda record: _estimate(record).width or 0.0)
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
) -> list[Finding]:
    """All findings, the gravest first.

    Parameters
    ----------
    failed
        Nodes that could not be opened, or died.
    notes
        What the user should know of the circumstances: a lab without namespaces, nodes that share a machine.
    """
    noted = [Finding(kind="note", severity=Severity.INFO, subject="", text=note) for note in notes]
    outstanding = standing_out(records)
    blamed = frozenset(finding.subject for finding in outstanding if finding.kind == "node")
    deviations = deviating(records, fingerprint, blamed)
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
