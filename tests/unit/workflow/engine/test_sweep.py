"""The adaptive sweep over a simulated pair: it looks closer at the bend, and ends when held-out sizes are predicted."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.simulating import simulator
from wulf.core.findings import Severity
from wulf.core.records import Record
from wulf.measure.engine.plan import Cell, Plan
from wulf.measure.engine.probes import Metric
from wulf.measure.engine.watcher import Unwatched
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.recover import load
from wulf.workflow.engine.sweep import first_sizes
from wulf.workflow.net.one_pair import PairSweep

CELL = Cell(0, "n1", "n2", "tcp", "pingpong", {"bytes": 1, "seconds": 0.01}, (Metric("rtt", "s"),), "sweep")
BEND = 3000


QUICK = Effort(quick=True)


class Impatient(Unwatched):
    """Interrupts in the middle of a wave."""

    def __init__(self, after: int) -> None:
        self.left = after

    def on_replicate(self, *_: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def bent() -> Any:
    """Round trips: twice 10 µs and 1 GB/s, from the bend on twice 20 µs and 2 GB/s; off by a tenth of a per cent."""
    noise = random.Random(1)

    def value(client: str, server: str, params: dict[str, Any]) -> float:
        size = params["bytes"]
        one_way = 10e-6 + size / 1e9 if size <= BEND else 20e-6 + size / 2e9
        return 2 * one_way * (1 + noise.gauss(0, 0.001))

    return value


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    run = simulator(monkeypatch, tmp_path, PairSweep)
    options = {"cell": CELL, "most": 1 << 20}
    return lambda effort=QUICK, after=10**9, **cluster: run(
        "n[1-2]", options, effort=effort, watch=Impatient(after), **cluster
    )


def lines_of(outcome: RunOutcome) -> list[Record]:
    """Of a sweep that found both."""
    assert outcome.exit_code == 0
    (finding,) = [f for f in outcome.run.findings if f.kind == "curve"]
    assert "were held out lie within 5%" in finding.text
    lines = [r for r in outcome.run.records if r.metric == "latency"]
    assert [r.value for r in lines] == pytest.approx([10e-6, 20e-6], rel=0.03)
    return lines


def test_the_bend_is_closed_in_and_both_lines_are_found(simulate: Any) -> None:
    outcome = simulate(value=bent())
    lines = lines_of(outcome)
    rates = [r.value for r in outcome.run.records if r.metric == "bandwidth"]
    assert rates == pytest.approx([1e9, 2e9], rel=0.05)
    sizes = sorted({int(r.params["bytes"] or 0) for r in outcome.run.records if r.metric == "rtt"})
    assert any(2048 < size < 4096 for size in sizes), "between the powers of two around the bend"
    assert lines[0].params["to"] <= BEND < lines[1].params["from"]  # type: ignore[operator]


@pytest.mark.parametrize("after", [60, 130])
def test_a_sweep_that_was_cut_short_goes_on_in_whatever_round_it_was(simulate: Any, after: int) -> None:
    """21 sizes of 6 replicates are the first round."""
    assert simulate(value=bent(), after=after).exit_code == 130
    outcome = simulate(value=bent())
    lines_of(outcome)
    ids = [cell.id for cell in Plan.from_json(outcome.run.plan).cells]
    assert ids == list(range(len(ids)))


def test_every_round_is_in_the_plan_so_that_a_killed_run_can_be_collected(simulate: Any) -> None:
    run = simulate(value=bent()).run
    plan = Plan.from_json(run.plan)
    assert [cell.id for cell in plan.cells] == list(range(len(plan.cells)))
    assert {r["cell"] for r in run.replicates} == set(range(len(plan.cells)))
    run.meta["state"] = "running"
    (run.path / "run.json").write_text((run.path / "run.json").read_text().replace('"complete"', '"running"'))
    assert len([r for r in load(run.path).records if r.metric == "rtt"]) == len(plan.cells)


def drifting(factor: float) -> Any:
    """The same, slower by the factor since the first size that is no power of two: since the second round."""
    steady, state = bent(), {"factor": 1.0}

    def value(client: str, server: str, params: dict[str, Any]) -> float:
        if params["bytes"] & (params["bytes"] - 1):
            state["factor"] = factor
        return float(steady(client, server, params) * state["factor"])

    return value


def anchors(outcome: RunOutcome) -> dict[str, list[int]]:
    """Phase → sizes."""
    found: dict[str, list[int]] = {}
    for cell in Plan.from_json(outcome.run.plan).cells:
        if cell.phase != "sweep":
            found.setdefault(cell.phase, []).append(int(cell.params["bytes"] or 0))
    return found


def test_every_later_round_measures_the_anchors_again_and_a_machine_at_rest_is_not_accused(simulate: Any) -> None:
    outcome = simulate(value=bent())
    again = anchors(outcome)
    assert list(again) == [f"anchor {number}" for number in range(2, 2 + len(again))]
    assert again
    assert all(sizes == [1, 1024, 1 << 20] for sizes in again.values())
    assert not [f for f in outcome.run.findings if f.kind == "noise"]


def test_drift_between_rounds_is_told_with_its_size_and_interval(simulate: Any) -> None:
    (finding,) = [f for f in simulate(value=drifting(1.2)).run.findings if f.kind == "noise"]
    assert finding.severity is Severity.WARN
    assert "measured again in round" in finding.text
    assert {e.subject.split(" in ")[0] for e in finding.evidence} == {"1 B", "1 KiB", "1 MiB"}
    for evidence in finding.evidence:
        assert evidence.value == pytest.approx(1.2, abs=0.01)
        assert evidence.low is not None and evidence.low > 1.05


def test_drift_within_the_tolerance_does_not_matter(simulate: Any) -> None:
    assert not [f for f in simulate(value=drifting(1.02)).run.findings if f.kind == "noise"]


def test_a_line_that_meets_size_0_below_no_time_tells_no_latency_and_says_why(simulate: Any) -> None:
    outcome = simulate(value=lambda _client, _server, params: 2 * (params["bytes"] - 0.5) / 1e9)
    (line,) = [r for r in outcome.run.records if r.metric == "latency"]
    assert line.value is None
    assert "smaller sizes tell it" in (line.reason or "")
    (rate,) = [r.value for r in outcome.run.records if r.metric == "bandwidth"]
    assert rate == pytest.approx(1e9, rel=0.001)


def test_a_budget_ends_it_with_what_there_is(simulate: Any) -> None:
    outcome = simulate(Effort(quick=True, budget=1e-9), value=bent())
    assert outcome.run.meta["state"] == "complete"
    assert len(outcome.run.plan["cells"]) == 21


def test_an_unreachable_node_makes_it_incomplete(simulate: Any) -> None:
    assert simulate(unreachable={"n2": "no route to host"}).exit_code == 3


def test_first_sizes() -> None:
    assert first_sizes(8) == [1, 2, 4, 8]
    assert first_sizes(1000)[-2:] == [512, 1000]
