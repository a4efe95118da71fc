"""The runner: interleaves, stops, survives nodes that die, keeps everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.measure.fakes import Clock, FakeSession, Sink, answer, cell
from tests.wording import lacking
from wulf.cluster.session import RequestError
from wulf.core.errors import NodeError
from wulf.core.records import Verdict
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.runner import Runner
from wulf.measure.engine.watcher import Progress, Unwatched
from wulf.measure.net.bottleneck import Bottleneck
from wulf.stats.comparison import Judgement, PairedRule


class Watch(Unwatched):
    def __init__(self) -> None:
        self.seen: list[Progress] = []

    def on_progress(self, progress: Progress) -> None:
        self.seen.append(progress)


def run(
    cells: list[Cell], sessions: dict[str, FakeSession], clock: Clock | None = None, **plan: Any
) -> tuple[Runner, Sink, list[Progress]]:
    sink, watch = Sink(), Watch()
    addresses = {node: f"10.0.0.{i}" for i, node in enumerate(sessions, 1)}
    runner = Runner(Plan(tuple(cells), seed=1, **plan), sessions, addresses, sink, clock=clock or Clock(), watch=watch)
    return runner, sink, watch.seen


def three() -> dict[str, FakeSession]:
    return {name: FakeSession(name) for name in ("n1", "n2", "n3")}


def test_cells_are_interleaved_and_stop_at_the_first_look() -> None:
    cells = [cell(0, "n1", "n2"), cell(1, "n1", "n3"), cell(2, "n2", "n3")]
    runner, sink, seen = run(cells, three())
    records = runner.run()
    assert [r["cell"] for r in sink.replicates].count(0) == 8
    for start in range(0, 24, 3):
        assert {r["cell"] for r in sink.replicates[start : start + 3]} == {0, 1, 2}, "each pass holds each cell once"
    assert {r.verdict for r in records} == {Verdict.OK}
    assert sink.records == records
    assert (seen[-1].done, seen[-1].expected) == (24, 24)


def test_one_server_a_node_and_transport_with_its_own_key() -> None:
    sessions = three()
    runner, _, _ = run([cell(0, "n1", "n2"), cell(1, "n3", "n2"), cell(2, "n1", "n3")], sessions)
    runner.run()
    serves = [fields for session in sessions.values() for op, fields in session.calls if op == "serve"]
    assert len(serves) == 2
    assert len({fields["key"] for fields in serves}) == 2
    assert all(len(fields["key"]) == 32 for fields in serves)
    runs = [fields for op, fields in sessions["n1"].calls if op == "run"]
    assert {fields["port"] for fields in runs} == {4242}


def test_a_noisy_cell_goes_on_while_the_others_have_stopped() -> None:
    values = iter([1e-5, 2e-5] * 50)
    sessions = three()
    sessions["n1"].on_run = lambda _: answer(next(values))
    runner, sink, _ = run([cell(0, "n1", "n2"), cell(1, "n2", "n3")], sessions, looks=(6, 10))
    records = runner.run()
    assert [r["cell"] for r in sink.replicates].count(0) == 10
    assert [r["cell"] for r in sink.replicates].count(1) == 6
    assert {r.subject: r.verdict for r in records if r.metric == "rtt"} == {
        "n1>n2": Verdict.NOISY,
        "n2>n3": Verdict.OK,
    }


def test_the_budget_ends_it_and_says_so() -> None:
    runner, sink, _ = run([cell(0, "n1", "n2")], three(), clock=Clock(step=1.0), budget=4.0)
    records = runner.run()
    assert len(sink.replicates) < 6
    assert records[0].verdict is Verdict.UNRESOLVED
    assert "budget of 4 s" in (records[0].reason or "")


def test_a_node_that_dies_fails_its_cells_only() -> None:
    sessions = three()

    def die(_: dict[str, Any]) -> dict[str, Any]:
        if len(sessions["n3"].calls) > 2:
            sessions["n3"].alive = False
            raise NodeError("n3", "ssh: connection closed")
        return answer()

    sessions["n3"].on_run = die
    runner, _, _ = run([cell(0, "n1", "n2"), cell(1, "n3", "n2"), cell(2, "n1", "n3")], sessions)
    records = runner.run()
    verdicts = {r.subject: (r.verdict, r.reason) for r in records if r.metric == "rtt"}
    assert verdicts["n1>n2"] == (Verdict.OK, None)
    assert verdicts["n3>n2"] == (Verdict.FAILED, "n3: ssh: connection closed")
    assert verdicts["n1>n3"][0] is Verdict.FAILED
    assert runner.lost == {"n3": "ssh: connection closed"}


def test_a_cell_that_fails_three_times_is_given_up() -> None:
    sessions = three()

    def refuse(_: dict[str, Any]) -> dict[str, Any]:
        raise NodeError("n1", "no route to 10.0.0.2")

    sessions["n1"].on_run = refuse
    runner, sink, _ = run([cell(0, "n1", "n2")], sessions)
    records = runner.run()
    assert len(sink.replicates) == 3
    assert records[0].verdict is Verdict.FAILED
    assert "no route to 10.0.0.2" in (records[0].reason or "")
    assert runner.lost == {}


def test_a_single_failure_is_forgiven_and_counted() -> None:
    failures = iter([True] + [False] * 20)
    sessions = three()

    def sometimes(_: dict[str, Any]) -> dict[str, Any]:
        if next(failures):
            raise NodeError("n1", "timeout")
        return answer()

    sessions["n1"].on_run = sometimes
    records = run([cell(0, "n1", "n2")], sessions)[0].run()
    assert records[0].verdict is Verdict.OK
    assert records[0].failed_replicates == 1


def test_a_node_without_a_session_fails_its_cells() -> None:
    sessions = three()
    runner, _, _ = run([cell(0, "n1", "n9"), cell(1, "n1", "n2")], sessions)
    records = runner.run()
    assert [r.verdict for r in records if r.subject == "n1>n9"] == [Verdict.FAILED]
    assert [r.verdict for r in records if r.subject == "n1>n2"] == [Verdict.OK] * 2


def test_answers_without_a_value_end_at_the_first_look() -> None:
    sessions = three()
    sessions["n1"].on_run = lambda _: answer(None)
    runner, sink, _ = run([cell(0, "n1", "n2")], sessions)
    records = runner.run()
    assert len(sink.replicates) == 8
    assert records[0].reason == "all 5 datagrams were lost"


def test_an_interrupt_keeps_what_was_measured() -> None:
    count = iter(range(100))
    sessions = three()

    def interrupted(_: dict[str, Any]) -> dict[str, Any]:
        if next(count) == 7:
            raise KeyboardInterrupt
        return answer()

    sessions["n1"].on_run = interrupted
    runner, sink, _ = run([cell(0, "n1", "n2"), cell(1, "n1", "n3")], sessions, looks=(10,))
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    assert len(sink.replicates) == 7
    assert {r.subject for r in runner.records} == {"n1>n2", "n1>n3"}
    assert all("interrupted" in (r.reason or "") for r in runner.records if r.value is None)


def test_a_node_found_dead_is_named_with_how_its_session_ended() -> None:
    sessions = three()
    sessions["n2"].alive = False
    runner, _, _ = run([cell(0, "n1", "n2")], sessions)
    records = runner.run()
    assert runner.lost == {"n2": "the connection was lost"}
    assert records[0].reason == "n2: the connection was lost"


def test_a_replicate_without_a_value_is_made_up_for() -> None:
    empty = iter([False, True] + [False] * 20)
    sessions = three()
    sessions["n1"].on_run = lambda _: answer(None if next(empty) else 1e-5)
    runner, sink, _ = run([cell(0, "n1", "n2")], sessions, looks=(6,))
    records = runner.run()
    assert len(sink.replicates) == 7
    assert (records[0].verdict, records[0].replicates) == (Verdict.OK, 6)


@pytest.mark.parametrize(
    ("program", "valued", "taken"),
    [
        ("node", [True, True, False, True, True, True, True, True, True], 7),
        ("node", [False] * 9, 6),
        ("node", [True] + [False] * 8, 9),
        ("net", [True, True, False, True, True, True, True, True, True], 6),
    ],
    ids=["made up for", "never there", "hardly ever there", "of a link"],
)
def test_each_metric_of_a_nodes_own_probe_has_its_interval(program: str, valued: list[bool], taken: int) -> None:
    own = iter(valued)
    sessions = {"n1": FakeSession("n1"), "n2": FakeSession("n2")}

    def excess(_: object) -> dict[str, Any]:
        said = answer()
        if not next(own):
            said["metrics"]["lost"] = {"unit": "1", "value": None, "reason": "a signal took no time"}
        return said

    sessions["n1"].on_run = excess
    one = replace(cell(0, "n1", "n1" if program == "node" else "n2"), program=program)
    sink = Sink()
    more = {"others": {"node": sessions}} if program == "node" else {}
    plan = Plan((one,), seed=1, looks=(6,))
    Runner(plan, sessions, dict.fromkeys(sessions, "::1"), sink, clock=Clock(), **more).run()
    assert len(sink.replicates) == taken


def arms(**b: Any) -> list[Cell]:
    return [replace(cell(0, "n1", "n2"), phase="A"), replace(cell(1, "n1", "n2", **b), phase="B")]


def test_two_configurations_are_measured_in_blocks_until_the_verdict_is_clear() -> None:
    sessions = three()
    sessions["n1"].on_run = lambda fields: answer(1e-5 if fields["params"]["bytes"] == 1 else 2e-5)
    runner, sink, _ = run(arms(bytes=2), sessions, versus=PairedRule())
    records = runner.run()
    blocks = [(r["block"], r["cell"]) for r in sink.replicates]
    assert len(blocks) == 16
    assert all({c for b, c in blocks if b == block} == {0, 1} for block in range(8)), "each block holds A and B once"
    assert len({blocks[2 * i][1] for i in range(8)}) == 2, "and either comes first, as the coin falls"
    assert runner.comparison is not None
    assert runner.comparison.judgement is Judgement.SLOWER
    assert runner.comparison.ratio == pytest.approx(2)
    assert [r.phase for r in records if r.metric == "rtt"] == ["A", "B"]


def test_a_block_in_which_one_failed_is_no_pair() -> None:
    sessions = three()
    calls = iter(range(1000))

    def sometimes(fields: dict[str, Any]) -> dict[str, Any]:
        if next(calls) == 4:
            raise NodeError("n1", "once")
        return answer(1e-5 if fields["params"]["bytes"] == 1 else 2e-5)

    sessions["n1"].on_run = sometimes
    runner, sink, _ = run(arms(bytes=2), sessions, versus=PairedRule())
    runner.run()
    assert runner.comparison is not None
    assert runner.comparison.n == 8
    assert len(sink.replicates) == 18


def test_a_comparison_ends_when_one_of_the_two_is_given_up() -> None:
    sessions = three()

    def broken(fields: dict[str, Any]) -> dict[str, Any]:
        if fields["params"]["bytes"] == 2:
            raise NodeError("n1", "refused")
        return answer()

    sessions["n1"].on_run = broken
    runner, sink, _ = run(arms(bytes=2), sessions, versus=PairedRule())
    records = runner.run()
    assert len(sink.replicates) == 6
    assert runner.comparison is not None
    assert runner.comparison.judgement is Judgement.INCONCLUSIVE
    assert Verdict.FAILED in {r.verdict for r in records}


def test_a_watch_goes_on_past_the_last_look() -> None:
    values = iter([1e-5 + (i * 7919 % 101) * 4e-8 for i in range(5000)])
    sessions = three()
    sessions["n1"].on_run = lambda _: answer(next(values))
    runner, sink, _ = run([cell(0, "n1", "n2")], sessions, watch=True, width=0.1)
    records = runner.run()
    assert len(sink.replicates) > 40
    assert records[0].verdict is Verdict.OK
    assert records[0].confidence == pytest.approx(0.95)


def with_itself(second: Any, sessions: dict[str, FakeSession], *cells: Cell) -> tuple[Runner, Sink]:
    sink, addresses = Sink(), dict.fromkeys(sessions, "10.0.0.1")
    plan = Plan((cell(0, "n1", "n1"), *cells), seed=1, looks=(6,))
    return Runner(plan, sessions, addresses, sink, second=second, clock=Clock()), sink


def test_a_node_measured_with_itself_has_a_process_for_each_end() -> None:
    sessions, second = three(), FakeSession("n1")
    runner, sink = with_itself(lambda _: second, sessions, cell(1, "n2", "n1"))
    runner.run()
    assert len(sink.replicates) == 12
    assert [op for op, _ in second.calls] == ["serve"]
    assert [op for op, _ in sessions["n1"].calls] == ["serve"] + 6 * ["run"], "it serves n2 from its own"
    keys = {fields["key"] for op, fields in [*second.calls, *sessions["n1"].calls] if op == "serve"}
    assert len(keys) == 2
    assert {fields["key"] for op, fields in sessions["n1"].calls if op == "run"} == {second.calls[0][1]["key"]}


def test_a_second_session_that_dies_ends_only_what_it_serves() -> None:
    sessions, second = three(), FakeSession("n1")

    def die(fields: dict[str, Any]) -> dict[str, Any]:
        second.alive = False
        raise NodeError("n1", "run: the peer went away (peer-lost)")

    sessions["n1"].on_run = die
    runner, _ = with_itself(lambda _: second, sessions, cell(1, "n2", "n1"))
    records = {r.subject: r for r in runner.run() if r.metric == "rtt"}
    assert lacking(str(records["n1>n1"].reason), "n1: its second session", "connection was lost") == []
    assert records["n2>n1"].verdict is Verdict.OK
    assert runner.lost == {}, "the node itself is there"


def test_a_client_that_lost_its_server_says_how_that_ended() -> None:
    """A cancelled job ends both at once; the client's answer may come first, and knows only that it is alone."""
    sessions = three()

    def die(_: dict[str, Any]) -> dict[str, Any]:
        sessions["n2"].alive = False
        raise RequestError("n1", "run", "peer-lost", "the peer closed the connection")

    sessions["n1"].on_run = die
    runner, sink, _ = run([cell(0, "n1", "n2")], sessions)
    runner.run()
    assert sink.replicates[0]["error"]["message"].endswith("(peer-lost); n2: the connection was lost")


