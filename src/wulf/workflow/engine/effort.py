"""How long and how well to measure."""

from __future__ import annotations

from dataclasses import dataclass

from wulf.stats.cluster.nodes import MARGIN
from wulf.stats.stopping import LOOKS
from wulf.workflow.engine.baseline import IDLE_SECONDS

QUICK_LOOKS = (6,)


@dataclass(frozen=True)
class Effort:
    """How long and how well: width of the intervals requested, seconds to spend, declared looks, or open-ended.

    `watch` ends when the interval is narrow enough, `endless` never by itself.
    """

    width: float = 0.05
    budget: float | None = None
    quick: bool = False
    watch: bool = False
    endless: bool = False
    replicates: int | None = None
    """Exactly so many, whatever their spread: as another tool does."""
    patience: tuple[int, ...] = LOOKS
    """The looks where it need not be quick."""
    margin: float = MARGIN
    """Deviations of a node from its like up to this hold nobody up, and accuse nobody."""

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of replicates at which to look."""
        if self.replicates is not None:
            return (self.replicates,)
        return QUICK_LOOKS if self.quick else self.patience

    @property
    def idle_seconds(self) -> float:
        """How long the nodes' background is counted, before and after; not at all when it is to be quick."""
        return 0.0 if self.quick else IDLE_SECONDS
