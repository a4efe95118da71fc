"""Has a node's figure left its level? Evidence that gathers test by test, for thousands of nodes at once.

A residual is the logarithm of a figure, less that of the node's own level and of what all nodes of its class did of
late. How unusual it is, is its rank among residuals of nodes that nothing is the matter with (a conformal p-value; Vovk
et al. 2005): nothing is assumed of the noise but that nodes are alike. Beyond the greatest residual seen, the p-value
falls as a tail of index `TAIL` would, heavier than any noise with a variance has. A p-value becomes evidence by
e = κ·p^(κ-1) (Vovk & Wang 2021), whose mean is at most 1 where nothing changed, and evidence is multiplied from test to
test, but never falls below 1: an e-detector of CUSUM's kind (Shin, Ramdas, Rinaldo 2023). Where nothing changes, it
takes at least c tests in the mean until the evidence is c, whatever the distribution; that is where the limit on false
alarms comes from.

Where this departs from the papers: residuals of one node share the error of its level, so that they are no independent
draws. A change of less than `Limits.least`, or of one sigma of the pool, is therefore no change, nor is one that a
standard error of the level would explain; the level is made of up to `LEVEL_OF` figures. A node that is noisier than
the others is held against its own spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from wulf.stats.diagnostics import MAD_TO_SIGMA, robust_sigma
from wulf.stats.samples import Floats, row_medians

LEVEL_FROM, LEVEL_OF = 4, 16
"""Figures from which on there is a level, and as many as it is made of at most: their median."""

LEVEL_ERROR = 1.2533
"""Standard error of a median, in sigmas of what it is of over the root of how many: √(π/2), of normal noise."""

SPREAD_FROM = 8
"""Figures of the level from which on a node's own spread counts."""

KAPPA = 0.5
"""Of the calibrator: 0.5 loses least where nothing is known of how unusual a change will look."""

TAIL = 2.0
"""Index of the tail beyond the pool: no noise with a finite variance has a heavier one."""

POOL, POOL_FROM = 1000, 8
"""Residuals that are kept, and as many as say anything."""

UNSUSPECTED = log(10.0)
"""Evidence up to which a residual joins the pool at once. Beyond, it waits: those of changed nodes would hide other
changes, and a pool without those of nodes that were only disturbed would make disturbances look like changes."""

WAITING = 8
"""Residuals that wait, at most: the newest."""

LEAST_TESTS = 3
"""Tests that an alarm takes, however much one of them stands out: what disturbed a node once is no change."""

BACK = log(100.0)
"""Evidence from which on a change is taken for mended: one that is not is opened again, and told once."""

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass
class Pool:
    """Residuals of nodes of one class that nothing is the matter with, in sigmas of their own where that is greater."""

    residuals: Floats = field(default_factory=lambda: np.empty(0))
    _ordered: Floats | None = field(default=None, repr=False)
    _sigma: float | None = field(default=None, repr=False)

    def add(self, residuals: Floats) -> None:
        """The newest, of shape (n,); the oldest beyond `POOL` are forgotten."""
        if len(residuals):
            self.residuals = np.concatenate((self.residuals, residuals))[-POOL:]
            self._ordered = self._sigma = None

    @property
    def ordered(self) -> Floats:
        """From the least to the greatest; shape (n,)."""
        if self._ordered is None:
            self._ordered = np.sort(self.residuals)
        return self._ordered

    @property
    def sigma(self) -> float:
        """Their spread, by the median of their distances from their median."""
        if self._sigma is None:
            self._sigma = robust_sigma(self.residuals) if len(self.residuals) else 0.0
        return self._sigma

    def evidence(self, residuals: Floats) -> Floats:
        """Logarithm of the evidence that each lies above the pool, in their shape; none (0) while the pool is small."""
        known = self.ordered
        if len(known) < POOL_FROM:
            return np.zeros(len(residuals))
        above = len(known) - np.searchsorted(known, residuals, side="left")
        chance = (1.0 + above) / (1.0 + len(known))
        greatest = max(known[-1], self.sigma)
        if greatest > 0:
            beyond = residuals > greatest
            chance[beyond] *= (greatest / residuals[beyond]) ** TAIL
        return np.asarray(log(KAPPA) + (KAPPA - 1.0) * np.log(chance))

    def interval(self, count: int, level_of: int, confidence: float = 0.95, draws: int = 999) -> tuple[float, float]:
        """How far the median of so many residuals may lie from the truth, by chance and by the level's own error.

        From medians of random draws of the pool; always the same ones.
        """
        if len(self.residuals) < POOL_FROM:
            return -np.inf, np.inf
        random = np.random.default_rng(0)
        own = np.median(random.choice(self.residuals, (draws, count)), axis=1)
        level = np.median(random.choice(self.residuals, (draws, level_of)), axis=1)
        low, high = np.quantile(own - level, [(1 - confidence) / 2, (1 + confidence) / 2])
        return float(low), float(high)