def test_a_second_session_that_can_not_be_opened_is_said() -> None:
    def refuse(node: str) -> FakeSession:
        raise NodeError(node, "too many sessions")

    runner, sink = with_itself(refuse, three(), cell(1, "n1", "n2"))
    records = {r.subject: r for r in runner.run() if r.metric == "rtt"}
    assert lacking(str(records["n1>n1"].reason), "n1: no second session", ": too many sessions") == []
    assert records["n1>n2"].verdict is Verdict.OK
    assert len(sink.replicates) == 6


def test_a_node_that_dies_while_measured_with_itself_is_named() -> None:
    sessions, second = three(), FakeSession("n1")

    def die(fields: dict[str, Any]) -> dict[str, Any]:
        sessions["n1"].alive = second.alive = False
        raise NodeError("n1", "the node went away")

    sessions["n1"].on_run = die
    runner, _ = with_itself(lambda _: second, sessions)
    assert runner.run()[0].verdict is Verdict.FAILED
    assert runner.lost == {"n1": "the node went away"}


def test_cells_that_end_together_end_when_all_are_narrow() -> None:
    wide = iter([1e-5, 2e-5] * 4 + [1e-5] * 100)
    sessions = three()
    sessions["n1"].on_run = lambda fields: answer(next(wide) if fields["params"]["bytes"] == 2 else 1e-5)
    cells = [cell(0, "n1", "n2"), cell(1, "n1", "n2", bytes=2)]
    runner, _, _ = run(cells, sessions, looks=(6, 8, 40), together=True)
    records = [r for r in runner.run() if r.metric == "rtt"]
    assert [r.replicates for r in records] == [40, 40], "the calm one goes on as long as the noisy one"
    assert [r.blocks for r in records] == [list(range(40))] * 2


