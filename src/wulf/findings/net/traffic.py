"""What the traffic that is there says of nodes and links, and where it is a host that is busy and not the network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import capitalised, natural, plural, subject_text
from wulf.core.records import Record
from wulf.findings.explained import Explained
from wulf.findings.net.bottlenecks import bottleneck_findings
from wulf.findings.net.counted import with_verdicts
from wulf.findings.net.ports import ports_blame
from wulf.findings.net.standing_out import estimate_of, standing_of
from wulf.findings.standing_words import PairMetric, named
from wulf.measure.net.traffic import (
    AGAIN,
    LEAST,
    PRESSURE,
    RTT,
    SOFTIRQ,
    WAITING,
    Unseen,
    is_whole,
    pair_of,
)
from wulf.stats.cluster.blame import Blame, blame
from wulf.stats.cluster.far import Outside, far_nodes
from wulf.stats.cluster.losses import Losses, lossy
from wulf.stats.cluster.outliers import LEAST_RATIO, Link
from wulf.stats.estimates import Estimate
from wulf.store.run import Facts

FLOOR, LOSS = PairMetric("TCP's least round trip", LEAST, True), PairMetric("share of segments lost", "path_loss", True)
"""What the path between two nodes makes of their traffic, however much there is."""

PORT = PairMetric("rate while data waited for its port", "port_rate", False)
SLOWED = PairMetric("rate while its data waited", "busy_rate", False)

USUAL = 0.25
"""The quantile of least round trips that is the usual one: queues make them longer, and nothing makes them shorter."""

UNQUEUED = 1.3
"""A pair's least round trip is the path's where its smoothed one is less than so many times that."""

QUEUED = PairMetric("TCP's smoothed round trip", RTT, True)
"""What queues and busy hosts make of it, too."""

MUCH_AGAIN = 0.01
"""Share of a pair's segments sent again from which it is told where nobody is to blame."""

TIMES_OTHERS = 2.0
"""A host's noise is its own where it is so many times the median of the other hosts'."""

QUEUE, NOISE = "queue", "host-noise"


@dataclass(frozen=True)
class Contention:
    """How a host shows that it is late: a metric, in words, and from which share on."""

    metric: str
    words: str
    least: float


CONTENTION = (
    Contention(PRESSURE, "tasks waited for a CPU in {value:.0%} of the time (PSI)", 0.2),
    Contention(SOFTIRQ, "{value:.0%} of its CPUs' time went into softirqs", 0.2),
    Contention(WAITING, "tasks waited {value:.2g} s in run queues for each second of a CPU", 0.5),
)


@dataclass(frozen=True)
class Late:
    """A host that is late, unlike the others: which sign says so, and the median of theirs."""

    sign: Contention
    value: float
    others: float

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.sign.words.format(value=self.value)}, on the other nodes {self.others:.2g}"


def late_hosts(records: Iterable[Record]) -> dict[str, Late]:
    """Node → why it is late: the first sign of `CONTENTION` that is large, and larger than the other nodes'."""
    found: dict[str, Late] = {}
    known = list(records)
    for sign in CONTENTION:
        values = {one.subject: one.value for one in known if one.metric == sign.metric and one.value is not None}
        for node, value in values.items():
            others = median([other for name, other in values.items() if name != node] or [0.0])
            if value >= max(sign.least, TIMES_OTHERS * others):
                found.setdefault(node, Late(sign, value, others))
    return found


def _links(records: Iterable[Record], metric: PairMetric) -> dict[Link, Estimate]:
    """The pairs' estimates of one metric."""
    return {pair_of(one): estimate_of(one) for one in records if one.metric == metric.name and one.value is not None}


def floors_of(records: Iterable[Record], outside: Outside) -> dict[Link, Estimate]:
    """Of each pair of nodes, both ways together, the least round trip, where it is the path's own.

    The least of a pair whose data always waits has a queue in it, and nothing says how much. It is believed where it is
    near the smoothed one, or where one of its nodes is far from all its partners (`far_nodes`), as far as from the
    nearest: more is a queue. Those that are not long count as the usual one.
    """
    ways: dict[Link, float] = {}
    least: dict[Link, float] = {}
    smoothed: dict[Link, float] = {}
    for one in records:
        found = {LEAST: least, RTT: smoothed}.get(one.metric)
        if found is not None and one.samples:
            pair = _unordered(one)
            found[pair] = min([found.get(pair, math.inf), *one.samples])
            if found is least:
                ways[pair_of(one)] = min(one.samples)
    usual = sorted(least.values())[int(USUAL * len(least))] if least else 0.0
    far, believed = far_nodes(ways, usual, outside), {}
    for pair, value in least.items():
        if smoothed.get(pair, math.inf) < UNQUEUED * value:
            believed[pair] = value
        elif far.keys() & {*pair}:
            believed[pair] = min(value, max(far[node] for node in pair if node in far))
        elif value < LEAST_RATIO * usual:
            believed[pair] = usual
    return {pair: Estimate(value, value, value, None, 1) for pair, value in believed.items()}


def _unordered(record: Record) -> Link:
    first, second = sorted(pair_of(record), key=natural)
    return first, second


