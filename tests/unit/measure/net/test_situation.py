"""What was counted, laid out: sums over replicates, less what idle seconds let expect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.measure.fakes import answer, cell
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.net.situation import End, Situation, cpu_of, situation_of


def test_a_counter_less_its_background() -> None:
    idle = {"seconds": 2.0, "counters": {"snmp": {"Udp": {"RcvbufErrors": 4}}}}
    end = End("n1", counters={"snmp": {"Udp": {"RcvbufErrors": 10}}}, idle=idle, seconds=3.0)
    assert end.count("snmp", "Udp", "RcvbufErrors") == 4
    assert End("n1", counters=end.counters, idle=idle, seconds=6.0).count("snmp", "Udp", "RcvbufErrors") == 0
    assert End("n1", counters=end.counters).count("snmp", "Udp", "RcvbufErrors") == 10
    assert end.count("snmp", "Tcp", "RetransSegs") == 0, "what did not change is not counted"
    assert end.count("snmp", "Udp") == 0


def test_the_interface_is_the_one_that_moved_most() -> None:
    nics = {"lo": {"rx_bytes": 5}, "eth1": {"rx_bytes": 7, "tx_bytes": 1}, "eth0": {"tx_bytes": 7}}
    assert End("n1", counters={"nic": nics}).nic == "eth1"
    assert End("n1", {"nic.interfaces": {"value": "eth5"}}).nic == "eth5"
    assert End("n1", {"nic.interfaces": {"value": "eth5 eth6"}}).nic is None
    assert End("n1").nic_fact("speed") is None


def test_a_cpus_time() -> None:
    times = {"user": 1.0, "nice": 1.0, "softirq": 3.0, "idle": 3.0, "iowait": 1.0, "steal": 1.0, "guest": 0.5}
    cpu = cpu_of("2", times, before=0.1)
    assert cpu is not None
    assert (cpu.used, cpu.main, cpu.steal) == (pytest.approx(0.6), "softirq", pytest.approx(0.1))
    assert (cpu.earnest, cpu.own) == (pytest.approx(0.5), pytest.approx(0.4))
    assert cpu_of("2", {"user": 0.29}) is None
    assert cpu_of("2", {"idle": 1.0}) is not None


def test_cpus_of_a_shared_machine_are_those_that_the_ends_were_put_on() -> None:
    counters = {"cpu": {"all": {"user": 9.0}, "0": {"user": 1.0}, "1": {"user": 0.5, "idle": 0.5}}}
    boot = {"kernel.boot_id": {"value": "b"}}
    ends = End("n1", boot, counters), End("n2", boot, counters)
    placed = Situation(*ends, "tcp", "stream", {"cpu": 1, "server_cpu": 1})
    assert [cpu.name for _, cpu in placed.cpus()] == ["1"]
    assert [cpu.name for _, cpu in Situation(*ends, "tcp", "stream").cpus()] == ["0", "1"]
    apart = Situation(End("n1", {}, counters), End("n2", {}, counters), "tcp", "stream", {"cpu": 1})
    assert [(end.node, cpu.name) for end, cpu in apart.cpus()][:2] == [("n1", "0"), ("n2", "0")], (
        "interrupts may be on another core than the program"
    )


def test_from_replicates() -> None:
    gauges = {"rtt": {"min": 1.0, "median": 2.0, "max": 3.0}}
    during = {"client": {"tcp": {"counts": {"segs_out": 5}, "gauges": gauges}}, "server": {"samples": 1}}
    good = {"cell": 1, **answer(2e-5), "seconds": 0.5, "during": during}
    failed = {"cell": 1, "ok": False, "error": {"code": "x", "message": "y"}}
    situation = situation_of(cell(1, "n1", "n2"), [good, failed, good], {"n1": {"a": {"value": 1}}}, {})
    assert (situation.subject, situation.value, situation.client.seconds) == ("n1>n2", 2e-5, 1.0)
    assert situation.client.counters["eth0"] == {"rx": 4}
    assert (situation.client.tcp_count("segs_out"), situation.client.tcp_gauge("rtt")) == (10, 2.0)
    assert situation.client.tcp_gauge("rtt", "max") == 3.0
    assert situation.client.tcp_gauge("cwnd") is None
    assert (situation.server.tcp_count("segs_out"), situation.client.fact("a")) == (None, 1)
    assert situation.peaks == [[], []]


@pytest.mark.parametrize(
    "metrics, loss",
    [
        ({"throughput": {"value": 1.0}, "loss": {"value": 0.25}}, 0.25),
        ({"rtt": {"value": 1.0, "n": 30}, "lost": {"value": 10}}, 0.25),
        ({"rtt": {"value": None, "reason": "lost"}, "lost": {"value": 10}}, 1.0),
        ({"throughput": {"value": 1.0}}, None),
    ],
)
def test_loss(metrics: dict[str, Any], loss: float | None) -> None:
    one = Cell(1, "n1", "n2", "udp", "stream", {}, (Metric("throughput", "B/s"),))
    assert situation_of(one, [{"ok": True, "metrics": metrics, "seconds": 1}], {}, {}).loss == loss
