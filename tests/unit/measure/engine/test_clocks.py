"""Clock offsets from exchanges, exactly."""

import pytest

from wulf.measure.engine.clocks import ClockOffset, Exchange, estimate, overlap


def test_the_fastest_exchange_tells_and_bounds_the_error() -> None:
    exchanges = [Exchange(10.0, 1010.5, 11.0), Exchange(20.0, 1020.25, 20.5), Exchange(30.0, 1030.9, 31.0)]
    assert estimate(exchanges) == ClockOffset(1000.0, 0.25)


@pytest.mark.parametrize("forth", [0.0, 0.001, 0.0135, 0.02])
def test_the_true_offset_is_within_the_bound_however_unequal_the_ways(forth: float) -> None:
    true, there_and_back = -7.5, 0.02
    found = estimate([Exchange(1.0, 1.0 + forth + true, 1.0 + there_and_back)])
    assert abs(found.offset - true) <= found.bound + 1e-12
    assert found.bound == pytest.approx(0.01)


def test_there_and_back() -> None:
    offset = ClockOffset(3.25, 0.0)
    assert offset.to_theirs(1.0) == 4.25
    assert offset.to_ours(offset.to_theirs(9.0)) == 9.0


def test_nothing_to_estimate_from() -> None:
    with pytest.raises(ValueError, match="at least one"):
        estimate([])
    with pytest.raises(ValueError, match="before"):
        estimate([Exchange(2.0, 0.0, 1.0)])


def test_overlap_is_what_all_share_of_the_longest() -> None:
    assert overlap([(0.0, 1.0)]) == 1.0
    assert overlap([(0.0, 1.0), (0.25, 1.25)]) == 0.75
    assert overlap([(0.0, 1.0), (0.25, 1.25), (0.5, 0.75)]) == 0.25
    assert overlap([(0.0, 1.0), (2.0, 3.0)]) == 0.0
    with pytest.raises(ValueError, match="no window"):
        overlap([])
