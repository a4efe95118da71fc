"""What a script in cron does: a node is slow when one figure is a tenth below what it was at first."""

from __future__ import annotations

from math import log

import numpy as np

from wulf.stats.samples import Floats
from wulf.stats.series.detector import LEVEL_FROM, Limits, Pool, Seen, Tracks

SLOW, WELL = log(0.9), log(0.95)


def observe(own: Tracks, _pool: Pool, figures: Floats, at: float, *, common: Floats, limits: Limits) -> Seen:
    """As `detector.observe`, by a threshold: neither noise nor what the others do is asked."""
    del common, limits
    level, _ = own.levels()
    known, lasts = np.isfinite(level), np.isfinite(own.shifted)
    residual = np.where(known, figures - level, 0.0)
    rows = np.flatnonzero(own.counts < LEVEL_FROM)
    own.first[rows, own.counts[rows]] = figures[rows]
    slow = known & ~lasts & (residual < SLOW)
    own.down, own.down_since = np.where(slow, 1.0, 0.0), np.where(slow, own.seen_at, at)
    own.residual, own.seen_at = residual, np.full(len(figures), at)
    return Seen(np.ones(len(figures)), np.where(slow, -1, 0), lasts & (residual > WELL))
