"""When a cell has been measured long enough, and the interval that its median then has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from wulf.stats.diagnostics import CAUTION, DEPENDENCE_LEAST, cold_start, dependence, drift, effective_size, modes
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import last_rank, least_samples
from wulf.stats.samples import Floats, checked, ordered_median
from wulf.stats.sequential import level_at, sequence_ranks

LOOKS = (8, 11, 16, 24)
"""Replicates at which to look. Six have a 95 % interval by themselves, but none that allows for a second look."""

HINT = 0.3
"""A cell does not end early while its replicates seem to depend on each other at this p; at the last look it may.

Eight replicates hardly show it, so that to be taken for independent asks for more than a test passed.
"""

WIDENED = 24
"""From so many replicates on, widening makes up for what depends, and a hint holds nobody up."""


@dataclass(frozen=True)
class Decision:
    """Go on or not, and why."""

    stop: bool
    reason: str


class StoppingRule(Protocol):
    """Decides from one cell's replicates alone; pure, so that a run can be replayed."""

    def decide(self, samples: Sequence[float]) -> Decision:
        """Look at the replicates so far."""

    def estimate(self, samples: Sequence[float]) -> Estimate:
        """The median with an interval that allows for every look that the rule took."""

    @property
    def least(self) -> int:
        """Replicates before which it never stops."""

    @property
    def most(self) -> int | None:
        """Replicates at which it always stops; None: it never has to."""


def flags(samples: ArrayLike) -> dict[str, str]:
    """What is odd about a cell's replicates, in the order measured: name → words. Too few show nothing. Shape (n,).

    `drift` and `cold` say that the machine was not at rest; `modes` that it was in two states, for which one figure
    does not stand; `dependent` that the interval was widened.
    """
    values = checked(samples)
    found, shape = _unsettled(values), modes(values)
    if shape.flagged:
        found["modes"] = f"has two modes (dip test p {shape.p:.2g}): two states were measured"
    effective = effective_size(values)
    if dependence(values).flagged and effective < values.size / 2:
        found["dependent"] = f"depends on its predecessors: {values.size} replicates amount to {effective:.0f}"
    return found


def _unsettled(values: Floats) -> dict[str, str]:
    """The `flags` that say that the machine was not at rest."""
    found = {}
    trend, first = drift(values), cold_start(values)
    if trend.flagged:
        found["drift"] = f"drifts by {trend.change:+.1%} from first to last (Mann-Kendall p {trend.p:.2g})"
    if first:
        found["cold"] = f"the first {first} of {values.size} lie far from the rest: not warmed up"
    return found


def unsettled_by(odd: Mapping[str, str]) -> str | None:
    """Of `flags`: why the machine was not at rest while it was measured, or None."""
    return odd.get("drift") or odd.get("cold")


def _within(requested: float, found: Estimate, samples: Sequence[float]) -> Decision:
    """Stop if the interval is narrow enough and the machine was at rest."""
    width = found.width
    if width is None:
        return Decision(False, found.reason or "no interval yet")
    if width > requested:
        return Decision(False, f"interval {width:.2%} wide, requested {requested:.2%}")
    unsettled = unsettled_by(_unsettled(checked(samples))) or found.reason
    if unsettled:
        return Decision(False, unsettled)
    return Decision(True, f"interval {width:.2%} wide, within the {requested:.2%} requested")


def resolution(samples: ArrayLike, known: float = 0.0) -> float:
    """The step of a clock, or of the last digit printed, in the samples' unit: known, or as they show it.

    Where some are equal, the least gap between those that are not. Where all are, they show none: it may be a count.

    Samples have shape (n,).
    """
    return _step_of(np.sort(checked(samples)), known)


def _step_of(ordered: Floats, known: float) -> float:
    """The `resolution` of samples that are sorted already."""
    gaps = np.diff(ordered)
    unlike = gaps > 0
    if unlike.all() or not unlike.any():
        return known
    return max(known, float(gaps[unlike].min()))


