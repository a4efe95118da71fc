"""What stands out, in plain words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest

from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK, NodeError
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.findings.run import find
from wulf.workflow.engine.measuring import exit_code_of


def record(subject: str, value: float | None, pattern: str = "stream", **changes: object) -> Record:
    fields: dict[str, object] = {
        "run": "r", "subject": subject, "probe": "net", "metric": "throughput" if pattern == "stream" else "rtt",
        "unit": "B/s" if pattern == "stream" else "s", "params": {"transport": "tcp", "pattern": pattern},
        "value": value, "low": value and value * 0.98, "high": value and value * 1.02, "replicates": 6,
        "verdict": "ok", "at": "now", "phase": "pairs",
    }  # fmt: skip
    return Record.model_validate(fields | changes)


def cluster(slow: Mapping[str, float], n: int = 4) -> list[Record]:
    names = [f"n{i}" for i in range(1, n + 1)]
    streams = [
        record(f"{a}>{b}", min(slow.get(a, 2.5e9), slow.get(b, 2.5e9))) for a, b in itertools.permutations(names, 2)
    ]
    trips = [record(f"{a}>{b}", 2e-5, "pingpong") for a, b in itertools.combinations(names, 2)]
    return streams + trips


def without_notes(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.kind != "note"]


def test_the_shaped_node_and_only_it() -> None:
    found = find(cluster({"n3": 2.4e7}), {}, {})
    assert [f.subject for f in found] == ["n3"]
    assert found[0].severity is Severity.BAD
    assert "192 Mbit/s" in found[0].text
    assert "20 Gbit/s" in found[0].text
    assert "104 times worse" in found[0].text
    assert found[0].evidence[0].expected == pytest.approx(2.5e9)
    assert exit_code_of(cluster({}), found, "complete") == FOUND


def test_a_healthy_cluster_has_nothing_to_say() -> None:
    assert without_notes(find(cluster({}), {}, {})) == []
    assert exit_code_of(cluster({}), [], "complete") == OK


def test_a_dead_node_is_named_with_its_reason_and_the_run_is_incomplete() -> None:
    dead = NodeError("n2", "died while it was measured: ssh: connection closed", "look at its console")
    records = [r for r in cluster({}) if "n2" not in r.nodes]
    records.append(record("n1>n2", None, verdict="failed", reason="n2: gone"))
    found = find(records, {}, {"n2": dead})
    assert [f.subject for f in found] == ["n2"], "its records are not listed again"
    assert "connection closed" in found[0].text
    assert found[0].next_step == "look at its console"
    assert exit_code_of(records, found, "complete") == INCOMPLETE


def test_failed_records_are_grouped_by_reason() -> None:
    records = [*cluster({}), *(record(f"n1>n{i}", None, verdict="failed", reason="refused") for i in range(5, 12))]
    found = without_notes(find(records, {}, {}))
    assert len(found) == 1
    assert "and 3 more" in found[0].text
    assert "refused" in found[0].text


def test_noise_is_information_not_an_accusation() -> None:
    records = cluster({})
    records[0] = record("n1>n2", 2.5e9, low=2e9, high=3e9, verdict="noisy", reason="wide")
    found = find(records, {}, {})
    assert [(f.kind, f.severity) for f in without_notes(found)] == [("noise", Severity.INFO)]
    assert exit_code_of(records, found, "complete") == OK


def test_unresolved_makes_it_incomplete() -> None:
    records = [*cluster({}), record("n1>n2", None, verdict=Verdict.UNRESOLVED, reason="2 replicates are too few")]
    found = find(records, {}, {})
    assert "too few" in found[0].text
    assert exit_code_of(records, found, "complete") == INCOMPLETE


def test_a_nodes_own_figure_without_an_answer_is_named() -> None:
    own: dict[str, object] = {"probe": "node", "metric": "excess", "phase": "row", "row": "os.signal.handle"}
    unresolved = record("n1", None, verdict="unresolved", reason="5 are too few", **own)
    probed = record("n2", None, verdict="unresolved", reason="no memory", probe="node", metric="rate", phase="single")
    reread = unresolved.model_copy(update={"metric": "throughput", "row": "os.reread.read"})
    for one, name in (
        (unresolved, "n1, os.signal.handle"),
        (reread, "n1, os.reread.read"),
        (probed, "n2, stream rate"),
    ):
        found = without_notes(find([*cluster({}), one], {}, {}))
        assert [(f.kind, f.severity, f.subject) for f in found] == [("noise", Severity.WARN, one.subject)]
        assert f"1 of 19 figures have no answer; the first: {name}: {one.reason}" in found[0].text
        assert exit_code_of([one], found, "complete") == INCOMPLETE
    lacking = record("n1", None, verdict="unresolved", reason="no L3", supported=False, **own)
    assert without_notes(find([*cluster({}), lacking], {}, {})) == []


def test_interrupted_is_130() -> None:
    assert exit_code_of([], [], "interrupted") == INTERRUPTED


def test_facts_that_differ_are_named_with_their_node() -> None:
    def facts(mtu: int) -> dict[str, dict[str, object]]:
        return {"nic.eth0.mtu": {"value": mtu, "provenance": "reported"}, "host.name": {"value": str(mtu)}}

    fingerprint = {"n1": facts(1500), "n2": facts(1500), "n3": facts(9000), "n4": facts(1500)}
    found = without_notes(find(cluster({}), fingerprint, {}))
    assert [(f.kind, f.subject) for f in found] == [("fact", "n3")]
    assert "nic.eth0.mtu" in found[0].text
    assert "9000" in found[0].text
    assert "1500" in found[0].text


def large(slow: Mapping[str, float], n: int = 24, seed: int = 1) -> list[Record]:
    """All pairs' TCP round trips: a link is as slow as its slower node, like nodes differ by half a per cent."""
    random = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(1, n + 1)]
    own = {name: 2e-5 * slow.get(name, 1.0) * float(np.exp(0.005 * random.normal())) for name in names}
    return [
        record(f"{a}>{b}", max(own[a], own[b]) * float(np.exp(0.002 * random.normal())), "pingpong")
        for a, b in itertools.combinations(names, 2)
    ]


def test_a_node_a_little_slower_than_its_like_is_worth_a_look() -> None:
    found = find(large({"n7": 1.08}), {}, {})
    assert [(f.kind, f.subject, f.severity) for f in found if f.severity is not Severity.INFO] == [
        ("deviation", "n7", Severity.WARN)
    ]
    assert "TCP round trip over its better links is +" in found[0].text


def test_like_nodes_are_left_alone_and_it_says_what_would_have_been_seen() -> None:
    accused = 0
    for seed in range(30):
        found = find(large({}, seed=seed), {}, {})
        accused += any(f.kind == "deviation" for f in found)
        (note,) = [f for f in found if f.kind == "note"]
        assert "TCP round trip " in note.text
    assert accused <= 5


def test_other_hardware_is_another_class() -> None:
    fingerprint = {f"n{i}": {"cpu.model": {"value": "old" if i <= 8 else "new"}} for i in range(1, 25)}
    records = large({f"n{i}": 1.2 for i in range(1, 9)})
    assert [f for f in find(records, fingerprint, {}) if f.kind == "deviation"] == []
    assert [f for f in find(records, {}, {}) if f.kind == "deviation"]


def test_of_four_nodes_it_says_what_could_have_been_seen_and_of_three_nothing() -> None:
    (note,) = find(cluster({}), {}, {})
    assert "TCP throughput" in note.text
    assert find(cluster({}, 3), {}, {}) == []
