"""Incast: many senders to one node at the same time, at each node in turn, beside one sender alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wulf.cluster.inventory import expand
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.findings.net.standing_out import estimate_of
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.stats.cluster.outliers import LEAST_RATIO, odd_ones
from wulf.stats.estimates import Estimate
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Conditions, Judgement, Study
from wulf.workflow.net.pairs import STREAM, needs, start_finding
from wulf.workflow.net.waves import Scribe, by_wave, jain, pooled, ratio, rule_of, shares

MOST_SENDERS = 63
"""A server of the probe takes 64 runs at once."""

ALONE = 3
"""Senders that are also measured alone: enough that one bad one is not the measure."""

LEAST_FAIRNESS = 0.9
"""Jain's index below that: a tenth of the receiver's time serves nobody's fair share."""


@dataclass(frozen=True)
class Target:
    """One receiver, its wave, its senders, and the waves of those that send alone."""

    receiver: str
    wave: int
    senders: tuple[str, ...]
    alone: tuple[int, ...]


def targets_of(nodes: Sequence[str], receivers: Sequence[str], most: int, random: np.random.Generator) -> list[Target]:
    """All other nodes send to each receiver; of many, as many as may, drawn at random."""
    found = []
    wave = 0
    for receiver in receivers:
        others = [node for node in nodes if node != receiver]
        drawn = random.permutation(len(others))[: min(most, MOST_SENDERS)]
        senders = tuple(others[i] for i in sorted(drawn.tolist()))
        alone = tuple(range(wave + 1, wave + 1 + min(ALONE, len(senders))))
        found.append(Target(receiver, wave, senders, alone))
        wave += 1 + len(alone)
    return found


def incast_cells(probe: Probe, targets: Sequence[Target]) -> tuple[Cell, ...]:
    """For each receiver a wave of all its senders, and a wave of one for each that sends alone."""
    params = probe.check("stream", "tcp", STREAM)
    metrics = probe.pattern("stream").metrics
    cells: list[Cell] = []

    def add(sender: str, receiver: str, phase: str, wave: int) -> None:
        cells.append(Cell(len(cells), sender, receiver, "tcp", "stream", params, metrics, phase, wave=wave))

    for target in targets:
        for sender in target.senders:
            add(sender, target.receiver, "incast", target.wave)
        for wave, sender in zip(target.alone, target.senders, strict=False):
            add(sender, target.receiver, "alone", wave)
    return tuple(cells)


def receiver_records(target: Target, records: Sequence[Record], scribe: Scribe, effort: Effort) -> list[Record]:
    """What one receiver got from all together, how evenly, and against one sender alone."""
    rule = rule_of(effort)
    waves = by_wave(records)
    members = waves.get(target.wave, [])
    if len(members) < len(target.senders):
        return []
    values = shares(members)
    sums, fairness = values.sum(axis=1).tolist(), jain(values)
    together, alone = rule.estimate(sums), pooled([r for wave in target.alone for r in waves.get(wave, [])])
    repeated = by_wave(records, "retransmits").get(target.wave, [])
    again = shares(repeated).sum(axis=1).tolist() if len(repeated) == len(members) else []
    senders = len(target.senders)

    def record(
        metric: str, unit: str, estimate: Estimate, samples: Sequence[float] = (), requested: bool = False
    ) -> Record:
        return scribe.record(
            target.receiver, metric, unit, estimate, samples=samples, requested=requested, senders=senders
        )

    return [
        record("incast", "B/s", together, sums, requested=True),
        record("single_sender", "B/s", alone),
        record("incast_ratio", "1", ratio(together, alone)),
        record("fairness", "1", rule.estimate(fairness), fairness),
        *([record("retransmits", "1", rule.estimate(again), again)] if again else []),
    ]


def _of(records: Sequence[Record], metric: str) -> dict[str, Estimate]:
    return {record.subject: estimate_of(record) for record in records if record.metric == metric}


