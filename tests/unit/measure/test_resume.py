"""A plan that was cut short and goes on ends as one that was never cut short, up to the order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.measure.fakes import FakeSession, Impatient, Sink, answer, cell
from wulf.core.errors import NodeError
from wulf.core.records import Verdict
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.runner import Runner
from wulf.stats.comparison import PairedRule

CELLS = [cell(0, "n1", "n2"), cell(1, "n1", "n3", bytes=2), cell(2, "n2", "n3", bytes=3)]
ADDRESSES = {"n1": "10.0.0.1", "n2": "10.0.0.2", "n3": "10.0.0.3"}


class Nodes:
    """Sessions whose k-th answer for a cell is the same, whenever it is asked for."""

    def __init__(self) -> None:
        self.asked: dict[Any, int] = defaultdict(int)

    def sessions(self) -> dict[str, FakeSession]:
        return {name: FakeSession(name, self._run) for name in ADDRESSES}

    def _run(self, fields: dict[str, Any]) -> dict[str, Any]:
        size = fields["params"]["bytes"]
        self.asked[size] += 1
        return answer(1e-5 * size * random.Random(f"{size} {self.asked[size]}").uniform(0.8, 1.2))


def turn(nodes: Nodes, plan: Plan, so_far: Sequence[Any] = (), after: int = 10**9) -> Sink:
    """One turn of a run, perhaps interrupted; its sink holds the replicates so far as well."""
    sink = Sink(replicates=list(so_far))
    runner = Runner(plan, nodes.sessions(), ADDRESSES, sink, watch=Impatient(after), so_far=so_far)
    try:
        runner.run()
    except KeyboardInterrupt:
        assert after < 10**9
    return sink


def said(sink: Sink) -> dict[Any, Any]:
    return {
        (r.subject, r.metric, r.params["bytes"]): (r.value, r.low, r.high, r.replicates, r.verdict, r.reason, r.samples)
        for r in sink.records
    }


PLANS = {
    "alone": Plan(tuple(CELLS), seed=1, width=0.02, looks=(6, 9, 14)),
    "waves": Plan(tuple(Cell(**{**vars(c), "wave": 0}) for c in CELLS), seed=1, width=0.02, looks=(6, 9)),
    "one look": Plan(tuple(CELLS), seed=1, looks=(6,)),
}


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("cuts", [[1], [4], [17], [18], [2, 3, 5], [30]])
def test_it_ends_as_if_it_had_never_been_cut(kind: str, cuts: list[int]) -> None:
    plan = PLANS[kind]
    whole = turn(Nodes(), plan)
    nodes, so_far = Nodes(), []
    for after in cuts:
        so_far = turn(nodes, plan, so_far, after).replicates
    resumed = turn(nodes, plan, so_far)
    assert said(resumed) == said(whole)
    assert len(resumed.replicates) == len(whole.replicates)
    assert {(r["cell"], r["block"]) for r in resumed.replicates} >= {(c.id, 0) for c in CELLS if cuts[0] >= 3}


def test_blocks_are_counted_on() -> None:
    nodes = Nodes()
    first = turn(nodes, PLANS["one look"], after=7)  # in the third pass
    assert {r["block"] for r in first.replicates} == {0, 1, 2}
    second = turn(nodes, PLANS["one look"], first.replicates)
    per_cell = {number: [r["block"] for r in second.replicates if r["cell"] == number] for number in range(3)}
    assert all(len(blocks) == len(set(blocks)) == 6 for blocks in per_cell.values())
    assert {r["block"] for r in second.replicates[7:]} == {3, 4, 5, 6}


def test_what_is_complete_is_not_measured_again() -> None:
    nodes = Nodes()
    whole = turn(nodes, PLANS["one look"])
    again = turn(nodes, PLANS["one look"], whole.replicates)
    assert again.replicates == whole.replicates
    assert said(again) == said(whole)


@pytest.mark.parametrize("cut", [1, 2, 5, 8])
def test_a_comparison_keeps_its_blocks_whole(cut: int) -> None:
    rule = PairedRule(looks=(8,))
    plan = Plan((cell(0, "n1", "n2"), cell(1, "n1", "n2", bytes=2)), seed=3, versus=rule)
    nodes = Nodes()
    sink = turn(nodes, plan, turn(nodes, plan, after=cut).replicates)
    blocks = [{r["block"] for r in sink.replicates if r["cell"] == number} for number in (0, 1)]
    assert len(blocks[0] & blocks[1]) == 8
    assert len(sink.replicates) == 16 + cut % 2, "a block cut in two is measured anew, whole"


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_cells_that_end_together_share_whole_blocks(cut: int) -> None:
    plan = Plan(tuple(CELLS), seed=1, looks=(6,), together=True)
    nodes = Nodes()
    sink = turn(nodes, plan, turn(nodes, plan, after=cut).replicates)
    blocks = [{r["block"] for r in sink.replicates if r["cell"] == number} for number in range(3)]
    assert len(blocks[0] & blocks[1] & blocks[2]) == 6
    assert len(sink.replicates) == 18 + cut % 3, "what was measured hours ago is not subtracted from what comes now"


def test_what_failed_before_gets_new_attempts() -> None:
    plan, nodes = PLANS["one look"], Nodes()
    failed = [
        {"cell": 0, "block": i, "at": "then", "ok": False, "error": {"code": "lost", "message": "job was preempted"}}
        for i in range(3)
    ]
    sink = turn(nodes, plan, failed)
    mine = [r for r in sink.records if r.subject == "n1>n2" and r.metric == "rtt"]
    assert [(r.verdict is Verdict.FAILED, r.replicates) for r in mine] == [(False, 6)]
    assert mine[0].failed_replicates == 3


def test_a_node_that_is_gone_fails_only_what_it_still_owes() -> None:
    nodes = Nodes()
    before = turn(nodes, PLANS["one look"]).replicates
    kept = [r for r in before if r["cell"] != 2 or r["block"] < 2]
    sink = Sink()
    sessions = {name: session for name, session in nodes.sessions().items() if name != "n3"}
    Runner(PLANS["one look"], sessions, ADDRESSES, sink, so_far=kept).run()
    verdicts = {r.subject: r.verdict for r in sink.records if r.metric == "rtt"}
    assert verdicts["n2>n3"] is Verdict.FAILED
    assert Verdict.FAILED not in (verdicts["n1>n2"], verdicts["n1>n3"])


def test_a_replicate_of_no_cell_is_passed_over() -> None:
    stray = {"cell": 99, "block": 4, "at": "then", "ok": True, "metrics": {}, "counters": {}}
    sink = turn(Nodes(), PLANS["one look"], [stray])
    assert min(r["block"] for r in sink.replicates if r["cell"] != 99) == 5


def test_a_session_lost_while_resuming_is_said() -> None:
    def lost(_: dict[str, Any]) -> dict[str, Any]:
        raise NodeError("n1", "job 7 was preempted")

    sessions = {name: FakeSession(name, lost, alive=False) for name in ADDRESSES}
    sink = Sink()
    Runner(PLANS["one look"], sessions, ADDRESSES, sink).run()
    assert {r.verdict for r in sink.records} == {Verdict.FAILED}
