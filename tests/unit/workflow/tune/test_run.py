"""`wulf tune` whole, over simulated nodes whose agents keep the change protocol in memory."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.mpi_fakes import FakeWorld, launcher
from tests.unit.workflow.simulating import reach
from tests.unit.workflow.tune_fakes import FakeCluster, FakeNode, FakeSession, setting
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated import cluster as simulated
from wulf.cluster.simulated.cluster import Refusal, SimulatedCluster
from wulf.core.errors import NodeError, UsageError
from wulf.store.run import RunWriter, read_run
from wulf.tune.setting import Aim
from wulf.workflow.engine.done import Done
from wulf.workflow.mpi import probes as mpi
from wulf.workflow.tune import prepare as preparing
from wulf.workflow.tune import run as tuning
from wulf.workflow.tune.prepare import CampaignRequest, plan_object
from wulf.workflow.tune.run import plan_only, tune

CATALOGUE = {
    "net.good": setting("net.good"),
    "net.none": setting("net.none"),
    "nic.errors": setting("nic.errors", access="report"),
    "bios.smt": setting("bios.smt", mechanism="advice", scope="firmware"),
}
OPS = ("settings", "change_apply", "change_confirm", "change_revert", "change_keep", "change_renew", "change_end")


class Cluster:
    """Simulated nodes n1 and n2, and the state of their settings."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.folder = folder
        values = {("net.good", ""): 0, ("net.none", ""): 0}
        self.settings = FakeCluster({name: FakeNode(name, dict(values)) for name in ("n1", "n2")})
        self.inventory = Inventory.from_nodeset("n[1-2]", launcher="null")
        self.simulated = SimulatedCluster(self.inventory.names, value=self._value)
        self.random = random.Random(1)
        for op in OPS:
            monkeypatch.setitem(simulated._AGENT, op, self._operation(op))
        reach(monkeypatch, lambda i: NullLauncher(i, self.simulated))
        monkeypatch.setattr(tuning, "agent_program", lambda: Program("wulf-agent", Path("x"), "0" * 64, python=True))
        monkeypatch.setattr(preparing, "catalogue", lambda: CATALOGUE)

    def _operation(self, op: str) -> Any:
        def operation(_: SimulatedCluster, node: str, request: Mapping[str, Any]) -> dict[str, Any]:
            self.settings.opened += 1  # every request as if it came over a new session
            session = FakeSession(self.settings, self.settings.nodes[node], self.settings.opened)
            try:
                return session._answer(op, {k: v for k, v in request.items() if k not in ("id", "op")})
            except NodeError as error:
                raise Refusal(getattr(error, "code", "internal"), error.what) from error

        return operation

    def _value(self, client: str, server: str, params: Mapping[str, Any]) -> float:
        good = all(self.settings.nodes[node].values["net.good", ""] for node in (client, server))
        return float(5e-5 * (0.7 if good else 1.0) * self.random.lognormvariate(0, 0.01))

    def tune(self, **request: Any) -> Done:
        with RunWriter(self.folder / "run", "tune", {"seed": 1, "nodes": ["n1", "n2"]}) as writer:
            return tune(self.inventory, CampaignRequest(Aim.LATENCY, seed=3, **request), writer)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cluster:
    return Cluster(monkeypatch, tmp_path)


def test_the_plan_changes_nothing_and_says_what_would_be(cluster: Cluster) -> None:
    before = cluster.settings.state()
    plan = plan_object(plan_only(cluster.inventory, CampaignRequest(Aim.LATENCY)))
    assert cluster.settings.state() == before
    assert {op for _, op in cluster.settings.log} == {"settings"}
    assert [one["name"] for one in plan["settings"]] == ["net.good", "net.none"]
    assert plan["omitted"] == [
        {"name": "nic.errors", "reason": "is shown by an audit, never changed by wulf"},
        {"name": "bios.smt", "reason": "only a person can change it"},
    ]
    assert plan["canary"] == "n1" and plan["seconds"] > 0
    json.dumps(plan)


