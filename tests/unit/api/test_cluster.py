"""Measuring from Python, over simulated nodes: the commands' studies, and what is refused before one is touched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wulf
from tests.unit.workflow.net.test_survey import slowed
from tests.unit.workflow.simulating import reach
from wulf.api import cluster as clusters
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.simulated.cluster import WULF_NET, SimulatedCluster
from wulf.measure.engine.probes import Probe

Simulate = Callable[..., wulf.Cluster]


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Simulate:
    """A cluster of simulated nodes, whose runs go where the test may write."""
    monkeypatch.setenv("WULF_RUNS", str(tmp_path / "runs"))

    def make(nodes: str, progress: Callable[[str], None] | None = None, **simulated: Any) -> wulf.Cluster:
        made = SimulatedCluster(wulf.Cluster(nodes).nodes, **simulated)
        reach(monkeypatch, lambda inventory: NullLauncher(inventory, made))
        return wulf.Cluster(nodes, launcher="null", progress=progress)

    return make


def test_a_survey_is_kept_as_a_run_and_finds_what_the_command_finds(simulate: Simulate, tmp_path: Path) -> None:
    told: list[str] = []
    results = simulate("n[1-4]", told.append, value=slowed("n3")).survey(quick=True, out=tmp_path / "monday", seed=7)
    assert [f.subject for f in results.findings if f.kind in ("node", "link")] == ["n3"]
    assert (results.command, results.exit_code, results.state) == ("survey", 1, "complete")
    again = wulf.load(tmp_path / "monday")
    assert again.headline == results.headline and again.records == results.records
    assert (tmp_path / "monday" / "report.html").is_file()
    assert again._run.meta["seed"] == 7 and "starting the probes" in told


def test_it_measures_where_an_event_loop_runs(simulate: Simulate) -> None:
    """As in Jupyter."""

    async def cell() -> wulf.Results:
        return simulate("n[1-2]").survey(quick=True)

    assert asyncio.run(cell()).state == "complete"


def test_one_pair_with_the_parameters_of_the_probe(simulate: Simulate, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = simulate("n[1-3]")
    monkeypatch.setattr(clusters, "net_probe", lambda: Probe.from_describe(WULF_NET))
    results = cluster.net("pingpong", "n1", "n2", params={"bytes": 64}, quick=True)
    assert {(r.subject, r.params["bytes"], r.params["transport"]) for r in results.records} == {("n1>n2", 64, "tcp")}
    assert (results.command, results.nodes) == ("net-pingpong", ("n1", "n2"))
    with pytest.raises(wulf.UsageError, match="not in the inventory: n9"):
        cluster.net("pingpong", "n1", "n9")
    with pytest.raises(wulf.UsageError, match="bites"):
        cluster.net("pingpong", "n1", "n2", params={"bites": 64})


def test_some_of_the_nodes(simulate: Simulate) -> None:
    cluster = simulate("n[1-4]")
    assert cluster["n[2-3]"].nodes == ("n2", "n3") and repr(cluster) == "<Cluster n[1-4]>"
    with pytest.raises(wulf.UsageError, match="not in the inventory: n7"):
        cluster["n7"]


def test_nodes_come_as_a_set_as_names_or_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a1 slots=2\na2 slots=2\n")
    assert wulf.Cluster(["n1", "n3"]).nodes == ("n1", "n3")
    assert wulf.Cluster(hostfile=tmp_path / "hosts").nodes == ("a1", "a2")
    assert wulf.Cluster("a2", hostfile=tmp_path / "hosts").nodes == ("a2",)
    assert len(wulf.Cluster().nodes) == 1


REFUSED = [
    (lambda: wulf.Cluster("n[1-"), "not a node set"),
    (lambda: wulf.Cluster([]), "no nodes are named"),
    (lambda: wulf.Cluster("n1", launcher="shh"), "'shh' is no launcher"),
    (lambda: wulf.Cluster(inventory="a", hostfile="b"), "both name the nodes"),
    (lambda: wulf.Cluster("n1").survey(width=5.0), "width=5.0"),
    (lambda: wulf.Cluster("n1").survey(budget=0.0), "budget=0.0"),
    (lambda: wulf.Cluster("n1").survey(margin=-1.0), "margin=-1.0"),
    (lambda: wulf.Cluster("n1").node(only=["cpus"]), "no group"),
]


@pytest.mark.parametrize(("ask", "said"), REFUSED)
def test_what_makes_no_sense_is_refused_and_leaves_no_run(
    ask: Callable[[], object], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WULF_RUNS", str(tmp_path / "runs"))
    with pytest.raises(wulf.UsageError, match=said):
        ask()
    assert not (tmp_path / "runs").exists()


def test_a_link_of_what_is_no_lab_is_not_set() -> None:
    with pytest.raises(wulf.LabError, match="only links of a lab"):
        wulf.Cluster("n1").set_link("n1", rate="1gbit")


def test_no_lab_is_said_with_what_makes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "find", lambda name: None)
    with pytest.raises(wulf.LabError, match="no lab is up") as told:
        wulf.Cluster.in_lab()
    assert "in_lab(4)" in told.value.next_step
