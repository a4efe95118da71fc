"""What is taken out of a run: figures of single nodes, who is blamed, signs; what a check says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wulf.core.findings import Finding, Severity
from wulf.core.records import Record, Verdict
from wulf.sentry.harvest import changed, hardware, of_checks, of_run, seconds_of, series
from wulf.sentry.incident import Kind
from wulf.sentry.plan import Measure
from wulf.store.run import Run

AT = "2026-11-29T03:00:00Z"
LARGE = {"pattern": "stream", "bytes": 1024, "huge": True}
NODE = Measure(name="node", command=("node",), every=60.0)


def record(subject: str = "n1", value: float | None = 2e9, **more: Any) -> Record:
    fields = {"metric": "throughput", "unit": "B/s", "verdict": Verdict.OK, "params": {"pattern": "stream"}, **more}
    return Record(run="r", subject=subject, probe="node", value=value, at=AT, **fields)


def run(records: list[Record], findings: list[Finding] | None = None, **more: Any) -> Run:
    return Run(Path("r"), {"id": "r", "started": AT, "ended": AT}, records=records, findings=findings or [], **more)


def finding(subject: str, severity: Severity, kind: str = "deviation") -> Finding:
    return Finding(kind=kind, severity=severity, subject=subject, text=f"{subject} differs.", next_step="look")


def test_a_node_s_own_figures_are_taken_and_what_is_none_is_left() -> None:
    found = of_run(
        run(
            [
                record(low=1.9e9, high=2.1e9),
                record("n1>n2"),
                record("n9"),
                record("n2", None, verdict=Verdict.UNRESOLVED, reason="too few"),
                record("n2", params={"pattern": "chase"}, curve="latency"),
                record("n2", params={"pattern": "rate"}, verdict=Verdict.NOISY),
            ]
        ),
        NODE, ["n1", "n2"], {},
    )  # fmt: skip
    assert [(one.node, one.metric, one.value, one.low) for one in found.figures] == [
        ("n1", "node.stream.throughput", 2e9, 1.9e9),
        ("n2", "node.rate.throughput", 2e9, None),
    ]
    assert {(one.unit, one.better) for one in found.metrics} == {("B/s", "higher")}
    assert found.measured == ["n1", "n2"]
    assert found.at == seconds_of(AT)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"row": "memory.copy"}, "memory.copy"),
        ({"params": {**LARGE, "seconds": 2}}, "node.stream.throughput (bytes=1024, huge=true)"),
        ({"params": {}}, "node.throughput"),
    ],
)  # fmt: skip
def test_a_series_is_named_by_what_was_measured_and_not_for_how_long(given: dict[str, Any], name: str) -> None:
    assert series(record(**given)) == name


def test_which_way_is_better_is_the_record_s_word_then_the_plan_s_then_the_unit_s() -> None:
    plan = {"cells": [{"metrics": [{"name": "count", "better": "lower"}]}]}
    found = of_run(
        run(
            [
                record(better="lower"), record(metric="count", unit="1"), record(metric="odd", unit="1"),
                record(metric="time", unit="s"),
            ],
            plan=plan,
        ),
        NODE, ["n1"], {},
    )  # fmt: skip
    assert [one.better for one in found.metrics] == ["lower", "lower", "", "lower"]


def test_who_is_blamed_is_told_and_who_is_not_any_more_is_mended() -> None:
    found = of_run(
        run([record("n1"), record("n2"), record("n3")], [finding("n2", Severity.BAD), finding("n3", Severity.WARN)]),
        NODE, ["n1", "n2", "n3"], {},
    )  # fmt: skip
    (blamed,) = found.observations
    assert (blamed.kind, blamed.node, blamed.metric, blamed.severity) == (Kind.BLAMED, "n2", "node", Severity.BAD)
    assert [(one.node, one.name) for one in found.signs] == [("n3", "node: deviation")]
    assert ("blamed", "n1", "node") in found.mended
    assert ("blamed", "n2", "node") not in found.mended


def test_who_could_not_be_measured_is_neither_measured_nor_mended() -> None:
    found = of_run(run([record("n1")], [finding("n2", Severity.BAD, "failed")]), NODE, ["n1", "n2"], {})
    assert found.unreached == {"n2": "n2 differs."}
    assert (found.measured, found.observations) == (["n1"], [])
    assert {node for _, node, _ in found.mended} == {"n1"}


def test_facts_that_changed_are_signs_and_say_what_hardware_it_is() -> None:
    facts = {
        "kernel.boot_id": {"value": "b"}, "kernel.release": {"value": "6.1"}, "cpu.model": {"value": "X"},
        "cpu.threads": {"value": 8}, "memory.size": {"value": 32 * 2**30}, "kernel.uptime": {"value": 3},
    }  # fmt: skip
    before = {"kernel.boot_id": "a", "kernel.release": "6.1", "memory.size": str(64 * 2**30)}
    found = of_run(run([record()], fingerprint={"n1": facts}), NODE, ["n1"], {"n1": before})
    assert [(one.name, one.odds) for one in found.signs] == [("rebooted", 2.0), ("memory", 100.0)]
    assert hardware(found.facts["n1"]) == "X, 8 threads, 32 GiB"
    assert changed("n1", {}, found.facts["n1"], 0.0) == [], "of a node that is new, nothing has changed"
    assert hardware({}) == ""


def test_what_checks_say_is_an_incident_a_check_and_a_torn_line_nothing() -> None:
    lines = [
        json.dumps({"node": "n1", "name": "fs", "state": "ill", "text": "/ is full"}),
        json.dumps({"node": "n2", "name": "fs", "state": "well", "text": ""}),
        json.dumps({"node": "n2", "name": "rate", "state": "not finished", "text": "busy"}),
        json.dumps({"node": "n3", "name": "", "state": "not reached", "text": "no route"}),
        json.dumps({"node": "other", "name": "fs", "state": "ill", "text": ""}),
        '{"node": "n2", "na',
    ]
    found = of_checks(lines, ["n1", "n2", "n3"], 5.0)
    (ill,) = found.observations
    assert (ill.kind, ill.node, ill.metric, ill.until) == (Kind.ILL, "n1", "fs", 5.0)
    assert (found.measured, found.unreached) == (["n1", "n2"], {"n3": "no route"})
    assert set(found.mended) == {("ill", "n2", "fs"), ("unreachable", "n1", ""), ("unreachable", "n2", "")}


def counted(before: dict[str, int], now: dict[str, int]) -> list[tuple[str, float, str]]:
    facts = [{f"errors.{name}": str(count) for name, count in one.items()} for one in (before, now)]
    return [(one.name, one.odds, one.text) for one in changed("n1", *facts, 0.0)]


def test_a_count_of_errors_that_grew_is_a_sign_and_the_graver_one_counts() -> None:
    (one,) = counted({"memory_corrected": 12, "network_crc": 3}, {"memory_corrected": 1014, "network_crc": 3})
    assert one == (
        "memory errors",
        10.0,
        "n1: errors.memory_corrected grew by 1,002 since it was last measured, to 1,014.",
    )
    both = counted({"memory_corrected": 1, "memory_uncorrected": 0}, {"memory_corrected": 2, "memory_uncorrected": 1})
    assert [(name, odds) for name, odds, _ in both] == [("memory errors", 100.0)]


def test_after_a_boot_a_count_starts_anew_and_one_that_was_not_known_says_nothing() -> None:
    assert counted({"cpu_throttled": 50}, {"cpu_throttled": 0}) == []
    assert [text for _, _, text in counted({"cpu_throttled": 50}, {"cpu_throttled": 2})] == [
        "n1: errors.cpu_throttled grew by 2 since it was last measured, to 2."
    ]
    assert counted({}, {"network_carrier": 7}) == []
