"""Layers of one exchange, and what each adds: round trips of the same loop over every transport, subtracted in blocks.

All layers are measured once a block, in random order, so that drift and whatever else happens on the machine meets all
alike; a difference is taken within each block. Pure: the differences follow from a run's records alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np

from wulf.core.records import Record, Verdict, passes_of
from wulf.measure.engine.collect import in_common
from wulf.measure.engine.probes import MPI
from wulf.measure.mpi.probes import carrier
from wulf.stats.comparison import least_visible
from wulf.stats.estimates import Estimate
from wulf.stats.ranks import signed_rank_level, signed_rank_shift
from wulf.stats.sequential import level_at
from wulf.stats.stopping import WatchRule

PHASE, METRIC = "layers", "difference"

LOOP = "null"
"""The transport over which nothing travels: the measuring loop itself, the floor of all."""

LOCAL = ("shm", "pipe", "unix", "unixgram")
"""Transports within a node, in the order in which they stand on each other; others that a probe has come after."""

NETWORK = ("udp", "tcp")
"""Transports measured on one node over its own address (loopback), and between two (wire)."""

LOOPBACK, WIRE = "loopback", "wire"

PLACEMENT, APART = "placement", "two CPUs"
"""TCP once more, with the ends on a CPU each, where they would share one: MPI's ranks poll, and hinder
each other on one CPU. It is what MPI is held against."""


def layer_name(transport: str, client: str, server: str, placement: object = "") -> str:
    """`shm`, `loopback udp`, `wire tcp`, `wire tcp, two CPUs`, `mpi`."""
    if transport not in NETWORK:
        return transport
    name = f"{LOOPBACK if client == server else WIRE} {transport}"
    return f"{name}, {placement}" if placement else name


def place(name: str) -> tuple[int, int, str]:
    """Sort key from the bottom up: the loop, what stays within a node, loopback, the wire, MPI."""
    if name == MPI:
        return 5, 0, ""
    if name.endswith(APART):
        return 4, 0, ""
    head, _, transport = name.rpartition(" ")
    if head:
        return 2 + (head == WIRE), NETWORK.index(transport), ""
    return int(name != LOOP), LOCAL.index(name) if name in LOCAL else len(LOCAL), name


@dataclass(frozen=True)
class Layer:
    """One layer: its name, and its round trip."""

    name: str
    record: Record

    @property
    def blocks(self) -> dict[int, float]:
        """Block → round trip."""
        return dict(zip(passes_of(self.record), self.record.samples, strict=True))


def _name_of(record: Record) -> str:
    client, server = record.pair
    return layer_name(carrier(record), client, server, record.params.get(PLACEMENT))


def layers_of(records: Sequence[Record]) -> list[Layer]:
    """The layers among the records, bottom up."""
    found = [Layer(_name_of(record), record) for record in records if record.metric == "rtt" and record.phase == PHASE]
    return sorted(found, key=lambda layer: place(layer.name))


def contrasts(names: Sequence[str]) -> list[tuple[str, str]]:
    """(layer, what it is held against), in a fixed order: each against the one below, then wire against loopback.

    MPI stands above TCP; within one node, where it may use shared memory instead, it is held against that, too.
    """
    below = [(upper, lower) for lower, upper in pairwise(names)]
    wires = [(f"{WIRE} {transport}", f"{LOOPBACK} {transport}") for transport in NETWORK]
    if not any(name.startswith(WIRE) for name in names):
        wires.append((MPI, "shm"))
    return below + [pair for pair in wires if set(pair) <= set(names) and pair not in below]


@dataclass(frozen=True)
class DifferenceRule:
    """How differences get their intervals: the looks that were declared, or every replicate of a watch.

    At declared looks by Wilcoxon's signed ranks at the level that the looks leave (`wulf.stats.ranks`); where a watch
    looked after every block, the median of the differences with a confidence sequence.
    """

    looks: tuple[int, ...]
    confidence: float = 0.95
    watch: bool = False

    @property
    def statistic(self) -> str:
        """What the value estimates."""
        return "median of paired differences" if self.watch else "Hodges-Lehmann estimate of paired differences"

    def estimate(self, differences: Sequence[float]) -> tuple[Estimate, float | None]:
        """The difference with its interval, and the least that would have been seen; None where there is none."""
        n = len(differences)
        if self.watch:
            found = WatchRule(confidence=self.confidence).estimate(differences)
            level = 1 - self.confidence
        else:
            level = level_at(n, self.looks, 1 - self.confidence, signed_rank_level)
            found = self._by_ranks(differences, level)
        if found.low is None or found.high is None:
            return found, None
        return found, least_visible(found.low, found.high, level, degrees=n - 1)

    def _by_ranks(self, differences: Sequence[float], level: float) -> Estimate:
        n = len(differences)
        shift = signed_rank_shift(np.asarray(differences, dtype=float), level) if level else None
        if shift is None or not isfinite(shift.high - shift.low):
            return Estimate.unresolved(n, f"the {n} blocks in common are too few for an interval")
        return Estimate(shift.value, shift.low, shift.high, self.confidence, n)


def differences(records: Sequence[Record], rule: DifferenceRule) -> list[Record]:
    """What each layer adds to the one below, and the wire to loopback, as records; layers without values are passed by.

    `seen` of a record says whether its interval lies clear of 0; if not, `least_visible` is the least difference that
    nine in ten such campaigns would have seen.
    """
    layers = {layer.name: layer for layer in layers_of(records) if layer.record.samples}
    return [_difference(layers[upper], layers[lower], rule) for upper, lower in contrasts(list(layers))]


def _difference(upper: Layer, lower: Layer, rule: DifferenceRule) -> Record:
    above, below = in_common([upper.blocks, lower.blocks])
    samples = [a - b for a, b in zip(above, below, strict=True)]
    found, visible = rule.estimate(samples)
    base = upper.record
    seen = found.low is not None and found.high is not None and not found.low <= 0 <= found.high
    return Record(
        run=base.run, subject=base.subject, probe=base.probe, metric=METRIC, unit=base.unit,
        params={name: base.params[name] for name in ("pattern", "bytes")} | {"layer": upper.name, "over": lower.name},
        value=found.value, low=found.low, high=found.high, confidence=found.confidence,
        statistic=rule.statistic if found.value is not None else None, replicates=len(samples),
        verdict=Verdict.UNRESOLVED if found.value is None else Verdict.OK, reason=found.reason, samples=samples,
        at=base.at, phase=PHASE, seen=seen, least_visible=visible,
    )  # fmt: skip
