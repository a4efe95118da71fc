"""Two runs by node: what all links of a node say together, where samples are too few to claim anything of one link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, log, log1p

import numpy as np

from wulf.core.records import Record, passes_of
from wulf.measure.engine.probes import NET
from wulf.stats.cluster.levelling import by_pass
from wulf.stats.comparison import Comparison, Judgement, compare_samples
from wulf.stats.series.resemblance import resemblance

PLACES = frozenset({"cpu", "server_cpu"})
"""Parameters that may differ from node to node where the same is measured."""

SHOWN = 0.05
"""p of passes whose order shows."""

SEED = 6
"""Of the random orders that passes are held against: equal runs give equal answers."""

LEAST = 2
"""Links of a node that are pooled: one speaks for itself."""

Link = tuple[Record, Record, bool]
"""A cell's records in both runs, and whether lower is better."""

Group = tuple[str, str]
"""A node, and what is measured of its links."""


@dataclass(frozen=True)
class NodeChange:
    """A node whose links together got slower or faster, and more than half of them each.

    Attributes
    ----------
    record
        One of the cells: what is measured.
    links, alike
        How many are pooled, and how many of them changed this way by more than delta, by their medians.
    comparison
        B against A: the geometric means over the links, pass by pass.
    claimed
        p corrected for all nodes and all that is measured of them (Bonferroni).
    """

    node: str
    record: Record
    links: int
    alike: int
    comparison: Comparison
    claimed: float

    @property
    def judgement(self) -> Judgement:
        """Slower or faster: no other is told."""
        return self.comparison.judgement


def node_changes(links: Sequence[Link], *, alpha: float, delta: float) -> list[NodeChange]:
    """The nodes whose links changed, the greatest change first.

    Each pass of a run gives one sample: the geometric mean over a node's links, which are of one kind. Whoever explains
    most is told first; its links then say nothing of the nodes at their other ends, as a slow node makes none of its
    neighbours slow. Of six samples against six that is a claim among as many as 23 groups, where a cluster's single
    links are hundreds.
    """
    groups = _groups(links)
    sizes = [(len(a.samples), len(b.samples)) for a, b, _ in links]
    if not groups or all(2 / comb(n + m, n) * len(groups) > alpha for n, m in sizes):
        return []
    effect = max(_design_effect([a for a, _, _ in links]), _design_effect([b for _, b, _ in links]))
    search, found = _Search(groups, alpha, delta, effect), []
    while (change := search.greatest()) is not None:
        found.append(change)
    return found


def is_link(record: Record) -> bool:
    """Whether it is of the network between two nodes."""
    return record.probe == NET and len(set(record.nodes)) == 2


def _groups(links: Sequence[Link]) -> dict[Group, list[Link]]:
    """The links of each node by what is measured of them."""
    groups: dict[Group, list[Link]] = defaultdict(list)
    for link in links:
        record = link[0]
        if is_link(record) and min(*record.samples, *link[1].samples) > 0:
            what = {name: value for name, value in record.params.items() if name not in PLACES}
            kind = f"{record.phase} {record.metric} {sorted(what.items(), key=str)}"
            for node in record.nodes:
                groups[node, kind].append(link)
    return {group: own for group, own in groups.items() if len(own) >= LEAST}


@dataclass
class _Search:
    """Goes on from the nodes that are told already."""

    groups: Mapping[Group, list[Link]]
    alpha: float
    delta: float
    design_effect: float
    _told: set[Group] = field(default_factory=set)
    _tested: dict[Group, tuple[int, NodeChange | None]] = field(default_factory=dict)
    """Group → how many links were left of it, and what these said."""

    def greatest(self) -> NodeChange | None:
        """The greatest change among the nodes that are not told yet, of the links that none of these has."""
        changes = {group: change for group in self.groups if (change := self._change(group)) is not None}
        if not changes:
            return None
        group = max(changes, key=lambda one: abs(log(changes[one].comparison.ratio or 1.0)))
        self._told.add(group)
        return changes[group]

    def _change(self, group: Group) -> NodeChange | None:
        if group in self._told:
            return None
        left = [link for link in self.groups[group] if not any((n, group[1]) in self._told for n in link[0].nodes)]
        known = self._tested.get(group)
        if known is None or known[0] != len(left):
            self._tested[group] = known = len(left), self._tested_anew(group[0], left)
        return known[1]

    def _tested_anew(self, node: str, links: list[Link]) -> NodeChange | None:
        if len(links) < LEAST:
            return None
        first, second = _pooled([a for a, _, _ in links]), _pooled([b for _, b, _ in links])
        found = compare_samples(
            first, second, alpha=self.alpha, delta=self.delta, lower_is_better=links[0][2], among=len(self.groups),
            design_effect=self.design_effect,
        )  # fmt: skip
        claimed = min(1.0, (1.0 if found.p is None else found.p) * len(self.groups))
        if not found.changed or claimed > self.alpha or not found.ratio:
            return None
        sign = 1.0 if found.ratio > 1 else -1.0
        ratios = [log(b.value / a.value) for a, b, _ in links if a.value and b.value]
        alike = sum(sign * ratio > log1p(self.delta) for ratio in ratios)
        if 2 * alike <= len(links):
            return None  # it is one of their other ends that changed
        return NodeChange(node, links[0][0], len(links), alike, found, claimed)


def _design_effect(records: Sequence[Record]) -> float:
    """Passes of a run for each independent one, seen over all of its cells: six of one cell tell nothing of that.

    1 where passes show no order that chance does not give. Of pairs of runs in which nothing changed, whose cells all
    share a series of ρ = 0.5, 2.5 % then tell of a node; with ρ always taken as it seems, a third of the nodes that did
    change would be missed.
    """
    table = by_pass([one.samples for one in records], [passes_of(one) for one in records])
    found = resemblance(table, np.random.default_rng(SEED))
    return 1.0 if found is None or found.p > SHOWN else found.passes / found.amount


def _pooled(records: Sequence[Record]) -> list[float]:
    """The geometric mean of the records in each pass that all of them have, in their order."""
    passes = [dict(zip(passes_of(one), one.samples, strict=False)) for one in records]
    shared = [block for block in passes[0] if all(block in own for own in passes)]
    return [float(np.exp(np.mean([log(own[block]) for own in passes]))) for block in shared]