def test_a_campaign_leaves_what_is_proven_and_all_of_it_on_disk(cluster: Cluster) -> None:
    done = cluster.tune()
    assert done.exit_code == 0
    assert [one["name"] for one in done.result["kept"]] == ["net.good"]
    run = read_run(done.path)
    assert run.meta["state"] == "complete"
    arms = {record.params["arm"] for record in run.records}
    assert {"default", "A/A", "net.good = 1", "combined"} <= arms
    good = [r for r in run.records if r.metric == "rtt" and r.params["arm"] == "net.good = 1"]
    assert all(r.params["set.net.good"] == 1 and r.params["set.net.none"] == 0 for r in good)
    kept = json.loads((done.path / "kept.json").read_text())
    assert kept["campaign"] == run.id
    (one,) = kept["kept"]
    assert (one["name"], one["place"], one["value"], one["before"], one["nodes"]) == ("net.good", "", 1, 0, "n[1-2]")
    assert one["effect"]["low"] <= 0.3 <= one["effect"]["high"] and one["effect"]["verdict"] == "faster"
    assert json.loads((done.path / "campaign.json").read_text())["dumps"]["same"] is True
    assert "net.good" in (done.path / "report.html").read_text()


def test_with_no_keep_the_dumps_are_equal_byte_by_byte(cluster: Cluster) -> None:
    done = cluster.tune(keep=False)
    assert done.exit_code == 0 and not done.result["kept"]
    before, after = ((done.path / f"settings-{when}.json").read_bytes() for when in ("before", "after"))
    assert before == after
    assert {"net.good", "net.none"} == set(json.loads(before)["n1"])


def test_a_setting_that_somebody_changes_meanwhile_is_named_in_the_end(cluster: Cluster) -> None:
    def person(node: FakeNode) -> None:
        node.values["net.none", ""] = 5

    cluster.settings.faults["n2", "change_end", 1] = person
    done = cluster.tune(keep=False)
    assert done.exit_code == 1
    assert [(one["node"], one["name"]) for one in done.result["dumps"]["differ"]] == [("n2", "net.none")]


def test_a_lost_node_is_exit_3_with_what_was_measured(cluster: Cluster) -> None:
    def died(node: FakeNode) -> None:
        raise NodeError(node.name, "the agent was killed")

    cluster.settings.faults["n2", "change_confirm", 6] = died
    done = cluster.tune()
    assert done.exit_code == 3 and done.result["state"] == "failed"
    assert done.result["rows"]
    assert read_run(done.path).meta["state"] == "failed"
    assert all(not any(node.values.values()) for node in cluster.settings.nodes.values())


def test_named_settings_alone(cluster: Cluster) -> None:
    plan = plan_object(plan_only(cluster.inventory, CampaignRequest(Aim.LATENCY, settings="net.none=7")))
    assert [(one["name"], one["to"]) for one in plan["settings"]] == [("net.none", ("7",))]


def test_a_node_that_does_not_answer_is_no_campaign(cluster: Cluster) -> None:
    cluster.simulated.unreachable = {"n2": "no route to host"}
    with pytest.raises(NodeError, match="no route to host"):
        plan_only(cluster.inventory, CampaignRequest(Aim.LATENCY))


def test_a_lab_without_namespaces_is_refused(cluster: Cluster) -> None:
    from dataclasses import replace

    cluster.inventory = replace(cluster.inventory, lab="lab")
    with pytest.raises(UsageError, match="no namespaces"):
        cluster.tune()


def test_mpi_is_launched_anew_for_every_replicate(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds: list[FakeWorld] = []

    def answer(probe: str, params: Mapping[str, Any], ranks: int) -> float:
        assert (probe, ranks) == ("pingpong", 2)
        return cluster._value("n1", "n2", params)

    monkeypatch.setattr(mpi, "open_world", launcher(answer, worlds))
    done = cluster.tune(measure="mpi", settings="net.good", keep=False)
    assert done.exit_code == 0
    (found,) = done.result["settings"]
    assert found["judgement"] == "faster"
    assert found["effect"]["improvement_low"] <= 0.3 <= found["effect"]["improvement_high"]
    assert worlds[0].launches == len(worlds[0].ran)
    records = read_run(done.path).records
    assert {record.probe for record in records} == {"mpi"}
    assert {record.params["set.net.good"] for record in records} == {0, 1}
