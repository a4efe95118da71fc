"""Is it as fast as it should be? Figures beside what the hardware allows, or what was published for it; pure.

A bound comes from the nodes' own facts (line rate, memory channels), from a figure of the same node (multiply-adds for
DGEMM), or from a network's file. Where a fact is missing there is no bound, and nothing is said. A bound accuses no
node: who is slower than the others is for other findings to say, and why for the verdicts.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wulf.apps.linpack.peaks import KINDS, OfPeak, core_of
from wulf.core.findings import EXPECTED, Evidence, Finding, Severity
from wulf.core.names import fold
from wulf.core.records import ENDS, Record
from wulf.core.units import show
from wulf.findings.levelled import usable
from wulf.measure.engine.probes import APP
from wulf.measure.mpi.probes import carrier
from wulf.measure.net.situation import End, Situation
from wulf.measure.node.rows import display_unit, rows_of
from wulf.model.network.file import network_names, shipped_network
from wulf.store.run import Facts

MOST_EVIDENCE = 24
"""Nodes or pairs that a finding holds the figures of: those that reach least."""

MASKED = 1.05
"""Times a bound that a processor's name gives: what is faster is not what it says it is, as in virtual machines."""

SINGLE_BYTES = 64
"""Messages up to here are short: their round trip is latency."""

ETHERNET = {
    1.25e7: "fast-ethernet", 1.25e8: "gbe", 1.25e9: "10gbe", 3.125e9: "25gbe", 5e9: "40gbe", 1.25e10: "100gbe",
    2.5e10: "200gbe", 5e10: "400gbe",
}  # fmt: skip
"""A link's bytes a second → the network of model/network/known that such adapters are known by."""

VIRTUAL_NICS = frozenset({"virtio_net", "vmxnet3", "ena", "hv_netvsc", "gve", "xen_netfront", "veth"})
"""Drivers of adapters that a hypervisor makes: what was published for hardware says nothing about them."""


@dataclass(frozen=True)
class Reached:
    """A figure beside its bound.

    Attributes
    ----------
    where
        The node or pair.
    bound
        In the figure's unit: what it can be at best, or what others reached.
    """

    where: str
    record: Record
    value: float
    bound: float
    source: str

    @property
    def unit(self) -> str:
        """As people read it."""
        return display_unit(self.record)

    @property
    def share(self) -> float:
        """Of the bound; of a time, which is better the shorter, the inverse."""
        return self.bound / self.value if self.record.unit == "s" else self.value / self.bound


@dataclass(frozen=True)
class Measured:
    """A run's records, and the facts by node and name.

    Attributes
    ----------
    rows
        Those of the node survey, by node and row.
    """

    records: Sequence[Record]
    fingerprint: Mapping[str, Facts]
    rows: Mapping[str, Mapping[str, Record]]


@dataclass(frozen=True)
class Rule:
    """One kind of bound.

    Attributes
    ----------
    what
        The figure, in words.
    least
        The share under which it is slower than it should be.
    step
        What to do then.
    """

    what: str
    least: float
    step: str
    find: Callable[[Measured], Iterator[Reached]]


def expected_findings(records: Sequence[Record], fingerprint: Mapping[str, Facts]) -> list[Finding]:
    """One for each kind of figure that has a bound: how much of it is reached, over the nodes or pairs.

    Parameters
    ----------
    fingerprint
        Facts by node and name.
    """
    measured = Measured(records, fingerprint, rows_of(records))
    found = ((rule, sorted(rule.find(measured), key=lambda one: one.share)) for rule in RULES)
    return [_finding(rule, reached) for rule, reached in found if reached]


