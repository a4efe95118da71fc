"""The whole path over a simulated cluster: instant, and exact in what it must find."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure.fakes import Impatient
from tests.unit.workflow.simulating import simulator
from wulf.cluster.simulated.cluster import Fault
from wulf.core.records import Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.workflow.engine.recover import load
from wulf.workflow.net import survey as surveying
from wulf.workflow.net.one_pair import PairProbe
from wulf.workflow.net.survey import SWEEP_SIZES, Survey


def slowed(slow: str) -> Any:
    def value(client: str, server: str, params: Mapping[str, Any]) -> float:
        worse = 10.0 if slow in (client, server) else 1.0
        return 5e-5 if params["pattern"] == "pingpong" else 1e9 / worse

    return value


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Survey a simulated cluster of these nodes."""
    return simulator(monkeypatch, tmp_path, Survey)


def test_a_healthy_cluster(simulate: Any) -> None:
    outcome = simulate(page=True)
    assert outcome.exit_code == 0
    run = outcome.run
    assert run.meta["state"] == "complete"
    assert {r.verdict for r in run.records} == {Verdict.OK}
    pairs = [r for r in run.records if r.phase == "pairs"]
    assert len([r for r in pairs if r.metric == "rtt"]) == 2 * 6
    assert len({r.subject for r in pairs if r.metric == "throughput"}) == 12
    sweep = [r for r in run.records if r.phase == "sweep" and r.metric == "rtt"]
    assert [r.params["bytes"] for r in sorted(sweep, key=lambda r: int(r.params["bytes"] or 0))] == list(SWEEP_SIZES)
    assert (run.path / "report.html").stat().st_size > 1_000_000
    assert set(run.fingerprint) == {"n1", "n2", "n3", "n4"}
    assert len(run.plan["cells"]) == 6 + 6 + 12 + len(SWEEP_SIZES)


def test_a_slow_node_is_found_and_only_it(simulate: Any) -> None:
    outcome = simulate(value=slowed("n3"))
    assert outcome.exit_code == 1
    assert [f.subject for f in outcome.run.findings if f.kind in ("node", "link")] == ["n3"]


def test_most_of_what_a_survey_asks_for_is_measured_and_not_warmed_up(simulate: Any) -> None:
    """Streams warmed up for as long as they were measured, and a quick survey spent 57 % of its time measuring."""
    run = simulate().run
    params = [cell["params"] for cell in run.plan["cells"]]
    measured, warmed = (sum(one[name] for one in params) for name in ("seconds", "warmup_seconds"))
    assert measured / (measured + warmed) >= 0.8
    assert run.meta["time"]["whole"] > 0
    assert run.meta["time"]["measured"] > 0


def test_an_unreachable_node_does_not_stop_the_others(simulate: Any) -> None:
    outcome = simulate(unreachable={"n2": "no route to host"})
    assert outcome.exit_code == 3
    assert [f.subject for f in outcome.run.findings if f.kind == "failed"] == ["n2"]
    assert {node for r in outcome.run.records for node in r.nodes} == {"n1", "n3", "n4"}


def test_a_node_that_dies_fails_its_cells_and_only_those(simulate: Any) -> None:
    outcome = simulate(faults=[Fault("n2", "run", call=5, kind="die")])
    assert outcome.exit_code == 3
    failed = [r for r in outcome.run.records if r.verdict is Verdict.FAILED]
    assert failed
    assert all("n2" in r.nodes for r in failed)
    assert all(r.verdict is Verdict.OK for r in outcome.run.records if "n2" not in r.nodes)
    assert [f.subject for f in outcome.run.findings if f.kind == "failed"] == ["n2"]


METRIC, GOOD = {"value": 5e-5}, {"seconds": 0.1, "counters": {}}


@pytest.mark.parametrize(
    ("op", "answer"),
    [
        ("run", {}),
        ("run", {**GOOD, "metrics": None}),
        ("run", {**GOOD, "metrics": {"rtt": None}}),
        ("run", {**GOOD, "metrics": {"rtt": {"value": "fast"}, "lost": METRIC}}),
        ("run", {**GOOD, "metrics": {"rtt": {"value": [5e-5]}, "lost": METRIC}}),
        ("run", {**GOOD, "metrics": {"rtt": {**METRIC, "quantiles": {"0.5": "x"}}, "lost": METRIC}}),
        ("run", {**GOOD, "metrics": {"rtt": METRIC, "lost": METRIC}, "counters": {"client": {"cpu": "busy"}}}),
        ("run", {**GOOD, "metrics": {"rtt": METRIC, "lost": METRIC}, "info": []}),
        ("serve", {"address": "10.0.0.1", "port": "80"}),
        ("serve", {}),
    ],
)
def test_a_node_that_answers_nonsense_fails_what_it_was_asked_and_no_other(
    simulate: Any, op: str, answer: dict[str, Any]
) -> None:
    """It ended the survey for all, with a traceback; and the run that it left could not be resumed."""
    outcome = simulate(faults=[Fault("n2", op, call, "nonsense", answer=answer) for call in range(1, 400)])
    assert outcome.exit_code == 3
    failed = [r for r in outcome.run.records if r.verdict is Verdict.FAILED]
    assert failed
    assert all("n2" in r.nodes for r in failed)
    assert all("is not as wulf-net answers" in str(r.reason) for r in failed)
    assert all(r.verdict is Verdict.OK for r in outcome.run.records if "n2" not in r.nodes)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"facts": None},
        {"facts": {"cpu.model": None}},
        {"facts": {"cpu.model": {"unit": "x"}}},
        *({"facts": {"nic.eth0.mtu": {"value": value}}} for value in ("abc", True, [1500], {"is": 1500})),
    ],
)
def test_facts_that_are_none_are_told_as_such_and_the_node_is_measured(simulate: Any, answer: dict[str, Any]) -> None:
    outcome = simulate(faults=[Fault("n2", "facts", 1, "nonsense", answer=answer)])
    assert "is not as wulf-agent answers" in outcome.run.fingerprint["n2"]["agent"]["reason"]
    assert all(r.verdict is Verdict.OK for r in outcome.run.records)


