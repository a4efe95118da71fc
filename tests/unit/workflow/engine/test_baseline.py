"""The idle second: differences of all nodes' counters, and machines that are not at rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.sessions import Answering
from wulf.core.errors import NodeError
from wulf.workflow.engine.baseline import Baseline, background_findings, idle_second, joined


def counting(*snapshots: dict[str, Any] | NodeError) -> Answering:
    """Its counters grow by one snapshot a call."""
    left = list(snapshots)
    return Answering(lambda op: left.pop(0))


def snapshot(at: float, user: float, **more: Any) -> dict[str, Any]:
    return {"at": at, "counters": {"cpu": {"0": {"user": user, "idle": 5.0 + at}}, "ctxt": 7, **more}}


def test_what_a_node_counts_in_a_second() -> None:
    slept: list[float] = []
    session = counting(snapshot(10.0, 1.0), snapshot(11.5, 1.25, new={"drops": 3}))
    dead = counting()
    dead.alive = False
    gone = counting(snapshot(1.0, 1.0), NodeError("n3", "the connection was lost"))
    found = idle_second({"n1": session, "n2": dead, "n3": gone}, 1.0, slept.append)
    assert slept == [1.0]
    assert set(found) == {"n1"}
    assert found["n1"]["seconds"] == 1.5
    assert found["n1"]["counters"] == {"cpu": {"0": {"user": 0.25, "idle": 1.5}}, "new": {"drops": 3}}
    assert session.asked == [("counters", {})] * 2


def test_nobody_to_ask() -> None:
    assert idle_second({}, 1.0, pytest.fail) == {}


def test_two_idle_seconds_are_one_of_both() -> None:
    one = {"n1": {"seconds": 1.0, "counters": {"cpu": {"0": {"user": 0.5}}}, "frequency": None}}
    assert joined(one, one) == {"n1": {"seconds": 2.0, "counters": {"cpu": {"0": {"user": 1.0}}}}}
    assert one["n1"]["seconds"] == 1.0
    assert joined() == {}


class Keeper:
    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def write_json(self, name: str, content: Any) -> None:
        self.kept[name] = content


def test_it_is_kept_with_the_run_and_left_out_when_it_is_to_be_quick() -> None:
    keeper = Keeper()
    taken = Baseline({"n1": counting(snapshot(1.0, 1.0), snapshot(2.0, 1.5))}, 1e-9, keeper)
    taken.take("before")
    assert keeper.kept["baseline.json"]["before"]["n1"]["counters"]["cpu"]["0"]["user"] == 0.5
    quick = Baseline({"n1": counting()}, 0.0, keeper)
    quick.take("before")
    assert quick.seen == {}


def busy(user: float, **more: float) -> dict[str, Any]:
    return {"seconds": 1.0, "counters": {"cpu": {"3": {"user": user, "idle": 1.0 - user - sum(more.values()), **more}}}}


def test_a_machine_that_is_not_at_rest_is_told_once() -> None:
    boots = {name: {"kernel.boot_id": {"value": "b"}} for name in ("n1", "n2")}
    (one,) = background_findings({"before": {"n1": busy(0.5), "n2": busy(0.5)}, "after": {"n1": busy(0.9)}}, boots)
    assert (one.kind, one.subject) == ("background", "n1")
    assert "before the measurement: CPU 3 was 50% used" in one.text
    apart = background_findings({"before": {"n1": busy(0.5), "n2": busy(0.5)}}, {})
    assert [finding.subject for finding in apart] == ["n1", "n2"]
    assert background_findings({"before": {"n1": busy(0.19)}}, {}) == []
    assert background_findings({"before": {"n1": busy(0.1, nice=0.8)}}, {}) == [], "niced work gives way"
