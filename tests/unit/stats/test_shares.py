"""Shares of counts: exact where they come alone, wide where they come in bursts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import poisson

from wulf.stats.shares import lasting_share, share_of_totals


def test_counts_that_come_alone_have_garwoods_interval() -> None:
    one = share_of_totals([4, 3, 3], [1000, 1000, 1000])
    assert one.value == pytest.approx(0.01 / 3)
    assert one.low is not None
    assert one.high is not None
    assert poisson.sf(9, one.low * 3000) == pytest.approx(0.025, rel=1e-6)
    assert poisson.cdf(10, one.high * 3000) == pytest.approx(0.025, rel=1e-6)


def test_none_of_many_has_an_upper_end() -> None:
    none = share_of_totals([0, 0], [2000, 1000])
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(3.69 / 3000, rel=1e-3)


def test_bursts_make_it_wider() -> None:
    alone, burst = share_of_totals([10, 10, 10, 10], [1000] * 4), share_of_totals([0, 40, 0, 0], [1000] * 4)
    assert alone.value == burst.value
    assert burst.low is not None
    assert alone.low is not None
    assert burst.low < alone.low / 5


def test_it_covers_the_true_share() -> None:
    random, share, hits = np.random.default_rng(1), 0.004, 0
    for _ in range(1000):
        of = random.integers(200, 900, size=6)
        one = share_of_totals(random.binomial(of, share).tolist(), of.tolist())
        assert one.low is not None
        assert one.high is not None
        hits += one.low <= share <= one.high
    assert hits >= 940


@pytest.mark.parametrize(
    ("hits", "of", "lasts"),
    [
        ([3, 3, 3, 3], [300] * 4, 0.01),
        ([0, 40, 0, 3], [300] * 4, 0.0),
        ([6, 40, 6, 6], [600] * 4, 0.01),
        ([9, 2, 5], [100] * 3, 0.02),
        ([9, 9], [100, 100], 0.0),
        ([0, 9, 9, 9], [100, 100, 100, 0], 0.0),
    ],
)
def test_what_lasts_is_in_the_quieter_half(hits: list[float], of: list[float], lasts: float) -> None:
    assert lasting_share(hits, of) == pytest.approx(lasts)


def test_of_nothing_there_is_no_share_and_counts_must_fit() -> None:
    assert share_of_totals([], []).value is None
    with pytest.raises(ValueError, match="one length"):
        share_of_totals([1], [1, 2])
