"""Is B faster than A? Four verdicts, on the ratio of the two, with its interval.

Pairs are measured in blocks, AB or BA as a coin falls. Where two runs lie side by side that were measured one after the
other, there are no pairs, and time is a suspect that no test can clear: `Comparison.paired` says which it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, exp, log, log1p, log2, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from wulf.stats.diagnostics import CAUTION, effective_size
from wulf.stats.ranks import Shift, rank_sum_shift, signed_rank_level, signed_rank_shift
from wulf.stats.samples import Floats, check_confidence, checked
from wulf.stats.sequential import level_at, levels, pocock

Name = TypeVar("Name")

LOOKS = (8, 10, 12, 16, 24, 40)
"""Pairs at which to look. Fewer than eight cannot convince at a level that is corrected for several looks."""

DELTA = 0.01
"""Differences below one per cent are none, unless the user asks for less."""

NO_RATIOS = "some figures are not above zero, or beyond all measure, and have no ratio"

MOST_SPREAD = log(1e30)
"""Of figures of one kind: the best and the worst of all machines are not a billionth of that apart."""

POWER = 0.9
"""The minimum detectable effect is the one that so many campaigns of this size and noise would have found."""


class Judgement(StrEnum):
    """What a comparison may say."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Comparison:
    """B against A.

    Attributes
    ----------
    judgement
        Of B: faster and slower with respect to what is better for the metric.
    ratio, low, high
        B / A with its interval; `low` and `high` are None where so few samples have none.
    confidence
        Of the interval, all looks together.
    p
        Two-sided, of no difference (of two runs: of none beyond delta), by itself: neither for several looks nor for
        several comparisons corrected.
    n
        Pairs, or samples of the smaller side.
    delta
        Ratios within 1/(1+delta) … 1+delta count as equivalent.
    least_visible
        The least relative effect that 90 % of such campaigns would have found; None where there is no interval.
    paired
        Measured in randomised blocks: a difference is an effect of B, and not of time.
    reason
        Why it ended, or why it says nothing.
    """

    judgement: Judgement
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    p: float | None
    n: int
    delta: float
    least_visible: float | None
    paired: bool
    reason: str

    @property
    def changed(self) -> bool:
        """Whether it claims a difference."""
        return self.judgement in (Judgement.FASTER, Judgement.SLOWER)


def judge(low: float, high: float, delta: float, *, lower_is_better: bool, margin: float = 0.0) -> Judgement:
    """The verdict that an interval of ln(B/A) supports. Within ±δ it is equivalent, even where it excludes zero.

    Faster and slower ask for all of the interval beyond ±margin, a relative difference as δ is.
    """
    edge, beyond = log1p(delta), log1p(margin)
    if -edge <= low and high <= edge:
        return Judgement.EQUIVALENT
    if low <= beyond and high >= -beyond:
        return Judgement.INCONCLUSIVE
    return Judgement.FASTER if (high < 0) == lower_is_better else Judgement.SLOWER


def least_visible(
    low: float, high: float, level: float, *, degrees: int | None = None, claimed_at: float | None = None
) -> float:
    """The shift that 90 % of campaigns with such an interval at a two-sided level would have found.

    The half width is k standard errors, k being Student's quantile at the level. A campaign finds the shift when its
    own mean, less k of its own standard errors, is beyond zero; that of nine in ten is, where the shift is k + c with
    c = z·√(1 + (k² + (k+c)²)/2ν): the errors of both campaigns are estimates, each of relative variance 1/2ν.

    Parameters
    ----------
    degrees
        Of freedom, ν, of the standard error; None: so many that it is no estimate any more.
    claimed_at
        The level at which a difference is claimed where it is another than that of the interval: corrected for many.
    """
    from scipy.special import stdtrit

    def quantile(tail: float) -> float:
        return float(-stdtrit(degrees, tail) if degrees is not None else -ndtri(tail))

    k, z = quantile((claimed_at or level) / 2), float(ndtri(POWER))
    more = z
    for _ in range(20):
        more = z * sqrt(1 + ((k**2 + (k + more) ** 2) / (2 * degrees) if degrees is not None else 0.0))
    return (high - low) / 2 / quantile(level / 2) * (k + more)