@dataclass
class Tracks:
    """What is known of one metric on nodes of one class; arrays over nodes, NaN where there is nothing.

    Attributes
    ----------
    first
        Logarithms of the figures that the level is made of, `LEVEL_OF` a node.
    residual
        Of the last figure, before what all nodes did is taken off.
    seen_at
        When that was, in Unix seconds.
    up, down
        Logarithms of the evidence for a rise and a fall; 0: none.
    up_since, down_since
        The last figure before that evidence began to gather.
    shifted
        Logarithm of the ratio of a change that lasts.
    back
        Logarithm of the evidence that it does not last any more.
    waiting
        Residuals that join the pool if nothing comes of the evidence, `WAITING` a node.
    """

    first: Floats
    residual: Floats
    seen_at: Floats
    up: Floats
    down: Floats
    up_since: Floats
    down_since: Floats
    shifted: Floats
    back: Floats
    waiting: Floats

    @classmethod
    def fresh(cls, nodes: int) -> Tracks:
        """Of nodes that nothing is known of."""
        made = {one.name: np.full(nodes, np.nan) for one in fields(cls)}
        made |= {name: np.zeros(nodes) for name in ("up", "down", "back")}
        made |= {"first": np.full((nodes, LEVEL_OF), np.nan), "waiting": np.full((nodes, WAITING), np.nan)}
        return cls(**made)

    def pick(self, nodes: Ints) -> Tracks:
        """The own of nodes of shape (k,), copied."""
        return Tracks(*(getattr(self, one.name)[nodes] for one in fields(self)))

    def put(self, nodes: Ints, own: Tracks) -> None:
        """Write back what `pick` took, for nodes of shape (k,)."""
        for one in fields(self):
            getattr(self, one.name)[nodes] = getattr(own, one.name)

    @property
    def counts(self) -> Ints:
        """Figures that each level is made of; shape (nodes,)."""
        return np.asarray(np.isfinite(self.first).sum(axis=1))

    def levels(self) -> tuple[Floats, Floats]:
        """Logarithm of each level, NaN where there is none, and the spread of what it is made of (0: unknown).

        Both have shape (nodes,).
        """
        counts = self.counts
        level = row_medians(self.first)
        apart = row_medians(np.abs(self.first - level[:, None]))
        spread = np.where(counts >= SPREAD_FROM, MAD_TO_SIGMA * apart, 0.0)
        return np.where(counts >= LEVEL_FROM, level, np.nan), spread


@dataclass(frozen=True)
class Limits:
    """When a change is told.

    Attributes
    ----------
    tests
        Tests of a node's metric in one direction that it takes in the mean until there is a false alarm, at least.
    least
        The least change that is looked for, as a share.
    """

    tests: float
    least: float = 0.03


@dataclass(frozen=True)
class Seen:
    """What a test of some nodes came to; arrays over them.

    Attributes
    ----------
    evidence
        What this test says for a change, as a factor: the mean of both directions', 1 where nothing can be said.
    alarm
        1 where a rise is told now, -1 a fall, 0 neither.
    mended
        Where a change that lasted is over.
    """

    evidence: Floats
    alarm: Ints
    mended: Bools


def common_shift(residuals: Floats, least: int = 5) -> float:
    """What nodes of a class did together: the median of their last residuals, of shape (nodes,).

    0 where there are too few to say.
    """
    known = residuals[np.isfinite(residuals)]
    return float(np.median(known)) if len(known) >= least else 0.0


