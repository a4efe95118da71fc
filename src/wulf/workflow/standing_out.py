"""Nodes and links that stand out among all pairs of a survey, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_interval
from wulf.measure.mpi import carrier
from wulf.stats.intervals import Estimate
from wulf.stats.outliers import Link, Outlier, slow_links, slow_nodes

NAMES = {
    ("tcp", "pingpong"): ("TCP round trip", "rtt", True),
    ("udp", "pingpong"): ("UDP round trip", "rtt", True),
    ("tcp", "stream"): ("TCP throughput", "throughput", False),
    ("mpi", "pingpong"): ("MPI round trip", "rtt", True),
}
"""What is compared over all pairs: (transport, pattern) → words, metric, lower is better."""


def estimate_of(record: Record) -> Estimate:
    return Estimate(record.value, record.low, record.high, record.confidence, record.replicates, record.reason)


def links_of(records: Sequence[Record], transport: str, pattern: str, metric: str) -> dict[Link, Estimate]:
    """(client, server) → estimate of one metric over the pairs phase."""
    found: dict[Link, Estimate] = {}
    for record in records:
        params = record.params
        if (carrier(record), params.get("pattern"), record.metric) != (transport, pattern, metric):
            continue
        if (record.model_extra or {}).get("phase") == "pairs" and record.verdict is not Verdict.FAILED:
            client, server = record.nodes
            found[client, server] = estimate_of(record)
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


def standing_out(records: Sequence[Record]) -> list[Finding]:
    """Slow nodes, then slow links that no slow node explains."""
    nodes: list[Finding] = []
    links: list[Finding] = []
    blamed: set[str] = set()
    compared = []
    for (transport, pattern), (words, metric, lower) in NAMES.items():
        estimates = links_of(records, transport, pattern, metric)
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
