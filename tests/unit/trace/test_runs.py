"""Lists that are kept as the runs that tell them."""

import pytest

from wulf.trace.runs import Runs

LISTS = [
    ([], []),
    ([(5, 3, 0)], [5, 5, 5]),
    ([(0, 4, 2), (9, 1, 0), (7, 3, -3)], [0, 2, 4, 6, 9, 7, 4, 1]),
    ([(1, 0, 0), (2, 1, 0)], [2]),
]


@pytest.mark.parametrize(("runs", "values"), LISTS)
def test_runs_are_the_list_they_say(runs: list[tuple[int, int, int]], values: list[int]) -> None:
    told = Runs(runs)
    assert list(told) == values
    assert (len(told), bool(told)) == (len(values), bool(values))
    assert [told[at] for at in range(-len(values), len(values))] == values + values
    assert told[1:-1] == values[1:-1]
    assert told == values
    assert values == told
    assert told == Runs([(value, 1, 0) for value in values])
    with pytest.raises(IndexError):
        told[len(values)]


@pytest.mark.parametrize("other", [[5, 5, 6], [5, 5], None, Runs([(5, 2, 1), (5, 1, 0)])])
def test_runs_differ_from_other_lists(other: object) -> None:
    assert Runs([(5, 3, 0)]) != other


def test_millions_of_entries_take_no_time_until_they_are_walked() -> None:
    billions = Runs([(8, 4_000_000, 0)] * 1000)
    assert len(billions) == 4_000_000_000
    assert billions == Runs([(8, 4_000_000, 0)] * 1000)
    assert billions[-1] == 8
