"""The roofline: bounds by hand, and their intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.model.roofline import Ceiling, Roof
from wulf.stats.estimates import Interval

MEMORY = Ceiling("memory", Interval(10e9, 9e9, 11e9))
CACHE = Ceiling("L1", Interval(100e9, 99e9, 101e9))
ROOF = Roof("one CPU", Interval(40e9, 38e9, 42e9), [CACHE, MEMORY])


def test_the_ridge_is_peak_by_bandwidth() -> None:
    ridge = ROOF.ridge(MEMORY)
    assert (ridge.value, ridge.low, ridge.high) == pytest.approx((4.0, 38 / 11, 42 / 9))


@pytest.mark.parametrize(
    ("intensity", "value", "low", "high", "limit"),
    [(0.5, 5e9, 4.5e9, 5.5e9, "memory"), (4.0, 40e9, 36e9, 42e9, "peak"), (100, 40e9, 38e9, 42e9, "peak")],
)
def test_attainable_is_the_lower_of_both(intensity: float, value: float, low: float, high: float, limit: str) -> None:
    bound = ROOF.attainable(intensity, MEMORY)
    assert (bound.rate.value, bound.rate.low, bound.rate.high) == pytest.approx((value, low, high))
    assert bound.limit == limit


@given(st.floats(1e-6, 1e6))
def test_more_intensity_never_reaches_less_and_never_more_than_the_peak(intensity: float) -> None:
    one, two = (ROOF.attainable(x, MEMORY).rate for x in (intensity, 2 * intensity))
    assert one.low <= one.value <= one.high <= ROOF.peak.high
    assert one.value <= two.value


def test_no_intensity_is_refused() -> None:
    with pytest.raises(ValueError, match="0 flop/B is not above zero"):
        ROOF.attainable(0, MEMORY)
