"""Nodes and links of which nothing could be measured, while others were: a firewall, a route, a packet size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.core.units import show
from wulf.findings.explained import Explained
from wulf.findings.standing_words import PairMetric, named
from wulf.stats.cluster.outliers import Link, Way
from wulf.stats.cluster.parties import LEAST_PARTNERS

LEAST_TRIED = 3
"""Replicates that other links have: whoever has none then was tried as often, and gave no answer."""

BLOCKED = "blocked"
"""As the table of causes calls it."""


@dataclass(frozen=True)
class Unmeasurable:
    """What stands out, what it explains, and the records without a value that it is about."""

    findings: list[Finding]
    explained: Explained
    told: list[Record]


NOBODY = Unmeasurable([], Explained(), [])
"""Where whatever was measured gave a figure."""


@dataclass(frozen=True)
class _Silence:
    """Links of one transport, by what they carried.

    Attributes
    ----------
    dead
        (client, server) → the metrics of which nothing could be measured, with their records.
    alive
        Metric → (client, server) of those that gave a figure.
    expected
        Metric → the median of those figures.
    """

    dead: Mapping[Link, list[tuple[PairMetric, Record]]]
    alive: Mapping[PairMetric, frozenset[Link]]
    expected: Mapping[PairMetric, float]


def unmeasurable(compared: Mapping[PairMetric, Sequence[Record]], failed: frozenset[str]) -> Unmeasurable:
    """Nodes that none of their partners reach, or that reach none; and single links.

    Only where others were measured well: if nothing works at all, it is no node's fault.
    """
    silence = _silence(compared, failed)
    nodes, links = _culprits(silence)
    findings = [_node_finding(node, way, silence) for node, way in nodes.items()]
    findings += [_link_finding(link, silence, both=link[::-1] in links) for link in _each_pair_once(links)]
    explained = Explained(links=frozenset(links))
    for node, way in nodes.items():
        explained = explained.and_node(node, way, ())
    return Unmeasurable(findings, explained, [record for own in silence.dead.values() for _, record in own])


def _silence(compared: Mapping[PairMetric, Sequence[Record]], failed: frozenset[str]) -> _Silence:
    """Which links gave no figure of a metric that enough others gave."""
    dead: dict[Link, list[tuple[PairMetric, Record]]] = {}
    alive, expected = {}, {}
    for metric, records in compared.items():
        own = [record for record in records if not failed.intersection(record.nodes)]
        good = [r for r in own if r.value is not None and r.verdict is not Verdict.FAILED]
        if len(good) < LEAST_PARTNERS or median(r.replicates for r in good) < LEAST_TRIED:
            continue
        expected[metric] = median(r.value for r in good if r.value is not None)
        alive[metric] = frozenset((r.nodes[0], r.nodes[1]) for r in good)
        for record in own:
            if not record.replicates and len(set(record.nodes)) == 2:
                dead.setdefault((record.nodes[0], record.nodes[1]), []).append((metric, record))
    return _Silence(dead, alive, expected)


def _culprits(silence: _Silence) -> tuple[dict[str, Way], set[Link]]:
    """Nodes that explain dead links, and the links that are left: over all metrics together, then over each alone."""
    nodes: dict[str, Way] = {}
    left = set(silence.dead)
    everywhere = frozenset().union(*silence.alive.values()) - left
    left = _blamed(nodes, left, everywhere)
    for metric, alive in silence.alive.items():
        own = {link for link in left if any(one == metric for one, _ in silence.dead[link])}
        left = (left - own) | _blamed(nodes, own, alive)
    return nodes, {link for link in left if not _of_culprit(link, nodes, silence)}


def _of_culprit(link: Link, nodes: Mapping[str, Way], silence: _Silence) -> bool:
    """Whether one of its nodes is to blame, and has no link at all that carries what this one does not.

    A firewall that lets nobody in keeps answers over UDP out as well: they come from another port than was asked.
    """
    metrics = [metric for metric, _ in silence.dead[link]]
    return any(
        not any(node in other for metric in metrics for other in silence.alive[metric])
        for node in nodes.keys() & set(link)
    )


def _blamed(nodes: dict[str, Way], dead: set[Link], alive: frozenset[Link]) -> set[Link]:
    """Add to `nodes` those that explain dead links, the one that explains most first; the links that are left.

    As `stats.cluster.blame` has it: a node's way is to blame when no more than a quarter of its links live.
    """
    left = set(dead)
    living = Counter(party for link in alive for party in _parties(link))
    while True:
        parties: dict[tuple[str, Way], set[Link]] = {}
        for link in left:
            for party in _parties(link):
                parties.setdefault(party, set()).add(link)
        suspects = [
            party for party, own in parties.items()
            if len(own) >= LEAST_PARTNERS and living[party] <= (len(own) + living[party] - 1) // 4
        ]  # fmt: skip
        if not suspects:
            return left
        node, way = max(suspects, key=lambda party: (len(parties[party]), party))
        nodes[node] = way if nodes.get(node, way) == way else Way.BOTH
        left -= parties[node, way]


def _parties(link: Link) -> tuple[tuple[str, Way], tuple[str, Way]]:
    return (link[0], Way.SEND), (link[1], Way.RECEIVE)


def _each_pair_once(links: Iterable[Link]) -> list[Link]:
    ordered = sorted(links, key=lambda link: [(len(node), node) for node in link])
    return list({frozenset(link): link for link in reversed(ordered)}.values())[::-1]


def _reason(told: Sequence[tuple[PairMetric, Record]]) -> str:
    return (told[0][1].reason or "no answer").rstrip(".")


def _small_pass(links: Iterable[Link], silence: _Silence) -> str:
    """Whether round trips of the same pairs pass, so that it is large packets that vanish."""
    pairs = {frozenset(link) for link in links}
    streams = {frozenset(link) for link in links if any(m.directed for m, _ in silence.dead[link])}
    trips = {
        frozenset(link) for link, told in silence.dead.items() if any(not metric.directed for metric, _ in told)
    }  # fmt: skip
    if streams == pairs and not pairs & trips:
        return " Round trips of the same nodes pass: large packets may vanish on the way (MTU)."
    return ""


def _node_finding(node: str, way: Way, silence: _Silence) -> Finding:
    ends = {Way.SEND: (0,), Way.RECEIVE: (1,), Way.BOTH: (0, 1)}[way]
    own = {link: told for link, told in silence.dead.items() if any(link[end] == node for end in ends)}
    partners = {other for link in own for other in link} - {node}
    told = [one for each in own.values() for one in each]
    whom = f"{'any' if way is not Way.SEND else 'none'} of the {len(partners):,} others"
    text = {
        Way.RECEIVE: f"{node} can't be reached on its measuring ports from {whom}, though ssh reaches it and it "
        "reaches them",
        Way.SEND: f"{node} reaches {whom} on their measuring ports, though ssh reaches it and they reach it",
        Way.BOTH: f"Nothing could be measured between {node} and {whom}, though ssh reaches it",
    }[way]
    return Finding(
        kind="node", severity=Severity.BAD, subject=node,
        text=f"{text}: {_reason(told)}.{_small_pass(own, silence)}",
        next_step=f"look at {node}'s firewall (`nft list ruleset`) and let the cluster's own network pass",
        evidence=[_evidence(node, metric, way, silence) for metric in dict.fromkeys(metric for metric, _ in told)],
    )  # fmt: skip


def _link_finding(link: Link, silence: _Silence, *, both: bool) -> Finding:
    told = silence.dead[link]
    metric = next((metric for metric, _ in told if metric.directed), told[0][0])
    what = named([one.words for one, _ in told])
    arrow = "–" if both else "→"
    return Finding(
        kind="link", severity=Severity.BAD, subject=">".join(link),
        text=(
            f"The link {link[0]} {arrow} {link[1]} stands out: nothing could be measured of {what} ({_reason(told)}), "
            f"where the other links reach {show(silence.expected[metric], metric.unit)}. Both nodes answer others."
            f"{_small_pass([link], silence)}"
        ),
        next_step="look at what lies between the two alone: routes, filters, the largest packet that passes",
        evidence=[
            _evidence(">".join(link), metric, Way.BOTH if both else Way.SEND, silence) for metric, _ in told
        ],
    )  # fmt: skip


def _evidence(subject: str, metric: PairMetric, way: Way, silence: _Silence) -> Evidence:
    return Evidence(
        subject=subject, metric=metric.name, unit=metric.unit, value=None, expected=silence.expected[metric],
        measured=metric.words, way=str(way), effect=BLOCKED,
    )  # fmt: skip
