"""One cell while it is measured: its replicates so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from wulf.measure.engine.collect import add_counters, by_block
from wulf.measure.engine.plan import Cell


@dataclass
class CellState:
    """A cell's replicates, those that failed included."""

    cell: Cell
    replicates: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0
    forgiven: int = 0
    """Of those that failed: before the run was resumed. What failed then gets as many attempts as anything new."""
    settled: bool = False
    """Whether it could have ended when it was last looked at; of a cell that waits for others."""

    def restore(self, replicates: Iterable[Mapping[str, Any]], *, slim: bool) -> None:
        """Take in what an earlier turn of the run has measured."""
        for replicate in replicates:
            self.take(dict(replicate), slim=slim)
        self.forgiven = self.failed

    @property
    def failed_now(self) -> int:
        """Replicates that failed since the run began, or was resumed."""
        return self.failed - self.forgiven

    @property
    def good(self) -> int:
        """Replicates that were answered."""
        return len(self.replicates) - self.failed

    @property
    def values(self) -> dict[int, float]:
        """Block → the primary metric's value."""
        return by_block(self.cell.metrics[0].name, self.replicates)

    def take(self, replicate: dict[str, Any], *, slim: bool) -> None:
        """Keep a replicate.

        Parameters
        ----------
        slim
            Keep its counters in the sum alone, in the first replicate: nobody knows how many there will be, and the
            counters are most of it.
        """
        self.failed += not replicate["ok"]
        if slim and replicate["ok"]:
            first = next((kept for kept in self.replicates if kept["ok"]), None)
            if first is None:
                replicate = replicate | {"counters": deepcopy(replicate["counters"] or {})}
            else:
                add_counters(first["counters"], replicate["counters"] or {})
                replicate = replicate | {"counters": {}, "info": first.get("info")}
        self.replicates.append(replicate)
