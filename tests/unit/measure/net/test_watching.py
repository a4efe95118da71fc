"""What a watch makes of replicates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.measure.fakes import answer, cell
from wulf.measure.engine.cell_state import CellState
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.net.watching import Busy, Watching, busy_of, moment_json, moment_of, retransmits_of

PING = cell(0, "n1", "n2")
STREAM = Cell(1, "n1", "n2", "tcp", "stream", {}, (Metric("throughput", "B/s", "higher"),), "watch", every=20)


def ping(p50: float = 1e-5, **more: Any) -> dict[str, Any]:
    rtt = {"unit": "s", "value": p50, "quantiles": {"0.5": p50, "0.9": 2 * p50, "0.99": 3 * p50, "0.999": 4 * p50}}
    return {"cell": 0, "block": 0, "at": "t", **answer(), "metrics": {"rtt": rtt}, **more}


def stream(rate: float) -> dict[str, Any]:
    return {"cell": 1, "at": "t", "ok": True, "metrics": {"throughput": {"unit": "B/s", "value": rate}}}


def failed(why: str) -> dict[str, Any]:
    return {"cell": 0, "at": "t", "ok": False, "error": {"code": "timeout", "message": why}}


def test_a_moment_has_quantiles_counters_and_what_rules_say() -> None:
    counters = {
        "client": {"snmp": {"Tcp": {"RetransSegs": 2}}, "cpu": {"all": {"user": 1, "idle": 3}, "0": {"user": 1}}},
        "server": {"snmp": {"Tcp": {"RetransSegs": 3}}},
    }
    replicate = ping(counters=counters)
    moment = moment_of(PING, replicate, 2.5, lambda _, r: [f"seen {r['cell']}"])
    assert moment.quantiles == {"0.5": 1e-5, "0.9": 2e-5, "0.99": pytest.approx(3e-5)}
    assert moment.retransmits == 5
    assert moment.busy == {"client": Busy(0.25, 1.0)}
    assert moment.verdict == ("seen 0",)
    assert (moment.error, moment.rate) == ("", None)


def test_guest_time_is_not_counted_twice_and_waiting_is_no_work() -> None:
    busy = busy_of({"cpu": {"all": {"user": 2, "guest": 2, "idle": 1, "iowait": 1}}})
    assert busy == Busy(0.5, 0.5)
    assert busy_of({"cpu": {"all": {"softirq": 0.5}}}) == Busy(1.0, 1.0), "only what changed is told"
    assert busy_of({}) is None


def test_a_node_measured_with_itself_is_counted_once() -> None:
    counters = {end: {"snmp": {"Tcp": {"RetransSegs": 2}}} for end in ("client", "server")}
    assert retransmits_of(cell(0, "n1", "n1"), {"counters": counters}) == 2


def test_overall_is_the_median_with_a_confidence_sequence() -> None:
    watching = Watching("n1>n2")
    for i in range(40):
        watching.take(moment_of(PING, ping(1e-5 + i * 1e-7), float(i)))
    found = watching.overall("0.5")
    assert found.value == pytest.approx(1e-5 + 19.5e-7)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert watching.overall("0.99").value == pytest.approx(3 * found.value)
    assert watching.overall("throughput").value is None, "no stream yet"


def test_the_last_minute_is_in_sight_and_no_more() -> None:
    watching = Watching("n1>n2")
    for i in range(100):
        watching.take(moment_of(PING, ping(float(i + 1)), float(i)))
    history = watching.history(60)
    assert history[-1] == 100.0
    assert history[0] is not None
    assert min(value for value in history if value is not None) >= 40.0


def test_a_failure_is_counted_and_leaves_a_gap() -> None:
    watching = Watching("n1>n2")
    watching.take(moment_of(PING, ping(), 0.0))
    watching.take(moment_of(PING, failed("n1: no route"), 2.0))
    assert (watching.replicates, watching.failed) == (2, 1)
    assert watching.latest["pingpong"].error == "n1: no route"
    assert watching.history(60)[-3:] == [1e-5, None, None]


def test_the_json_of_a_moment() -> None:
    watching = Watching("n1>n2")
    moment = moment_of(STREAM, stream(1e9), 1.0)
    watching.take(moment)
    content = moment_json(watching, moment)
    assert (content["pattern"], content["rate"], content["rtt"]) == ("stream", 1e9, None)
    assert content["overall"]["throughput"]["low"] is None
    assert content["ok"] is True


def test_counters_are_kept_in_sum_alone() -> None:
    state = CellState(PING)
    given = [ping(counters={"client": {"intr": 2}, "server": {}}) for _ in range(5)]
    for replicate in given:
        state.take(replicate, slim=True)
    assert [r["counters"] for r in state.replicates] == [{"client": {"intr": 10}, "server": {}}, {}, {}, {}, {}]
    assert given[0]["counters"] == {"client": {"intr": 2}, "server": {}}, "what was handed in stays what it was"
    state.take(failed("x"), slim=True)
    assert (state.good, state.failed) == (5, 1)
