"""A claim of wulf's statistics, held against simulated campaigns: what `wulf stats selftest` prints a row for.

A bound is missed only when the share is beyond it by more than chance explains (one-sided binomial test at 1 %), so
that a fixed seed is not luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import bdtr, bdtrc

CHANCE = 0.01


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes
    ----------
    what, stream
        What is claimed, and over which noise.
    share
        What was found, of `n` campaigns.
    bound
        At most, or at least, that much; None for a row that only shows how a naive method fails.
    """

    what: str
    stream: str
    share: float
    n: int
    bound: float | None
    at_most: bool = True

    @property
    def met(self) -> bool | None:
        """Within the bound, but for chance; None where nothing is claimed."""
        if self.bound is None:
            return None
        hits = round(self.share * self.n)
        if self.at_most:
            return bool(self.share <= self.bound or bdtrc(hits - 1, self.n, self.bound) > CHANCE)
        return bool(self.share >= self.bound or bdtr(hits, self.n, self.bound) > CHANCE)


@dataclass(frozen=True)
class Size:
    """How many campaigns: of every comparison, of every survey and design."""

    campaigns: int
    surveys: int


FULL = Size(2000, 1000)
QUICK = Size(300, 150)


class Step(Protocol):
    """One step of the self-test."""

    def __call__(self, random: np.random.Generator, *, size: Size) -> list[Claim]:
        """Simulate so many campaigns."""
