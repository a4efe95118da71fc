"""Findings about nodes, groups and links that are slow, in plain words: which way, by how much, what to do next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.units import show, show_interval
from wulf.findings.explained import Explained
from wulf.stats.cluster.groups import Group
from wulf.stats.cluster.outliers import Outlier, Way

MOST_NAMES = 6
"""Nodes named in a sentence; all of them are in the evidence."""


_UNITS = {"throughput": "B/s", "path_loss": "1", "port_rate": "B/s", "busy_rate": "B/s"}


@dataclass(frozen=True)
class PairMetric:
    """One that is compared over all pairs: in words, by its name, and whether lower is better."""

    words: str
    name: str
    lower: bool

    @property
    def unit(self) -> str:
        """In which it is recorded."""
        return _UNITS.get(self.name, "s")

    @property
    def directed(self) -> bool:
        """Whether data goes one way alone, so that sender and receiver can be told apart."""
        return self.unit != "s"

    @property
    def share(self) -> bool:
        """Whether it is a share of what is sent, and not how fast that goes."""
        return self.unit == "1"

    def shown(self, value: float) -> str:
        """A figure of it."""
        return f"{value:.2%}" if self.share else show(value, self.unit)

    def interval(self, low: float, high: float) -> str:
        """An interval of it."""
        return f"{low:.2%}–{high:.2%}" if self.share else show_interval(low, high, self.unit)


Told = Sequence[tuple[PairMetric, Outlier]]
"""One that stands out, in each metric in which it does."""

_STEPS = {
    Way.SEND: "look at what {node} sends with: offloads (`ethtool -k`), qdisc, net.ipv4.tcp_wmem; then measure it "
    "again",
    Way.RECEIVE: "look at what {node} receives with: net.ipv4.tcp_rmem, GRO and rings (`ethtool`), interrupts, "
    "firewall; then measure it again",
    Way.BOTH: "look at {node}'s cable, switch port, negotiated speed and qdisc, then measure it again",
}


def named(nodes: Collection[str], most: int = MOST_NAMES) -> str:
    """`n1, n2 and n3`; of many the first, and how many more."""
    first, more = list(nodes)[:most], max(0, len(nodes) - most)
    if more:
        return f"{', '.join(first)} and {more:,} more"
    return first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"


def times(ratio: float) -> str:
    """`3.2 times`; `104 times`."""
    return f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:,.0f} times"


def evidence(subject: str, metric: PairMetric, one: Outlier | Group) -> Evidence:
    """The figure beside what the others reach, and which way it was measured."""
    return Evidence(
        subject=subject, metric=metric.name, unit=metric.unit, value=one.value, low=one.low, high=one.high,
        expected=one.expected, measured=metric.words, way=str(one.way),
    )  # fmt: skip


def node_finding(node: str, way: Way, told: Told) -> Finding:
    """A node that stands out: slow to send, to receive, or both."""
    ordered = _main_first(told, directed=way is not Way.BOTH)
    metric, main = ordered[0]
    if way is Way.BOTH:
        text = (
            f"{node} stands out: {metric.words} over its links is {_figure(metric, main)}, where the other nodes reach"
        )
    else:
        sends = way is Way.SEND
        if metric.share:
            direction = "loses some of what it " + ("sends, to" if sends else "receives, from")
        else:
            direction = "is slow to " + ("send, to" if sends else "receive, from")
        text = f"{node} {direction} {_partners(main)}: {metric.words} is {_figure(metric, main)}, where the "
        text += "other nodes reach"
    text += f" {metric.shown(main.expected)}: {times(main.times)} worse.{_besides(ordered[1:])}"
    return Finding(
        kind="node", severity=Severity.BAD, subject=node, text=text, next_step=_STEPS[way].format(node=node),
        evidence=[evidence(node, metric, one) for metric, one in ordered],
    )  # fmt: skip


def group_finding(told: Sequence[tuple[PairMetric, Group]]) -> Finding:
    """Nodes that are fast among themselves and slow to all others."""
    metric, main = max(told, key=lambda one: one[1].times)
    ways = {group.way for metric, group in told if metric.directed and group.nodes == main.nodes}
    way = ways.pop() if len(ways) == 1 else Way.BOTH
    inside, rest = main.nodes, main.others
    joins = {
        Way.BOTH: f"joins {named(inside)} to the {len(rest):,} others",
        Way.SEND: f"leads from {named(inside)} to the {len(rest):,} others",
        Way.RECEIVE: f"leads from the {len(rest):,} others to {named(inside)}",
    }[way]
    interval = metric.interval(main.low, main.high)
    besides = [
        f"{other.words} {other.shown(group.value)} instead of {other.shown(group.expected)}"
        for other, group in told if other != metric
    ]  # fmt: skip
    more = f" Also: {'; '.join(besides)}." if besides else ""
    subject = ", ".join(inside[:MOST_NAMES]) + (
        f" and {len(inside) - MOST_NAMES:,} more" if inside[MOST_NAMES:] else ""
    )
    return Finding(
        kind="link", severity=Severity.BAD, subject=subject,
        text=(
            f"What {joins} stands out, not the nodes: {metric.words} across is {metric.shown(main.value)} "
            f"({interval}), where links on either side reach {metric.shown(main.expected)}: {times(main.times)} "
            f"worse.{more}"
        ),
        next_step="look at the uplink between their switches: its speed, its errors, and how many share it",
        evidence=[
            evidence(">".join(named(side) for side in (inside, rest)), metric, group).model_copy(
                update={"nodes": list(inside), "others": list(rest)}
            )
            for metric, group in told
        ],
    )  # fmt: skip


def link_finding(told: Told, explained: Explained) -> Finding:
    """A link that neither of its nodes explains; one of a node that stands out was compared with that node's others."""
    ordered = _main_first(told, directed=any(metric.directed for metric, _ in told))
    metric, main = ordered[0]
    client, server = main.subject[0], main.subject[1]
    slow = explained.slow_ends(client, server, metric.words, directed=metric.directed)
    both = main.way is Way.BOTH
    where = f"{client} – {server} stands out" if both else f"{client} → {server} stands out, one way alone"
    text = (
        f"The link {where}: {metric.words} is {_figure(metric, main)}, where "
        f"{'the other links of its slow node' if slow else 'the other links'} reach "
        f"{metric.shown(main.expected)}: {times(main.times)} worse."
    )
    whose, step = _whose(main, slow)
    subject = f"{client}>{server}"
    return Finding(
        kind="link", severity=Severity.BAD, subject=subject, text=f"{text}{_besides(ordered[1:])} {whose}",
        next_step=step, evidence=[evidence(subject, metric, one) for metric, one in ordered],
    )  # fmt: skip