MOST_LOG = log(1e60)
"""Of an interval's bounds: beyond, it tells nothing, and soon they have no numbers."""


def _comparison(
    shift: Shift, n: int, level: float, delta: float, *,
    lower_is_better: bool, paired: bool, confidence: float, degrees: int, margin: float, p: float | None = None,
    claimed_at: float | None = None,
) -> Comparison:  # fmt: skip # what tests of pairs and of two samples have in common
    bounded = all(abs(bound) < MOST_LOG for bound in (shift.low, shift.high))
    visible = least_visible(shift.low, shift.high, level, degrees=degrees, claimed_at=claimed_at) if bounded else None
    judgement = judge(shift.low, shift.high, delta, lower_is_better=lower_is_better, margin=margin)
    return Comparison(
        judgement=judgement,
        ratio=exp(shift.value),
        low=exp(shift.low) if bounded else None,
        high=exp(shift.high) if bounded else None,
        confidence=confidence,
        p=shift.p if p is None else p,
        n=n,
        delta=delta,
        least_visible=None if visible is None or visible > MOST_LOG else exp(log1p(margin) + visible) - 1,
        paired=paired,
        reason="" if bounded else f"{n} {'pairs' if paired else 'samples'} are too few for an interval",
    )


@dataclass(frozen=True)
class PairedRule:
    """Compares pairs at declared looks, and says when it is enough.

    Parameters
    ----------
    alpha
        Two-sided error of a claimed difference, all looks together.
    delta
        What counts as no difference.
    looks
        Numbers of pairs at which to look, ascending.
    margin
        A difference is claimed where it is greater than this for sure. 0: where it is any difference at all.
    """

    alpha: float = 0.05
    delta: float = DELTA
    looks: tuple[int, ...] = LOOKS
    lower_is_better: bool = True
    margin: float = 0.0

    def __post_init__(self) -> None:
        check_confidence(1 - self.alpha)
        if not self.delta > 0:
            raise ValueError(f"delta {self.delta} must be above 0")
        if not any(levels(self.looks, self.alpha, pocock, signed_rank_level)):
            raise ValueError(f"{self.looks[-1]} pairs can never convince at an error of {self.alpha:g}")

    @property
    def most(self) -> int:
        """Pairs at which it always ends."""
        return self.looks[-1]

    def compare(self, a: ArrayLike, b: ArrayLike) -> Comparison:
        """The comparison as it stands; also between looks, when it is cut short.

        Parameters
        ----------
        a, b
            Pair by pair, in the order measured, shape (n,) each.

        Raises
        ------
        ValueError
            A sample is not finite; the two are not as many.
        """
        differences = _log_ratios(a, b)
        if differences is None:
            return _unknown(int(np.size(a)), 1 - self.alpha, self.delta, NO_RATIOS, paired=True)
        return self.judge(differences)

    def judge(self, differences: Floats) -> Comparison:
        """As `compare`, from ln(B/A) of every pair, in the order measured. Shape (pairs,)."""
        n = int(differences.size)
        confidence = 1 - self.alpha
        if n == 0:
            return _unknown(0, confidence, self.delta, "no pairs", paired=True)
        level = level_at(n, self.looks, self.alpha, signed_rank_level)
        found = _comparison(
            signed_rank_shift(differences, level), n, level, self.delta,
            lower_is_better=self.lower_is_better, paired=True, confidence=confidence, degrees=max(1, n - 1),
            margin=self.margin,
        )  # fmt: skip
        return replace(found, reason=self._why(found))

    def _why(self, found: Comparison) -> str:
        if found.judgement is not Judgement.INCONCLUSIVE:
            return f"{found.judgement} after {found.n} pairs"
        if found.n >= self.most:
            return f"still open after all {found.n} pairs"
        return found.reason or f"still open after {found.n} pairs"

    def enough(self, a: ArrayLike, b: ArrayLike) -> bool:
        """Whether to stop: at a look whose verdict is clear, or at the last. Both have shape (pairs,)."""
        n, differences = int(np.size(a)), _log_ratios(a, b)
        if n >= self.most or n not in self.looks or differences is None:
            return n >= self.most
        return self.judge(differences).judgement is not Judgement.INCONCLUSIVE


