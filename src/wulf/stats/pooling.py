"""What studies of one kind say together: random-effects meta-analysis, and what the next study is expected to show.

Study i has the effect θᵢ ~ N(μ, τ²) and measured yᵢ ~ N(θᵢ, sᵢ²). SciPy has none of this, and statsmodels, which pools
means, has no prediction interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, ndtr, stdtrit

from wulf.stats.estimates import Interval
from wulf.stats.samples import Floats, check_confidence, checked

LEAST = 3
"""Studies. Of two, an interval for the next one reaches further than anybody would ask."""

LEAST_MODERATED = 5
"""Studies, below which a straight line through them says nothing."""

FLOOR = 1e-6
"""A standard error is no less: one of 0 would outweigh all others for ever."""

_STEPS, _QUANTILES = 200, 40
"""Of the grid of τ²; of τ² and of Student's t, which are averaged over: ten times as many change the third digit."""


@dataclass(frozen=True)
class Pooled:
    """What studies say together, in the unit of the effects.

    Attributes
    ----------
    n
        Studies.
    mean
        μ, with its interval.
    tau, share
        Standard deviation of the effects proper, τ; I², the share of the observed variance that is theirs.
    p
        Of as much disagreement among studies whose effects are all the same (Cochran's Q).
    next
        μ, with the interval that holds the effect of one more study.
    """

    n: int
    mean: Interval
    tau: float
    share: float
    p: float
    next: Interval
    confidence: float


@dataclass(frozen=True)
class Moderation:
    """Whether effects go with another figure of the studies, x: θᵢ ~ N(a + b·xᵢ, τ²).

    Attributes
    ----------
    slope, intercept
        b and a, with their intervals.
    explained
        The share of τ² that is gone once x is known.
    """

    n: int
    slope: Interval
    intercept: Interval
    explained: float
    confidence: float

    @property
    def proven(self) -> bool:
        """Whether effects grow with x for sure."""
        return self.slope.low > 0

    @property
    def proportional(self) -> bool:
        """Whether nothing speaks against effects of 0 where x is 0."""
        return self.intercept.low <= 0 <= self.intercept.high


@dataclass(frozen=True)
class _Fit:
    """Weighted least squares at one τ²: coefficients, (X'WX)⁻¹, and the weighted sum of squared residuals."""

    beta: Floats
    inverse: Floats
    q: float


def pool(effects: ArrayLike, errors: ArrayLike, confidence: float = 0.95) -> Pooled:
    """Pool studies.

    τ² by Paule and Mandel (DerSimonian-Laird's, iterated: DerSimonian & Kacker 2007); the mean's interval by Hartung
    and Knapp (2001), never narrower than without their factor (Röver, Knapp & Friede 2015); the next study's by the
    confidence distribution of τ², as Nagashima, Noma & Furukawa (2019) have it, with the distribution that Q has at
    the true τ² (Viechtbauer 2007): a τ² that was estimated as 0 is not taken for 0.

    Parameters
    ----------
    effects
        Shape (n,).
    errors
        Their standard errors, shape (n,).

    Raises
    ------
    ValueError
        There are fewer than `LEAST`; a figure is not finite; an error is below 0.
    """
    y, variances = _studies(effects, errors, LEAST)
    check_confidence(confidence)
    n, ones = int(y.size), np.ones((y.size, 1))
    tau2 = paule_mandel(y, variances, ones)
    fit = _fit(y, variances, ones, tau2)
    (mean,) = _intervals(fit, n, confidence)
    q = _fit(y, variances, ones, 0.0).q
    share = max(0.0, 1 - (n - 1) / q) if q > 0 else 0.0
    low, high = _next(y, variances, confidence)
    ahead = Interval(mean.value, min(low, mean.low), max(high, mean.high))  # no surer than the mean
    return Pooled(n, mean, sqrt(tau2), share, float(chdtrc(n - 1, q)), ahead, confidence)


def moderation(effects: ArrayLike, errors: ArrayLike, moderator: ArrayLike, confidence: float = 0.95) -> Moderation:
    """Whether effects go with another figure: meta-regression (Knapp & Hartung 2003).

    Parameters
    ----------
    effects, errors, moderator
        Shape (n,) each.

    Raises
    ------
    ValueError
        There are fewer than `LEAST_MODERATED`; the moderator is the same for all; as `pool`.
    """
    y, variances = _studies(effects, errors, LEAST_MODERATED)
    x = checked(moderator)
    if x.size != y.size:
        raise ValueError(f"{x.size} moderators for {y.size} studies: each needs one")
    if np.ptp(x) == 0:
        raise ValueError(f"the moderator is {x[0]:g} for all studies: nothing can go with it")
    ones = np.ones((y.size, 1))
    line = np.column_stack([ones, x])
    without, tau2 = paule_mandel(y, variances, ones), paule_mandel(y, variances, line)
    intercept, slope = _intervals(_fit(y, variances, line, tau2), int(y.size), confidence)
    explained = max(0.0, 1 - tau2 / without) if without > 0 else 0.0
    return Moderation(int(y.size), slope, intercept, explained, confidence)


