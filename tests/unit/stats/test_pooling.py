"""Pooled studies: a published data set, what can't be pooled, and the coverage that is claimed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.stats.pooling import LEAST, moderation, paule_mandel, pool

RISKS = [-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694, -1.3713, -0.3394, 0.4459,
         -0.0173]  # fmt: skip
VARIANCES = [0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564, 0.0730, 0.0124, 0.5325, 0.0714]
LATITUDES = [44, 55, 42, 52, 13, 44, 19, 13, 27, 42, 18, 33, 33]
ERRORS = np.sqrt(VARIANCES)
"""Thirteen trials of the BCG vaccine, logarithms of relative risks (Colditz et al. 1994): methods are shown by them."""


def test_the_trials_of_bcg_as_the_literature_has_them() -> None:
    """τ² by Paule and Mandel .318, Q 152.2 and I² 92 % (Viechtbauer 2010; Veroniki et al. 2016)."""
    found = pool(RISKS, ERRORS)
    assert found.tau**2 == pytest.approx(0.318, abs=5e-4)
    assert found.share == pytest.approx(1 - 12 / 152.23, abs=1e-3) and found.p < 1e-20
    assert found.mean.value == pytest.approx(-0.715, abs=5e-4)
    assert (found.mean.low, found.mean.high) == pytest.approx((-1.11, -0.32), abs=5e-3)
    assert found.next.low < -1.9 and found.next.high > 0.4


def test_latitude_explains_the_trials_of_bcg_in_part() -> None:
    found = moderation(RISKS, ERRORS, LATITUDES)
    assert found.slope.high < 0 and not found.proven
    assert found.slope.value == pytest.approx(-0.029, abs=2e-3) and 0.4 < found.explained < 0.8
    turned = moderation(-np.array(RISKS), ERRORS, LATITUDES)
    assert turned.proven and turned.slope.low == pytest.approx(-found.slope.high)
    assert turned.proportional == (found.intercept.low <= 0 <= found.intercept.high)


def test_effects_that_are_all_the_same_have_no_spread_but_the_next_one_is_no_surer_than_the_mean() -> None:
    found = pool([0.05] * 4, [0.02] * 4)
    assert found.tau == 0 and found.share == 0 and found.p == pytest.approx(1)
    assert found.next.low <= found.mean.low < 0.05 < found.mean.high <= found.next.high


def test_the_next_one_is_far_less_sure_of_three_than_of_ten() -> None:
    few, many = (pool(np.resize([0.02, 0.05, 0.08], n), np.full(n, 0.01)) for n in (3, 9))
    assert few.next.high - few.next.low > 1.5 * (many.next.high - many.next.low)
    assert few.mean.value == pytest.approx(many.mean.value)


@pytest.mark.parametrize(
    ("effects", "errors", "why"),
    [
        ([1.0, 2.0], [1.0, 1.0], f"2 studies are too few: {LEAST} are needed"),
        ([1.0, 2.0, 3.0], [1.0, 1.0], "each needs one"),
        ([1.0, 2.0, float("nan")], [1.0, 1.0, 1.0], "must be finite"),
        ([1.0, 2.0, 3.0], [1.0, 1.0, -1.0], "can't be below 0"),
    ],
)
def test_what_can_not_be_pooled(effects: list[float], errors: list[float], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        pool(effects, errors)


def test_a_moderator_that_is_no_moderator() -> None:
    with pytest.raises(ValueError, match="for all studies"):
        moderation([1, 2, 3, 4, 5], [1] * 5, [0.5] * 5)
    with pytest.raises(ValueError, match="4 studies are too few"):
        moderation([1, 2, 3, 4], [1] * 4, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="2 moderators"):
        moderation([1, 2, 3, 4, 5], [1] * 5, [1, 2])


def test_errors_of_nothing_are_not_infinitely_sure() -> None:
    found = pool([1.0, 1.1, 1.2], [0.0, 0.0, 0.0])
    assert found.mean.value == pytest.approx(1.1) and found.tau == pytest.approx(0.1, rel=1e-3)


effects_of_some = st.lists(st.tuples(st.floats(-14, 14), st.floats(0, 5)), min_size=LEAST, max_size=12)


@given(effects_of_some, st.floats(-5, 5))
def test_intervals_hold_their_value_and_move_with_the_effects(studies: list[tuple[float, float]], by: float) -> None:
    effects, errors = np.array(studies).T
    found, moved = pool(effects, errors), pool(effects + by, errors)
    assert found.next.low <= found.mean.low <= found.mean.value <= found.mean.high <= found.next.high
    assert np.isfinite([found.next.low, found.next.high]).all() and found.tau >= 0 and 0 <= found.share <= 1
    width = found.next.high - found.next.low
    assert moved.next.high - moved.next.low == pytest.approx(width, rel=1e-2, abs=1e-3)


def test_paule_and_mandel_make_residuals_as_large_as_expected() -> None:
    y, variances = np.array(RISKS), np.array(VARIANCES)
    tau2 = paule_mandel(y, variances, np.ones((13, 1)))
    weights = 1 / (variances + tau2)
    mean = (weights @ y) / weights.sum()
    assert weights @ (y - mean) ** 2 == pytest.approx(12)


@pytest.mark.parametrize(("n", "tau"), [(3, 0.03), (5, 0.0), (8, 0.05)])
def test_the_next_effect_is_held_as_often_as_claimed(n: int, tau: float) -> None:
    """95 % of 120 with errors that are themselves estimated; docs/how-to/impact.md has more of them."""
    random = np.random.default_rng(n)
    held = narrow = 0
    for _ in range(120):
        errors = 0.02 * np.exp(random.normal(0, 0.5, n))
        effects = random.normal(random.normal(0.05, tau, n), errors)
        found = pool(effects, errors * np.sqrt(random.chisquare(7, n) / 7))
        ahead = random.normal(0.05, tau)
        held += found.next.low <= ahead <= found.next.high
        narrow += found.mean.low <= ahead <= found.mean.high
    assert held >= 0.9 * 120
    assert tau == 0 or narrow < held - 12, "the mean's interval is none for one more"
