"""The fleet's figures from a sentry's state: of the same hardware, recent, of well nodes, and of enough of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from wulf.core.durations import DAY
from wulf.core.errors import UsageError
from wulf.core.findings import Severity
from wulf.sentry.incident import Kind, Observation, seen
from wulf.sentry.state import Figure, MetricInfo, SentryState
from wulf.workflow.node import fleet as workflow
from wulf.workflow.node.fleet import fleet_of

NOW, GIB = 20_000 * DAY, 2**30
FACTS = {"cpu.model": {"value": "EPYC"}, "cpu.threads": {"value": 64}, "memory.size": {"value": 256 * GIB}}
LIKE, OTHER = "EPYC, 64 threads, 256 GiB", "Xeon, 8 threads, 16 GiB"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SentryState]:
    """Ten nodes of one hardware, n1 to n10, and three of another."""
    with SentryState(tmp_path / "sentry.db") as state:
        state.watch({f"n{i}": LIKE if i <= 10 else OTHER for i in range(1, 14)}, NOW - 200 * DAY, 0.01)
        state.metric(MetricInfo("mem.triad.all", "B/s", "higher"))
        yield state


def add(state: SentryState, values: Sequence[float], days_ago: float = 1.0) -> None:
    """One figure of each of n1, n2, …"""
    at, nodes = NOW - days_ago * DAY, [f"n{i}" for i in range(1, 1 + len(values))]
    number = state.claim("node", nodes, "due", at, {})
    assert number is not None
    state.add(number, [Figure(node, "mem.triad.all", at, value) for node, value in zip(nodes, values, strict=True)])
    state.finish(number, "done", at, 1.0)


def usual(state: SentryState, node: str = "n1", facts: Any = FACTS) -> Any:
    found = fleet_of(state.path, {node: facts}, ["mem.triad.all", "cpu.clock"], NOW)
    return found.usual[node].get("mem.triad.all")


def test_the_others_of_the_class_have_a_median_and_nine_of_ten_lie_within(state: SentryState) -> None:
    add(state, [5.0, *range(101, 110), 900.0, 900.0, 900.0])
    found = usual(state)
    assert (found.value, found.nodes) == (105.0, 9), "without itself, and without other hardware"
    assert (found.low, found.high) == pytest.approx((101.4, 108.6))


def test_a_node_that_the_sentry_does_not_know_is_held_against_all_of_its_hardware(state: SentryState) -> None:
    add(state, list(range(101, 111)))
    assert usual(state, "new").nodes == 10


def test_the_newest_figure_counts_and_none_that_is_old(state: SentryState) -> None:
    add(state, [500.0] * 10, days_ago=100)
    assert usual(state) is None
    add(state, [50.0] * 10, days_ago=20)
    add(state, [100.0] * 10, days_ago=2)
    assert usual(state).value == 100.0


def test_a_node_with_an_open_incident_is_no_example(state: SentryState) -> None:
    add(state, [100.0] * 9 + [1.0])
    what = Observation(Kind.CHANGED, "n10", "mem.triad.all", Severity.BAD, NOW, NOW, "slow", "")
    state.keep(seen(None, what, NOW)[0], None, NOW)
    assert (usual(state).nodes, usual(state).low) == (8, 100.0)


def test_few_nodes_are_no_fleet(state: SentryState) -> None:
    add(state, [100.0] * 5)
    assert usual(state) is None
    assert usual(state, "n11").nodes == 5


def test_hardware_that_is_not_known_has_no_fleet(state: SentryState) -> None:
    add(state, [100.0] * 10)
    assert usual(state, facts={}) is None


def test_of_a_large_class_some_are_asked(state: SentryState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflow, "MOST", 6)
    add(state, [100.0] * 10)
    assert usual(state, "n2").nodes == 6
    assert usual(state, "n1").nodes == 5, "it is the first of those"


def test_a_state_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no state of a sentry"):
        fleet_of(tmp_path / "none.db", {}, [], NOW)
