"""Every estimator: permutation, scale and shift behave; NaN, infinity, none, one, all equal, very many are defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wulf.stats.diagnostics import autocorrelation, cold_start, dip, drift, effective_size, modes, robust_sigma
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import few_mean_interval, median_interval, ratio_interval
from wulf.stats.stopping import WatchRule, WidthRule, flags, settled_median

INTERVALS: dict[str, Callable[[Any], Estimate]] = {
    "median": median_interval,
    "settled median": settled_median,
    "width rule": WidthRule().estimate,
    "watch rule": WatchRule().estimate,
    "mean": few_mean_interval,
}
ORDER_MATTERS = {"settled median", "width rule", "watch rule"}

DIAGNOSTICS: dict[str, Callable[[Any], Any]] = {
    "autocorrelation": autocorrelation,
    "effective size": effective_size,
    "drift": drift,
    "cold start": cold_start,
    "modes": modes,
    "dip": dip,
    "flags": flags,
}

samples = st.lists(st.integers(1, 1000).map(float), min_size=20, max_size=45)
scales = st.sampled_from([2.0**-30, 0.5, 2.0**20])  # exact in binary


def same(a: Estimate, b: Estimate, scale: float = 1.0, shift: float = 0.0) -> bool:
    first = (a.value, a.low, a.high)
    second = (b.value, b.low, b.high)
    if None in first or None in second:
        return first == second
    return bool(np.allclose(np.array(first, float) * scale + shift, np.array(second, float), rtol=1e-9))


@pytest.mark.parametrize("name", INTERVALS)
@given(values=samples, scale=scales)
@settings(max_examples=25)
def test_a_scale_scales(name: str, values: list[float], scale: float) -> None:
    estimator = INTERVALS[name]
    assert same(estimator(values), estimator([v * scale for v in values]), scale=scale)


@pytest.mark.parametrize("name", sorted(INTERVALS))
@given(values=samples, shift=st.integers(1, 1000))
@settings(max_examples=25)
def test_a_shift_shifts(name: str, values: list[float], shift: int) -> None:
    estimator = INTERVALS[name]
    assert same(estimator(values), estimator([v + shift for v in values]), shift=shift)


@pytest.mark.parametrize("name", sorted(set(INTERVALS) - ORDER_MATTERS))
@given(values=samples, random=st.randoms())
@settings(max_examples=25)
def test_the_order_does_not_matter(name: str, values: list[float], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    found, other = INTERVALS[name](values), INTERVALS[name](shuffled)
    assert same(found, other)


@pytest.mark.parametrize("name", INTERVALS)
@given(values=samples)
@settings(max_examples=25)
def test_the_interval_holds_the_value(name: str, values: list[float]) -> None:
    found = INTERVALS[name](values)
    if found.value is not None and found.low is not None and found.high is not None:
        assert found.low <= found.value * (1 + 1e-12)
        assert found.value <= found.high * (1 + 1e-12)


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused_with_its_place(name: str, bad: float) -> None:
    with pytest.raises(ValueError, match=r"sample 20 is"):
        INTERVALS[name]([1.0] * 20 + [bad])


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_diagnostics_refuse_it_too(name: str) -> None:
    with pytest.raises(ValueError, match=r"sample 20 is nan"):
        DIAGNOSTICS[name]([1.0] * 20 + [float("nan")])


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("few", [[], [3.0]])
def test_none_and_one_have_no_figure_but_a_reason(name: str, few: list[float]) -> None:
    found = INTERVALS[name](few)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, len(few))
    assert found.reason


@pytest.mark.parametrize("name", DIAGNOSTICS)
@pytest.mark.parametrize("few", [[], [3.0]])
def test_diagnostics_of_none_and_one_find_nothing_odd(name: str, few: list[float]) -> None:
    found = DIAGNOSTICS[name](few)
    assert not getattr(found, "flagged", False)


@pytest.mark.parametrize("name", INTERVALS)
def test_equal_samples_are_their_own_interval(name: str) -> None:
    found = INTERVALS[name]([4.0] * 40)
    assert (found.value, found.low, found.high) == (4.0, 4.0, 4.0)
    assert found.width == 0


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_equal_samples_show_nothing_odd(name: str) -> None:
    found = DIAGNOSTICS[name]([4.0] * 40)
    assert not getattr(found, "flagged", False)
    assert name != "flags" or found == {}


MANY = 10_000_000


@pytest.fixture(scope="module")
def many() -> np.ndarray:
    return np.random.default_rng(1).normal(100, 1, MANY)


@pytest.mark.full
@pytest.mark.parametrize("name", INTERVALS)
def test_ten_million_have_an_answer(name: str, many: np.ndarray) -> None:
    found = INTERVALS[name](many)
    assert found.n == MANY
    assert found.value is not None and found.high is not None
    assert found.high / found.value < 1 + 1e-3


@pytest.mark.full
@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_ten_million_have_a_diagnosis(name: str, many: np.ndarray) -> None:
    found = DIAGNOSTICS[name](many)
    assert not getattr(found, "flagged", False)


def test_deviation_scales_and_does_not_shift() -> None:
    values = [1.0, 5.0, 2.0, 8.0]
    assert robust_sigma([3 * v + 7 for v in values]) == pytest.approx(3 * robust_sigma(values))


@pytest.mark.parametrize("name", ["median", "settled median", "mean"])
@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_impossible_confidences_are_refused(name: str, confidence: float) -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        INTERVALS[name](range(100), confidence)  # type: ignore[call-arg]


def test_a_ratio_of_sums_has_an_interval_that_knows_of_their_dependence() -> None:
    wholes = np.array([1.0, 5.0, 2.0, 9.0, 4.0, 3.0])
    exact = ratio_interval(0.25 * wholes, wholes)  # the part grows with its whole, which varies ninefold
    assert exact.value == pytest.approx(0.25)
    assert (exact.low, exact.high) == (pytest.approx(0.25), pytest.approx(0.25))
    assert ratio_interval([1.0], [2.0]).value is None
    assert ratio_interval([0.0, 1.0], [0.0, 2.0]).value is None  # without one there is nothing to share


def test_the_interval_of_a_ratio_covers_it_nearly_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    wholes = random.uniform(1, 3, (2000, 10))
    parts = wholes * random.uniform(0.1, 0.5, wholes.shape)
    found = [ratio_interval(part, whole) for part, whole in zip(parts, wholes, strict=True)]
    covered = np.mean([(one.low or 0.0) <= 0.3 <= (one.high or 0.0) for one in found])
    assert 0.92 < covered < 0.98
