"""Rank tests against SciPy's, and tests against their own intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wulf.stats import ranks
from wulf.stats.ranks import rank_sum_shift, signed_rank_level, signed_rank_shift

values = st.lists(st.floats(-100, 100).map(lambda x: round(x, 6)), min_size=6, max_size=25, unique=True)


@given(values)
def test_signed_rank_p_is_scipys(data: list[float]) -> None:
    d = np.array(data)
    if len(set(np.abs(d))) < d.size or not np.abs(d).min():
        return  # ties: SciPy then approximates
    assert signed_rank_shift(d, 0.05).p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)


@given(values, values)
def test_rank_sum_p_is_scipys(first: list[float], second: list[float]) -> None:
    a, b = np.array(first), np.array(second)
    if set(first) & set(second):
        return
    assert rank_sum_shift(a, b, 0.05).p == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue)


@given(values, st.sampled_from([0.2, 0.05, 0.01]))
def test_the_interval_excludes_zero_exactly_when_the_test_rejects(data: list[float], level: float) -> None:
    found = signed_rank_shift(np.array(data), level)
    assert (found.low > 0 or found.high < 0) == (found.p <= level)


@given(values, values, st.sampled_from([0.2, 0.05, 0.01]), st.sampled_from([1.0, 2.5]))
def test_so_does_that_of_two_samples(a: list[float], b: list[float], level: float, effect: float) -> None:
    found = rank_sum_shift(np.array(a), np.array(b), level, effect)
    assert (found.low > 0 or found.high < 0) == (found.p <= level * (1 + 1e-9))


@given(values, st.integers(-50, 50))
def test_a_shift_shifts_and_a_sign_turns(data: list[float], by: int) -> None:
    d = np.array(data)
    plain, moved, turned = (signed_rank_shift(x, 0.05) for x in (d, d + by, -d))
    assert (moved.value, moved.low, moved.high) == pytest.approx((plain.value + by, plain.low + by, plain.high + by))
    assert (turned.value, turned.low, turned.high) == pytest.approx((-plain.value, -plain.high, -plain.low))
    assert turned.p == pytest.approx(plain.p)


def test_six_pairs_reach_a_p_of_one_in_thirty_two_at_best() -> None:
    assert signed_rank_shift(np.arange(1.0, 7.0), 0.05).p == pytest.approx(2 / 64)
    assert signed_rank_level(6, 0.05) == pytest.approx(2 / 64)
    assert signed_rank_level(6, 0.03) == 0


def test_too_few_have_an_endless_interval() -> None:
    found = signed_rank_shift(np.array([1.0, 2.0]), 0.05)
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_zeros_count_against_a_shift() -> None:
    assert signed_rank_shift(np.zeros(10), 0.05).p == 1
    assert signed_rank_shift(np.r_[np.zeros(6), np.ones(4)], 0.05).p > 0.05


def test_dependent_samples_widen_the_interval() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=12), random.normal(1, 1, 12)
    plain, wide = rank_sum_shift(a, b, 0.05), rank_sum_shift(a, b, 0.05, 3.0)
    assert wide.low < plain.low < plain.high < wide.high
    assert wide.p > plain.p


def test_the_approximation_takes_over_without_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    d = np.random.default_rng(3).normal(0.2, 1, 60)
    exact = signed_rank_shift(d, 0.05)
    monkeypatch.setattr(ranks, "EXACT_PAIRS", 10)
    assert signed_rank_shift(d, 0.05).p == pytest.approx(exact.p, rel=0.05)
    assert signed_rank_shift(d, 0.05).low == pytest.approx(exact.low, abs=0.02)


def test_very_many_pairs_are_collapsed() -> None:
    d = np.random.default_rng(3).normal(0.1, 1, 100_000)
    found = signed_rank_shift(d, 0.05)
    assert found.low < 0.1 < found.high
    assert found.high - found.low < 0.03
