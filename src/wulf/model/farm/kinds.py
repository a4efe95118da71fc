"""Units of several lengths in a farm: what their unevenness costs beside equal units of as much work.

The master deals batches out in their order, whoever is ready gets the next: list scheduling (Graham, Bounds on
multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 1969). What is lost is what the others wait for the last
worker, at most the longest batch, or as many of them as a worker holds. Messages take no time here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats

DRAWS = 100

LONG = 50
"""Batches a worker: in longer runs the end loses no more."""

MOST_KINDS = 16

LONGEST = 1e6


@dataclass(frozen=True)
class Kinds:
    """Kinds of unit.

    Attributes
    ----------
    lengths
        Of each kind; their mean, by shares, is 1.
    shares
        Of each kind; together 1.
    """

    lengths: tuple[float, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, text: str) -> Kinds:
        """`1:0.5,10:0.5`: relative lengths and shares.

        Raises
        ------
        ValueError
            It is no such list.
        """
        parts = [part.split(":") for part in text.split(",")]
        if any(len(part) != 2 for part in parts):
            raise ValueError(f"{text!r} is no list of lengths and shares such as 1:0.5,10:0.5")
        lengths, shares = (np.array([float(part[end]) for part in parts]) for end in (0, 1))
        for each in (*lengths, *shares):
            if not 0 < each <= LONGEST:
                raise ValueError(f"{each:g} in {text!r} is not above 0, and at most {LONGEST:g}")
        if len(parts) > MOST_KINDS:
            raise ValueError(f"there are at most {MOST_KINDS} kinds, and {text!r} has {len(parts)}")
        shares = shares / shares.sum()
        return cls(tuple(lengths / float(lengths @ shares)), tuple(shares))

    def drawn(self, units: int, random: np.random.Generator) -> Floats:
        """The lengths of so many units; shape (units,)."""
        return random.choice(self.lengths, size=units, p=self.shares)


def makespan(batches: Iterable[float], workers: int, depth: int) -> float:
    """When the last worker has done its last batch.

    Parameters
    ----------
    batches
        Their lengths, in the order in which they are dealt out.
    depth
        Batches that a worker holds: the one in work, and those behind it.
    """
    deck = deque(batches)
    held = [deque(deck.popleft() for _ in range(min(depth, len(deck)))) for _ in range(workers)]
    working = [(own.popleft(), worker) for worker, own in enumerate(held) if own]
    heapify(working)
    end = 0.0
    while working:
        end, worker = heappop(working)
        if deck:
            held[worker].append(deck.popleft())
        if held[worker]:
            heappush(working, (end + held[worker].popleft(), worker))
    return end


def lost(kinds: Kinds, *, workers: int, batch: int, units: int, depth: int, seed: int = 0) -> Interval:
    """What a run takes longer than one of equal units and as much work, in mean units' times: mean, and 95 % of draws.

    Parameters
    ----------
    batch, units, depth
        Units a message, units of the run, batches that a worker holds.
    """
    random = np.random.default_rng(seed)
    few = min(units, LONG * workers * batch)
    edges = np.arange(0, few, batch)
    equal = makespan(np.add.reduceat(np.ones(few), edges), workers, depth)
    more = []
    for _ in range(DRAWS):
        lengths = kinds.drawn(few, random)
        more.append(makespan(np.add.reduceat(lengths, edges), workers, depth) / float(lengths.mean()) - equal)
    low, high = np.quantile(more, [0.025, 0.975])
    return Interval(float(np.mean(more)), float(low), float(high))
