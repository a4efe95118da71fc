"""Configurations of which mean, deviation and number are known."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_ind_from_stats

from wulf.stats.moments import Moments, compared, linear_sum, log_sum

A, B = Moments(50.03, 4.31, 10), Moments(41.62, 8.90, 25)


def test_a_difference_is_welch_s() -> None:
    theirs = ttest_ind_from_stats(41.62, 8.90, 25, 50.03, 4.31, 10, equal_var=False)
    ours = linear_sum([(1.0, B), (-1.0, A)])
    assert ours.p == pytest.approx(theirs.pvalue)
    interval = ours.within(0.95)
    assert interval is not None
    assert sum(interval) / 2 == pytest.approx(41.62 - 50.03)


def test_its_interval_is_scipy_s() -> None:
    random = np.random.default_rng(4)
    first, second = random.normal(50, 4, 9), random.normal(40, 9, 17)
    theirs = ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    ours = linear_sum([(1.0, Moments.of(list(second))), (-1.0, Moments.of(list(first)))])
    assert ours.within(0.95) == pytest.approx((theirs.low, theirs.high))


def test_a_ratio_has_the_delta_method_s_error() -> None:
    found = log_sum([(1.0, B), (-1.0, A)])
    assert found.value == pytest.approx(log(41.62 / 50.03))
    assert found.error == pytest.approx(((8.90 / 41.62) ** 2 / 25 + (4.31 / 50.03) ** 2 / 10) ** 0.5)


def test_intervals_of_ratios_cover_the_truth() -> None:
    """Of 2,000 pairs of arms, normal with deviations of 4 % and 20 %: 95 %, within four standard errors."""
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(2000):
        a, b = random.normal(100, 4, 8), random.normal(80, 16, 12)
        low, high = log_sum([(1.0, Moments.of(list(b))), (-1.0, Moments.of(list(a)))]).within(0.95) or (0, 0)
        hits += low <= log(0.8) <= high
    assert 0.95 - 0.02 <= hits / 2000 <= 0.95 + 0.02


@pytest.mark.parametrize("other", [Moments(40.0), Moments(40.0, 2.0), Moments(40.0, None, 9), Moments(40.0, 2.0, 1)])
def test_without_deviation_or_number_there_is_no_interval(other: Moments) -> None:
    found = compared(log_sum([(1.0, other), (-1.0, A)]), other.n or 1, delta=0.01, lower_is_better=True)
    assert found.ratio == pytest.approx(40 / 50.03)
    assert (found.low, found.high, found.p, found.least_visible) == (None, None, None, None)
    assert not found.changed and found.reason


def test_deviations_of_zero_are_no_noise() -> None:
    assert log_sum([(1.0, Moments(40.0, 0.0, 9)), (-1.0, Moments(50.0, 0.0, 9))]).error is None


def test_bounds_beyond_all_numbers_are_no_interval() -> None:
    wild = compared(log_sum([(1.0, Moments(1.0, 1e4, 2)), (-1.0, A)]), 2, delta=0.01, lower_is_better=True)
    assert wild.low is None and wild.ratio is not None


def test_what_is_better_decides_the_verdict() -> None:
    ratio = log_sum([(1.0, Moments(31.63, 0.83, 10)), (-1.0, A)])
    faster = compared(ratio, 10, delta=0.01, lower_is_better=True)
    slower = compared(ratio, 10, delta=0.01, lower_is_better=False)
    assert (faster.judgement, slower.judgement) == ("faster", "slower")
    assert faster.low == pytest.approx(exp((ratio.within(0.95) or (0, 0))[0]))


def test_a_claim_among_many_needs_a_greater_effect() -> None:
    ratio = log_sum([(1.0, B), (-1.0, A)])
    alone, among = (compared(ratio, 10, delta=0.01, lower_is_better=True, among=n) for n in (1, 10))
    assert alone.least_visible is not None and among.least_visible is not None
    assert alone.least_visible < among.least_visible
    assert alone.p == among.p