def test_cells_that_end_together_look_at_the_blocks_they_share() -> None:
    calls = iter(range(1000))
    sessions = three()

    def once(fields: dict[str, Any]) -> dict[str, Any]:
        if next(calls) == 2:
            raise NodeError("n1", "once")
        return answer()

    sessions["n1"].on_run = once
    runner, _, _ = run([cell(0, "n1", "n2"), cell(1, "n1", "n2", bytes=2)], sessions, looks=(6,), together=True)
    counts = sorted(r.replicates for r in runner.run() if r.metric == "rtt")
    assert counts == [6, 7]


def test_a_cell_without_values_does_not_hold_the_others_up() -> None:
    sessions = three()
    sessions["n1"].on_run = lambda fields: answer(None if fields["params"]["bytes"] == 2 else 1e-5)
    runner, _, _ = run([cell(0, "n1", "n2"), cell(1, "n1", "n2", bytes=2)], sessions, looks=(6,), together=True)
    assert {r.verdict for r in runner.run() if r.metric == "rtt"} == {Verdict.OK, Verdict.UNRESOLVED}


def test_a_watch_of_cells_that_end_together_ends_when_each_could_have() -> None:
    drifting = iter([1e-5] * 14 + [1e-5 * 1.01**i for i in range(2000)])
    late = iter([1e-5 + (i * 7919 % 101) * 4e-8 for i in range(2000)])
    sessions = three()
    sessions["n1"].on_run = lambda fields: answer(next(late if fields["params"]["bytes"] == 2 else drifting))
    cells = [cell(0, "n1", "n2"), cell(1, "n1", "n2", bytes=2)]
    runner, _, _ = run(cells, sessions, watch=True, together=True, width=0.1)
    counts = {r.replicates for r in runner.run() if r.metric == "rtt"}
    assert len(counts) == 1
    assert 40 < counts.pop() < 400