def traffic_findings(
    records: Sequence[Record], fingerprint: Mapping[str, Facts], losses: Losses, outside: Outside, every: float
) -> list[Finding]:
    """Who is to blame for what the traffic suffers, what limits it, and which delays are a host's own or a queue's.

    Parameters
    ----------
    losses
        What its pairs sent again, poll by poll.
    outside
        What connections that lead to none of the nodes showed as the least round trip: (node, address) → seconds.
    every
        From one poll to the next, seconds.
    """
    pairs, late = [one for one in records if is_whole(one)], late_hosts(records)
    queued = _links(pairs, QUEUED)
    narrow, slow = ports_blame(pairs, blame(queued, lower_is_better=True, directed=False), every)
    lost = lossy(losses)
    path = standing_of(
        {FLOOR: floors_of(pairs, outside)}, fingerprint, besides={LOSS: lost, PORT: narrow, SLOWED: slow}
    )
    delayed = standing_of({QUEUED: queued}, fingerprint)
    told, said = with_verdicts([_hosts_own(one, late) for one in path.findings], pairs)
    known = {one.subject for one in told}
    queues = [_queue(one, late) for one in delayed.findings if one.subject not in known]
    limits = bottleneck_findings(pairs, path.explained, said=said)
    return [*told, *queues, *_overflow(pairs, lost), *(_doubted(one, records) for one in limits)]


def _overflow(pairs: Iterable[Record], lost: Blame) -> list[Finding]:
    """Pairs that send much again though no path of theirs loses: queues overflow."""
    explained = Explained().and_links(lost.links)
    for node in lost.nodes:
        explained = explained.and_node(str(node.subject), node.way, (LOSS.words,))
    again = [
        (one, one.value) for one in pairs
        if one.metric == AGAIN and (one.value or 0.0) >= MUCH_AGAIN and not explained.one_way(*pair_of(one))
    ]  # fmt: skip
    if not again:
        return []
    worst, share = max(again, key=lambda one: one[1] or 0.0)
    middle = median(value or 0.0 for _, value in again)
    text = (
        f"{plural(len(again), 'pair')} sent {middle:.1%} again at the median, {share:.1%} at most "
        f"({subject_text(worst.subject)}), all in bursts while queues were long: queues overflow, and no path loses."
    )
    return [
        Finding(
            kind=QUEUE, severity=Severity.INFO, subject="", text=text,
            next_step="look at it again when less is sent; a fault loses then, too",
        )
    ]  # fmt: skip


def _nodes_of(finding: Finding) -> list[str]:
    """The node, the nodes, or both of the pair that a finding is about."""
    return finding.subject.replace(">", ", ").split(", ")


def _doubted(finding: Finding, records: Iterable[Record]) -> Finding:
    """Losses among hosts that are all late: TCP sends again what only comes late, and no switch is to be looked at."""
    waited = [one.value for one in records if one.metric == PRESSURE and one.value is not None]
    if not finding.text.startswith("drop-bound") or not waited or median(waited) < CONTENTION[0].least:
        return finding
    why = (
        f"Tasks waited for a CPU in {median(waited):.0%} of the time (PSI): some may have come late, and not got lost."
    )
    return finding.model_copy(update={"severity": Severity.INFO, "text": f"{finding.text} {why}"})


def _whose(finding: Finding, late: Mapping[str, Late]) -> list[str]:
    """Those of a finding's nodes that are late."""
    return [node for node in _nodes_of(finding) if node in late]


def _hosts_own(finding: Finding, late: Mapping[str, Late]) -> Finding:
    """The finding, of the host where only round trips speak against it and the host is late."""
    hosts = _whose(finding, late)
    if not hosts or any(one.metric == LOSS.name for one in finding.evidence):
        return finding
    why = " ".join(f"On {node} {late[node].text}: the host's noise, not the network's fault." for node in hosts)
    return finding.model_copy(
        update={
            "kind": NOISE, "severity": Severity.WARN, "subject": named(hosts), "text": f"{finding.text} {why}",
            "next_step": f"look at what uses the CPUs of {named(hosts)}: `top`, interrupts, cgroups with a quota",
            "evidence": [*finding.evidence, *(_of_host(node, late[node]) for node in hosts)],
        }
    )  # fmt: skip


def _of_host(node: str, one: Late) -> Evidence:
    return Evidence(subject=node, metric=one.sign.metric, unit="1", value=one.value, expected=one.others)


def _queue(finding: Finding, late: Mapping[str, Late]) -> Finding:
    """A round trip that stands out in the mean and not at its least: data waits, which is no fault by itself."""
    own = _hosts_own(finding, late)
    if own is not finding:
        return own
    return finding.model_copy(
        update={
            "kind": QUEUE, "severity": Severity.INFO,
            "text": f"{finding.text} Its least round trip does not stand out: data waits in a queue, the path is well.",
            "next_step": "if it must be faster: less data in flight, another qdisc, or ECN",
        }
    )  # fmt: skip


def unseen_findings(unseen: Unseen, sockets: int) -> list[Finding]:
    """What polling could not tell of."""
    said = []
    if unseen.ended:
        said.append(
            f"{unseen.ended:,} connections ended between two polls: what they did since the last is not counted"
        )
    if unseen.missed:
        said.append(f"up to {unseen.missed:,} were opened and gone between two polls, or never got through")
    if unseen.outside:
        said.append(f"up to {unseen.outside:,} busy sockets lead to none of these nodes, and are not in the figures")
    if unseen.shared:
        said.append(
            f"up to {unseen.shared:,} busy sockets lead to an address that several nodes have, as loopback's: it names "
            "none"
        )
    if unseen.left_out:
        said.append(f"{unseen.left_out:,} groups of connections were too many for an answer")
    if not sockets:
        said.append("no connection was open between two of these nodes")
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=f"{capitalised(one)}.") for one in said]
