"""Six weeks of a watch, played: a node becomes slower, is acknowledged, and mended; with the product's detectors."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.unit.workflow.sentry.playing import DAY, PLAN, START, Played, round_of, watch_of
from wulf.sentry.incident import Kind, State
from wulf.sentry.state import SentryState
from wulf.workflow.sentry.asked import acknowledge, status

BROKEN = START + 20 * DAY, START + 30 * DAY


@pytest.mark.full
def test_a_node_that_is_slower_is_told_acknowledged_and_closed_when_it_is_mended(tmp_path: Path) -> None:
    draw = random.Random(1)

    def value(node: str, at: float) -> float:
        return 2e9 * draw.gauss(1.0, 0.005) * (0.8 if node == "n3" and BROKEN[0] <= at < BROKEN[1] else 1.0)

    plan = PLAN.model_copy(update={"budget": PLAN.budget.model_copy(update={"rest": DAY})})
    played = Played(value)
    with SentryState(tmp_path / "sentry.db") as state:
        watch = watch_of(state, played, [f"n{number}" for number in range(1, 9)], plan=plan)
        while played.now < START + 45 * DAY:
            round_of(watch, played)
            for one in state.incidents(open_only=True):
                if one.state is State.OPEN:
                    acknowledge(state.path, one.id, "ada", "module ordered", played.now)
            played.now += DAY / 4
        (one,) = state.incidents()
        assert (one.what.kind, one.what.node, one.what.metric) == (Kind.CHANGED, "n3", "node.copy")
        assert [str(event.what) for event in state.events(one.id)] == ["opened", "acknowledged", "closed"]
        assert BROKEN[0] - 2 * DAY <= one.what.since <= BROKEN[0] + 3 * DAY
        assert BROKEN[0] <= one.opened_at < BROKEN[1]
        assert one.what.ratio == pytest.approx(0.8, rel=0.03)
        found = status(state, played.now)
        assert (len(found.nodes), found.open, found.failed) == (8, [], [])
        assert 0 < found.spent <= found.budget
