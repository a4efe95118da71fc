"""What is planted, when, and how what was found is scored."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from bench.links import faults, loads, table, talker
from bench.links.__main__ import order
from bench.links.faults import Fault, accused, drawn, outcome

from wulf.core.findings import Evidence, Finding, Severity

NODES = [f"n{number}" for number in range(1, 6)]
PAIRS = [(a, b) for a in NODES for b in NODES if a != b]


def finding(subject: str, *ways: str, severity: Severity = Severity.BAD, kind: str = "node") -> Finding:
    evidence = [Evidence(subject=subject, metric="sent_again", way=way) for way in ways]
    return Finding(kind=kind, severity=severity, subject=subject, text="", evidence=evidence)


def test_loads_and_kinds_are_even_and_seeds_are_their_own() -> None:
    planned = order(24, 30, 3, 7)
    assert planned == order(24, 30, 3, 7)
    assert planned != order(24, 30, 3, 8)
    counts = Counter((load, kind) for load, kind, _ in planned)
    assert {counts[load, kind] for load in loads.LOADS for kind in faults.KINDS} == {2}
    assert {counts[load, None] for load in loads.LOADS} == {10}
    assert len({seed for *_, seed in planned}) == len(planned)


def test_a_fault_lies_where_traffic_meets_it() -> None:
    pairs = [("n1", "n2"), ("n1", "n3"), ("n4", "n3")]
    for seed in range(40):
        fault = drawn("loss", pairs, random.Random(seed))
        assert (fault.subject, fault.way) in {("n1", "send"), ("n3", "receive")}
        link = drawn("link-loss", pairs, random.Random(seed))
        assert tuple(link.subject.split(">")) in pairs
        assert faults.LOSS[0] <= fault.amount <= faults.LOSS[1]


def test_all_nodes_draw_the_same_pattern() -> None:
    found = [talker.streams(3, epoch, node, NODES) for epoch in range(50) for node in NODES]
    assert found == [talker.streams(3, epoch, node, NODES) for epoch in range(50) for node in NODES]
    assert 0.2 < sum(not one for one in found) / len(found) < 0.45
    assert len(talker.servers(3, NODES)) == talker.SERVERS


@pytest.mark.parametrize(
    ("fault", "found", "scored"),
    [
        (None, [], "nobody"),
        (None, [finding("n1", "send")], "wrong"),
        (None, [finding("n1", "both", severity=Severity.INFO, kind="queue")], "nobody"),
        (None, [finding("n1", "both", severity=Severity.WARN, kind="host-noise")], "wrong"),
        (Fault("hog", "n1", "", 1), [finding("n1", "both", severity=Severity.WARN, kind="host-noise")], "wrong"),
        (Fault("loss", "n3", "send", 0.01), [], "nobody"),
        (Fault("loss", "n3", "send", 0.01), [finding("n3", "send", "both")], "named"),
        (Fault("loss", "n3", "send", 0.01), [finding("n3", "receive")], "wrong"),
        (Fault("loss", "n3", "send", 0.01), [finding("n3", "both")], "wrong"),
        (Fault("loss", "n3", "send", 0.01), [finding("n3", "send"), finding("n1>n2", "send")], "wrong"),
        (Fault("link-loss", "n1>n2", "send", 0.01), [finding("n1>n2", "send")], "named"),
        (Fault("link-loss", "n1>n2", "send", 0.01), [finding("n2", "receive")], "wrong"),
        (Fault("rate", "n3", "send", 4e6), [finding("n3", "both")], "named"),
        (Fault("rate", "n3", "send", 4e6), [finding("n3", "receive")], "wrong"),
        (Fault("delay", "n3", "send", 1e-3), [finding("n3", "both")], "named"),
    ],
)
def test_named_is_the_right_one_and_no_other(fault: Fault | None, found: list[Finding], scored: str) -> None:
    assert outcome(fault, accused(found)) == scored


def test_the_page_counts_by_load_and_has_exact_intervals() -> None:
    loss = Fault("loss", "n3", "send", 0.01).to_json()
    windows = [{"load": "mpi", "fault": loss, "outcome": "named", "pressure": 0.5}] * 36
    windows += [{"load": "bulk", "fault": None, "outcome": "nobody", "pressure": 0.5}] * 73
    about = {"at": "2026-11-29", "nodes": 5, "machine": {"cpus": 2}, "seed": 1}
    page = table.page({**about, "windows": windows})
    assert "| 0.5–3 % of frames lost at a node | 36 of 36 | – | – | 36 of 36 (90.3%–100.0%) |" in page
    assert "73 of 73 (95.1%–100.0%); the goal is 95%" in page
    assert all(one.interval[0] >= table.GOALS[name] for name, one in table.totals(windows))