def settled_median(samples: ArrayLike, confidence: float = 0.95, step: float = 0.0) -> Estimate:
    """The median with its order-statistic interval, widened where the samples seem to depend on their predecessors.

    The ranks' distance from the middle grows by √(n / effective n): the count of samples below the median has that
    much more variance (as for an AR(1) series). From eight samples on; fewer say nothing of how they depend. Where
    they do depend, and even the extremes are too near, the reason says so. Either end lies farther out by the
    `resolution`: a time of 20.3 ticks may read 20 eight times in a row, and is not 20.

    Samples have shape (n,), in the order measured.

    Parameters
    ----------
    step
        Of the clock, where it is known.

    Raises
    ------
    ValueError
        A sample is not finite, or the confidence is outside (0, 1).
    """
    values = checked(samples)
    n = int(values.size)
    needed = least_samples(confidence)
    if n < needed:
        return Estimate.unresolved(
            n, f"{n} replicates are too few for a {confidence:.0%} interval of the median: {needed} are needed"
        )
    effective = effective_size(values, CAUTION) if n >= DEPENDENCE_LEAST else float(n)
    middle = (n + 1) / 2
    rank = floor(middle - (middle - last_rank(n, 0.5, (1 - confidence) / 2)) * sqrt(n / effective) + 0.5)
    ordered = np.sort(values)
    value, step = ordered_median(ordered), _step_of(ordered, step)
    if rank < 1 and dependence(values).flagged:
        covered = max(0.0, 1 - 2 ** (1 - effective))
        reason = f"each depends on the one before: {n} replicates amount to {effective:.1f}, too few for an interval"
        return Estimate(value, float(ordered[0]) - step, float(ordered[-1]) + step, covered, n, reason)
    rank = max(rank, 1)
    covered = 1 - 2 * float(bdtr(rank - 1, n, 0.5)) if effective == n else confidence
    return Estimate(value, float(ordered[rank - 1]) - step, float(ordered[n - rank]) + step, covered, n)


def _median_level(n: int, level: float) -> float:
    """The greatest error not above `level` that the median's interval from n samples can have."""
    rank = last_rank(n, 0.5, level / 2)
    return 2 * float(bdtr(rank - 1, n, 0.5)) if rank else 0.0


GROWTH, MOST_LOOKS = 1.5, 16
"""Looks beyond the last planned one: each so many times the replicates of the one before, and how many of them."""


def further_looks(last: int) -> tuple[int, ...]:
    """Where a cell that is still too wide is looked at while there is time: 24 → 36, 54, 81, 121 …"""
    return tuple(floor(last * GROWTH**k) for k in range(1, MOST_LOOKS + 1))


@dataclass(frozen=True)
class WidthRule:
    """Stop at the first declared look at which the interval is as narrow as requested and the machine at rest.

    Looks are declared beforehand, and the error is spent over them (Pocock-like), so that a cell that stops early
    because its interval happens to be narrow is still covered; between looks nothing is decided.

    Parameters
    ----------
    width
        Full width of the interval relative to the median: 0.05 is 5 %.
    confidence
        Of the interval, all looks together.
    looks
        Numbers of replicates at which to look, ascending.
    beyond
        Looks after these, for as long as there is time: a share of the error is kept for them from the beginning.
    step
        Of the clock, in the samples' unit, where it is known: part of the interval.
    """

    width: float = 0.05
    confidence: float = 0.95
    looks: tuple[int, ...] = field(default=LOOKS)
    beyond: tuple[int, ...] = ()
    step: float = 0.0

    def __post_init__(self) -> None:
        if not self.width > 0:
            raise ValueError(f"width {self.width} must be above 0")
        if not self.looks or list(self.all_looks) != sorted(set(self.all_looks)):
            raise ValueError(f"looks {self.all_looks} must ascend")
        needed = least_samples(self.confidence)
        if self.looks[-1] < needed:
            raise ValueError(
                f"{self.looks[-1]} replicates never give a {self.confidence:.0%} interval; {needed} are needed"
            )

    @property
    def all_looks(self) -> tuple[int, ...]:
        """Those planned, and those beyond."""
        return self.looks + self.beyond

    @property
    def least(self) -> int:
        """The first look."""
        return self.looks[0]

    @property
    def most(self) -> int:
        """The last look."""
        return self.all_looks[-1]

    def estimate(self, samples: Sequence[float]) -> Estimate:
        """At a look, or where measuring was cut short between two."""
        n = len(samples)
        planned = self.looks[-1] if self.beyond else None
        level = level_at(n, self.all_looks, 1 - self.confidence, _median_level, planned)
        found = settled_median(samples, 1 - level if level else self.confidence, self.step)
        if not level and found.value is not None:
            return Estimate.unresolved(
                n, f"{n} replicates are too few for an interval that allows for {self.looks} looks"
            )
        return found

    def decide(self, samples: Sequence[float]) -> Decision:
        """Stop when the interval is as narrow as requested at a look and nothing drifts, or at the last look.

        Before the last, and while there are few, a hint that replicates depend on each other is enough to go on.
        """
        n = len(samples)
        if n not in self.all_looks and n < self.most:
            return Decision(False, "between looks")
        decision = _within(self.width, self.estimate(samples), samples)
        if n >= self.most and not decision.stop:
            return Decision(True, f"{decision.reason} after {n} replicates, the most")
        if decision.stop and n < min(self.most, WIDENED) and dependence(samples).p <= HINT:
            return Decision(False, f"the {n} replicates so far may depend on each other")
        return decision


