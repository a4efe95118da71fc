"""A figure with its interval: one type for each thing that may be missing of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A figure and its interval, which both are there; a bound may be infinite."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PointEstimate:
    """A figure, and its interval where it has one: else the bounds are None."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> PointEstimate:
        """The same in another unit; the factor, above zero, has no error of its own here."""
        low, high = (None if bound is None else bound * factor for bound in (self.low, self.high))
        return PointEstimate(self.value * factor, low, high)

    def inverse(self, of: float = 1.0) -> PointEstimate:
        """`of` by it, which is above zero: a rate by the time it takes. The bounds change places.

        An order statistic survives the transformation, and so does its interval.
        """
        low, high = (of / bound if bound else None for bound in (self.high, self.low))
        return PointEstimate(of / self.value, low, high)


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, or the reason why there is none.

    Attributes
    ----------
    value, low, high
        In the unit of the samples; None where the samples are too few.
    confidence
        The interval's exact coverage, at least the one asked for; the nominal one where none is exact.
    n
        Number of samples.
    reason
        Why there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    confidence: float | None
    n: int
    reason: str | None = None

    @property
    def width(self) -> float | None:
        """Full width of the interval relative to the value; 0 for a constant, infinity around a zero."""
        if self.value is None or self.low is None or self.high is None:
            return None
        if self.high == self.low:
            return 0.0
        return (self.high - self.low) / abs(self.value) if self.value else float("inf")

    @staticmethod
    def unresolved(n: int, reason: str) -> Estimate:
        """Too few samples: no figure, and why."""
        return Estimate(None, None, None, None, n, reason)