def _whose(link: Outlier, slow: Sequence[str]) -> tuple[str, str]:
    """Why it is the link and not a node, as far as that can be said; and what to do."""
    path = "look at the path between the two: routing, the switches' uplink, a full port buffer"
    if slow:
        return f"{named(slow)} is slow elsewhere, too, but not as slow.", path
    if link.unsure:
        who = " and ".join(link.unsure)
        return (
            f"Cannot tell node from link: of {who} no other link is known to be clear.",
            f"measure {who} with more partners: `wulf net pairs --rounds 4`, or `--all` over a few nodes",
        )
    return "Neither node is slow elsewhere.", path


def _main_first(told: Told, *, directed: bool) -> list[tuple[PairMetric, Outlier]]:
    """The clearest first; those that tell the direction before others, where it is told."""
    return sorted(told, key=lambda one: (not (directed and one[0].directed), -one[1].times))


def _figure(metric: PairMetric, one: Outlier) -> str:
    return f"{metric.shown(one.value)} ({metric.interval(one.low, one.high)})"


def _besides(told: Told) -> str:
    """The other metrics in which it stands out, briefly."""
    words = [
        f"{metric.words} {metric.shown(one.value)} instead of {metric.shown(one.expected)}" for metric, one in told
    ]
    return f" Also: {'; '.join(words)}." if words else ""


def _partners(node: Outlier) -> str:
    if node.slower == node.partners:
        return f"all {node.partners:,} others" if node.partners > 1 else "the other"
    return f"{node.slower:,} of {node.partners:,} others"
