"""A watch over a simulated pair: it goes on whatever fails, until somebody or the budget ends it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.simulating import simulator
from wulf.cluster.simulated.cluster import Fault
from wulf.core.records import Verdict
from wulf.measure.engine.plan import Plan
from wulf.measure.net.watching import Moment, Watching
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.recover import load
from wulf.workflow.net.watch import Pace, Watch


class Time:
    """Stands still but for sleeping, which is noted."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    simulate = simulator(monkeypatch, tmp_path, Watch)

    def run(stop_after: int = 60, time: Time | None = None, budget: float | None = None, **cluster: Any) -> Any:
        time = time or Time()
        seen: list[Moment] = []

        def show(watching: Watching, moment: Moment) -> None:
            seen.append(moment)
            if len(seen) == stop_after:
                raise KeyboardInterrupt

        pace = Pace("n1>n2", 0.5, show, lambda _: None, clock=time.clock, sleep=time.sleep)
        options = {"client": "n1", "server": "n2", "params": {"bytes": 1, "seconds": 0.01}, "stream_every": 20}
        effort = Effort(budget=budget, endless=True)
        return simulate("n[1-2]", options, effort=effort, watch=pace, **cluster), seen

    return run


def test_it_goes_on_until_it_is_interrupted_and_keeps_all(simulate: Any) -> None:
    outcome, seen = simulate()
    assert outcome.exit_code == 130
    assert outcome.run.meta["state"] == "interrupted"
    assert len(outcome.run.replicates) == 60
    assert Counter(moment.pattern for moment in seen) == {"pingpong": 57, "stream": 3}
    rtt = next(r for r in outcome.run.records if r.metric == "rtt")
    assert rtt.verdict is Verdict.OK
    assert rtt.replicates >= 56
    assert rtt.phase == "watch"


def test_replicates_keep_their_pace(simulate: Any) -> None:
    time = Time()
    simulate(time=time)
    assert len(time.slept) == 59
    assert set(time.slept) == {0.5}


def test_failures_do_not_end_it(simulate: Any) -> None:
    faults = [Fault("n1", "run", call=call, message="no route") for call in range(5, 15)]
    outcome, seen = simulate(faults=faults)
    assert len(seen) == 60
    assert sum("no route" in moment.error for moment in seen) == 10
    rtt = next(r for r in outcome.run.records if r.metric == "rtt")
    assert rtt.failed_replicates == 10


def test_a_budget_ends_it_well_however_few_there_are(simulate: Any) -> None:
    outcome: RunOutcome = simulate(budget=1e-9)[0]
    assert outcome.exit_code == 0
    assert outcome.run.meta["state"] == "complete"
    assert {r.verdict for r in outcome.run.records if r.metric == "rtt"} <= {Verdict.UNRESOLVED}


def test_the_death_of_a_node_ends_it(simulate: Any) -> None:
    outcome, _ = simulate(faults=[Fault("n1", "run", call=30, kind="die")])
    assert outcome.exit_code == 3
    assert [f.subject for f in outcome.run.findings if f.kind == "failed"] == ["n1"]
    assert len(outcome.run.replicates) == 30


def test_an_unreachable_node(simulate: Any) -> None:
    outcome, seen = simulate(unreachable={"n2": "no route to host"})
    assert (outcome.exit_code, seen) == (3, [])


def test_without_a_stream_and_as_a_plan_on_disk(simulate: Any) -> None:
    outcome, _ = simulate()
    plan = Plan.from_json(outcome.run.plan)
    assert plan.endless
    assert [cell.every for cell in plan.cells] == [1, 20]
    path = outcome.run.path
    (path / "run.json").write_text((path / "run.json").read_text().replace('"interrupted"', '"running"'))
    (path / "records.jsonl").write_text("")
    assert {r.metric for r in load(path).records} >= {"rtt", "throughput"}
