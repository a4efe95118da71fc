"""Culprits of replicates: shares that add up, zeros that were measured, the worst detours of all replicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from wulf.core.errors import UsageError
from wulf.core.records import Record, Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.node.culprits import ALL, MOST_TOLD, PROBE, Key, culprit_records, culprits_in, key_of, totals_in

Toll = tuple[str, str, float]


def row(kind: str, name: str, total: float, pid: int | None = None) -> dict[str, Any]:
    own = {"class": kind, "name": name, "count": 4, "total": total, "longest": total / 2}
    return own if pid is None else {**own, "pid": pid}


def replicate(rows: Sequence[dict[str, Any]], *, cell: int = 0, longest: float = 1e-3, **info: Any) -> dict[str, Any]:
    """Half a second traced, half not."""
    pieces = [{"class": "task", "name": "make", "pid": 7, "at": 0.0, "length": longest}]
    said = {
        "culprits": list(rows), "traced_seconds": 0.5, "untraced_seconds": 0.5, "stopped_early": False,
        "steal": {"unit": "s", "value": 0.0}, "tracing": {"records": 100, "lost_records": 0, "missing": ["nmi"]},
        "longest": [{"at": 0.1, "length": longest, "pieces": pieces, "more": 0}], **info,
    }  # fmt: skip
    return {"cell": cell, "block": 0, "at": "", "ok": True, "metrics": {}, "info": said}


def cell(number: int = 0, node: str = "n1", cpu: int = 0) -> Cell:
    return Cell(number, node, node, "", PROBE, {"cpu": cpu}, (), program="node")


def records(replicates: Sequence[dict[str, Any]]) -> list[Record]:
    return culprit_records([cell()], replicates, "run", "2026-01-01T00:00:00Z")


def test_shares_are_of_the_traced_time_and_add_up() -> None:
    found = records(
        [replicate([row("task", "make", 0.010 + 0.001 * i), row("timer", "tick", 0.005)]) for i in range(6)]
    )
    total, make, tick = found
    assert key_of(make) == Key("task", "make")
    assert make.value == pytest.approx(0.025)
    assert tick.value == pytest.approx(0.01)
    assert total.value == pytest.approx(0.035)
    assert make.low is not None
    assert make.high is not None
    assert make.low < 0.025 < make.high
    assert make.statistic == "mean"
    assert make.info["of_lost"]["value"] == pytest.approx(0.025 / 0.035)
    assert make.info["rate"] == pytest.approx(8)
    assert make.info["longest"] == pytest.approx(0.0075)


def test_who_was_absent_took_nothing_and_that_is_a_figure() -> None:
    found = records([replicate([row("task", "cron", 0.1)])] + [replicate([row("timer", "tick", 0.01)])] * 5)
    cron = next(one for one in found if key_of(one).name == "cron")
    assert cron.samples == pytest.approx([0.2, 0, 0, 0, 0, 0])
    assert cron.low == 0
    assert cron.verdict is Verdict.NOISY
    assert "1 of 6" in (cron.reason or "")


def test_processes_of_one_name_are_one_culprit() -> None:
    found = records(
        [replicate([row("task", "cc1plus", 0.01, pid), row("task", "cc1plus", 0.02, pid + 1)]) for pid in (5, 9)]
    )
    assert len(found) == 2
    assert found[1].value == pytest.approx(0.06)
    assert found[1].info["pids"] == [5, 6, 9, 10]


def test_one_replicate_has_no_interval_and_says_why() -> None:
    found = records([replicate([row("task", "make", 0.01)])])
    assert {one.verdict for one in found} == {Verdict.UNRESOLVED}
    assert all(one.value is None and one.reason for one in found)


def test_what_took_little_is_one_line() -> None:
    rows = [row("task", f"t{number:02}", 0.01 - 0.0001 * number) for number in range(MOST_TOLD + 5)]
    found = records([replicate(rows)] * 3)
    assert len(found) == MOST_TOLD + 2
    assert key_of(found[-1]) == Key("others", "5 more")
    assert sum(one.value or 0.0 for one in found[1:]) == pytest.approx(found[0].value)


def test_the_record_of_all_has_the_worst_detours_of_all_replicates() -> None:
    found = records(
        [
            replicate([row("task", "make", 0.01)], longest=length, steal={"unit": "s", "value": 0.01})
            for length in (1e-3, 5e-3, 2e-3)
        ]
    )
    total = totals_in(found)["n1", 0]
    assert total.params["class"] == ALL
    assert [one["length"] for one in total.info["detours"]] == [5e-3, 2e-3, 1e-3]
    assert [one["replicate"] for one in total.info["detours"]] == [1, 2, 0]
    assert total.info["steal_seconds"] == pytest.approx(0.03)
    assert total.info["all_seconds"] == pytest.approx(3.0)
    assert total.info["missing"] == ["nmi"]
    assert len(culprits_in(found)["n1", 0]) == 1


def test_a_cell_without_an_answer_has_no_culprits() -> None:
    failed = {"cell": 0, "block": 0, "at": "", "ok": False, "error": {"code": "limit", "message": "no"}}
    refused = {"cell": 0, "block": 0, "at": "", "ok": True, "metrics": {}, "info": {}}
    assert records([failed, refused]) == []


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("kworker/1:2", "kworker"), ("kworker/u8:3-events", "kworker"), ("ksoftirqd/11", "ksoftirqd"),
        ("rcu_preempt", "rcu_preempt"), ("migration/0", "migration"), ("vmstat_update", "vmstat_update"),
    ],
)  # fmt: skip
def test_a_kernel_thread_has_one_name_on_all_cpus(name: str, family: str) -> None:
    assert Key("kernel_thread", name).family == Key("kernel_thread", family)
    assert Key("task", name).family == Key("task", name)


@pytest.mark.parametrize(
    ("info", "why"),
    [
        ({"traced_seconds": 0}, "info.traced_seconds"),
        ({"culprits": [{"class": "task"}]}, "info.culprits.0.name"),
        ({"tracing": {"records": "all"}}, "info.tracing.records"),
        ({"steal": {"value": "much"}}, "info.steal.value"),
    ],
)
def test_what_the_probe_never_says_is_refused_by_name(info: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError) as refused:
        records([replicate([row("task", "make", 1e-3)], **info)])
    assert why in str(refused.value)
