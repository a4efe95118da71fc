"""How far another host's clock is from ours, from requests there and back.

Cristian's method (Distributed Computing 3, 1989): the other clock was read somewhere between asking and hearing the
answer, so that the middle is wrong by half the round trip at most. Of many exchanges the fastest tells most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """One request and its answer.

    Attributes
    ----------
    asked, heard
        Our clock's reading before asking and after hearing the answer, in seconds.
    theirs
        The other clock's reading in between, in seconds.
    """

    asked: float
    theirs: float
    heard: float

    @property
    def round_trip(self) -> float:
        """Seconds between asking and hearing."""
        return self.heard - self.asked


@dataclass(frozen=True)
class ClockOffset:
    """Another clock against ours.

    Attributes
    ----------
    offset
        Seconds that the other clock is ahead of ours.
    bound
        The offset is wrong by that many seconds at most, however unequal the two ways are.
    """

    offset: float
    bound: float

    def to_theirs(self, ours: float) -> float:
        """What the other clock shows when ours shows `ours`."""
        return ours + self.offset

    def to_ours(self, theirs: float) -> float:
        """What our clock shows when the other one shows `theirs`."""
        return theirs - self.offset


def estimate(exchanges: Iterable[Exchange]) -> ClockOffset:
    """The offset from the exchange with the least round trip; its bound is half that round trip.

    Raises
    ------
    ValueError
        No exchange at all, or one whose answer came before the question.
    """
    tried = list(exchanges)
    if not tried:
        raise ValueError("an offset needs at least one exchange")
    if any(exchange.round_trip < 0 for exchange in tried):
        raise ValueError("an answer was heard before it was asked for: was the clock set meanwhile?")
    best = min(tried, key=lambda exchange: exchange.round_trip)
    half = best.round_trip / 2
    return ClockOffset(best.theirs - (best.asked + half), half)


def overlap(windows: Iterable[tuple[float, float]]) -> float:
    """The share of the longest window during which all of them were open: 1 when they coincide, 0 when two never met.

    Parameters
    ----------
    windows
        (begin, end), in seconds of one clock.
    """
    spans = list(windows)
    if not spans:
        raise ValueError("no window at all")
    longest = max(end - begin for begin, end in spans)
    together = min(end for _, end in spans) - max(begin for begin, _ in spans)
    return max(0.0, together / longest) if longest > 0 else 1.0
