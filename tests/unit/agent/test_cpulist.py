"""Lists of CPUs, as cpuset(7) writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.agent.cpulist import agreed, fold, parse


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", [0]),
        ("0-3", [0, 1, 2, 3]),
        ("0-1,8,10-11", [0, 1, 8, 10, 11]),
        ("0-15:2/4", [0, 1, 4, 5, 8, 9, 12, 13]),
        ("0-6:1/2", [0, 2, 4, 6]),
    ],
)
def test_lists_are_parsed(text: str, cpus: list[int]) -> None:
    assert parse(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "0-", "1,,2"])
def test_what_is_no_list_raises(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        parse(text)


@pytest.mark.parametrize("text", ["0-3:1/0", "0-3:1/-1", "65536", "0-99999999999"])
def test_what_would_never_end_is_no_list(text: str) -> None:
    with pytest.raises(ValueError, match="is no list of CPUs"):
        parse(text)


@given(st.sets(st.integers(0, 300), min_size=1))
def test_folding_is_undone_by_parsing(cpus: set[int]) -> None:
    assert parse(fold(cpus)) == sorted(cpus)


def test_agreement_and_dissent() -> None:
    assert agreed({0: "performance", 1: "performance"}) == "performance"
    assert agreed({0: "b", 1: "a", 2: "b", 3: "b"}) == "a:1 b:0,2-3"