def _studies(effects: ArrayLike, errors: ArrayLike, least: int) -> tuple[Floats, Floats]:
    """Effects and variances."""
    y, s = checked(effects), checked(errors)
    if y.size != s.size:
        raise ValueError(f"{s.size} errors for {y.size} effects: each needs one")
    if y.size < least:
        raise ValueError(f"{y.size} studies are too few: {least} are needed")
    if (s < 0).any():
        raise ValueError(f"an error is {s.min():g}: it can't be below 0")
    variances: Floats = np.maximum(s, FLOOR) ** 2
    return y, variances


def paule_mandel(y: Floats, variances: Floats, design: Floats) -> float:
    """τ² at which the weighted residuals are as large as chance has them on average; 0 where they are smaller at 0.

    Shapes (n,), (n,) and (n, p).
    """
    expected = y.size - design.shape[1]

    def excess(tau2: float) -> float:
        return float(_fit(y, variances, design, tau2).q - expected)

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.var(y)) + float(variances.max())
    while excess(high) > 0:
        high *= 4
    return float(brentq(excess, 0.0, high, rtol=1e-9))


def _fit(y: Floats, variances: Floats, design: Floats, tau2: float) -> _Fit:
    weights = 1 / (variances + tau2)
    inverse = np.linalg.inv(design.T @ (design * weights[:, None])).astype(float)
    beta = inverse @ (design.T @ (weights * y))
    residual = y - design @ beta
    return _Fit(beta, inverse, float(weights @ residual**2))


def _intervals(fit: _Fit, n: int, confidence: float) -> list[Interval]:
    """Of each coefficient."""
    degrees = n - fit.beta.size
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * np.sqrt(np.diag(fit.inverse) * max(1.0, fit.q / degrees))
    return [Interval(float(b), float(b - h), float(b + h)) for b, h in zip(fit.beta, half, strict=True)]


def _next(y: Floats, variances: Floats, confidence: float) -> tuple[float, float]:
    """What holds the effect of one more study: its distribution given τ², averaged over what τ² may be.

    Given τ² the next effect is N(m, τ²), and m is off the weighted mean by Student's t times Hartung and Knapp's error.
    """
    n = y.size
    scale = float(np.var(y, ddof=1) + variances.mean())
    grid = np.concatenate([[0.0], scale * np.geomspace(1e-6, 1e6, _STEPS)])
    _, _, q = _weighted(y, variances, grid)
    at, weight = _quantiles(_QUANTILES)
    tau2 = np.interp(chdtri(n - 1, at), q[::-1], grid[::-1])
    means, sums, q = _weighted(y, variances, tau2)
    errors = np.sqrt(q / (n - 1) / sums)
    centres = means[:, None] + errors[:, None] * stdtrit(n - 1, at)
    spreads = np.maximum(np.sqrt(tau2), FLOOR * sqrt(scale))[:, None]

    def below(effect: float, level: float) -> float:
        return float(weight @ ndtr((effect - centres) / spreads) @ weight) - level

    reach = 10 * float(np.abs(centres - y.mean()).max() + spreads.max())
    low, high = (
        float(brentq(below, y.mean() - reach, y.mean() + reach, args=(level,), xtol=1e-5 * sqrt(scale)))
        for level in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high


def _quantiles(count: int) -> tuple[Floats, Floats]:
    """Levels between 0 and 1, closer at both ends, where tails are heavy, and their weights. Shapes (count,) each."""
    even = (np.arange(count) + 0.5) / count
    weights = even * (1 - even)
    return even**2 * (3 - 2 * even), weights / weights.sum()


def _weighted(y: Floats, variances: Floats, tau2: Floats) -> tuple[Floats, Floats, Floats]:
    """Weighted means, sums of weights, and weighted sums of squares for each τ². Shapes (n,), (n,), (t,); (t,) each."""
    weights = 1 / (variances + tau2[:, None])
    sums = weights.sum(axis=1)
    means = (weights @ y) / sums
    return means, sums, (weights * (y - means[:, None]) ** 2).sum(axis=1)
