"""The sentry's state: claims refuse a second, what belongs together is whole, others read meanwhile."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from wulf.core.errors import UsageError, WulfError
from wulf.core.findings import Severity
from wulf.sentry.incident import Kind, Observation, What, acknowledged, closed, seen
from wulf.sentry.state import VERSION, Figure, MetricInfo, SentryState, Sign, in_state

HOLDER = {"boot": "b", "pid": "1", "started": "2"}
COPY = MetricInfo("memory.copy", "B/s", "higher")
SLOW = Observation(Kind.CHANGED, "n1", COPY.name, Severity.BAD, 1.0, 2.0, "n1 copies less.", "look", "B/s", 2.0, 1.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sentry.db"


def test_a_node_is_claimed_once(path: Path) -> None:
    with SentryState(path) as state:
        first = state.claim("nodes", ["n1", "n2"], "due", 1.0, HOLDER)
        assert first is not None
        assert state.claim("links", ["n3", "n2"], "due", 2.0, HOLDER) is None
        assert [one.id for one in state.running()] == [first], "nothing is left of what was refused"
        assert state.claim("links", ["n3"], "due", 3.0, HOLDER) is not None, "n3 was not left claimed"
        state.finish(first, "done", 4.0, 6.0, measured=["n1", "n2"])
        assert state.claim("links", ["n2"], "due", 5.0, HOLDER) is not None
        assert state.last_measured() == {("n1", "nodes"): 4.0, ("n2", "nodes"): 4.0}
        assert state.spent(0.0, 10.0) == 6.0
        assert state.usual_seconds("nodes") == 3.0


def test_two_states_of_one_file_claim_a_node_once(path: Path) -> None:
    with SentryState(path) as one, SentryState(path) as other:
        assert one.claim("nodes", ["n1"], "due", 1.0, HOLDER) is not None
        assert other.claim("nodes", ["n1"], "due", 1.0, HOLDER) is None


def test_a_transaction_is_whole_or_nothing_of_it(path: Path) -> None:
    with SentryState(path) as state:
        number = state.claim("nodes", ["n1"], "due", 1.0, HOLDER)
        assert number is not None
        with pytest.raises(RuntimeError), state.transaction():
            state.metric(COPY)
            state.add(number, [Figure("n1", COPY.name, 1.0, 2e9)])
            state.finish(number, "done", 2.0, 1.0, measured=["n1"])
            state.keep(seen(None, SLOW, 2.0)[0], What.OPENED, 2.0, ["webhook"])
            raise RuntimeError
        assert state.metrics() == {}
        assert [one.state for one in state.running()] == ["running"]
        assert (state.incidents(), state.events(), state.due(9.0), state.last_measured()) == ([], [], [], {})


def test_figures_taken_in_twice_are_there_once(path: Path) -> None:
    with SentryState(path) as state:
        number = state.claim("nodes", ["n1"], "due", 1.0, HOLDER)
        assert number is not None
        state.metric(COPY)
        for _ in range(2):
            state.add(number, [Figure("n1", COPY.name, 1.0, 2e9, 1.9e9, 2.1e9)])
        assert state.figures(COPY.name, 0.0) == [Figure("n1", COPY.name, 1.0, 2e9, 1.9e9, 2.1e9)]
        assert state.by_day(COPY.name, 0.0) == [("n1", 0, 2e9)]


def test_a_reader_sees_one_moment_beside_a_writer_and_writes_nothing(path: Path) -> None:
    with SentryState(path) as writer:
        writer.watch({"n1": "a"}, 1.0, 0.1)
        with SentryState(path, read_only=True) as reader, reader.snapshot():
            assert [node.name for node in reader.nodes()] == ["n1"]
            writer.watch({"n1": "a", "n2": "a"}, 2.0, 0.1)
            assert [node.name for node in reader.nodes()] == ["n1"]
        assert len(in_state(path, SentryState.nodes)) == 2
        with SentryState(path, read_only=True) as reader, pytest.raises(WulfError, match="can't be written"):
            reader.watch({}, 3.0, 0.1)


def test_what_is_no_state_or_a_newer_one_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="there is no state"):
        SentryState(path, read_only=True)
    path.write_text("no database" * 100)
    with pytest.raises(UsageError, match="no state of a sentry can be read"):
        SentryState(path)
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE other (x)")
    db.close()
    with pytest.raises(UsageError, match="no state of a sentry"):
        SentryState(path)
    path.unlink()
    SentryState(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(UsageError, match="newer wulf"):
        SentryState(path)


def test_nodes_that_leave_the_plan_are_kept_as_gone(path: Path) -> None:
    with SentryState(path) as state:
        state.watch({"n1": "a", "n2": "b"}, 1.0, 0.1)
        state.watch({"n2": "b"}, 2.0, 0.2)
        assert [(node.name, node.since, node.chance) for node in state.nodes()] == [("n2", 1.0, 0.1)]
        state.watch({"n1": "a", "n2": "b"}, 3.0, 0.2)
        assert [(node.name, node.since) for node in state.nodes()] == [("n1", 1.0), ("n2", 1.0)]


def test_each_channel_is_told_of_an_event_until_it_has_been(path: Path) -> None:
    with SentryState(path) as state:
        one = state.keep(seen(None, SLOW, 2.0)[0], What.OPENED, 2.0, ["webhook", "syslog"])
        assert [(each.channel, each.attempts) for each in state.due(2.0)] == [("syslog", 0), ("webhook", 0)]
        webhook = state.due(2.0)[1]
        state.undelivered(webhook, 60.0, "refused")
        state.delivered(state.due(2.0)[0])
        assert state.due(59.0) == []
        assert [(each.number, each.attempts) for each in state.due(60.0)] == [(webhook.number, 1)]
        assert state.waiting() == {"webhook": 1}
        state.delivered(webhook)
        assert state.due(1e9) == []
        assert [event.what for event in state.events(one.id)] == [What.OPENED]


def test_who_acknowledges_or_sees_it_come_back_tells_no_channel(path: Path) -> None:
    with SentryState(path) as state:
        one = state.keep(seen(None, SLOW, 2.0)[0], What.OPENED, 2.0, [])
        state.keep(acknowledged(one, 3.0, "ada", "on it"), What.ACKNOWLEDGED, 3.0, ["webhook"])
        assert state.due(9.0) == []
        assert [event.text for event in state.events(one.id)] == [SLOW.text, "on it"]


def test_an_incident_comes_back_as_it_was_kept(path: Path) -> None:
    with SentryState(path) as state:
        one = state.keep(seen(None, SLOW, 2.0, "run-1")[0], What.OPENED, 2.0)
        assert state.incident(one.id) == one
        assert state.newest_incident(*SLOW.key) == one
        over = state.keep(closed(one, 9.0), What.CLOSED, 9.0)
        assert state.incidents(open_only=True) == []
        assert state.incidents(since=8.0) == [over]
        assert state.incidents(since=10.0) == []
        again, what = seen(state.newest_incident(*SLOW.key), SLOW, 11.0)
        assert state.keep(again, what, 11.0).id == one.id


def test_two_open_incidents_of_one_key_are_refused(path: Path) -> None:
    with SentryState(path) as state:
        one = state.keep(seen(None, SLOW, 2.0)[0], What.OPENED, 2.0)
        with pytest.raises(sqlite3.IntegrityError):
            state.keep(seen(None, SLOW, 3.0)[0], What.OPENED, 3.0)
        assert state.incidents() == [one]


def test_what_is_old_is_forgotten_and_incidents_stay(path: Path) -> None:
    with SentryState(path) as state:
        for at in (1.0, 100.0):
            number = state.claim("nodes", ["n1"], "due", at, HOLDER)
            assert number is not None
            state.metric(COPY)
            state.add(number, [Figure("n1", COPY.name, at, 2e9)])
            state.finish(number, "done", at + 1, 1.0, measured=["n1"])
            state.note_signs([Sign("n1", at, "rebooted", 2.0, "n1 was rebooted.")])
        state.keep(seen(None, SLOW, 2.0)[0], What.OPENED, 2.0)
        state.forget(50.0)
        assert [one.at for one in state.figures(COPY.name, 0.0)] == [100.0]
        assert [one.began for one in state.measurements(0.0)] == [100.0]
        assert [one.at for one in state.signs(0.0)] == [100.0]
        assert len(state.incidents()) == 1