def test_what_limits_a_cell_is_asked_when_it_is_closed_and_kept_beside_its_figure() -> None:
    asked: list[int] = []

    def explain(one: Cell, replicates: Any) -> list[dict[str, Any]]:
        asked.append(len(replicates))
        return [Bottleneck("cpu-bound", one.client, "one core").to_json()]

    session = FakeSession("n1", lambda _: answer(during={"client": {"samples": 2}}))
    sink = Sink()
    cells = (cell(0, "n1", "n2"),)
    sessions = {"n1": session, "n2": FakeSession("n2")}
    Runner(Plan(cells, seed=1), sessions, {"n1": "a", "n2": "b"}, sink, clock=Clock(), explain=explain).run()
    assert asked == [8]
    rtt, lost = sink.records
    assert rtt.bottleneck == [Bottleneck("cpu-bound", "n1", "one core").to_json()]
    assert not lost.bottleneck
    assert sink.replicates[0]["during"] == {"client": {"samples": 2}}


def test_the_expected_replicates_are_the_next_looks_of_the_cells_still_open() -> None:
    values = iter([1e-5, 2e-5] * 50)
    sessions = three()
    sessions["n1"].on_run = lambda _: answer(next(values))
    runner, _, seen = run([cell(0, "n1", "n2"), cell(1, "n2", "n3")], sessions, looks=(6, 10))
    runner.run()
    expected = [progress.expected for progress in seen]
    assert expected[:10] == [12] * 10, "two cells to their first look"
    assert expected[11:] == [16] * 5, "and one of them on to its second"
    assert [progress.done for progress in seen] == list(range(1, 17))


