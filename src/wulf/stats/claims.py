"""A claim of wulf's statistics, held against simulated campaigns: what `wulf stats selftest` prints a row for.

A goal is met when the whole interval of the share (Clopper and Pearson's, 95 %) lies within it, or no more than two
points beyond. It is missed when the share is beyond it by more than chance explains (one-sided binomial test at one in
a thousand: hundreds of goals are looked at, and other noise is drawn whenever the code asks for it in another order).
Else it is open: more campaigns would tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv

CHANCE = 0.001

LEVEL = 0.05
"""Two-sided, of a share's interval."""

TOLERANCE = 0.02
"""How far beyond its goal an interval may end and still prove it: a test that errs in just 5 of 100 stands at its goal,
and no interval around that ends there."""


class ClaimVerdict(StrEnum):
    """What the campaigns say of a goal."""

    MET = "met"
    MISSED = "missed"
    OPEN = "open"


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
    def interval(self) -> tuple[float, float]:
        """Of the share, by Clopper and Pearson (1934)."""
        hits = self._hits
        low = float(betaincinv(hits, self.n - hits + 1, LEVEL / 2)) if hits else 0.0
        high = float(betaincinv(hits + 1, self.n - hits, 1 - LEVEL / 2)) if hits < self.n else 1.0
        return low, high

    @property
    def verdict(self) -> ClaimVerdict | None:
        """None where nothing is claimed."""
        if self.bound is None:
            return None
        low, high = self.interval
        if self.at_most:
            chance, within = bdtrc(self._hits - 1, self.n, self.bound), high <= self.bound + TOLERANCE
            beyond = self.share > self.bound
        else:
            chance, within = bdtr(self._hits, self.n, self.bound), low >= self.bound - TOLERANCE
            beyond = self.share < self.bound
        if beyond and chance <= CHANCE:
            return ClaimVerdict.MISSED
        return ClaimVerdict.MET if within else ClaimVerdict.OPEN

    @property
    def _hits(self) -> int:
        return round(self.share * self.n)


def missed(claims: Iterable[Claim]) -> list[Claim]:
    """Those whose goal is missed."""
    return [claim for claim in claims if claim.verdict is ClaimVerdict.MISSED]


@dataclass(frozen=True)
class Size:
    """How many campaigns: of every comparison, of every survey and design."""

    campaigns: int
    surveys: int


FULL = Size(2000, 1000)
QUICK = Size(300, 150)


class ClaimStep(Protocol):
    """One step of the self-test."""

    def __call__(self, random: np.random.Generator, *, size: Size) -> list[Claim]:
        """Simulate so many campaigns."""
