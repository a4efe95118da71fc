"""Ports that pass less than the others' while data waits for them: a rate that is capped, in the traffic that is there.

How fast one pair's data goes says little, since pairs share ports. So ports are compared: all that a node sent, or was
sent, over the time in which any of that had to wait. A port is at fault only where the other ends of its pairs were not
full themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wulf.stats.cluster.blame import Blame
from wulf.stats.cluster.directed import Directed
from wulf.stats.cluster.outliers import LEAST_RATIO, Outlier, Way, node_reach
from wulf.stats.cluster.parties import LEAST_NODES, LEAST_PARTNERS
from wulf.stats.diagnostics import robust_sigma
from wulf.stats.estimates import Estimate
from wulf.stats.samples import Floats

LEAST_HELD = 0.2
"""Share of a poll in which data must have waited for a port, for its rate to say anything."""

LEAST_POLLS = 2
"""From which a port's rate is known."""

FULL_SHARE, FULL_RATE = 0.9, 0.75
"""A port is full where data waits for it so long, and it passes so much of what the others do at best."""

LEAST_TIMES, LEAST_SIGMAS = 1.7, 3.5
"""A port stands out where it passes so many times less than the others at best, and lies so many robust standard
deviations from them: its own best poll is compared, so that no interval is to be added."""

TIMES_SLOWED = 1.5
"""A node's data goes slowly where it goes so many times slower on its better links than on those of any other."""

_TINY = 1e-9

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Flows(Directed):
    """The pairs' traffic, poll by poll.

    Attributes
    ----------
    sent
        Shape (pairs, polls): bytes a second.
    held
        Shape (pairs, polls): the share of the time in which data waited for the network.
    """

    sent: Floats
    held: Floats

    def without(self, port: int) -> Flows:
        """The pairs that don't use a port."""
        others = (self.sides != port).all(axis=1)
        return Flows(self.names, self.ends[others], self.sent[others], self.held[others])


@dataclass(frozen=True)
class Rates:
    """What ports passed while data waited for them.

    Attributes
    ----------
    rates, held
        Shape (ports, polls): bytes a second, NaN where data waited less than `LEAST_HELD`; and for how long it did.
    """

    rates: Floats
    held: Floats

    @cached_property
    def best(self) -> Floats:
        """Of each port, in its best poll; NaN where none is known. Shape (ports,)."""
        return _most(self.rates)

    @property
    def usual(self) -> float:
        """The median of the ports' best."""
        return float(np.nanmedian(self.best)) if (~np.isnan(self.best)).any() else float("nan")


def rates_of(flows: Flows) -> Rates:
    """As if pairs waited at times that know nothing of each other's."""
    held = 1.0 - np.exp(flows.over_ports(np.log(np.maximum(1.0 - flows.held, _TINY))))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Rates(np.where(held >= LEAST_HELD, flows.over_ports(flows.sent) / held, np.nan), held)


def _most(rates: Floats) -> Floats:
    most: Floats = np.where(np.isnan(rates), -np.inf, rates).max(axis=1, initial=-np.inf)
    return np.where(np.isinf(most), np.nan, most)


def narrow_ports(flows: Flows) -> Blame:
    """The ports that stand out, the one that most pairs use first; what it explains is taken out before the next."""
    found: list[Outlier] = []
    while (one := _narrowest(flows)) is not None:
        port, outlier = one
        found.append(outlier)
        flows = flows.without(port)
    return Blame(nodes=tuple(found))


