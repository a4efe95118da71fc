"""Layers over a simulated pair: exact in what each adds, whatever fails on the way."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.workflow.simulating import QUICK, simulator
from tests.wording import Wording, lacking
from wulf.cluster.simulated import cluster as simulated
from wulf.cluster.simulated.cluster import Fault
from wulf.core.records import Record, Verdict
from wulf.measure.engine.plan import Plan
from wulf.measure.engine.probes import Probe
from wulf.workflow.engine.measuring import RunOutcome
from wulf.workflow.engine.recover import load
from wulf.workflow.net import layers as layering
from wulf.workflow.net.layers import Layers, layer_ends

COST = {"null": 3e-8, "shm": 4e-7, "pipe": 6e-6, "unix": 7e-6, "unixgram": 7e-6, "udp": 12e-6, "tcp": 15e-6}
"""Round trips within one node, in seconds; the wire adds 4 µs."""

LOCAL = ["shm", "pipe", "unix", "unixgram"]


def described() -> dict[str, Any]:
    """The simulated probe with the local transports, in an order of its own."""
    net = copy.deepcopy(simulated.WULF_NET)
    net["transports"] += [{"name": name, "help": "", "max_bytes": 65536, "local": True} for name in reversed(LOCAL)]
    net["transports"].append({"name": "null", "help": "", "max_bytes": 16777216})
    net["patterns"][0]["transports"] += [*reversed(LOCAL), "null"]
    return net


def costs(wave: float = 0.3) -> Any:
    """Round trips that all rise and fall together by `wave` from block to block, and differ by a constant."""
    noise = random.Random(1)

    def value(client: str, server: str, params: Mapping[str, Any]) -> float:
        cost = COST[params["transport"]] + (0 if client == server else 4e-6)
        return cost * (1 + noise.gauss(0, wave / 100))

    return value


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setattr(simulated, "WULF_NET", described())
    run = simulator(monkeypatch, tmp_path, Layers)

    def simulate(pair: tuple[str, str] = ("n1", "n2"), size: int = 1, width: float = 0.5, **cluster: Any) -> RunOutcome:
        client, server = pair
        options = {"client": client, "server": server, "params": {"bytes": size, "seconds": 0.01}}
        effort = replace(QUICK, width=width)
        return run(",".join(dict.fromkeys(pair)), options, effort=effort, **{"value": costs(), **cluster})

    return simulate


def of(outcome: RunOutcome, metric: str) -> list[Record]:
    return [record for record in outcome.run.records if record.metric == metric]


def added(outcome: RunOutcome) -> dict[tuple[Any, Any], Record]:
    return {(r.params["layer"], r.params["over"]): r for r in of(outcome, "difference")}


def test_what_each_layer_adds_is_found(simulate: Any) -> None:
    outcome = simulate()
    assert outcome.exit_code == 0
    found = added(outcome)
    assert list(found) == [
        ("shm", "null"), ("pipe", "shm"), ("unix", "pipe"), ("unixgram", "unix"), ("loopback udp", "unixgram"),
        ("loopback tcp", "loopback udp"), ("wire udp", "loopback tcp"), ("wire tcp", "wire udp"),
        ("wire udp", "loopback udp"), ("wire tcp", "loopback tcp"),
    ]  # fmt: skip
    assert found["pipe", "shm"].value == pytest.approx(5.6e-6, rel=0.02)
    assert found["wire tcp", "loopback tcp"].value == pytest.approx(4e-6, rel=0.05)
    assert all(r.seen for names, r in found.items() if names != ("unixgram", "unix"))
    assert not found["unixgram", "unix"].seen
    (finding,) = [f for f in outcome.run.findings if f.kind == "layers"]
    assert lacking(finding.text, "No difference found between unixgram and unix", "minimum detectable") == []
    assert finding.text.startswith("A round trip of 1 B takes 19 µs")


def test_every_block_holds_every_layer_in_random_order(simulate: Any) -> None:
    run = simulate().run
    blocks: dict[int, list[int]] = {}
    for replicate in run.replicates:
        blocks.setdefault(replicate["block"], []).append(replicate["cell"])
    assert [sorted(cells) for cells in blocks.values()] == [list(range(9))] * 6
    assert len({tuple(cells) for cells in blocks.values()}) > 1


def test_a_noisy_layer_keeps_all_together(simulate: Any) -> None:
    noise = random.Random(2)
    calm = costs()

    def value(client: str, server: str, params: Mapping[str, Any]) -> float:
        return calm(client, server, params) * (noise.choice([0.5, 2]) if params["transport"] == "pipe" else 1)

    outcome = simulate(value=value, width=0.1)
    assert {r.replicates for r in of(outcome, "rtt")} == {6}
    noisy = {r.params["transport"]: r.verdict for r in of(outcome, "rtt") if r.verdict is not Verdict.OK}
    assert noisy == {"pipe": Verdict.NOISY}


def test_one_node_alone_has_no_wire(simulate: Any) -> None:
    outcome = simulate(("n1", "n1"))
    assert outcome.exit_code == 0
    assert {r.subject for r in of(outcome, "rtt")} == {"n1>n1"}
    assert list(added(outcome))[-1] == ("loopback tcp", "loopback udp")


def test_a_node_that_is_down_leaves_the_layers_of_the_other(simulate: Any) -> None:
    outcome = simulate(unreachable={"n2": "no route to host"})
    assert outcome.exit_code == 3
    assert len(of(outcome, "rtt")) == 7
    assert {r.verdict for r in of(outcome, "rtt")} == {Verdict.OK}
    assert [f.subject for f in outcome.run.findings if f.kind == "failed"] == ["n2"]


def test_a_node_that_dies_on_the_way_leaves_the_layers_of_the_other(simulate: Any) -> None:
    outcome = simulate(faults=[Fault("n2", "serve", call=2, kind="die")])
    assert outcome.exit_code == 3
    verdicts = {(r.params["transport"], r.subject): r.verdict for r in of(outcome, "rtt")}
    assert {subject for (_, subject), verdict in verdicts.items() if verdict is Verdict.FAILED} == {"n1>n2"}
    assert {verdict for (_, subject), verdict in verdicts.items() if subject == "n1>n1"} == {Verdict.OK}
    assert ("loopback tcp", "loopback udp") in added(outcome)


def test_one_failed_replicate_costs_its_block_alone(simulate: Any) -> None:
    outcome = simulate(faults=[Fault("n1", "run", call=3)])
    assert outcome.exit_code == 0
    assert {r.replicates for r in of(outcome, "difference")} == {6, 7}
    assert len({r["block"] for r in outcome.run.replicates}) == 7


def test_a_message_too_long_for_a_layer_leaves_it_out_and_says_so(simulate: Any) -> None:
    outcome = simulate(size=70000)
    assert {r.params["transport"] for r in of(outcome, "rtt")} == {"null", "tcp"}
    assert any("wire udp is left out" in f.text for f in outcome.run.findings if f.kind == "note")


def test_a_killed_run_has_its_differences_too(simulate: Any) -> None:
    outcome = simulate()
    path = outcome.run.path
    meta = (path / "run.json").read_text()
    (path / "run.json").write_text(meta.replace('"complete"', '"running"'))
    (path / "records.jsonl").write_text("")
    again = [r for r in load(path).records if r.metric == "difference"]
    assert [(r.params, r.value, r.low) for r in again] == [
        (r.params, r.value, r.low) for r in of(outcome, "difference")
    ]
    assert Plan.from_json(outcome.run.plan).together


def test_a_probe_without_local_transports_has_its_loop_and_the_network() -> None:
    net = described()
    net["transports"] = [{k: v for k, v in entry.items() if k != "local"} for entry in net["transports"]]
    ends = list(layer_ends(Probe.from_describe(net), "n1", "n2"))
    assert ends == [("null", "n1"), ("udp", "n1"), ("tcp", "n1"), ("udp", "n2"), ("tcp", "n2")]


def test_a_layer_that_takes_less_is_said_so_with_its_interval_the_right_way_round(wording: Wording) -> None:
    fields = {
        "run": "r", "subject": "n1>n1", "probe": "net", "metric": "difference", "unit": "s", "value": -2.28e-6,
        "params": {"layer": "unixgram", "over": "unix"}, "low": -3.48e-6, "high": -1.1e-6, "confidence": 0.95,
        "statistic": "median", "replicates": 8, "verdict": "ok", "reason": None, "provenance": "measured",
        "at": "2026-01-01T00:00:00Z", "seen": True, "least_visible": None,
    }  # fmt: skip
    said = layering.added(Record.model_validate(fields))
    assert lacking(said, "unixgram takes 2.28 µs (1.1–3.48 µs) less", " unix") == []
    wording(said)
