"""The watch with its clock, its nodes and its measurements played: what is measured when, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.unit.workflow.sentry.playing import DAY, HOUR, PLAN, START, Played, leave, round_of, watch_of
from wulf.sentry.harvest import LOST, Harvest
from wulf.sentry.incident import Kind
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.rows import Text, Whole
from wulf.sentry.state import Measurement, SentryState
from wulf.workflow.sentry.children import End
from wulf.workflow.sentry.taking import Result, result_of, take_in
from wulf.workflow.sentry.watch import BUSY_FOR, put_off


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SentryState]:
    with SentryState(tmp_path / "sentry.db") as made:
        yield made


def test_what_is_due_is_measured_as_many_at_once_as_may_be(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch = watch_of(state, played)
    assert watch.start() == 2
    assert watch.start() == 0, "no more than at_once"
    assert {node for one in state.running() for node in one.nodes} == {"n1", "n2"}
    round_of(watch, played)
    assert sorted(node for node, _ in state.last_measured()) == ["n1", "n2", "n3"]
    assert len(played.started) == 3
    assert state.running() == []
    assert len(state.figures("node.copy", 0.0)) == 3


def test_busy_nodes_are_left_alone_and_not_asked_again_at_once(state: SentryState) -> None:
    played = Played(lambda *_: 2e9, busy={"n2"})
    watch = watch_of(state, played)
    round_of(watch, played)
    assert sorted(node for node, _ in state.last_measured()) == ["n1", "n3"]
    assert played.asked.count("n2") == 1
    played.busy, played.now = set(), played.now + BUSY_FOR
    round_of(watch, played)
    assert ("n2", "node") in state.last_measured()


def test_a_run_that_an_earlier_sentry_left_whole_is_taken_in_and_one_that_is_not_is_lost(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    first = watch_of(state, played)
    first.start()
    whole, torn = (one for one in reversed(played.started))
    leave(whole.folder, {whole.nodes[0]: 3e9})
    torn.folder.mkdir(parents=True)
    played.now += 10.0
    watch_of(state, played)
    assert {one.id: one.state for one in state.measurements(0.0)} == {whole.number: "done", torn.number: "lost"}
    assert [(one.node, one.value) for one in state.figures("node.copy", 0.0)] == [(whole.nodes[0], 3e9)]
    assert state.rows("SELECT * FROM claim", (), Text, Whole) == []


def test_nodes_whose_processes_can_t_be_ended_stay_claimed(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch_of(state, played).start()
    again = watch_of(state, played, gone=False)
    assert len(state.running()) == 2
    again.start()
    assert [job.nodes for job in played.started[2:]] == [("n3",)]


def test_a_run_is_taken_in_once(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch = watch_of(state, played, ["n1"])
    watch.start()
    (one,) = state.running()
    leave(Path(one.run), {"n1": 2e9})
    result = result_of(one, PLAN.measure[0], End(0), {}, played.now)
    assert take_in(state, PLAN, one, result, seconds=1.0, now=played.now)
    assert not take_in(state, PLAN, one, result, seconds=1.0, now=played.now)
    assert len(state.figures("node.copy", 0.0)) == 1
    assert state.spent(0.0, played.now) == 1.0


def test_what_gives_way_to_a_job_is_preempted_and_soon_measured_again(state: SentryState) -> None:
    played = Played(lambda *_: None)
    watch = watch_of(state, played, ["n1"], preempted=True)
    watch.start()
    played.now += 61.0
    watch.collect()
    (one,) = state.measurements(0.0)
    assert one.state == "preempted"
    assert watch.start() == 0, "not at once"
    played.now += 61.0
    assert watch.start() == 1


def test_what_fails_is_tried_again_later_and_later(state: SentryState) -> None:
    played = Played(lambda *_: 2e9, refuses=True)
    watch = watch_of(state, played, ["n1"])
    times = []
    for _ in range(400):
        before = len(state.measurements(0.0))
        watch.start()
        if len(state.measurements(0.0)) > before:
            times.append(played.now)
        played.now += 30.0
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[:3] == [60.0, 120.0, 240.0]
    assert max(gaps) == HOUR
    reasons = state.rows("SELECT DISTINCT reason FROM measurement", (), Text)
    assert reasons == [("it could not be started: no more processes",)]


def test_a_measure_that_fails_does_not_keep_the_others_back() -> None:
    plan = SentryPlan(measure=tuple(Measure(name=name, command=("x",), every=DAY) for name in ("a", "b")))
    failed = Measurement(1, "a", ("n1",), "due", "failed", {}, START, START + 1, 1.0, "", "")
    assert put_off(plan, {}, [failed]).keys() == {("n1", "a")}


def test_a_node_that_can_t_be_measured_is_told_the_second_time(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch = watch_of(state, played, ["n1"])
    for number in range(3):
        assert watch.start() == 1
        (one,) = state.running()
        watch.running.clear()
        played.now += 30.0
        result = Result("failed", "no route", Harvest(played.now, unreached={"n1": "no route"}))
        take_in(state, PLAN, one, result, seconds=30.0, now=played.now)
        assert len(state.incidents()) == min(1, number)
        assert watch.start() == 0, "it is left alone for a while"
        played.now += 1300.0
    (incident,) = state.incidents()
    assert (incident.what.kind, len(state.events(incident.id))) == (Kind.UNREACHABLE, 1)
    round_of(watch, played)
    assert state.incidents(open_only=True) == []


def test_a_node_that_does_not_answer_is_told_and_measured_once_it_does(state: SentryState) -> None:
    played = Played(lambda *_: 2e9, down={"n2"})
    watch = watch_of(state, played)
    round_of(watch, played)
    assert [one.name for one in state.signs(0.0)] == [LOST]
    assert state.incidents() == [], "once may be chance"
    for _ in range(3):
        played.now += 300.0
        round_of(watch, played)
    (one,) = state.incidents()
    assert (one.what.kind, one.what.node, len(state.events(one.id))) == (Kind.UNREACHABLE, "n2", 1)
    assert sorted(node for node, _ in state.last_measured()) == ["n1", "n3"]
    played.down, played.now = set(), played.now + HOUR
    round_of(watch, played)
    assert state.incidents(open_only=True) == []
    assert ("n2", "node") in state.last_measured()


def test_a_scheduler_that_is_down_does_not_end_the_watch(state: SentryState) -> None:
    played = Played(lambda *_: 2e9, silent=True)
    watch = watch_of(state, played)
    assert watch.start() == 0
    played.silent = False
    assert watch.start() == 2, "asked again at once"


def test_what_is_measured_between_nodes_leaves_out_those_that_no_job_gets(state: SentryState) -> None:
    pairs = Measure(name="pairs", command=("net", "pairs"), every=DAY, nodes_at_once=0)
    played = Played(lambda *_: 2e9, apart={"n2"})
    watch = watch_of(state, played, plan=SentryPlan(measure=(pairs,)))
    assert watch.start() == 1
    assert played.started[0].nodes == ("n1", "n3")
    played.apart = {"n1", "n2", "n3"}
    other = watch_of(state, played, plan=SentryPlan(measure=(pairs,)))
    assert other.start() == 0


def test_a_run_that_can_t_be_taken_in_fails_and_the_watch_goes_on(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch = watch_of(state, played, ["n1"])
    watch.start()
    (one,) = state.running()
    leave(Path(one.run), {"n1": 2e9})
    records = Path(one.run) / "records.jsonl"
    records.write_text(records.read_text().replace('"at":"20', '"at":"in 20'))
    result = result_of(one, PLAN.measure[0], End(0), {}, played.now)
    assert result.state == "failed"
    assert "can't be taken in" in result.reason


def test_what_runs_is_ended_with_the_sentry_and_says_nothing_of_its_nodes(state: SentryState) -> None:
    played = Played(lambda *_: 2e9)
    watch = watch_of(state, played)
    watch.start()
    watch.stop()
    watch.give_up()
    assert {one.state for one in state.measurements(0.0)} == {"lost"}
    assert (state.rows("SELECT * FROM claim", (), Text, Whole), state.last_measured(), state.signs(0.0)) == ([], {}, [])
