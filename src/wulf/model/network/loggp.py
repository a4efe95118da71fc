"""LogGP of a pair, as it was found: parameters, the lines that they are from, and how far off what was held out is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wulf.model.network.patterns import BOTH_WAYS, HIDES, TURNS
from wulf.stats.curves.piecewise import PiecewiseCurve, line_of, rise, steepest
from wulf.stats.estimates import Interval


@dataclass(frozen=True)
class Check:
    """A size that was held out: what the lines say, what was measured, and how far they are apart, relatively.

    At an edge, between two lines, it is not known which of them a size is on: what is predicted there is a guess.
    """

    what: str
    bytes: float
    predicted: float
    measured: Interval
    error: Interval
    at_edge: bool = False


@dataclass(frozen=True)
class LogGP:
    """The parameters, in seconds and seconds a byte; None where they can't be had, and why in `reasons`.

    Attributes
    ----------
    latency, send, receive, gap
        L; o of the sender and of the receiver, of the smallest message; g.
    overheads
        Both o(s) by bytes. Where they were measured at both ends, the mean of the ends' medians; the interval holds
        both ends' intervals.
    times, gaps
        The lines of PRTT(1, 0, s)/2, and of gap(s): a line's β is G.
    checks
        Of the sizes and patterns held out.
    hidden
        Share of an exchange that hides behind computing as long, by bytes: of messages that need no call to get on, and
        of large ones.
    in_order
        Whether requests and answers of large messages wait behind the data that were sent before them; None: not known.
    """

    latency: Interval | None
    send: Interval | None
    receive: Interval | None
    gap: Interval | None
    overheads: Mapping[float, tuple[Interval, Interval]]
    times: PiecewiseCurve
    gaps: PiecewiseCurve | None
    checks: Sequence[Check]
    reasons: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[float, Interval] = field(default_factory=dict)
    in_order: bool | None = None

    @property
    def per_byte(self) -> Interval:
        """G of large messages: the last line of the gaps, or where there are none of the times."""
        return (self.gaps or self.times).lines[-1].beta

    @property
    def eager_byte(self) -> Interval | None:
        """G of messages that are sent at once: the gaps' slope at the eager limit. None where it is G, or not told.

        A single message's time has other slopes, too: of packets that are stored before they are forwarded.
        """
        if self.eager is None or self.gaps is None:
            return None
        own = line_of(self.gaps, self.eager.value).beta
        apart = own.low > self.per_byte.high or own.high < self.per_byte.low
        return own if own.low > 0 and apart else None

    @property
    def progress(self) -> bool | None:
        """Whether large messages get on while their ends compute, without a call; None: not known.

        They do not where less than half of an exchange hides, and surely more of one that needs no call: else it is the
        node that hides nothing.
        """
        sizes = sorted(self.hidden)
        if sizes[:1] == sizes[-1:]:  # one of both is missing, or neither is there
            return None
        small, large = self.hidden[sizes[0]], self.hidden[sizes[-1]]
        if large.low >= HIDES:
            return True
        return False if large.high < min(HIDES, small.low) else None

    def missed(self, pattern: str, *, by_byte: bool = False) -> float:
        """Share of its time by which the parameters surely miss a pattern that they were not made of, at worst.

        Parameters
        ----------
        by_byte
            Of sizes whose time is mostly their bytes'; else of the others.
        """
        if pattern == BOTH_WAYS and by_byte and self.in_order:
            pattern = TURNS  # those that begin together may take turns, or not: it is no matter of G
        found = [
            max(0.0, one.error.low, -one.error.high)
            for one in self.checks
            if one.what == pattern
            and (2 * line_of(self.times, one.bytes).alpha.value < self.times.at(one.bytes)) == by_byte
        ]
        return max(found, default=0.0)

    @property
    def eager(self) -> Interval | None:
        """The largest size [B] that is sent before its receiver asks for it; None where all are.

        Rendezvous costs two more ways over the network, so that the time of a message rises there by 2L: the edge of
        the greatest rise, where it rises by L at least. The limit is the last size on the line before it; it may lie as
        low or as high as the edge did in resamples.
        """
        edge = steepest(self.times)
        if edge is None or (self.latency is not None and rise(*edge) < self.latency.value):
            return None
        last = edge[0].last
        low, high = self.edges[self.times.lines.index(edge[0])]
        return Interval(last, min(low, last), max(high, last))

    @property
    def edges(self) -> Sequence[tuple[float, float]]:
        """Between which sizes the protocol changes: eager to rendezvous is one of them."""
        return self.times.switches

    def time(self, size: float) -> float:
        """Seconds of one message of so many bytes."""
        return self.times.at(size)