def _finding(rule: Rule, reached: Sequence[Reached]) -> Finding:
    middle = reached[len(reached) // 2] if len(reached) % 2 else reached[len(reached) // 2 - 1]
    share = statistics.median(one.share for one in reached)
    slow = [one for one in reached if one.share < rule.least]
    over = f", the median of {len(reached):,}" if len(reached) > 1 else ""
    spread = f" ({reached[0].share:.0%} to {reached[-1].share:.0%})" if len(reached) > 1 else ""
    text = (
        f"{rule.what} is {show(middle.value, middle.unit)}{over}: {share:.0%}{spread} of "
        f"{show(middle.bound, middle.unit)}, {middle.source}."
    )
    return Finding(
        kind=EXPECTED, severity=Severity.INFO,
        subject=fold([one.where for one in slow or reached]), text=text, next_step=rule.step if slow else "",
        evidence=[
            Evidence(
                subject=one.where, metric=one.record.metric, unit=one.unit, value=one.value, low=one.record.low,
                high=one.record.high, expected=one.bound, measured=rule.what, row=one.record.row or "",
            )
            for one in reached[:MOST_EVIDENCE]
        ],
        about={"share": share, "least": rule.least, "source": middle.source, "slow": len(slow), "of": len(reached)},
    )  # fmt: skip


def _number(facts: Facts, name: str) -> float | None:
    value = facts.get(name, {}).get("value")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if value > 0 else None


def _between(measured: Measured, metric: str, pattern: str) -> Iterator[tuple[Record, float]]:
    """Each plain figure between two nodes."""
    for record in measured.records:
        if record.metric != metric or record.params.get("pattern") != pattern or len(record.nodes) != 2:
            continue
        if record.phase in ("", "pairs") and usable(record) and record.value is not None:
            yield record, record.value


def _situation(record: Record, value: float, fingerprint: Mapping[str, Facts]) -> Situation:
    """The interfaces that carried it."""
    client, server = (
        End(node, fingerprint.get(node, {}), record.counters.get(role, {}))
        for node, role in zip(record.pair, ENDS, strict=True)
    )
    pattern = record.text("pattern")
    return Situation(client, server, carrier(record), pattern, record.params, [value])


def line_rate(measured: Measured) -> Iterator[Reached]:
    """What the slower end's link leaves for data."""
    for record, value in _between(measured, "throughput", "stream"):
        situation = _situation(record, value, measured.fingerprint)
        if (speed := situation.speed) is not None:
            source = f"what {show(speed, 'B/s')} on the wire leaves for data"
            yield Reached(" → ".join(record.nodes), record, value, speed * situation.payload_share, source)


def latency(measured: Measured) -> Iterator[Reached]:
    """The round trip that was published for adapters of that speed, interrupts moderated as drivers come."""
    for record, value in _between(measured, "rtt", "pingpong"):
        size = record.params.get("bytes")
        if not isinstance(size, int) or size > SINGLE_BYTES:
            continue
        situation = _situation(record, value, measured.fingerprint)
        ends = (situation.client, situation.server)
        name = ETHERNET.get(situation.speed or 0.0)
        virtual = any(end.nic_fact("driver") in VIRTUAL_NICS or end.fact("virtualisation.guest") for end in ends)
        if name is None or virtual:
            continue
        moderated = f"{name}-moderated"
        network = shipped_network(moderated if moderated in network_names() else name)
        half = network.inter.half_round_trip
        if half is not None and situation.transport == "tcp":
            source = f"as published for {network.title} (`wulf networks show {network.name}`)"
            yield Reached(" ↔ ".join(record.nodes), record, value, 2 * half.value, source)


Bound = Callable[[Mapping[str, Record], Facts], tuple[float, str] | None]
"""Of a node's rows and facts: what one of its figures can be, and the source of that; None where it isn't known."""


def _of_nodes(measured: Measured, row: str, bound: Bound) -> Iterator[Reached]:
    """A row of the node survey beside its bound, of each node that has both."""
    for node, rows in measured.rows.items():
        value, known = _figure(rows, row), bound(rows, measured.fingerprint.get(node, {}))
        if value is not None and known is not None:
            yield Reached(node, rows[row], value, *known)


def _figure(rows: Mapping[str, Record], name: str) -> float | None:
    record = rows.get(name)
    return record.value if record is not None and usable(record) else None


def multiply_adds(measured: Measured) -> Iterator[Reached]:
    """One CPU's peak: the operations a cycle that such a core is made for, at the clock rate that was measured."""

    def bound(rows: Mapping[str, Record], facts: Facts) -> tuple[float, str] | None:
        clock, reached, core = _figure(rows, "cpu.clock"), _figure(rows, "cpu.fma.double"), core_of(facts)
        if clock is None or reached is None or core.flop is None or reached > MASKED * clock * core.flop:
            return None
        return clock * core.flop, f"{core.flop} a cycle ({core.name}) at the {show(clock, 'Hz')} measured"

    return _of_nodes(measured, "cpu.fma.double", bound)


def all_cores(measured: Measured) -> Iterator[Reached]:
    """All CPUs' peak beside one's, times the cores."""

    def bound(rows: Mapping[str, Record], facts: Facts) -> tuple[float, str] | None:
        one, cores = _figure(rows, "cpu.fma.double"), _number(facts, "cpu.cores")
        return None if one is None or cores is None else (one * cores, f"{cores:.0f} times what one core reaches alone")

    return _of_nodes(measured, "cpu.fma.double.all", bound)


def dgemm(measured: Measured) -> Iterator[Reached]:
    """The BLAS's multiplication of matrices beside the multiply-adds of the same node."""

    def bound(rows: Mapping[str, Record], _: Facts) -> tuple[float, str] | None:
        peak = _figure(rows, "cpu.fma.double.all")
        return None if peak is None else (peak, "the node's multiply-adds, measured in this run")

    return _of_nodes(measured, "cpu.dgemm.all", bound)


def memory(measured: Measured) -> Iterator[Reached]:
    """The traffic of STREAM's triad beside what all memory channels carry."""

    def bound(_: Mapping[str, Record], facts: Facts) -> tuple[float, str] | None:
        channels, speed = _number(facts, "memory.channels"), _number(facts, "memory.speed")
        if channels is None or speed is None:
            return None
        source = f"{channels:.0f} memory channels of {show(speed, 'T/s', 4)}, 8 B wide, as the firmware lists them"
        return channels * speed * 8, source

    return _of_nodes(measured, "mem.triad.all.traffic", bound)


def solving(measured: Measured) -> Iterator[Reached]:
    """HPL's rate beside the ranks' peak: by the base clock, as the Top500 prints it, else by what was measured."""
    own = [one for one in measured.records if one.probe == APP]
    for rate in own:
        if rate.unit != "flop/s" or not rate.value or not usable(rate):
            continue
        of_it = {one.metric: one for one in own if one.params == rate.params and one.subject == rate.subject}
        shares = (of_it.get(f"share.{kind}") for kind in KINDS)
        known = next((one for one in shares if one is not None and one.value), None)
        if known is not None:
            kind = known.metric.removeprefix("share.")
            peak = "measured peak" if kind == "measured" else f"peak by {kind} clock"
            of = known.said(OfPeak)
            if of["peak"]:
                yield Reached(rate.subject, rate, rate.value, of["peak"], f"the nodes' {peak}: {of.get('how', '')}")


RULES = (
    Rule("TCP's bandwidth", 0.8, "`wulf net stream` on that pair says what limits it", line_rate),
    Rule("TCP's round trip", 0.4, "`wulf audit` shows settings that cost latency, `wulf tune` what each is worth",
         latency),
    Rule("One CPU's multiply-adds", 0.45, "look at the clock rate under load, and at limits of power (`wulf audit`)",
         multiply_adds),
    Rule("All CPUs' multiply-adds", 0.7, "look at limits of power and heat, at CPU quotas, and at what else runs",
         all_cores),
    Rule("DGEMM on all CPUs", 0.7, "link a BLAS that is made for this processor: OpenBLAS, BLIS, MKL", dgemm),
    Rule("HPL's rate", 0.5, "`wulf search hpl` looks for a faster configuration, `wulf net` at what joins the ranks",
         solving),
    Rule("Memory's traffic, all CPUs", 0.6,
         "fill every channel alike, and look at the modules' speed in the BIOS (`wulf audit`)", memory),
)  # fmt: skip
"""Shares under which to look are what well-kept machines pass: STREAM reaches 70 to 90 % of its channels, DGEMM 80 to
95 % of multiply-adds, HPL 60 to 90 % of the base clock's peak, a TCP stream nearly all of its link."""
