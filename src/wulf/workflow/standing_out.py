"""Nodes and links that stand out among all pairs of a survey, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_interval
from wulf.measure.comparing import percent
from wulf.measure.mpi import carrier
from wulf.stats.intervals import Estimate
from wulf.stats.nodes import FALSE_DISCOVERIES, Deviation, Screening, screen
from wulf.stats.outliers import Link, Outlier, node_reach, slow_links, slow_nodes
from wulf.store.run import Facts

_NAMES = {
    ("tcp", "pingpong"): ("TCP round trip", "rtt", True),
    ("udp", "pingpong"): ("UDP round trip", "rtt", True),
    ("tcp", "stream"): ("TCP throughput", "throughput", False),
    ("mpi", "pingpong"): ("MPI round trip", "rtt", True),
}
"""What is compared over all pairs: (transport, pattern) → words, metric, lower is better."""


def estimate_of(record: Record) -> Estimate:
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
