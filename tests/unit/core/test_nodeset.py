"""Node sets are expanded up to a bound, at once."""

from __future__ import annotations

import pytest

from wulf.core.nodeset import MOST, names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("a1,b[2-3]", ["a1", "b2", "b3"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("n[1-9/4]", ["n1", "n5", "n9"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[1-4]!n[2-3]", ["n1", "n4"]),
    ],
)
def test_what_a_set_stands_for(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_ten_thousand_nodes_are_a_set() -> None:
    assert len(names_in("n[1-10000]")) == 10_000
    assert len(names_in(f"n[1-{MOST}]")) == MOST


@pytest.mark.parametrize(
    "text",
    [
        "n[1-10000000]",
        "n[1-99999999999999999999]",
        "n[1-1000]x[1-1000]",
        "n[1-2]x[1-99999999999999999999/3]",
        "a[1-60000],b[1-60000]",
        "n[1-10000000]!n[1-9999999]",
    ],
)
def test_more_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="more than 100,000 nodes"):
        names_in(text)


NO_SETS = ["n[1-", "n[3-1]", "n[1-2/0]", "n[1-[2-3]]", "[" * 1_000_000, "[1-2]" * 3 + "[", "a" * 254]


@pytest.mark.parametrize("text", NO_SETS)
def test_what_is_no_set_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        names_in(text)
