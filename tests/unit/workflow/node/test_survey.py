"""`wulf node` over simulated nodes: every row has a figure or a reason; the odd node is found, with a likely cause."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.unit.workflow.simulating import simulator
from tests.wording import Wording, lacking
from wulf.cluster.simulated.cluster import Fault
from wulf.core.errors import UsageError
from wulf.measure.engine.watcher import Unwatched
from wulf.measure.node.rows import rows_of, table
from wulf.report.run.terminal import print_report
from wulf.workflow.engine.recover import load
from wulf.workflow.node.survey import NodeProbe, NodeSurvey, groups_of, rows_named


def facts(name: str, **more: Any) -> dict[str, dict[str, Any]]:
    """A node of two cores with an L3; `more` overrides, a double underscore for each dot."""
    values: dict[str, Any] = {
        "cpu.model": "Simulated CPU", "cpu.threads": 2, "cpu.online": "0-1", "limits.cpus": "0-1", "host.name": name,
        "cpu.l1d_size": 32768, "cpu.l1d_count": 2, "cpu.l2_size": 1 << 20, "cpu.l2_count": 2, "cpu.l3_size": 8 << 20,
        "cpu.l3_count": 1, "memory.total": 16 << 30, "cpu.governor": "performance", "kernel.boot_id": name,
    }  # fmt: skip
    values |= {key.replace("__", "."): value for key, value in more.items()}
    return {key: {"value": value, "provenance": "reported"} for key, value in values.items()}


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    run = simulator(monkeypatch, tmp_path, NodeSurvey)
    return lambda nodes="n1", options=None, **cluster: run(nodes, options, **{"facts": facts, **cluster})


def printed(run: Any, width: int = 80, *, whole: bool = False) -> str:
    text = io.StringIO()
    print_report(run, Console(file=text, width=width), whole=whole)
    return text.getvalue()


def test_every_row_has_a_figure_or_a_reason(simulate: Any) -> None:
    outcome = simulate("n[1-2]", page=True)
    found = rows_of(outcome.run.records)
    wanted = {row.name for row in table().rows if row.quick}
    assert {node: set(rows) for node, rows in found.items()} == {"n1": wanted, "n2": wanted}
    assert all(one.value is not None or one.reason for rows in found.values() for one in rows.values())
    assert outcome.exit_code == 0
    assert found["n1"]["cpu.clock"].value == 3e9
    assert (outcome.run.path / "report.html").exists()


def test_only_a_group_and_its_text_fits_eighty_columns(simulate: Any) -> None:
    outcome = simulate("n[1-5]", {"only": "os"})
    assert {one.probe for one in outcome.run.records} == {"node"}
    brief, text = printed(outcome.run), printed(outcome.run, whole=True)
    assert "Calls and signals" not in brief
    assert lacking(brief, "None of 5 nodes deviates.", "Key figures", "system call", "Left out here: ", "--full") == []
    assert "Calls and signals" in text
    assert "Memory latency" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"n{number}" in text for number in range(1, 6))


def test_what_a_node_does_not_have_is_no_gap_in_the_run(simulate: Any) -> None:
    def value(node: str, probe: str, metric: str, params: Mapping[str, Any]) -> str | None:
        return "io_uring is forbidden: kernel.io_uring_disabled is 2" if probe == "io-uring" else None

    outcome = simulate(options={"only": "os"}, node_value=value)
    record = rows_of(outcome.run.records)["n1"]["os.io_uring"]
    assert (record.value, record.supported) == (None, False)
    assert outcome.exit_code == 0
    assert lacking(printed(outcome.run, whole=True), "–1", "io_uring is forbidden") == []


def slow(node: str, probe: str, times: float) -> Any:
    noise = np.random.default_rng(1)

    def value(which: str, what: str, metric: str, params: Mapping[str, Any]) -> float | None:
        usual = {"latency": 1e-7}.get(metric)
        if usual is None:
            return None
        return usual * (times if (which, what) == (node, probe) else 1.0) * float(noise.lognormal(0, 0.01))

    return value


def test_a_slow_node_is_found_with_the_fact_that_differs(simulate: Any) -> None:
    def odd(name: str) -> dict[str, dict[str, Any]]:
        return facts(name, cpu__governor="powersave" if name == "n3" else "performance")

    outcome = simulate("n[1-8]", {"only": "os"}, node_value=slow("n3", "signal", 2.0), facts=odd)
    assert outcome.exit_code == 1
    (finding,) = (f for f in outcome.run.findings if f.kind == "deviation")
    assert finding.subject == "n3"
    assert {one.row for one in finding.evidence} == {"os.signal.install", "os.signal.self"}
    assert lacking(finding.text, "frequency governor", "(cpu.governor: powersave, the others performance)") == []
    assert finding.next_step == "cpupower frequency-set -g performance"
    assert outcome.run.meta["exit_code"] == 1
    text = printed(outcome.run)
    assert text.startswith("n3 stands out: its os.signal.install is 2 times its like's.\n")
    assert lacking(text, "os.signal.install", "os.signal.self", "▲") == [], "its rows stand below the dozen"
    assert "worse than its like" in printed(outcome.run, 120, whole=True)


def test_before_measuring_it_is_said_what_will_be_found(simulate: Any) -> None:
    said: list[str] = []

    class Listening(Unwatched):
        def say(self, what: str) -> None:
            said.append(what)

    simulate("n[1-4]", {"only": "os"}, watch=Listening())
    assert any("of 4 like nodes one that is" in what for what in said)


def test_a_killed_run_is_judged_when_it_is_reported(simulate: Any) -> None:
    run = simulate("n[1-8]", {"only": "os"}, node_value=slow("n3", "signal", 2.0)).run
    meta = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps(meta | {"state": "running", "margin": 0.5}))
    (finding,) = (f for f in load(run.path).findings if f.kind == "deviation")
    assert finding.subject == "n3"
    assert "within 50 % of theirs" in finding.text


def test_with_too_few_of_a_kind_nobody_is_judged_and_that_is_said(simulate: Any) -> None:
    outcome = simulate("n[1-3]", {"only": "os"}, node_value=slow("n3", "signal", 2.0))
    assert not [f for f in outcome.run.findings if f.kind == "deviation"]
    assert any("can't be judged: fewer than 4 nodes" in f.text for f in outcome.run.findings)


def test_nodes_of_another_kind_are_not_compared(simulate: Any) -> None:
    def two_kinds(name: str) -> dict[str, dict[str, Any]]:
        return facts(name, cpu__model="Another CPU" if name in ("n7", "n8") else "Simulated CPU")

    def value(which: str, what: str, metric: str, params: Mapping[str, Any]) -> float | None:
        return slow("", "", 1)(which, what, metric, params) if which not in ("n7", "n8") else 3e-7

    outcome = simulate("n[1-8]", {"only": "os"}, facts=two_kinds, node_value=value)
    assert not [f for f in outcome.run.findings if f.kind == "deviation"]
    assert any(f.text.startswith("Whether n7, n8 deviate can't be judged") for f in outcome.run.findings)


def test_a_program_that_dies_on_one_node_takes_nothing_from_the_others(simulate: Any) -> None:
    outcome = simulate("n[1-3]", {"only": "os"}, faults=[Fault("n2", "run", 7, "die")])
    assert outcome.exit_code == 3
    found = rows_of(outcome.run.records)
    assert all(one.value is not None for node in ("n1", "n3") for one in found[node].values())
    assert {one.verdict for one in found["n2"].values()} & {"failed"}
    assert set(found["n2"]) == set(found["n1"])
    assert any(f.kind == "failed" and f.subject == "n2" for f in outcome.run.findings)


def test_a_dead_wulf_node_takes_no_figure_of_the_network_with_it(simulate: Any) -> None:
    outcome = simulate("n1", {"only": "os,net"}, faults=[Fault("n1", "run", 7, "die", program="wulf-node")])
    rows = rows_of(outcome.run.records)["n1"]
    net = [one for name, one in rows.items() if table().by_name[name].program == "net" and one.supported is not False]
    assert net
    assert all(one.value is not None for one in net if "no other node" not in (one.reason or "")), net
    assert any(one.verdict == "failed" for one in rows.values())


def test_dgemm_is_a_row_of_the_whole_table_and_of_no_quick_one(simulate: Any) -> None:
    names = frozenset({"cpu.dgemm", "cpu.dgemm.all"})
    found = rows_of(simulate(options={"names": names}).run.records)["n1"]
    assert {one.unit for one in found.values()} == {"flop/s"}
    assert set(found) == names
    assert all(one.value for one in found.values())


def test_small_sets_that_may_lie_in_the_cache_are_said(simulate: Any, wording: Wording) -> None:
    outcome = simulate(
        options={"only": "memory"}, facts=lambda name: facts(name, cpu__l3_size=480 << 20, limits__memory=4 << 30)
    )
    (small,) = (f.text for f in outcome.run.findings if "4 times the last cache" in f.text)
    wording(small)


def test_without_facts_rows_relative_to_caches_say_why(simulate: Any) -> None:
    outcome = simulate(
        options={"only": "memory"}, facts=lambda name: {"agent": {"value": None, "reason": "no python3"}}
    )
    rows = rows_of(outcome.run.records)["n1"]
    assert (rows["mem.l1.latency"].value, rows["mem.l1.latency"].reason) == (None, "no python3")
    assert rows["mem.line"].value == pytest.approx(64, rel=0.1)


def test_groups_are_checked_before_any_node_is_touched() -> None:
    assert groups_of(None) == frozenset()
    assert groups_of("cpu, os") == {"cpu", "os"}
    with pytest.raises(UsageError, match="groups: cpu, memory, os, net, noise, power"):
        groups_of("gpu")


def test_rows_by_name_are_all_that_is_measured_even_those_that_quick_leaves_out(simulate: Any) -> None:
    outcome = simulate("n1", {"names": ["os.syscall.null", "cpu.int64.bit"], "page": False}, page=True)
    measured = {name for name, one in rows_of(outcome.run.records)["n1"].items() if one.probe == "node"}
    assert {"os.syscall.null", "cpu.int64.bit"} <= measured
    assert len(outcome.run.plan["cells"]) == 2
    assert not (outcome.run.path / "report.html").exists()


def test_names_of_rows_are_checked_before_any_node_is_touched() -> None:
    assert rows_named(()) == frozenset()
    with pytest.raises(UsageError, match=r"no row is named 'os\.syscal\.null'") as caught:
        rows_named(["os.syscal.null"])
    assert caught.value.next_step == "the nearest is os.syscall.null"


def test_many_nodes_are_shown_by_median_and_ends(simulate: Any) -> None:
    outcome = simulate("n[1-13]", {"only": "os"}, node_value=slow("n5", "futex", 3.0))
    text = printed(outcome.run)
    assert "median" in text
    assert "Calls and signals, over 13 nodes" in printed(outcome.run, whole=True)
    assert [f.subject for f in outcome.run.findings if f.kind == "deviation"] == ["n5"]


@pytest.mark.full
def test_a_thousand_nodes_are_screened_in_seconds() -> None:
    from tests.unit.measure.node_records import record
    from wulf.findings.node.deviating import node_findings

    noise = np.random.default_rng(2)
    rows = [row.name for row in table().rows if row.group == "memory"]
    records = [
        record(f"n{node}", row, float(noise.lognormal(0, 0.01)) * (0.6 if (node, row) == (77, "mem.triad") else 1.0))
        for node in range(1000)
        for row in rows
    ]
    began = time.monotonic()
    found = node_findings(records, {f"n{node}": facts("x") for node in range(1000)})
    assert time.monotonic() - began < 60
    assert [f.subject for f in found if f.kind == "deviation"] == ["n77"]


def test_one_probe_on_every_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from wulf.cluster.simulated.node import WULF_NODE
    from wulf.measure.engine.probes import Probe

    run = simulator(monkeypatch, tmp_path, NodeProbe)
    probe = Probe.from_describe(WULF_NODE)
    options = {"probe": probe, "name": "chase", "params": {"bytes": 1048576, "pages": "huge"}}
    outcome = run("n[1-2]", options)
    assert sorted((r.subject, r.params) for r in outcome.run.records) == [
        (node, {"pattern": "chase", "bytes": 1048576, "pages": "huge"}) for node in ("n1", "n2")
    ]
    assert "chase, 1 MiB, pages huge" in printed(outcome.run)