@dataclass(frozen=True)
class FixedRule:
    """So many replicates and no more, too few for an interval: the median alone, and why it has none."""

    replicates: int
    confidence: float = 0.95

    @property
    def least(self) -> int:
        """As many as there are to be."""
        return self.replicates

    @property
    def most(self) -> int:
        """As many as there are to be."""
        return self.replicates

    def estimate(self, samples: Sequence[float]) -> Estimate:
        """The median, without an interval."""
        values = checked(samples)
        needed = least_samples(self.confidence)
        reason = f"{values.size} replicates are too few for a {self.confidence:.0%} interval: {needed} are needed"
        if not values.size:
            return Estimate.unresolved(0, reason)
        return Estimate(float(np.median(values)), None, None, None, int(values.size), reason)

    def decide(self, samples: Sequence[float]) -> Decision:
        """Stop at that number."""
        return Decision(len(samples) >= self.replicates, f"{len(samples)} of {self.replicates} replicates")


@dataclass(frozen=True)
class WatchRule:
    """Look after every replicate, for as long as it takes: the interval is a confidence sequence.

    It covers the median at all times at once, so that nobody has to declare beforehand when to look.
    """

    width: float = 0.05
    confidence: float = 0.95
    step: float = 0.0

    def __post_init__(self) -> None:
        if not self.width > 0:
            raise ValueError(f"width {self.width} must be above 0")

    @property
    def least(self) -> int:
        """The first number of replicates that has an interval."""
        return next(n for n in range(2, 10_000) if sequence_ranks(n, 0.5, self.confidence))

    @property
    def most(self) -> None:
        """It never has to stop."""

    def estimate(self, samples: Sequence[float]) -> Estimate:
        """The median with the confidence sequence's interval, of so many samples as they amount to."""
        values = checked(samples)
        n = int(values.size)
        if not n or sequence_ranks(n, 0.5, self.confidence) is None:
            return Estimate.unresolved(
                n, f"{n} replicates are too few for a confidence sequence: {self.least} are needed"
            )
        effective = floor(effective_size(values, CAUTION)) if n >= DEPENDENCE_LEAST else n
        ranks = sequence_ranks(effective, 0.5, self.confidence)
        ordered = np.sort(values)
        value, step = ordered_median(ordered), _step_of(ordered, self.step)
        if ranks is None:
            covered = max(0.0, 1 - 2.0 ** (1 - effective))
            reason = f"each depends on the one before: {n} replicates amount to {effective}, too few for a sequence"
            return Estimate(value, float(ordered[0]) - step, float(ordered[-1]) + step, covered, n, reason)
        rank = max(1, floor((ranks[0] - 0.5) / effective * n + 0.5))
        return Estimate(value, float(ordered[rank - 1]) - step, float(ordered[n - rank]) + step, self.confidence, n)

    def decide(self, samples: Sequence[float]) -> Decision:
        """Stop when the interval is as narrow as requested and nothing drifts."""
        return _within(self.width, self.estimate(samples), samples)
