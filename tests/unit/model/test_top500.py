"""Places on the Top500 lists: what is certain by the known places, and what is estimated between them."""

from __future__ import annotations

import pytest

from wulf.model.top500 import Known, List, history, lists, standing
from wulf.stats.estimates import Interval

ONE = List("200006", (Known(1, 1000e9), Known(500, 10e9)))


def exactly(gflops: float) -> Interval:
    return Interval(gflops * 1e9, gflops * 1e9, gflops * 1e9)


def test_all_lists_since_june_1993_are_there() -> None:
    names = [one.name for one in lists()]
    assert names == [f"{year}{month}" for year in range(1993, 2027) for month in ("06", "11")][:-1]
    assert all(one.first > one.last > 0 for one in lists())
    assert [one.last for one in lists()] == sorted(one.last for one in lists())
    assert (lists()[0].first, lists()[0].last) == (59.7e9, 0.422e9)
    assert lists()[0].title == "June 1993"


@pytest.mark.parametrize(
    ("gflops", "where", "best", "worst"),
    [(1001, "above", 1, 1), (1000, "on", 1, 1), (999, "on", 2, 500), (10, "on", 500, 500), (9.99, "off", 501, 501)],
)
def test_whether_it_is_on_a_list_is_certain(gflops: float, where: str, best: int, worst: int) -> None:
    found = standing(exactly(gflops), ONE)
    assert (found.where, found.sure, found.best, found.worst) == (where, True, best, worst)


def test_the_place_lies_on_a_power_law_between_known_ones() -> None:
    found = standing(exactly(100), ONE)
    assert found.place is not None
    assert found.place.value == pytest.approx(500**0.5)
    assert found.place.low < found.place.value < found.place.high
    split = List("200006", (Known(1, 1000e9), Known(20, 200e9), Known(500, 10e9)))
    found = standing(exactly(300), split)
    assert found.place is not None
    assert (found.best, found.worst) == (2, 20)
    assert 1 < found.place.value < 20
    assert found.place.high <= 20


def test_an_interval_over_the_edge_is_not_sure() -> None:
    found = standing(Interval(10.1e9, 9.9e9, 10.3e9), ONE)
    assert (found.where, found.sure) == ("on", False)
    assert standing(Interval(9.95e9, 9.9e9, 10.3e9), ONE).where == "off"
    assert not standing(Interval(9.95e9, 9.9e9, 10.3e9), ONE).sure


def test_kronos_place_is_the_published_one() -> None:
    """Eadline and Layton: 10.6 GFLOPS, no. 24 of June 1993, and no. 8 with 14.53; ours beside, by the law alone."""
    before = standing(exactly(10.6), lists()[0])
    assert before.place == Interval(24, 24, 24)
    assert before.published
    after = standing(exactly(14.53), lists()[0])
    assert after.place == Interval(8, 8, 8)
    assert after.by_law is not None and after.by_law.low < 8 < after.by_law.high
    between = standing(exactly(12.0), lists()[0])
    assert (between.best, between.worst) == (9, 24)
    assert not between.published and between.by_law is None


@pytest.mark.parametrize(
    ("gflops", "title", "place", "ours"), [(10.6, "November 1997", 417, 436), (14.53, "June 1998", 431, 448)]
)
def test_kronos_last_lists(gflops: float, title: str, place: int, ours: int) -> None:
    """The published places at the lists' ends, and ours within a few of a hundred of them."""
    found = next(one for one in history(exactly(gflops)).standings if one.list.title == title)
    assert found.place == Interval(place, place, place)
    assert found.by_law is not None and round(found.by_law.value) == ours


def test_first_list_missed_and_last_list_on() -> None:
    found = history(exactly(14.53))
    assert found.on is not None and found.missed is not None
    assert (found.on.list.title, found.missed.list.title) == ("June 1998", "November 1998")
    assert found.led is None
    newest = history(exactly(1e10))
    assert (newest.missed, newest.led) == (None, newest.standings[-1])
    oldest = history(exactly(0.4))
    assert oldest.on is None
    assert oldest.missed is oldest.standings[0]
