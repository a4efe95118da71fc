"""Order-statistic intervals against the figures in the literature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.stats.estimates import Interval
from wulf.stats.intervals import least_samples, median_interval, weighted_sum


@pytest.mark.parametrize(
    ("n", "low", "high", "coverage"),
    [(6, 1, 6, 0.969), (10, 2, 9, 0.979), (20, 6, 15, 0.959)],
)
def test_ranks_and_coverage_of_the_literature(n: int, low: int, high: int, coverage: float) -> None:
    estimate = median_interval(np.arange(1, n + 1))
    assert (estimate.low, estimate.high) == (low, high)
    assert estimate.confidence == pytest.approx(coverage, abs=0.0006)


def test_five_are_too_few_and_it_says_how_many_are_needed() -> None:
    estimate = median_interval([1, 2, 3, 4, 5])
    assert estimate.value is None
    assert estimate.low is None
    assert estimate.reason is not None
    assert "6 are needed" in estimate.reason
    assert median_interval([]).value is None


def test_least_samples() -> None:
    assert least_samples(0.95) == 6
    assert least_samples(0.99) == 8


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        median_interval([1, 2, 3, 4, 5, bad])


def test_confidence_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        median_interval([1.0] * 10, confidence=95)


def test_width_of_constants_and_around_zero() -> None:
    assert median_interval([2.0] * 6).width == 0
    assert median_interval([-1, -1, -1, 1, 1, 1]).width == float("inf")


finite = st.floats(-1e9, 1e9, allow_nan=False)


@given(st.lists(finite, min_size=6, max_size=60), st.randoms())
def test_order_does_not_matter_and_the_interval_encloses_the_median(values: list[float], random: object) -> None:
    estimate = median_interval(values)
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert median_interval(shuffled) == estimate
    assert estimate.low is not None and estimate.value is not None and estimate.high is not None
    assert estimate.low <= estimate.value <= estimate.high


@given(st.lists(st.integers(-1000, 1000), min_size=6, max_size=40), st.sampled_from([0.5, 2.0, 1024.0]))
def test_scaling_scales(values: list[int], factor: float) -> None:
    plain, scaled = median_interval(values), median_interval([v * factor for v in values])
    assert (scaled.value, scaled.low, scaled.high) == (
        plain.value * factor,  # type: ignore[operator]
        plain.low * factor,  # type: ignore[operator]
        plain.high * factor,  # type: ignore[operator]
    )


def test_coverage_by_simulation() -> None:
    random = np.random.default_rng(1)
    hits = 0
    for sample in random.lognormal(size=(2000, 10)):
        estimate = median_interval(sample)
        hits += estimate.low <= 1.0 <= estimate.high  # type: ignore[operator]
    assert 0.965 < hits / 2000 < 0.99  # exact coverage .979; five binomial standard deviations are .016


def test_a_sum_has_its_bounds_from_those_of_its_parts() -> None:
    one, other = Interval(10.0, 7.0, 11.0), Interval(4.0, 0.0, 16.0)
    assert weighted_sum([(1.0, one)]) == one
    assert weighted_sum([(1.0, one), (1.0, other)]) == Interval(14.0, 14 - 5.0, 14 + (1 + 12**2) ** 0.5)
    less = weighted_sum([(2.0, one), (-1.0, other)])
    assert less == Interval(16.0, 16 - (6**2 + 12**2) ** 0.5, 16 + (2**2 + 4**2) ** 0.5), (
        "what is taken away turns round"
    )
