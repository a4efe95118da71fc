"""Measured times over workers, and what is known of their noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wulf.stats.samples import Floats, logs

LEAST_SPREAD = 1e-6
"""Relative; a clock that shows no noise at all must not make one point outweigh all others."""

LEAST_REPLICATE_DOF = 3
"""Runs beyond the first, of all numbers of workers: with fewer, residuals of the fit say more about the noise."""

RESAMPLE_DOF = 10
"""With fewer, noise is drawn from a normal distribution rather than from the few residuals."""

PRIOR_DOF = 4
"""Where the spreads differ, each one's own counts beside the common one as beside so many replicates."""

UNEVEN_LEVEL = 0.01
"""Of the test whether they differ (Brown & Forsythe 1974)."""


@dataclass(frozen=True)
class Noise:
    """What one run's time varies by, relative to its mean.

    Attributes
    ----------
    spread
        Standard deviation of a single run, shape (points,).
    dof
        Degrees of freedom behind it.
    residuals
        Standardised, to be drawn from; empty where they are too few.
    source
        `replicates` or `residuals`.
    """

    spread: Floats
    dof: int
    residuals: Floats
    source: str

    def draw(self, random: np.random.Generator, counts: Floats, draws: int) -> Floats:
        """Relative errors of the means, shape (draws, points), as wide as Student's t: the spread is itself uncertain.

        Single runs are drawn from the residuals (bootstrap), or from a normal distribution where those are few.
        """
        if self.residuals.size:
            drawn = [random.choice(self.residuals, (draws, int(count))).mean(axis=1) for count in counts]
            errors = np.stack(drawn, axis=1)
        else:
            errors = random.normal(size=(draws, counts.size)) / np.sqrt(counts)
        scale = np.sqrt(self.dof / random.chisquare(self.dof, size=(draws, 1)))
        result: Floats = errors * scale * self.spread
        return result


@dataclass(frozen=True)
class Times:
    """Runs over numbers of workers.

    Attributes
    ----------
    workers, means, counts
        Shape (points,), by number of workers: seconds' arithmetic means, and how many runs are behind each.
    noise
        From repeated runs; None where there are too few of them.
    uneven
        Whether the relative spread differs between numbers of workers.
    """

    workers: Floats
    means: Floats
    counts: Floats
    noise: Noise | None
    uneven: bool = False

    @property
    def errors(self) -> Floats:
        """What one standard error of each mean is, relatively; 1/√count where the noise is not known.

        Shape (points,).
        """
        spread = np.ones_like(self.means) if self.noise is None else self.noise.spread
        result: Floats = spread / np.sqrt(self.counts)
        return result


def gather(replicates: Mapping[float, ArrayLike]) -> Times:
    """Runs by number of workers. Seconds have shape (runs,), which may differ between numbers of workers.

    Parameters
    ----------
    replicates
        Workers → seconds of each run, all above zero.

    Raises
    ------
    ValueError
        A number of workers is below 1; a time is not above zero, or not finite; there is no run at all.
    """
    workers = np.array(sorted(replicates), dtype=float)
    samples = [np.exp(logs(replicates[n])) for n in workers]
    if not workers.size:
        raise ValueError("there is no run")
    if not np.isfinite(workers).all() or workers[0] < 1:
        raise ValueError(f"{workers[0]:g} workers: there must be at least 1")
    empty = [f"{n:g}" for n, values in zip(workers, samples, strict=True) if not values.size]
    if empty:
        raise ValueError(f"{empty[0]} workers: no run")
    means = np.array([values.mean() for values in samples])
    counts = np.array([values.size for values in samples], dtype=float)
    noise, uneven = _noise(samples, means, counts)
    return Times(workers, means, counts, noise, uneven)


def _noise(samples: Sequence[Floats], means: Floats, counts: Floats) -> tuple[Noise | None, bool]:
    """Relative spreads: one for all, or each its own, shrunk to the common one, where they differ."""
    dof = int((counts - 1).sum())
    if dof < LEAST_REPLICATE_DOF:
        return None, False
    relative = [values / mean - 1 for values, mean in zip(samples, means, strict=True)]
    squares = np.array([(r**2).sum() for r in relative])
    common = squares.sum() / dof
    uneven = _uneven(relative)
    variances = (PRIOR_DOF * common + squares) / (PRIOR_DOF + counts - 1) if uneven else np.full(means.size, common)
    spread = np.maximum(np.sqrt(variances), LEAST_SPREAD)
    # A mean of n runs is n/(n-1) times nearer to them than the truth is.
    scaled = [r / s * (n / (n - 1)) ** 0.5 for r, s, n in zip(relative, spread, counts, strict=True) if n > 1]
    residuals = np.concatenate(scaled) if dof >= RESAMPLE_DOF else np.array([])
    return Noise(spread, dof, residuals, "replicates"), uneven


def _uneven(relative: Sequence[Floats]) -> bool:
    """Brown & Forsythe's test over the numbers of workers with at least three runs."""
    from scipy.stats import levene

    groups = [r for r in relative if r.size >= 3 and np.ptp(r) > 0]
    return len(groups) >= 2 and bool(levene(*groups, center="median").pvalue <= UNEVEN_LEVEL)