def _unknown(n: int, confidence: float, delta: float, why: str, *, paired: bool) -> Comparison:
    """A comparison that says nothing."""
    return Comparison(Judgement.INCONCLUSIVE, None, None, None, confidence, None, n, delta, None, paired, why)


def _logs_of_both(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats] | None:
    """None where a sample has no logarithm, or two have a ratio beyond `MOST_SPREAD`. ValueError: one is not finite."""
    first, second = checked(a), checked(b)
    if not (np.all(first > 0) and np.all(second > 0)):
        return None
    logs = np.log(first), np.log(second)
    both = np.concatenate(logs)
    return logs if both.size == 0 or np.ptp(both) <= MOST_SPREAD else None


def _log_ratios(a: ArrayLike, b: ArrayLike) -> Floats | None:
    """ln(B/A) of every pair, in the order measured; None where one has none."""
    if np.size(a) != np.size(b):
        raise ValueError(f"{np.size(a)} samples of A and {np.size(b)} of B are no pairs")
    both = _logs_of_both(a, b)
    return None if both is None else both[1] - both[0]


def versus_rule(delta: float = DELTA, *, lower_is_better: bool = True) -> PairedRule:
    """As `--versus` compares: what lies within ±delta is no difference, so none is claimed that may lie there."""
    return PairedRule(delta=delta, lower_is_better=lower_is_better, margin=delta)


def compare_samples(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alpha: float = 0.05,
    delta: float = DELTA,
    lower_is_better: bool = True,
    among: int = 1,
    design_effect: float | None = None,
) -> Comparison:
    """Compare two samples that were not paired: two runs, one after the other. Shapes (n,) and (m,).

    By ranks; samples that depend on their predecessors count for as many as they amount to. A difference is claimed,
    and p is, of more than delta.

    Parameters
    ----------
    among
        How many comparisons the claims will be corrected for: the minimum detectable effect allows for it.
    design_effect
        Samples for each independent one, where more than these two series tell of it; None: as the series do.

    Raises
    ------
    ValueError
        A sample is not finite.
    """
    check_confidence(1 - alpha)
    n, both = int(min(np.size(a), np.size(b))), _logs_of_both(a, b)
    if n == 0 or both is None:
        return _unknown(n, 1 - alpha, delta, NO_RATIOS if n else "one side has no samples", paired=False)
    first, second = both
    own = max(values.size / effective_size(values, CAUTION) for values in (first, second))
    effect = own if design_effect is None else design_effect
    shift = rank_sum_shift(first, second, alpha, effect)
    edge = log1p(delta) if shift.value > 0 else -log1p(delta)
    beyond = rank_sum_shift(first, second - edge, alpha, effect)
    p = beyond.p if abs(shift.value) > abs(edge) else 1.0
    return _comparison(
        shift, n, alpha, delta, lower_is_better=lower_is_better, paired=False, confidence=1 - alpha,
        degrees=max(1, int(first.size + second.size) - 2), margin=delta, p=p, claimed_at=alpha / among,
    )  # fmt: skip


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values for claims, corrected so that all of them together err with at most α (Holm 1979)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty(p.size)
    corrected[order] = np.minimum(1.0, stepped)
    return [float(value) for value in corrected]


def holm_of(p_values: Mapping[Name, float | None]) -> dict[Name, float]:
    """As `holm`, by name; what has no p claims nothing, and makes the others no harder."""
    known = {name: p for name, p in p_values.items() if p is not None}
    return dict(zip(known, holm(list(known.values())), strict=True))


def enough_pairs(claims: int, alpha: float = 0.05) -> int:
    """The fewest pairs in which a difference that wins each of them is proven among so many claims.

    The signed ranks of n pairs have a p of 2 / 2ⁿ at least, and Holm's first step multiplies it by the claims.
    """
    return ceil(log2(2 * max(1, claims) / alpha))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p-values for screening: those below q hold at most a share of q false discoveries (Benjamini & Hochberg 1995)."""
    p = np.asarray(p_values, dtype=float)
    if not p.size:
        return []
    from scipy.stats import false_discovery_control

    return [float(value) for value in false_discovery_control(p)]
