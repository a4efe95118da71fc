"""Predictions beside runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One program at one setting: seconds as predicted, and of each run."""

    program: str
    setting: str
    predicted: float
    runs: tuple[float, ...]
    coverage: float

    @property
    def measured(self) -> float:
        return statistics.median(self.runs)

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


def ordered(rows: Sequence[Row], program: str) -> bool:
    """Whether settings whose runs are all shorter than another's are also predicted to be."""
    own = [row for row in rows if row.program == program]
    return all(one.predicted < other.predicted for one in own for other in own if max(one.runs) < min(other.runs))
