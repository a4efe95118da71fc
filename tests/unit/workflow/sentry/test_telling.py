"""Whoever is to be told is told, later where that fails, and never out of a plan that does not ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.workflow.sentry.playing import PLAN
from wulf.core.errors import UsageError
from wulf.core.findings import Severity
from wulf.sentry.draining import SlurmNode
from wulf.sentry.incident import Kind, Observation, What, closed, seen
from wulf.sentry.messages import reason
from wulf.sentry.plan import Tell
from wulf.sentry.state import Delivery, SentryState
from wulf.workflow.sentry.channels.untold import Untold
from wulf.workflow.sentry.drain import drain
from wulf.workflow.sentry.telling import pause, tell_all

SLOW = Observation(Kind.CHANGED, "n1", "m", Severity.BAD, 1.0, 2.0, "n1 is slower.")
ASKED = PLAN.model_copy(update={"tell": Tell(webhook="https://a.example", syslog=True)})


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SentryState]:
    with SentryState(tmp_path / "sentry.db") as made:
        yield made


def opened(state: SentryState, node: str, channels: list[str]) -> None:
    one = Observation(Kind.CHANGED, node, "m", Severity.BAD, 1.0, 2.0, f"{node} is slower.")
    state.keep(seen(None, one, 2.0)[0], What.OPENED, 2.0, channels)


def test_a_channel_that_fails_is_tried_again_later_and_the_others_are_told(state: SentryState) -> None:
    told: list[tuple[str, str]] = []
    down = [True]

    def webhook(one: Delivery, _tell: Tell, _key: str) -> None:
        told.append(("webhook", one.incident.what.node))
        if down[0]:
            raise Untold("a.example answered 503")

    def syslog(one: Delivery, _tell: Tell, _key: str) -> None:
        told.append(("syslog", one.incident.what.node))

    for node in ("n1", "n2"):
        opened(state, node, ["webhook", "syslog"])
    said: list[str] = []
    sends = {"webhook": webhook, "syslog": syslog}
    tell_all(state, ASKED, 10.0, said.append, sends)
    assert told == [("syslog", "n1"), ("webhook", "n1"), ("syslog", "n2")], "not tried twice in a pass"
    assert said == ["webhook: a.example answered 503; tried again in 30 s"]
    down[0] = False
    told.clear()
    tell_all(state, ASKED, 10.0 + pause(0), said.append, sends)
    tell_all(state, ASKED, 1e9, said.append, sends)
    assert sorted(told) == [("webhook", "n1"), ("webhook", "n2")]
    assert state.waiting() == {}


def test_what_the_plan_asks_for_no_longer_is_dropped(state: SentryState) -> None:
    opened(state, "n1", ["webhook", "gone"])
    tell_all(state, PLAN, 10.0, lambda _: None, {})
    assert state.waiting() == {}


def test_pauses_double_up_to_an_hour() -> None:
    assert [pause(number) for number in (0, 1, 2, 3)] == [30.0, 60.0, 120.0, 240.0]
    assert pause(7) == pause(1000) == 3600.0


def test_slurm_is_asked_once_and_again_where_it_refused(state: SentryState) -> None:
    opened(state, "n1", [])
    nodes = {"n1": SlurmNode("n1", "idle")}
    asked: list[tuple[str, ...]] = []

    def refuse(*_words: str) -> str:
        raise UsageError("scontrol refused: no")

    with pytest.raises(UsageError):
        drain(state, Tell(drain=True), lambda: nodes, refuse)
    assert state.drained() == set()
    drain(state, Tell(drain=True), lambda: nodes, lambda *words: asked.append(words) or "")
    (one,) = state.incidents()
    assert asked == [("scontrol", "update", "NodeName=n1", "State=DRAIN", f"Reason={reason(one)}")]
    assert state.drained() == {("n1", 1, 2.0)}
    assert drain(state, Tell(drain=True), lambda: nodes, lambda *_: "") == [], "somebody resumed it: so be it"


def test_a_node_that_was_drained_as_the_sentry_was_killed_is_still_ours(state: SentryState) -> None:
    opened(state, "n1", [])
    (one,) = state.incidents()
    nodes = {"n1": SlurmNode("n1", "drained", reason(one))}
    assert drain(state, Tell(drain=True), lambda: nodes, lambda *_: "") == []
    state.keep(closed(one, 9.0), What.CLOSED, 9.0)
    (order,) = drain(state, Tell(drain=True), lambda: nodes, lambda *_: "")
    assert (order.node, order.reason) == ("n1", "")