def observe(own: Tracks, pool: Pool, figures: Floats, at: float, *, common: Floats, limits: Limits) -> Seen:
    """Take in one figure of each of some nodes, arrays of shape (nodes,); `own` and `pool` are changed.

    Parameters
    ----------
    own
        Of these nodes: each once.
    figures
        Logarithms of the figures.
    at
        Unix seconds.
    common
        For each, what the others of its class did of late: `common_shift`.
    pool
        Of their class.
    """
    level, spread = own.levels()
    known = np.isfinite(level)
    raw = figures - np.where(known, level, figures)
    residual = raw - common
    scale = np.maximum(1.0, spread / pool.sigma) if pool.sigma > 0 else np.ones(len(figures))
    error = LEVEL_ERROR / np.sqrt(np.maximum(own.counts, 1))
    bar = np.maximum(log1p(limits.least), pool.sigma * scale) + error * pool.sigma * scale
    most = log(limits.tests) / LEAST_TESTS
    rising = np.where(known, np.minimum(pool.evidence((residual - bar) / scale), most), 0.0)
    falling = np.where(known, np.minimum(_mirrored(pool, (-residual - bar) / scale), most), 0.0)
    lasts = np.isfinite(own.shifted)
    own.up, own.up_since = _gathered(own.up, own.up_since, np.where(lasts, 0.0, rising), at)
    own.down, own.down_since = _gathered(own.down, own.down_since, np.where(lasts, 0.0, falling), at)
    direction = np.where(own.up >= own.down, 1, -1)
    told = ~lasts & (np.maximum(own.up, own.down) >= log(limits.tests) - 1e-9)  # three thirds are less than one
    away = np.where(lasts, np.abs(own.shifted) - np.sign(own.shifted) * residual, 0.0)
    returned = np.where(lasts, np.minimum(pool.evidence((away - bar) / scale), BACK / LEAST_TESTS), 0.0)
    own.back = np.where(lasts, np.maximum(own.back + returned, 0.0), 0.0)
    mended = lasts & (own.back >= BACK - 1e-9)
    calm = ~lasts & (np.maximum(own.up, own.down) < UNSUSPECTED)
    _join(own, pool, residual / scale, joins=known & calm, waits=known & ~lasts & ~calm)
    grows = (own.counts < LEVEL_OF) & calm
    rows = np.flatnonzero(grows)
    own.first[rows, own.counts[rows]] = (figures - common)[rows]
    own.residual = np.where(known, raw, np.nan)
    own.seen_at = np.full(len(figures), at)
    evidence = np.where(lasts, 1.0, (np.exp(rising) + np.exp(falling)) / 2)
    return Seen(evidence, np.where(told, direction, 0), mended)


def _join(own: Tracks, pool: Pool, residuals: Floats, *, joins: Bools, waits: Bools) -> None:
    """Residuals join the pool, and those with them that waited; or they wait."""
    own.waiting[waits] = np.column_stack((own.waiting[waits][:, 1:], residuals[waits]))
    waited = own.waiting[joins]
    own.waiting[joins] = np.nan
    pool.add(np.concatenate((waited[np.isfinite(waited)], residuals[joins])))


def _mirrored(pool: Pool, residuals: Floats) -> Floats:
    """The evidence that each lies above the pool turned round: for falls."""
    return Pool(-pool.residuals, -pool.ordered[::-1], pool.sigma).evidence(residuals)


def _gathered(before: Floats, since: Floats, gained: Floats, at: float) -> tuple[Floats, Floats]:
    """The evidence after a test, and the last one before it began to gather."""
    now = np.maximum(before + gained, 0.0)
    return now, np.where(now > 0, since, at)


def shift(own: Tracks, node: int, ratio: float) -> None:
    """A change is told: it lasts from now on, until `Seen.mended`; `ratio` is its logarithm."""
    own.shifted[node], own.back[node], own.waiting[node] = ratio, 0.0, np.nan
    own.up[node] = own.down[node] = 0.0


def unshift(own: Tracks, node: int, *, accepted: bool = False) -> None:
    """A change is over; or it is accepted as what the node's level now is."""
    if accepted and np.isfinite(own.shifted[node]):
        own.first[node] += own.shifted[node]
    own.shifted[node], own.back[node] = np.nan, 0.0
    own.up[node] = own.down[node] = 0.0


def ratio_since(residuals: Sequence[float], pool: Pool, level_of: int) -> tuple[float, float, float]:
    """Logarithm of the ratio of a change, from the residuals since, with its 95 % interval."""
    middle = float(np.median(residuals))
    low, high = pool.interval(len(residuals), level_of)
    return middle, middle - high, middle - low
