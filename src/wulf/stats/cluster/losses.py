"""Whose path loses, and not a queue that is full: from what pairs of nodes had to send again, poll by poll.

A queue that overflows loses in bursts, each at the end of a rise of the round trip, and TCP fills it until it does. A
path at fault loses now and then, whatever waits, and never lets TCP fill a queue. So losses are counted in two ways:

- **By event**, not by segment: all that one poll lost is one, as TFRC counts what is lost within a round trip (RFC
  5348), and only where the round trip was well below what it comes to when queues are full. Healthy paths have few.
- **By what lasts**, the share lost in the quieter half of the polls: where a path loses in each poll, events say
  little.

Senders' ports, receivers' ports and pairs are held against all others together. A port's counts are those of all its
pairs: each of these may have too few to say anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from wulf.stats.cluster.blame import Blame
from wulf.stats.cluster.directed import Directed
from wulf.stats.cluster.outliers import Outlier, Way
from wulf.stats.cluster.parties import LEAST_NODES, LEAST_PARTNERS
from wulf.stats.samples import Floats
from wulf.stats.shares import CONFIDENCE, lasting_share

SHORT = 0.5
"""A queue is short where the round trip, before and after, is below such a share of the longest through its ports, or
of the median of all ports' longest."""

MOSTLY = 0.5
"""Where a smaller share of all segments is sent with short queues, nothing fills them, and all polls count."""

LEAST_SHORT, LEAST_SEGMENTS = 300, 500
"""Segments of a pair below which its events say nothing; and of a party, its lasting share."""

RECOVERY = 0.08
"""A poll that loses more than such a share, and follows one with losses, tells of the same event: TCP takes long to
recover from a burst."""

USUAL_EVENTS, USUAL_SHARE = 0.0005, 0.0003
"""For each segment: what no path is free of. TCP sends again what is only late, too."""

TIMES_EVENTS, TIMES_SHARE = 2.5, 5.0
"""A path is at fault where it loses, for sure, so many times as often as the others together."""

TIMES_WITHOUT = 1.5
"""A port is, and not a single pair of it, where its pairs without the worst lose so many times as often."""

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Losses(Directed):
    """What pairs sent again, poll by poll.

    Attributes
    ----------
    again, segments
        Shape (pairs, polls): segments sent again, and all that were sent; 0 where a poll has nothing of a pair.
    trips
        Shape (pairs, polls): the smoothed round trip at the end of each poll [s]; NaN where it is not known.
    """

    again: Floats
    segments: Floats
    trips: Floats

    def over_parties(self, values: Floats) -> Floats:
        """Sums over each port's pairs, and below them the pairs' own; shape (ports and pairs, …)."""
        return np.concatenate([self.over_ports(values), values])

    def of(self, pairs: Marks) -> Losses:
        """With what some pairs did alone; the others did nothing."""
        again, segments = (np.where(pairs[:, None], one, 0.0) for one in (self.again, self.segments))
        return replace(self, again=again, segments=segments)

    def short_queues(self) -> Marks:
        """Shape (pairs, polls): where something was sent, and queues were short before and after."""
        known = np.nan_to_num(self.trips)
        longest = np.zeros(2 * len(self.names))
        for place in (0, 1):
            np.maximum.at(longest, self.sides[:, place], known.max(axis=1, initial=0.0))
        usual = np.median(longest[longest > 0]) if longest.any() else 0.0
        before = np.concatenate([known[:, :1], known[:, :-1]], axis=1)
        limit = SHORT * np.maximum(longest[self.sides].max(axis=1), usual)
        short = (np.maximum(before, known) < limit[:, None]) & ~np.isnan(self.trips)
        if np.where(short, self.segments, 0.0).sum() < MOSTLY * self.segments.sum():
            short = np.ones_like(short)
        found: Marks = short & (self.segments > 0)
        return found


def lossy(losses: Losses) -> Blame:
    """The ports and pairs whose path loses, the clearest first; what one explains is taken out before the next."""
    short = losses.short_queues()
    nodes: list[Outlier] = []
    links: list[Outlier] = []
    while (found := _lossiest(losses, short)) is not None:
        outlier, explained = found
        (nodes if isinstance(outlier.subject, str) else links).append(outlier)
        losses = losses.of(~explained)
    return Blame(nodes=tuple(nodes), links=tuple(links))


@dataclass(frozen=True)
class _Counts:
    """Of every party what it lost, of how much, and what all lost together of how much; all in one way of counting.

    Attributes
    ----------
    lost, least, of
        Shape (parties,): what was lost, at least, and of how many segments. `lost` is 0 where they are too few.
    total
        Shape (parties,): all that was lost, of which `lost` may be what lasts.
    all_lost, all_of
        Of all pairs, as `total` and `of`.
    floor
        What no path is free of, for each segment.
    """

    lost: Floats
    least: Floats
    of: Floats
    total: Floats
    all_lost: float
    all_of: float
    floor: float

    @cached_property
    def usual(self) -> Floats:
        """What the others lose for each segment."""
        others = np.maximum(self.all_of - self.of, 1.0)
        return np.maximum((self.all_lost - self.total) / others, self.floor)

    @property
    def gain(self) -> Floats:
        """Poisson's log likelihood ratio of its own rate to the others'."""
        expected = np.maximum(self.usual * self.of, 1e-9)
        more = np.maximum(self.lost, expected)
        found: Floats = more * np.log(more / expected) - (more - expected)
        return found

    def times(self) -> Floats:
        """How many times as often as the others it loses, at least."""
        return self.least / np.maximum(self.of, 1.0) / self.usual


