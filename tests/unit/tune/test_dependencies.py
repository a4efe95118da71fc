"""What is written first, what is without effect, what is set anew; on a catalogue made for it."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.core.errors import UsageError
from wulf.tune.dependencies import conflicts, masked, needs, order, resets, together
from wulf.tune.setting import Setting
from wulf.tune.values import same


def setting(name: str, **more: Any) -> Setting:
    base = {"title": "T", "what": "W.", "why": "Y.", "type": "int", "unit": "1", "mechanism": "sysctl"}
    return Setting.model_validate({"name": name, "scope": "netns", "tested": "recorded", **base, **more})


def catalogue(**more: dict[str, Any]) -> dict[str, Setting]:
    return {f"x.{name}": setting(f"x.{name}", **words) for name, words in more.items()}


CHAIN = catalogue(a={"needs": ["x.b"]}, b={"needs": ["x.c"]}, c={}, d={})


def test_each_is_written_after_what_it_needs() -> None:
    assert order(CHAIN, ["x.a", "x.b", "x.c", "x.d"]) == ["x.c", "x.b", "x.a", "x.d"]


def test_a_need_counts_through_one_that_is_not_written() -> None:
    assert order(CHAIN, ["x.a", "x.c"]) == ["x.c", "x.a"]
    assert needs(CHAIN, ["x.a"]) == {"x.b", "x.c"}


def test_what_nothing_binds_stays_where_it_is() -> None:
    assert order(CHAIN, ["x.d", "x.c", "x.a", "x.b"]) == ["x.d", "x.c", "x.b", "x.a"]
    assert order({}, ["z.z", "a.a"]) == ["z.z", "a.a"]


def test_what_a_change_sets_anew_comes_after_it() -> None:
    rings = catalogue(affinity={}, rings={"resets": ["x.affinity"]}, affinity2={})
    assert order(rings, list(rings)) == ["x.rings", "x.affinity", "x.affinity2"]


def test_what_may_mask_it_comes_before() -> None:
    assert order(COALESCING, list(COALESCING)) == ["x.adaptive", "x.usecs", "x.defer"]


def test_a_need_counts_more_than_a_reset() -> None:
    both = catalogue(a={"resets": ["x.b"], "needs": ["x.b"]}, b={})
    assert order(both, list(both)) == ["x.b", "x.a"]


def test_two_that_set_each_other_anew_are_still_written() -> None:
    both = catalogue(a={"resets": ["x.b"]}, b={"resets": ["x.a"]})
    assert sorted(order(both, list(both))) == ["x.a", "x.b"]


def test_a_circle_of_needs_is_refused() -> None:
    circle = catalogue(a={"needs": ["x.b"]}, b={"needs": ["x.a"]})
    with pytest.raises(UsageError, match=r"in a circle: .*x\.a"):
        order(circle, list(circle))


def test_resets_reach_through_others() -> None:
    chain = catalogue(module={"resets": ["x.rings"]}, rings={"resets": ["x.affinity"]}, affinity={})
    assert resets(chain, ["x.module"]) == {"x.rings", "x.affinity"}
    assert resets(chain, ["x.affinity"]) == set()


COALESCING = catalogue(
    adaptive={"type": "bool", "unit": None},
    usecs={"type": "float", "unit": "s", "masked_by": {"x.adaptive": True}},
    defer={"masked_by": {"x.usecs": 0.0}},
)


def test_what_masks_is_named_with_its_value() -> None:
    assert masked(COALESCING, {"x.adaptive": True, "x.usecs": 3e-6}) == {"x.usecs": {"x.adaptive": True}}
    assert masked(COALESCING, {"x.adaptive": False, "x.usecs": 3e-6}) == {}


def test_what_is_masked_masks_nothing() -> None:
    assert masked(COALESCING, {"x.adaptive": True, "x.usecs": 0, "x.defer": 2}) == {"x.usecs": {"x.adaptive": True}}
    assert masked(COALESCING, {"x.adaptive": False, "x.usecs": 0, "x.defer": 2}) == {"x.defer": {"x.usecs": 0.0}}


def test_an_unknown_value_masks_nothing() -> None:
    assert masked(COALESCING, {"x.adaptive": None, "x.usecs": 3e-6}) == {}
    assert masked(COALESCING, {"x.usecs": 3e-6, "y.unknown": 1}) == {}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [(0, 0.0, True), (3e-6, 3 * 1e-6, True), (1, True, False), ("0", 0, False), (None, 0, False), ("a", "a", True)],
)
def test_values_are_compared_by_kind(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal


def test_a_conflict_is_told_once() -> None:
    pair = catalogue(a={"conflicts": ["x.b"]}, b={"conflicts": ["x.a"]}, c={})
    assert conflicts(pair, ["x.b", "x.a", "x.c"]) == [("x.a", "x.b")]
    assert conflicts(pair, ["x.a", "x.c"]) == []


def test_knobs_that_undo_each_other_are_searched_together() -> None:
    pair = catalogue(pinning={"conflicts": ["x.balancer"]}, balancer={}, other={})
    assert together(pair, list(pair)) == [["x.pinning", "x.balancer"], ["x.other"]]


def test_knobs_that_depend_on_each_other_are_searched_together() -> None:
    assert together({**COALESCING, **CHAIN}, ["x.usecs", "x.d", "x.adaptive", "x.a", "x.b"]) == [
        ["x.adaptive", "x.usecs"],
        ["x.d"],
        ["x.b", "x.a"],
    ]
