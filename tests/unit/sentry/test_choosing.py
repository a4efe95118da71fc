"""Which nodes are measured next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from wulf.core.durations import DAY
from wulf.sentry.choosing import (
    CONFIRM,
    DUE,
    LIKELIEST,
    Choice,
    Known,
    after,
    allowance,
    choose,
    monthly_tests,
    with_signs,
)
from wulf.sentry.plan import Budget, Measure, SentryPlan
from wulf.sentry.state import Sign, Watched

HOUR = 3600.0
NODE = Measure(name="node", command=("node", "--quick"), every=7 * DAY, seconds=60.0)
LINKS = Measure(name="links", command=("links",), every=DAY, seconds=10.0, nodes_at_once=0, on="any")
NAMES = ("n1", "n2", "n3", "n4")
NOW = 100 * DAY
LONG_AGO = {(name, measure): NOW - DAY / 2 for name in NAMES for measure in ("node", "links")}


def watched(**chances: float) -> list[Watched]:
    return [Watched(name, "a", 0.0, chances.get(name, 0.01), 0.0, NOW) for name in NAMES]


def chosen(
    *measures: Measure, idle: Collection[str] = NAMES, left: float = 1e6,
    last: Mapping[tuple[str, str], float] = LONG_AGO, nodes: list[Watched] | None = None, **given: Any,
) -> list[Choice]:  # fmt: skip
    plan = SentryPlan(measure=measures or (NODE,))
    return choose(plan, Known(nodes or watched(), last, **given), NOW, idle=idle, left=left)


def test_the_likeliest_comes_first() -> None:
    found = chosen(nodes=watched(n2=0.5, n4=0.2))
    assert [one.nodes for one in found] == [("n2",), ("n4",), ("n1",), ("n3",)]
    assert {one.why for one in found} == {LIKELIEST}


def test_before_them_what_is_due_and_first_of_all_what_is_confirmed() -> None:
    last = {**LONG_AGO, ("n3", "node"): NOW - 8 * DAY}
    found = chosen(nodes=watched(n2=0.5), last=last, suspects={"n4"})
    assert [(one.nodes, one.why) for one in found[:3]] == [(("n4",), CONFIRM), (("n3",), DUE), (("n2",), LIKELIEST)]


def test_what_was_never_measured_is_due() -> None:
    assert {one.why for one in chosen(last={})} == {DUE}


def test_only_idle_nodes_that_nobody_measures() -> None:
    assert [one.nodes for one in chosen(idle={"n1", "n2"}, measuring={"n1"})] == [("n2",)]


def test_a_node_rests_and_its_confirmation_waits_less() -> None:
    last = {(name, "node"): NOW - 0.75 * HOUR for name in NAMES}
    assert chosen(last=last) == []
    assert [one.why for one in chosen(last=last, suspects={"n1"})] == [CONFIRM]
    assert chosen(last={(name, "node"): NOW - 60.0 for name in NAMES}, suspects={"n1"}) == []


def test_no_more_than_is_left() -> None:
    assert len(chosen(left=130.0)) == 2
    assert len(chosen(left=130.0, seconds={"node": 30.0})) == 4
    assert chosen(left=0.0) == []


def test_all_nodes_together_when_they_are_due_and_whatever_they_do() -> None:
    assert chosen(LINKS, idle=()) == []
    last = {**LONG_AGO, **{(name, "links"): NOW - 2 * DAY for name in NAMES}}
    assert chosen(LINKS, idle=(), last=last) == [Choice("links", NAMES, DUE)]


def test_pairs_are_of_two() -> None:
    pairs = Measure(name="net", command=("survey",), every=DAY, nodes_at_once=2)
    last = {("n1", "net"): NOW - DAY / 2}
    assert [one.nodes for one in chosen(pairs, last=last)] == [("n2", "n3")]  # n4 has no partner left


def test_a_node_is_measured_once_at_a_time() -> None:
    other = Measure(name="other", command=("check",), every=DAY)
    found = chosen(NODE, other, last={})
    assert sorted(one.nodes[0] for one in found) == list(NAMES)


def test_signs_count_from_when_the_node_was_tested_on() -> None:
    signs = [
        Sign("n1", NOW + 1, "facts", 20.0, ""),
        Sign("n2", NOW - 1, "facts", 20.0, ""),
        Sign("gone", NOW, "x", 9, ""),
    ]
    chance = with_signs(watched(), signs, NOW)
    assert chance[0] == pytest.approx(0.168, abs=0.001)
    assert chance[1] == pytest.approx(0.01)


def test_the_allowance_is_of_a_day_and_of_an_hour() -> None:
    plan = SentryPlan(measure=(NODE,), budget=Budget(node_minutes=240.0))
    assert allowance(plan, 0.0, 0.0) == 3 * 600.0
    assert allowance(plan, 14_000.0, 0.0) == 400.0
    assert allowance(plan, 0.0, 1_500.0) == 300.0
    assert allowance(plan, 15_000.0, 0.0) == 0.0


def test_after_a_run_its_nodes_are_believed_well_or_to_have_changed() -> None:
    found = {one.name: one for one in after(watched(), {"n1": 0.5, "n2": 1e4}, {"n2"}, NOW + DAY)}
    assert set(found) == {"n1", "n2"}
    assert found["n1"].chance < 0.01
    assert found["n1"].as_of == NOW + DAY
    assert found["n2"].faults == 1.0
    assert after(watched(), {}, (), NOW) == []


def test_the_plan_says_how_many_tests_there_are() -> None:
    assert monthly_tests(SentryPlan(measure=(NODE,)), 70, 5) == pytest.approx(2 * 5 * 70 * 30 / 7)