def _at_least(events: Floats, looks: int = 1) -> Floats:
    """The lower end of Poisson's exact interval, each of so many looks to be right."""
    tail = (1 - CONFIDENCE) / 2 / looks
    return np.where(events > 0, gammaincinv(np.maximum(events, 0.5), tail), 0.0)


def _by_event(losses: Losses, short: Marks) -> _Counts:
    segments = np.where(short, losses.segments, 0.0)
    enough = segments.sum(axis=1) >= LEAST_SHORT
    segments = np.where(enough, segments.sum(axis=1), 0.0)
    lost = losses.again > 0
    after = np.concatenate([np.zeros_like(lost[:, :1]), lost[:, :-1]], axis=1)
    events = np.where(enough, (short & lost & ~(after & (losses.again > RECOVERY * losses.segments))).sum(axis=1), 0.0)
    own, of = losses.over_parties(events), losses.over_parties(segments)
    return _Counts(own, _at_least(own), of, own, float(events.sum()), float(segments.sum()), USUAL_EVENTS)


def _by_what_lasts(losses: Losses) -> _Counts:
    again, sent = losses.over_parties(losses.again), losses.over_parties(losses.segments)
    total, of = again.sum(axis=1), sent.sum(axis=1)
    counts = _Counts(total, total, of, total, float(losses.again.sum()), float(losses.segments.sum()), USUAL_SHARE)
    lost = np.zeros(len(of))
    for party in np.flatnonzero((of >= LEAST_SEGMENTS) & (counts.times() >= TIMES_WITHOUT)).tolist():  # others can't be
        lost[party] = lasting_share(again[party], sent[party]) * of[party]
    return replace(counts, lost=lost, least=lost)


def _lossiest(losses: Losses, short: Marks) -> tuple[Outlier, Marks] | None:
    """What explains most, and the pairs that it explains."""
    used = losses.segments.any(axis=1)
    if len(np.unique(losses.ends[used])) < LEAST_NODES or not losses.again.any():
        return None
    events, lasting = _by_event(losses, short), _by_what_lasts(losses)
    looks = int(2 * len(losses.names) + used.sum())
    surely = _at_least(events.lost, looks) / np.maximum(events.of, 1.0) >= events.usual
    ways = ((events, surely & (events.times() >= TIMES_EVENTS)), (lasting, lasting.times() >= TIMES_SHARE))
    gain = np.maximum(*(np.where(clear, counts.gain, 0.0) for counts, clear in ways))
    for party in np.argsort(-gain, kind="stable").tolist():
        if gain[party] <= 0:
            return None
        own = _pairs_of(losses, party) & used
        counts = next(counts for counts, clear in ways if clear[party])
        if party >= 2 * len(losses.names) or _together(losses, short, counts, party, own):
            return _outlier(losses, counts, party, own), own
    return None


def _pairs_of(losses: Losses, party: int) -> Marks:
    ports = 2 * len(losses.names)
    found: Marks = (
        (losses.sides == party).any(axis=1) if party < ports else np.arange(len(losses.ends)) == party - ports
    )
    return found


def _together(losses: Losses, short: Marks, counts: _Counts, port: int, own: Marks) -> bool:
    """Whether a port's pairs lose alike, so far as that can be seen: without the worst the others still do."""
    pairs = np.flatnonzero(own)
    if len(pairs) < LEAST_PARTNERS:
        return False
    worst = pairs[np.argmax(counts.gain[pairs + 2 * len(losses.names)])]
    rest = losses.of(own & (np.arange(len(own)) != worst))
    usual = counts.usual[port]
    without = (_by_event(rest, short), _by_what_lasts(rest))
    return any(one.least[port] >= TIMES_WITHOUT * max(usual, one.floor) * one.of[port] > 0 for one in without)


def _outlier(losses: Losses, counts: _Counts, party: int, own: Marks) -> Outlier:
    lost, of, usual = (float(one[party]) for one in (counts.lost, counts.of, counts.usual))
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(gammaincinv(*ends)) / of for ends in ((max(lost, 0.5), tail), (lost + 1, 1 - tail)))
    value, size = lost / of, len(losses.names)
    if party >= 2 * size:
        sender, receiver = (losses.names[end] for end in losses.ends[np.flatnonzero(own)[0]])
        return Outlier((sender, receiver), value, low, high, usual, value / usual, way=Way.SEND)
    way, many = Way.SEND if party < size else Way.RECEIVE, int(own.sum())
    return Outlier(
        losses.names[party % size], value, low, high, usual, value / usual, way=way, partners=many, slower=many
    )
