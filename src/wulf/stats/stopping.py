"""When a cell has been measured long enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from wulf.stats.intervals import least_samples, median_interval


@dataclass(frozen=True)
class Decision:
    """Go on or not, and why."""

    stop: bool
    reason: str


class StoppingRule(Protocol):
    """Decides from one cell's replicates alone; pure, so that a run can be replayed."""

    def decide(self, samples: Sequence[float]) -> Decision:
        """Look at the replicates so far."""

    @property
    def least(self) -> int:
        """Replicates before which it never stops."""

    @property
    def most(self) -> int:
        """Replicates at which it always stops."""


@dataclass(frozen=True)
class WidthRule:
    """Stop at the first declared look at which the median's interval is as narrow as wished.

    Looks are declared beforehand, so that the number of chances to stop early is small and known; between looks
    nothing is decided.

    Parameters
    ----------
    wish
        Full width of the interval relative to the median: 0.05 is 5 %.
    confidence
        Of the interval.
    looks
        Numbers of replicates at which to look, ascending.
    """

    wish: float = 0.05
    confidence: float = 0.95
    looks: tuple[int, ...] = field(default=(6, 10, 16, 24, 40))

    def __post_init__(self) -> None:
        if not self.wish > 0:
            raise ValueError(f"wish {self.wish} must be above 0")
        if not self.looks or list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks {self.looks} must ascend")
        if self.looks[-1] < least_samples(self.confidence):
            raise ValueError(
                f"{self.looks[-1]} replicates never give a {self.confidence:.0%} interval; "
                f"{least_samples(self.confidence)} are needed"
            )

    @property
    def least(self) -> int:
        """The first look."""
        return self.looks[0]

    @property
    def most(self) -> int:
        """The last look."""
        return self.looks[-1]

    def decide(self, samples: Sequence[float]) -> Decision:
        """Stop when the interval is within the wish at a look, or at the last look."""
        n = len(samples)
        if n not in self.looks and n < self.most:
            return Decision(False, "between looks")
        width = median_interval(samples, self.confidence).width
        if width is not None and width <= self.wish:
            return Decision(True, f"interval {width:.2%} wide, within the wish of {self.wish:.2%}")
        if n >= self.most:
            shown = "none" if width is None else f"{width:.2%}"
            return Decision(True, f"interval {shown} wide after {n} replicates, wished {self.wish:.2%}")
        return Decision(False, "interval still too wide")
