"""The search over a pair whose queue holds so many datagrams a second: all lengths at once, and a node that is lost."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.simulating import QUICK, simulator
from wulf.cluster.simulated import cluster as simulated
from wulf.cluster.simulated.cluster import Answer, SimulatedCluster
from wulf.core.records import Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.net.zero_loss import PHASE, TRIALS
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.net.zero_loss import ZeroLoss

LIMIT, FASTEST = 50_000.0, 200_000.0
"""Datagrams a second that arrive, and that the sender makes."""

METRICS = (Metric("sent", "B/s", "higher"), Metric("loss", "1"))
STREAM = Cell(0, "n1", "n2", "udp", "stream", {"seconds": 1.0}, METRICS)


class Lossy(SimulatedCluster):
    """Sends as asked, and drops what is beyond the limit."""

    def _run(self, node: str, request: Mapping[str, Any]) -> Answer:
        answer = super()._run(node, request)
        size, rate = request["params"]["bytes"], request["params"].get("rate")
        sent = FASTEST if rate is None else rate / size
        loss = max(0.0, 1 - LIMIT / sent)
        figures = {"sent": sent * size, "loss": loss}
        answer["metrics"] = {name: {"unit": "1", "value": value} for name, value in figures.items()}
        return answer


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    net = copy.deepcopy(simulated.WULF_NET)
    stream = next(one for one in net["patterns"] if one["name"] == "stream")
    stream["params"].append({"name": "rate", "type": "float", "unit": "B/s", "default": None, "help": ""})
    monkeypatch.setattr(simulated, "WULF_NET", net)
    monkeypatch.setattr("tests.unit.workflow.simulating.SimulatedCluster", Lossy)
    monkeypatch.setitem(simulated._NET, "run", Lossy._run)
    run = simulator(monkeypatch, tmp_path, ZeroLoss)

    def simulate(effort: Effort = QUICK, **cluster: Any) -> RunOutcome:
        return run("n1,n2", {"cell": STREAM, "frames": (64, 1518)}, effort=effort, **cluster)

    return simulate


def rates(outcome: RunOutcome) -> dict[Any, Record]:
    return {record.params["frame"]: record for record in outcome.run.records if record.phase == PHASE}


def test_every_length_has_its_own_limit_in_datagrams(simulate: Any) -> None:
    found = rates(simulate(Effort(width=0.02)))
    for record in found.values():
        assert record.value is not None and record.high is not None
        assert record.value <= LIMIT < record.high <= record.value * 1.03
    assert set(found) == {64, 1518}


def test_a_rate_is_tried_six_times_whatever_its_scatter(simulate: Any) -> None:
    outcome = simulate()
    trials = [record for record in outcome.run.records if record.metric == "sent"]
    assert {record.replicates for record in trials} == {TRIALS}
    assert not [finding for finding in outcome.run.findings if finding.kind == "noise"]


def test_a_node_that_is_away_leaves_no_rate(simulate: Any) -> None:
    outcome = simulate(unreachable={"n2": "no route"})
    assert rates(outcome) == {}
    assert outcome.exit_code == 3
