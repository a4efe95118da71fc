"""Ports that pass less than the others' while data waits for them, from the records of the traffic that is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from wulf.core.records import Record, passes_of
from wulf.measure.net.traffic import BUSY, CONGESTION, SENT, pair_of
from wulf.stats.cluster.blame import Blame
from wulf.stats.cluster.directed import numbered
from wulf.stats.cluster.outliers import Link
from wulf.stats.cluster.ports import Flows, narrow_ports, slowed

SPAN = 1.0
"""Seconds over which what a port passes is told: in less a burst of acknowledgements looks like a fast port."""


def flows_of(records: Iterable[Record], together: int = 1) -> Flows:
    """What pairs sent and when it waited, from the records of whole pairs; so many polls together."""
    found: dict[Link, dict[str, Mapping[int, float]]] = {}
    for one in records:
        if one.metric in (SENT, BUSY, CONGESTION):
            found.setdefault(pair_of(one), {})[one.metric] = _by_poll(one)
    pairs = {pair: own for pair, own in found.items() if own.get(SENT) and own.get(BUSY)}
    polls = 1 + max((poll for own in pairs.values() for poll in own[SENT]), default=-1)
    polls = -(-polls // together) * together
    sent, held = np.zeros((len(pairs), polls)), np.zeros((len(pairs), polls))
    for row, own in enumerate(pairs.values()):
        for poll, value in own[SENT].items():
            sent[row, poll] = value
            held[row, poll] = own[BUSY].get(poll, 0.0) * own.get(CONGESTION, {}).get(poll, 1.0)
    shape = len(pairs), polls // together, together
    sent, held = (one.reshape(shape).mean(axis=2) for one in (sent, np.minimum(held, 1.0)))
    return Flows(*numbered(pairs), sent, held)


def _by_poll(record: Record) -> Mapping[int, float]:
    return dict(zip(passes_of(record), record.samples, strict=True))


def ports_blame(records: Sequence[Record], queued: Blame, every: float) -> tuple[Blame, Blame]:
    """Ports that stand out by themselves, and nodes that do without it being clear which way; polled so often."""
    flows = flows_of(records, max(1, round(SPAN / every)))
    narrow = narrow_ports(flows)
    known = {one.subject for one in narrow.nodes}
    return narrow, Blame(nodes=tuple(one for one in slowed(flows, queued).nodes if one.subject not in known))