@pytest.mark.parametrize("cpus", ["abc", "0-3:1/0", "0-99999999999", "-1", 7])
def test_cpus_that_are_none_end_no_survey(simulate: Any, cpus: Any) -> None:
    """They ended it for all, with a traceback, or after minutes."""
    answer = {"facts": {"limits.cpus": {"value": cpus}, "cpu.online": {"value": cpus}}}
    outcome = simulate(faults=[Fault("n2", "facts", 1, "nonsense", answer=answer)])
    assert all(r.verdict is Verdict.OK for r in outcome.run.records)


def test_every_node_unreachable(simulate: Any) -> None:
    outcome = simulate("n[1-2]", unreachable={"n1": "down", "n2": "down"})
    assert outcome.exit_code == 3
    assert outcome.run.records == []


def test_two_nodes_and_one_node(simulate: Any) -> None:
    assert {r.subject for r in simulate("n1").run.records} == {"n1>n1"}


def test_an_interrupt_keeps_what_was_measured(simulate: Any) -> None:
    outcome = simulate(watch=Impatient(100), page=True)
    assert outcome.exit_code == 130
    assert outcome.run.meta["state"] == "interrupted"
    assert len(outcome.run.replicates) == 100
    assert (outcome.run.path / "report.html").exists()


def test_one_cell(simulate: Any) -> None:
    cell = Cell(0, "n1", "n2", "tcp", "pingpong", {"bytes": 1}, (Metric("rtt", "s"),))
    outcome = simulate("n[1-2]", {"cell": cell}, made=PairProbe, page=True)
    assert outcome.exit_code == 0
    assert [(r.subject, r.metric) for r in outcome.run.records] == [("n1>n2", "rtt")]
    assert not (outcome.run.path / "report.html").exists()


def test_of_a_large_cluster_a_sample_is_surveyed_and_says_so(simulate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "ALL_NODES", 7)
    outcome = simulate("n[1-8]", value=slowed("n3"))
    pairs = {r.subject for r in outcome.run.records if r.phase == "pairs" and r.metric == "rtt"}
    assert len(pairs) == 4 * 4
    assert [f.subject for f in outcome.run.findings if f.kind in ("node", "link")] == ["n3"]
    (covered,) = [f for f in outcome.run.findings if f.kind == "coverage"]
    assert "16 of 28 pairs" in covered.text


def test_nodes_of_one_machine_are_measured_on_one_cpu_and_one_pair_at_a_time(simulate: Any) -> None:
    def facts(name: str) -> dict[str, Any]:
        return {"kernel.boot_id": {"value": "one" if name < "n3" else name}, "limits.cpus": {"value": "0-3,6-7"}}

    run = simulate("n[1-3]", facts=facts).run
    assert {r.params.get("cpu") for r in run.records if set(r.nodes) == {"n1", "n2"}} == {7}
    assert {r.params.get("cpu") for r in run.records if "n3" in r.nodes} == {None}
    assert any("share" in f.text for f in run.findings if f.kind == "note")


def test_a_run_that_was_killed_is_collected_from_its_replicates(simulate: Any) -> None:
    outcome = simulate()
    path = outcome.run.path
    complete = {(r.subject, r.metric, str(r.params)): r.value for r in outcome.run.records}
    # as kill -9 leaves it: no records of the cells still open, the state never changed
    meta = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(meta | {"state": "running"}))
    lines = (path / "records.jsonl").read_text().splitlines(keepends=True)
    (path / "records.jsonl").write_text("".join(lines[:5]) + lines[5][:40])
    run = load(path)
    assert run.meta["state"] == "interrupted"
    assert {(r.subject, r.metric, str(r.params)): r.value for r in run.records} == complete
    assert any("cut short" in f.text for f in run.findings)
    assert len((path / "records.jsonl").read_text().splitlines()) == 6, "nothing on disk was changed"
