"""Who takes nodes' CPUs, and which node loses more to somebody than its like: pure, of records and facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import natural, plural
from wulf.core.records import Record
from wulf.core.units import show
from wulf.findings.node.deviating import classes_of
from wulf.measure.node.culprits import PROBE, AllTaken, Key, Taken, culprits_in, key_of, share_of_lost, totals_in
from wulf.stats.cluster.nodes import FALSE_ACCUSATIONS, LEAST_NODES, LEAST_SPREADS
from wulf.stats.diagnostics import robust_sigma
from wulf.stats.intervals import few_mean_interval
from wulf.store.run import Facts

MARGIN = 0.002
"""Shares of a CPU up to this hold nobody up: Petrini, Kerbyson, Pakin (SC'03) call 1 to 2 % of a node's time the usual
noise of an unloaded cluster, of which no single culprit is more than a part."""

LEAST_TIMES = 2.0
"""So many times what the others lose, or nobody is accused."""

WORTH_TELLING = 0.01
"""Share of a CPU above which a culprit is told of any node, whatever its like lose."""

MOST_TOLD = 3
"""Such culprits of a node."""

STOLEN = 0.001
"""Share of the time that steal has to reach before it is said to explain anything."""

NAMELESS = frozenset({"entry", "unexplained", "unknown", "others"})


def noise_findings(records: Sequence[Record], fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """Nodes that lose more to a culprit than their like, who takes much anywhere, and what tracing could not tell."""
    accused = list(deviating(records, fingerprint))
    told = {(one.subject, one.about["class"], one.about["culprit"]) for one in accused}
    return [*_refused(records), *accused, *_large(records, told), *_few(records, fingerprint), *_untold(records)]


@dataclass(frozen=True)
class _Loss:
    """What a node loses to culprits of one family on the CPU that loses most."""

    record: Record
    samples: Sequence[float]

    @property
    def value(self) -> float:
        return float(np.mean(self.samples))

    def interval(self, confidence: float) -> tuple[float, float]:
        found = few_mean_interval(self.samples, confidence)
        return found.low or 0.0, found.high or 0.0


def losses(records: Sequence[Record]) -> dict[Key, dict[str, _Loss]]:
    """Family of culprits → node → what its CPU loses to it that loses most; members of a family on a CPU add up."""
    of_cpu: dict[tuple[Key, str, int], list[Record]] = defaultdict(list)
    for (node, cpu), own in culprits_in(records).items():
        for record in own:
            if record.samples and key_of(record).kind != "others":
                of_cpu[key_of(record).family, node, cpu].append(record)
    found: dict[Key, dict[str, _Loss]] = defaultdict(dict)
    for (family, node, _), own in of_cpu.items():
        loss = _Loss(own[0], np.sum([record.samples for record in own], axis=0).tolist())
        if node not in found[family] or loss.value > found[family][node].value:
            found[family][node] = loss
    return found


def deviating(records: Sequence[Record], fingerprint: Mapping[str, Facts]) -> Iterator[Finding]:
    """Nodes that lose more to somebody than the others of their class.

    Accused is who loses surely more than `MARGIN`, `LEAST_TIMES` what is typical of the others, and `LEAST_SPREADS` of
    their spread more (as `stats.cluster.nodes`). Intervals are widened to the number of figures that are looked at
    (Bonferroni), so that no more than `FALSE_ACCUSATIONS` are to be expected in a run.
    """
    nodes = sorted({node for node, _ in totals_in(records)}, key=natural)
    kinds = dict(zip(nodes, classes_of(nodes, fingerprint), strict=True))
    found = losses(records)
    confidence = 1 - 2 * FALSE_ACCUSATIONS / max(len(found) * len(nodes), 1)
    for family, of_node in found.items():
        for node, loss in of_node.items():
            like = [other for other in nodes if other != node and kinds[other] == kinds[node]]
            if len(like) + 1 < LEAST_NODES:
                continue
            others = [of_node[other].value if other in of_node else 0.0 for other in like]
            usual, spread = float(np.median(others)), float(robust_sigma(np.asarray(others)))
            if loss.interval(confidence)[0] > max(MARGIN, LEAST_TIMES * usual, usual + LEAST_SPREADS * spread):
                yield _accused(family, loss, usual, len(like))


def _accused(family: Key, loss: _Loss, usual: float, others: int) -> Finding:
    record, node, key = loss.record, loss.record.subject, key_of(loss.record)
    low, high = loss.interval(0.95)
    like = f"the {others} other nodes of its kind"
    beside = f"{loss.value / usual:.0f} times as much as {like}" if usual > 0 else f"where {like} lose nothing to it"
    return Finding(
        kind="deviation", severity=Severity.BAD, subject=node,
        text=f"{node}'s CPU {record.number('cpu', 0)} loses {_share(loss.value, low, high)} to {key.text}, "
        f"{beside}.",
        next_step=_step(key),
        evidence=[
            Evidence(
                subject=node, metric=f"lost to {family.text}", unit="1", value=loss.value, low=low, high=high,
                expected=usual,
            )
        ],
        about={"class": key.kind, "culprit": key.name},
    )  # fmt: skip


def _share(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{value:.2%}"
    return f"{100 * value:.2g} % ({100 * max(low, 0.0):.2g} to {100 * high:.2g} %)"


STEPS = {
    "task": "move it off this CPU (taskset, cpuset), or stop it, and measure again",
    "kernel_thread": "see what it works for (its name; /proc/PID/stack), and whether it can be bound to another CPU",
    "interrupt": "bind it to another CPU (/proc/irq/N/smp_affinity_list), or moderate it (wulf audit)",
    "softirq": "see which interrupts raise it, and bind these to another CPU (RPS, smp_affinity_list)",
    "timer": "see who sets it; nohz_full= and isolcpus= take the tick from CPUs with one task",
    "nmi": "switch off nmi_watchdog, and whatever counts by perf on this node",
    "idle": "see the quota of its control group (cpu.max, cpu.stat)",
    "unexplained": "look at the hypervisor's steal, or for SMIs (turbostat's column SMI; the firmware's settings)",
}
"""Class of a culprit → what to do next."""


def _step(key: Key) -> str:
    return STEPS.get(key.kind, "measure again with fewer programs beside")


def _large(records: Sequence[Record], told: set[tuple[str, str, str]]) -> Iterator[Finding]:
    """Of each node those who surely take more of a CPU than is usual, the worst first."""
    worst: dict[str, list[Record]] = defaultdict(list)
    for (node, _), own in culprits_in(records).items():
        worst[node] += [one for one in own if (one.low or 0.0) > WORTH_TELLING and key_of(one).kind not in NAMELESS]
    for node in sorted(worst, key=natural):
        ordered = sorted(worst[node], key=lambda one: -(one.value or 0.0))
        for record in [one for one in ordered if (node, *key_of(one)) not in told][:MOST_TOLD]:
            key, of = key_of(record), share_of_lost(record.said(Taken))
            part = f", {of:.0%} of what it loses" if of is not None else ""
            yield Finding(
                kind="noise source", severity=Severity.WARN, subject=node,
                text=f"{node}'s CPU {record.number('cpu', 0)} loses "
                f"{_share(record.value or 0.0, record.low, record.high)} to {key.text}{part}.",
                next_step=_step(key), about={"class": key.kind, "culprit": key.name},
                evidence=[
                    Evidence(
                        subject=node, metric=f"lost to {key.text}", unit="1", value=record.value, low=record.low,
                        high=record.high,
                    )
                ],
            )  # fmt: skip


def _refused(records: Sequence[Record]) -> Iterator[Finding]:
    """Nodes that can't be traced, and why: a reason's last part says what to do."""
    reasons = {
        record.subject: record.reason
        for record in reversed(records)
        if record.params.get("pattern") == PROBE and record.metric == "lost" and not record.supported and record.reason
    }
    for node in sorted(reasons, key=natural):
        why, _, step = reasons[node].rpartition(": ")
        yield Finding(
            kind="failed", severity=Severity.BAD, subject=node, next_step=step,
            text=f"Who took {node}'s CPUs is not known: {why}.",
        )  # fmt: skip


def _few(records: Sequence[Record], fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """Nodes of a class too small to say who is odd."""
    nodes = sorted({node for node, _ in totals_in(records)}, key=natural)
    kinds = classes_of(nodes, fingerprint)
    few = [node for node, kind in zip(nodes, kinds, strict=True) if kinds.count(kind) < LEAST_NODES]
    if len(nodes) < 2 or not few:
        return []
    text = (
        f"Whether {', '.join(few[:6])} lose more than their like can't be judged: there are fewer than {LEAST_NODES}."
    )
    return [Finding(kind="note", severity=Severity.INFO, subject="", text=text)]


def _untold(records: Sequence[Record]) -> Iterator[Finding]:
    """What tracing could not tell, node by node: steal, lost records, a loop that had no more room."""
    for (node, cpu), total in sorted(totals_in(records).items(), key=lambda item: (natural(item[0][0]), item[0][1])):
        said = total.said(AllTaken)
        lost, kept = said.get("lost_records", 0), said.get("trace_records", 0)
        if lost:
            text = (
                f"{node}'s CPU {cpu}: {plural(lost, 'record')} of {lost + kept:,} had no room in the ring; the time "
                "that they speak of is told as lost records."
            )
            yield Finding(kind="note", severity=Severity.WARN, subject=node, text=text)
        if said.get("stopped_early"):
            text = f"{node}'s CPU {cpu}: so many detours that the loop had no room for more, and ended early."
            yield Finding(kind="note", severity=Severity.WARN, subject=node, text=text)
        stolen, seconds = said.get("steal_seconds", 0.0), said.get("all_seconds", 0.0)
        if seconds > 0 and stolen / seconds > STOLEN:
            text = (
                f"{node}'s CPU {cpu}: by the kernel's counter the hypervisor took {show(stolen, 's')} of "
                f"{show(seconds, 's')} ({stolen / seconds:.2%}, in ticks): as much of what is unexplained is steal."
            )
            yield Finding(kind="noise", severity=Severity.INFO, subject=node, text=text)
