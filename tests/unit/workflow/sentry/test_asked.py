"""What the state says to whoever asks, and what they tell it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.workflow.sentry.playing import DAY, PLAN, START, Played, round_of, watch_of
from wulf.core.errors import UsageError
from wulf.core.findings import Severity
from wulf.sentry.incident import Kind, Observation, What, seen
from wulf.sentry.messages import incident_json
from wulf.sentry.state import SentryState
from wulf.workflow.sentry.asked import acknowledge, close, plan_in, status

SLOW = Observation(Kind.BLAMED, "n2", "node", Severity.BAD, START, START, "n2 stands out.", "look")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SentryState]:
    with SentryState(tmp_path / "sentry.db") as made:
        yield made


def test_status_says_what_is_next_what_it_cost_and_what_the_plan_needs(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch = watch_of(state, played)
    found = status(state, played.now)
    assert [one.nodes for one in found.coming] == [("n1",), ("n2",), ("n3",)]
    assert (found.spent, found.budget, found.needed, found.unmeasured) == (0.0, 86400.0, 180.0, 3)
    round_of(watch, played)
    found = status(state, played.now)
    assert (found.coming, found.unmeasured) == ([], 0)
    assert found.spent == pytest.approx(183.0, abs=3.0)
    assert found.needed == pytest.approx(found.spent, rel=0.05)
    assert status(state, played.now + 2 * DAY).spent == 0.0
    assert plan_in(state) == PLAN


def test_status_of_one_node_is_of_that_node_alone(state: SentryState) -> None:
    watch_of(state, Played(lambda *_: 2e9))
    state.keep(seen(None, SLOW, START)[0], What.OPENED, START)
    assert [len(status(state, START, only).open) for only in (["n1"], ["n2"], [])] == [0, 1, 1]
    assert status(state, START, ["n1"]).nodes == ["n1"]


def test_an_incident_is_acknowledged_then_closed_and_no_other_way(state: SentryState) -> None:
    watch_of(state, Played(lambda *_: 2e9))
    state.keep(seen(None, SLOW, START)[0], What.OPENED, START)
    one = acknowledge(state.path, 1, "ada", "on it", START + 1)
    assert incident_json(one)["by"] == "ada"
    over = close(state.path, 1, "cable", START + 2)
    assert (over.note, over.closed_at) == ("cable", START + 2)
    for call in (lambda: acknowledge(state.path, 1, "ada", "", START), lambda: close(state.path, 1, "", START)):
        with pytest.raises(UsageError, match="was closed"):
            call()
    with pytest.raises(UsageError, match="no incident 2"):
        close(state.path, 2, "", START)


def test_a_state_without_a_plan_says_how_to_begin_one(state: SentryState) -> None:
    with pytest.raises(UsageError, match="holds no plan"):
        status(state, START)