def test_a_budget_that_is_left_is_used() -> None:
    wide = [1e-5 * (1 + 0.1 * ((7 * i) % 24) / 24 + 1e-4 * ((i * i) % 97)) for i in range(400)]
    counts = {}
    for budget in (None, 300.0):
        values = iter(wide)
        sessions = three()
        sessions["n1"].on_run = lambda _, values=values: answer(next(values))  # type: ignore[misc]
        runner, _, seen = run([cell(0, "n1", "n2")], sessions, clock=Clock(step=0.5), budget=budget, width=0.005)
        record = runner.run()[0]
        counts[budget] = record.replicates
        if budget is not None:
            assert record.verdict is Verdict.NOISY
            assert "budget of 300 s was over" in (record.reason or "")
            assert 36 in {progress.expected for progress in seen}, "the next look is beyond the last planned one"
    assert counts[None] == Plan((), 1).looks[-1]
    assert counts[300.0] > 60


def test_the_step_of_the_clock_is_part_of_a_single_round_trips_interval() -> None:
    sessions = three()
    runner, _, _ = run([cell(0, "n1", "n2")], sessions, steps={"n1": 2e-7}, looks=(8,))
    record = next(r for r in runner.run() if r.unit == "s")
    assert record.value is not None and record.low is not None and record.high is not None
    assert (record.value - record.low, record.high - record.value) == pytest.approx((2e-7, 2e-7))
