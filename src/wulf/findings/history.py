"""A metric over many runs: where its level changed, what else changed just there, and what that is to be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wulf.stats.series.changes import Change
from wulf.store.history import Series, Source


@dataclass(frozen=True)
class CoincidentChange:
    """A fact of a node that changed with the metric.

    Attributes
    ----------
    node
        Empty for what is no node's: wulf's own version.
    before, after
        None where the node had no such thing.
    off
        Runs after the change of the metric at which it changed; negative: before it.
    """

    node: str
    name: str
    before: Any
    after: Any
    off: int = 0


@dataclass(frozen=True)
class SeriesStep:
    """A change of a series, and the facts that changed there."""

    change: Change
    facts: tuple[CoincidentChange, ...] = ()


@dataclass(frozen=True)
class JudgedSeries:
    """A series with what is to be said of it.

    Attributes
    ----------
    doubt
        Why its changes are candidates only: the runs wander, so that some split of them looks like a step.
    """

    series: Series
    steps: tuple[SeriesStep, ...] = ()
    doubt: str | None = None

    def verdict(self, step: SeriesStep) -> str:
        """`worse`, `better`, `changed` where nobody says which way is better, `spread` where the level did not move.

        `candidate` whichever way it went, where the runs wander.
        """
        if self.doubt:
            return "candidate"
        up = step.change.direction
        if up == 0:
            return "spread"
        if not self.series.better:
            return "changed"
        return "worse" if (up > 0) == (self.series.better == "lower") else "better"

    @property
    def worse_now(self) -> bool:
        """Whether the latest segment is worse than the one before it."""
        return bool(self.steps) and self.verdict(self.steps[-1]) == "worse"

    def first_run(self, step: SeriesStep) -> Source:
        """The first run after a change."""
        return self.series.points[step.change.at].run


@dataclass(frozen=True)
class MetricHistory:
    """A metric over the runs of a directory.

    Attributes
    ----------
    told
        Every series.
    runs
        How many runs were read.
    unread, torn
        Runs that could not be read, with the reason; lines that could not be, by run.
    """

    metric: str
    told: tuple[JudgedSeries, ...]
    runs: int
    level: float
    unread: tuple[tuple[str, str], ...] = ()
    torn: tuple[tuple[str, int], ...] = ()

    @property
    def changed(self) -> list[JudgedSeries]:
        """Series with changes: those that are worse now first, then those that changed last, candidates last of all."""
        found = [told for told in self.told if told.steps]
        found.sort(key=lambda told: told.first_run(told.steps[-1]).started, reverse=True)
        return sorted(found, key=lambda told: (not told.worse_now, told.doubt is not None))

    @property
    def worse_now(self) -> list[JudgedSeries]:
        """Series whose latest segment is worse than the one before it."""
        return [told for told in self.told if told.worse_now]
