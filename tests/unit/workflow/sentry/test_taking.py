"""What is taken in of a measurement that has ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wulf.core.findings import Severity
from wulf.sentry.harvest import Harvest
from wulf.sentry.incident import Kind, Observation
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.state import Figure, MetricInfo, SentryState
from wulf.workflow.sentry.taking import DONE, Result, take_in

PLAN = SentryPlan(measure=(Measure(name="node", command=("node",), every=86400.0),))
RATE = MetricInfo("rate", "B/s", "higher")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SentryState]:
    with SentryState(tmp_path / "sentry.db") as made:
        made.watch({"n1": "a", "n2": "a"}, 0.0, 0.1)
        yield made


def blamed(state: SentryState, at: float) -> bool:
    """A run at that time has a figure of n1, and blames it."""
    number = state.claim("node", ["n1"], "due", at, {})
    assert number is not None
    one = next(each for each in state.running() if each.id == number)
    what = Observation(Kind.BLAMED, "n1", "node", Severity.BAD, at, at, "n1 is slow.")
    found = Harvest(at, figures=[Figure("n1", "rate", at, 1e9)], metrics=[RATE], observations=[what], measured=["n1"])
    return take_in(state, PLAN, one, Result(DONE, harvest=found), seconds=60.0, now=at)


def test_an_incident_that_lasts_is_one_fault(state: SentryState) -> None:
    for day in (1.0, 2.0, 3.0):
        assert blamed(state, day * 86400.0)
    (incident,) = state.incidents()
    assert incident.is_open
    assert [(one.name, one.faults) for one in state.nodes()] == [("n1", 1.0), ("n2", 0.0)]


def test_a_measurement_is_taken_in_once(state: SentryState) -> None:
    number = state.claim("node", ["n1"], "due", 1.0, {})
    one = next(each for each in state.running() if each.id == number)
    found = Result(DONE, harvest=Harvest(1.0, figures=[Figure("n1", "rate", 1.0, 1e9)], metrics=[RATE]))
    assert take_in(state, PLAN, one, found, seconds=60.0, now=2.0)
    assert not take_in(state, PLAN, one, found, seconds=60.0, now=3.0)
    assert len(state.figures("rate", 0.0)) == 1
    assert state.spent(0.0, 10.0) == 60.0
