"""Nodes, groups and links that stand out among all pairs of a survey: who is to blame, over all metrics together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wulf.core.findings import Finding
from wulf.core.records import Record, Verdict
from wulf.findings.explained import Explained
from wulf.findings.net.unmeasurable import NOBODY, Unmeasurable, unmeasurable
from wulf.findings.standing_words import PairMetric, group_finding, link_finding, node_finding
from wulf.measure.mpi.probes import carrier
from wulf.stats.cluster.blame import Blame, blame
from wulf.stats.cluster.groups import Group
from wulf.stats.cluster.outliers import Link, Outlier, Way
from wulf.stats.estimates import Estimate
from wulf.store.run import Facts

NAMES = {
    ("tcp", "pingpong"): ("TCP round trip", "rtt", True),
    ("udp", "pingpong"): ("UDP round trip", "rtt", True),
    ("tcp", "stream"): ("TCP throughput", "throughput", False),
    ("mpi", "pingpong"): ("MPI round trip", "rtt", True),
}
"""What is compared over all pairs: (transport, pattern) → words, metric, lower is better."""


NOTHING: Mapping[PairMetric, Blame] = {}


def estimate_of(record: Record) -> Estimate:
    """A record's figure as an estimate."""
    return Estimate(record.value, record.low, record.high, record.confidence, record.replicates, record.reason)


def _compared(record: Record, transport: str, pattern: str, metric: str) -> bool:
    """Whether a record is one metric's over the pairs phase."""
    same = (carrier(record), record.params.get("pattern"), record.metric) == (transport, pattern, metric)
    return same and record.phase == "pairs"


@dataclass(frozen=True)
class Standing:
    """What stands out.

    Attributes
    ----------
    findings
        Nodes, groups, links; those of which nothing could be measured before the slow ones.
    explained
        What they explain, so that it need not be told again.
    told
        Records without a value that are told of.
    """

    findings: list[Finding]
    explained: Explained
    told: list[Record]


def standing_out(
    records: Sequence[Record], fingerprint: Mapping[str, Facts] | None = None, failed: frozenset[str] = frozenset()
) -> Standing:
    """Who is to blame, one finding for each node, group and link, with all metrics that speak against it.

    Parameters
    ----------
    fingerprint
        The nodes' facts: a group that is one machine is no fault of the network between.
    failed
        Nodes that could not be opened, or died: of these something else is told.
    """
    compared = {
        PairMetric(*name): [r for r in records if _compared(r, *key, name[1])] for key, name in NAMES.items()
    }  # fmt: skip
    return standing_of(
        {metric: _estimates(own) for metric, own in compared.items()}, fingerprint, unmeasurable(compared, failed)
    )


def standing_of(
    compared: Mapping[PairMetric, Mapping[Link, Estimate]],
    fingerprint: Mapping[str, Facts] | None = None,
    silent: Unmeasurable = NOBODY,
    besides: Mapping[PairMetric, Blame] = NOTHING,
) -> Standing:
    """As `standing_out`, of what each metric is on each link.

    Parameters
    ----------
    silent
        Of whom nothing could be measured.
    besides
        What else stands out, which no figure of a single link says.
    """
    found = {
        metric: blame(own, lower_is_better=metric.lower, directed=metric.directed) for metric, own in compared.items()
    } | dict(besides)
    nodes, groups, links = _nodes(found), _groups(found), _links(found)
    explained = silent.explained
    for node, own in nodes.items():
        explained = explained.and_node(node, _way(own), (metric.words for metric, _ in own))
    explained = replace(explained, groups=tuple(groups))
    told = [own for own in links.values() if not all(_has_reason(metric, one, explained) for metric, one in own)]
    findings = [
        *silent.findings,
        *(node_finding(node, _way(own), own) for node, own in nodes.items()),
        *(group_finding(own) for nodes_, own in groups.items() if not _one_machine(nodes_, fingerprint or {})),
        *(link_finding(own, explained) for own in told),
    ]
    return Standing(findings, explained.and_links(outlier for own in told for _, outlier in own), silent.told)


def _estimates(records: Sequence[Record]) -> dict[Link, Estimate]:
    return {(r.nodes[0], r.nodes[1]): estimate_of(r) for r in records if r.verdict is not Verdict.FAILED}


def _nodes(found: Mapping[PairMetric, Blame]) -> dict[str, list[tuple[PairMetric, Outlier]]]:
    """Node → what speaks against it; the worst node first."""
    told: dict[str, list[tuple[PairMetric, Outlier]]] = {}
    for metric, one in found.items():
        for outlier in one.nodes:
            told.setdefault(str(outlier.subject), []).append((metric, outlier))
    return dict(sorted(told.items(), key=lambda item: -max(outlier.times for _, outlier in item[1])))


def _way(told: Sequence[tuple[PairMetric, Outlier]]) -> Way:
    """Sending, receiving or both, as those metrics say that can tell."""
    ways = {outlier.way for metric, outlier in told if metric.directed}
    return ways.pop() if len(ways) == 1 else Way.BOTH


def _groups(found: Mapping[PairMetric, Blame]) -> dict[frozenset[str], list[tuple[PairMetric, Group]]]:
    """Nodes → what cuts them off from the others."""
    told: dict[frozenset[str], list[tuple[PairMetric, Group]]] = {}
    for metric, one in found.items():
        for group in one.groups:
            sides = frozenset(group.nodes), frozenset(group.others)
            known = next((side for side in sides if side in told), sides[0])
            told.setdefault(known, []).append((metric, group))
    return told


def _links(found: Mapping[PairMetric, Blame]) -> dict[frozenset[str], list[tuple[PairMetric, Outlier]]]:
    """Pair → what speaks against it, the worst pair first."""
    told: dict[frozenset[str], list[tuple[PairMetric, Outlier]]] = {}
    for metric, one in found.items():
        for outlier in one.links:
            told.setdefault(frozenset(outlier.subject), []).append((metric, outlier))
    return dict(sorted(told.items(), key=lambda item: -max(outlier.times for _, outlier in item[1])))


def _has_reason(metric: PairMetric, link: Outlier, explained: Explained) -> bool:
    """Whether a node or group that stands out in another metric explains the link; never one of its own metric.

    A link that is far worse than its slow node's others was compared with those, so that it is told besides.
    """
    client, server = link.subject[0], link.subject[1]
    if metric.directed:
        ways = [(client, server), *([(server, client)] if link.way is Way.BOTH else [])]
        return all(explained.one_way(*way, metric.words) for way in ways)
    return explained.both_ways(client, server, metric.words)


def _one_machine(nodes: frozenset[str], fingerprint: Mapping[str, Facts]) -> bool:
    """Whether all of a group run on one machine, and so are joined by its memory, not by a network."""
    boots = {fingerprint.get(node, {}).get("kernel.boot_id", {}).get("value") for node in nodes}
    return len(boots) == 1 and None not in boots