def _receiver_findings(receiver: str, found: dict[str, dict[str, Estimate]]) -> list[Finding]:
    """Where many senders together reach clearly less than one, or share unevenly."""
    together, alone = found["incast"][receiver], found["single_sender"][receiver]
    share, fairness = found["incast_ratio"][receiver], found["fairness"][receiver]
    findings = []
    if share.value is not None and share.high is not None and share.high < 1 / LEAST_RATIO:
        findings.append(
            Finding(
                kind="incast", severity=Severity.BAD, subject=receiver,
                text=(
                    f"Incast at {receiver}: all senders together reach {show(together.value, 'B/s')} "
                    f"({show_interval(together.low, together.high, 'B/s')}), one alone {show(alone.value, 'B/s')}: "
                    f"{share.value:.0%}."
                ),
                next_step="look at drops in the switch's buffer of that port, and at the retransmits beside it",
                evidence=[
                    Evidence(
                        subject=receiver, metric="incast", unit="B/s", value=together.value, low=together.low,
                        high=together.high, expected=alone.value,
                    )
                ],
            )
        )  # fmt: skip
    if fairness.high is not None and fairness.high < LEAST_FAIRNESS:
        findings.append(
            Finding(
                kind="incast", severity=Severity.WARN, subject=receiver,
                text=(
                    f"{receiver} shares unevenly among its senders: Jain's index "
                    f"{fairness.value:.2f} ({fairness.low:.2f}–{fairness.high:.2f}), where 1 is even."
                ),
            )
        )  # fmt: skip
    return findings


def _slow_receivers(found: dict[str, dict[str, Estimate]]) -> list[Finding]:
    """Receivers that reach clearly less than the others do."""
    if len(found["incast"]) < 3:
        return []
    findings = []
    for receiver, odd in odd_ones(found["incast"], lower_is_better=False):
        text = (
            f"{receiver} stands out: all senders together reach {show(odd.value, 'B/s')} "
            f"({show_interval(odd.low, odd.high, 'B/s')}) at it, and {show(odd.expected, 'B/s')} at the other nodes: "
            f"{odd.times:.1f} times worse."
        )
        evidence = Evidence(
            subject=receiver, metric="incast", unit="B/s", value=odd.value, low=odd.low, high=odd.high,
            expected=odd.expected,
        )  # fmt: skip
        findings.append(
            Finding(
                kind="node", severity=Severity.BAD, subject=receiver, text=text, evidence=[evidence],
                next_step=f"look at {receiver}'s cable, switch port, negotiated speed and receive queues",
            )
        )  # fmt: skip
    return findings


def _summary(found: dict[str, dict[str, Estimate]], senders: int, receivers: int) -> Finding:
    values = [e.value for e in found["incast"].values() if e.value is not None]
    ratios = [e.value for e in found["incast_ratio"].values() if e.value is not None]
    reach = f"{show(min(values), 'B/s')} to {show(max(values), 'B/s')}" if values else "nothing that could be measured"
    text = f"Incast of {senders} senders at each of {receivers:,} nodes: together they reach {reach}"
    text += f", {min(ratios):.0%} to {max(ratios):.0%} of one sender alone." if ratios else "."
    return Finding(kind="incast", severity=Severity.INFO, subject="", text=text)


def findings_of(records: Sequence[Record], targets: Sequence[Target]) -> list[Finding]:
    """What stands out over the receivers' records, the gravest first."""
    metrics = ("incast", "single_sender", "incast_ratio", "fairness")
    found = {metric: _of(records, metric) for metric in metrics}
    own = [finding for receiver in found["incast"] for finding in _receiver_findings(receiver, found)]
    senders = max((len(target.senders) for target in targets), default=0)
    return [*_slow_receivers(found), *own, _summary(found, senders, len(targets))]


class Incast(Study):
    """Incast at each node in turn, or at those of the node set `to`.

    Parameters
    ----------
    senders
        At most so many, drawn at random; None: all others, 63 at most.
    """

    side_by_side = True
    synchronised = True

    def __init__(self, given: Conditions, *, to: str | None = None, senders: int | None = None) -> None:
        super().__init__(given)
        needs(given.inventory, 3, "incast")
        self._wanted = [node.name for node in given.inventory.pick(expand(to))] if to else list(given.inventory.names)
        self._senders = senders or MOST_SENDERS
        self._targets: list[Target] = []

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """Each receiver's senders, together and alone."""
        nodes = list(connected.sessions)
        receivers = [node for node in self._wanted if node in connected.sessions]
        self._targets = targets_of(nodes, receivers, self._senders, np.random.default_rng(self.given.seed))
        return incast_cells(probe, self._targets)

    def judge(self, records: Sequence[Record]) -> Judgement:
        """What each receiver reaches, and which of them stands out."""
        scribe = Scribe(self.given.writer.id, {"transport": "tcp", "pattern": "incast"}, self.effort.width)
        made = [record for target in self._targets for record in receiver_records(target, records, scribe, self.effort)]
        return made, [*findings_of(made, self._targets), *start_finding(records)]