def _narrowest(flows: Flows) -> tuple[int, Outlier] | None:
    known = rates_of(flows)
    usual, count = known.usual, len(flows.names)
    if len(np.unique(np.flatnonzero(~np.isnan(known.best)) % max(1, count))) < LEAST_NODES:
        return None
    full = (known.held >= FULL_SHARE) & (known.rates >= FULL_RATE * usual)
    own, best = np.where(_explained(flows, full), np.nan, known.rates), known.best
    partners = np.bincount(flows.sides[(flows.held > 0).any(axis=1)].ravel(), minlength=2 * count)
    enough = (partners >= LEAST_PARTNERS) & ((~np.isnan(own)).sum(axis=1) >= LEAST_POLLS)
    suspects = []
    for port in np.flatnonzero(enough & (best * LEAST_TIMES <= usual)).tolist():
        others = np.delete(known.best, port)
        others = others[~np.isnan(others)]
        expected = float(np.median(others))
        excess = float(np.log(expected / best[port]))
        if excess >= max(np.log(LEAST_TIMES), LEAST_SIGMAS * robust_sigma(np.log(others))):
            suspects.append((int(partners[port]), excess, port, expected))
    if not suspects:
        return None
    many, excess, port, expected = max(suspects)
    rates = own[port][~np.isnan(own[port])]
    return port, Outlier(
        flows.names[port % count], float(best[port]), float(rates.min()), float(best[port]), expected,
        float(np.exp(excess)), way=Way.SEND if port < count else Way.RECEIVE, partners=many, slower=many,
    )  # fmt: skip


def _explained(flows: Flows, full: Marks) -> Marks:
    """Shape (ports, polls): whether most of what a port's pairs sent had a full port at the other end."""
    total, explained = flows.over_ports(flows.sent), np.zeros_like(full, dtype=float)
    for place in (0, 1):
        there = full[flows.sides[:, 1 - place]]
        np.add.at(explained, flows.sides[:, place], flows.sent * there)
    return explained > total / 2


def slowed(flows: Flows, queued: Blame) -> Blame:
    """Nodes whose data waits long and goes slowly on all their links, and whose ports are not full.

    A program that waits for all its messages slows every node down to the pace of the slowest, and acknowledgements
    wait where data does: then only the node can be told, and not the way.

    Parameters
    ----------
    queued
        Who stands out in the smoothed round trip.
    """
    pairs = [(flows.names[a], flows.names[b]) for a, b in flows.ends.tolist()]
    rates = [_while_held(*own) for own in zip(flows.sent, flows.held, strict=True)]
    reach = node_reach({pair: one for pair, one in zip(pairs, rates, strict=True) if one}, lower_is_better=False)
    best = rates_of(flows).best
    found = []
    for node in (str(one.subject) for one in queued.nodes if one.subject in reach):
        own, others = reach[node], [one.value or 0.0 for name, one in reach.items() if name != node]
        partners = {name for pair in pairs if node in pair for name in pair} - {node}
        if len(partners) < LEAST_PARTNERS or len(others) < LEAST_NODES - 1 or not _far_from_full(flows, node, best):
            continue
        if own.value and own.low is not None and own.high is not None and own.value * TIMES_SLOWED <= min(others):
            expected = float(np.median(others))
            times = expected / own.value
            found.append(Outlier(node, own.value, own.low, own.high, expected, times, partners=len(partners)))
    return Blame(nodes=tuple(found))


def _while_held(sent: Floats, held: Floats) -> Estimate | None:
    """Bytes a second while a pair's data waited; of few polls the interval is all that was seen."""
    rates = [float(rate) for rate in (sent / np.maximum(held, _TINY))[held >= LEAST_HELD / 4]]
    if len(rates) < LEAST_POLLS:
        return None
    return Estimate(float(np.median(rates)), min(rates), max(rates), None, len(rates))


def _far_from_full(flows: Flows, node: str, best: Floats) -> bool:
    """Whether both of a node's ports pass clearly less than another one does."""
    ports = [flows.names.index(node), flows.names.index(node) + len(flows.names)]
    own, others = best[ports], np.delete(best, ports)
    if np.isnan(own).all() or np.isnan(others).all():
        return False
    return bool(np.nanmax(own) * LEAST_RATIO <= np.nanmax(others))
