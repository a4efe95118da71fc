"""The roofline of a node: what arithmetic can reach at an intensity, bounded by the peak and a memory's bandwidth.

P(I) = min(P_peak, B·I) with I in flop/B (Williams, Waterman and Patterson, CACM 52, 2009); beyond the ridge
I* = P_peak / B the memory no longer limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wulf.stats.estimates import Interval


@dataclass(frozen=True)
class Ceiling:
    """One memory: its name, and bytes by second."""

    name: str
    bandwidth: Interval


@dataclass(frozen=True)
class Bound:
    """What can be reached, and what bounds it: the peak, or a memory."""

    rate: Interval
    limit: str


@dataclass(frozen=True)
class Roof:
    """The peak in flop/s, and the memories below which a program may lie."""

    name: str
    peak: Interval
    ceilings: Sequence[Ceiling]

    def ridge(self, ceiling: Ceiling) -> Interval:
        """The intensity, in flop/B, from which on the peak bounds."""
        b = ceiling.bandwidth
        return Interval(self.peak.value / b.value, self.peak.low / b.high, self.peak.high / b.low)

    def attainable(self, intensity: float, ceiling: Ceiling) -> Bound:
        """P(I) for a working set in one memory.

        Both bounds are those of the parts, so that the interval covers whenever both of theirs do: at least 90 % of
        the time for two of 95 %.

        Raises
        ------
        ValueError
            The intensity is not above zero.
        """
        if not intensity > 0:
            raise ValueError(f"an intensity of {intensity:g} flop/B is not above zero")
        b = ceiling.bandwidth
        slope = Interval(b.value * intensity, b.low * intensity, b.high * intensity)
        rate = Interval(*(min(getattr(self.peak, end), getattr(slope, end)) for end in ("value", "low", "high")))
        return Bound(rate, "peak" if self.peak.value <= slope.value else ceiling.name)
