"""Comparing configurations of which no more is known than mean, standard deviation and number of measurements.

As in the tables of papers. Ratios are compared by logarithms, whose variance is the squared coefficient of variation
(delta method; Casella & Berger, Statistical Inference, 2nd ed., section 5.5.4), differences as they are; variances
need not be alike (Welch, Biometrika 34, 1947; degrees of freedom by Satterthwaite, Biometrics Bulletin 2, 1946).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, expm1, floor, inf, log
from statistics import fmean, stdev

from scipy.special import stdtr, stdtrit

from wulf.stats.comparison import Comparison, Judgement, judge, least_visible

MOST_LOG = 300.0
"""Bounds beyond e to this say nothing, and e to twice this is no number: two measurements may lead there."""

MANY = 1e6
"""Degrees of freedom from which Student's t is the normal distribution."""


@dataclass(frozen=True)
class Moments:
    """What is known of a configuration's measurements; None where a table does not say."""

    mean: float
    deviation: float | None = None
    n: int | None = None

    @staticmethod
    def of(values: Sequence[float]) -> Moments:
        """Of the measurements themselves, one at least."""
        return Moments(fmean(values), stdev(values) if len(values) > 1 else None, len(values))


@dataclass(frozen=True)
class WeightedSum:
    """A sum of weighted means.

    Attributes
    ----------
    error
        Its standard error; None where one of the means has none.
    degrees
        Of freedom, of the error.
    """

    value: float
    error: float | None
    degrees: float

    def within(self, confidence: float) -> tuple[float, float] | None:
        """Student's t interval; None without an error."""
        if self.error is None:
            return None
        half = float(stdtrit(self.degrees, (1 + confidence) / 2)) * self.error
        return self.value - half, self.value + half

    @property
    def p(self) -> float | None:
        """Two-sided, of a sum of nothing."""
        return None if self.error is None else 2 * float(stdtr(self.degrees, -abs(self.value) / self.error))


def log_sum(parts: Iterable[tuple[float, Moments]]) -> WeightedSum:
    """Of the means' logarithms, by weight."""
    return _summed([(weight, log(one.mean), one, 1 / one.mean) for weight, one in parts])


def linear_sum(parts: Iterable[tuple[float, Moments]]) -> WeightedSum:
    """Of the means themselves, by weight."""
    return _summed([(weight, one.mean, one, 1.0) for weight, one in parts])


def _summed(parts: Sequence[tuple[float, float, Moments, float]]) -> WeightedSum:
    """Of (weight, value, moments, slope of the value over the mean)."""
    value = sum(weight * each for weight, each, _, _ in parts)
    variances = [_variance(weight * slope, one) for weight, _, one, slope in parts]
    known = [one for one in variances if one is not None]
    whole = sum(v for v, _ in known)
    if len(known) < len(variances) or whole == 0:  # deviations of 0 were rounded: they say nothing of the noise
        return WeightedSum(value, None, inf)
    return WeightedSum(value, whole**0.5, whole**2 / sum(v**2 / (n - 1) for v, n in known))


def _variance(weight: float, one: Moments) -> tuple[float, int] | None:
    """Of a weighted mean, and of how many measurements; None where it is not known."""
    if one.deviation is None or one.n is None or one.n < 2:
        return None
    return (weight * one.deviation) ** 2 / one.n, one.n


def compared(
    ratio: WeightedSum, n: int, *, delta: float, lower_is_better: bool, alpha: float = 0.05, among: int = 1
) -> Comparison:
    """What a sum of logarithms says of B / A: not paired, any difference is claimed that the interval shows.

    Parameters
    ----------
    n
        Measurements of the configuration that has the fewest.
    among
        How many comparisons the claims will be corrected for: the minimum detectable effect allows for it.
    """
    value, bounds = exp(ratio.value), ratio.within(1 - alpha)
    if bounds is None or max(map(abs, bounds)) > MOST_LOG:
        unknown = "a measurement that stands alone has" if n == 1 else "means without deviations and numbers have"
        why = f"{unknown} no interval" if bounds is None else "too few measurements for an interval of any use"
        none = Judgement.INCONCLUSIVE
        return Comparison(none, value, None, None, 1 - alpha, None, n, delta, None, False, why)
    low, high = bounds
    visible = least_visible(
        low, high, alpha, degrees=max(1, floor(min(ratio.degrees, MANY))), claimed_at=alpha / max(1, among)
    )
    return Comparison(
        judge(low, high, delta, lower_is_better=lower_is_better), value, exp(low), exp(high), 1 - alpha, ratio.p, n,
        delta, expm1(visible) if visible < MOST_LOG else None, False, "",
    )  # fmt: skip
