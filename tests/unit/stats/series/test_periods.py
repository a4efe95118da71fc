"""Modes at multiples of a period."""

import pytest

from wulf.stats.series.periods import joined, period_of


@pytest.mark.parametrize(
    "modes, period",
    [
        ([10, 20, 30], 10),
        ([20, 30, 50], 10),
        ([10.4, 19.8, 30.1], pytest.approx(60.3 / 6)),
        ([20.2, 30.7, 39.3], pytest.approx(90.2 / 9)),
        ([10, 20, 33], None),
        ([50, 60], None),  # 5 and 6 times their distance: so would any two be
        ([10], None),
        ([], None),
    ],
)
def test_period(modes: list[float], period: float | None) -> None:
    assert period_of(modes, first=3, off=0.1) == period


def test_near_modes_are_one() -> None:
    assert joined([(100, 0.25), (105, 0.75), (200, 0.5)], 0.06) == [(pytest.approx(103.75), 1.0), (200, 0.5)]
    assert joined([(100, 0.5), (107, 0.5)], 0.06) == [(100, 0.5), (107, 0.5)]
