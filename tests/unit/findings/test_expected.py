"""Figures beside what they should be: which bounds there are, where they come from, and where there is none."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from rich.console import Console

from tests.unit.report.make_run import make_run, record
from wulf.core.findings import Severity
from wulf.core.records import Record
from wulf.findings.expected import expected_findings
from wulf.report.run.html import render
from wulf.report.run.terminal import print_report

GIGABIT = {"nic.eth0.speed": 125e6, "nic.eth0.driver": "igb", "nic.eth0.mtu": 1500, "nic.interfaces": "eth0"}
STREAM = {"transport": "tcp", "pattern": "stream"}
CARRIED = {end: {"nic": {"eth0": {"tx_bytes": 10**9}}} for end in ("client", "server")}
EPYC = {
    "cpu.model": "AMD EPYC 7763 64-Core Processor", "cpu.vendor": "AuthenticAMD", "cpu.stepping": "25-1-1",
    "cpu.cores": 64, "memory.channels": 8, "memory.speed": 3.2e9,
}  # fmt: skip


def facts(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in values.items()}


def stream(pair: str, value: float, **fields: Any) -> Record:
    return record(pair, "throughput", value, params=STREAM, phase="pairs", counters=CARRIED, **fields)


def row(node: str, name: str, metric: str, value: float, unit: str) -> Record:
    return record(node, metric, value, unit=unit, probe="node", params={"pattern": "x"}, phase="row", row=name)


def node_rows(node: str = "n1", fma: float = 50e9, changed: Mapping[str, float] = MappingProxyType({})) -> list[Record]:
    values = {
        "cpu.clock": 3.4e9, "cpu.fma.double": fma, "cpu.fma.double.all": 60 * fma, "cpu.dgemm.all": 48 * fma,
        "mem.triad.all.traffic": 150e9,
        **changed,
    }  # fmt: skip
    units = {"cpu.clock": "Hz", "mem.triad.all.traffic": "B/s"}
    return [row(node, name, "rate", value, units.get(name, "flop/s")) for name, value in values.items()]


def told(records: list[Record], fingerprint: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[float, int]]:
    """What the figure is → its share, and how many are below what they should be."""
    found = expected_findings(records, {node: facts(own) for node, own in fingerprint.items()})
    assert all(one.severity is Severity.INFO for one in found), "a bound accuses no node"
    return {str(one.evidence[0].measured): (round(one.about["share"], 3), one.about["slow"]) for one in found}


def test_a_stream_beside_what_the_slower_link_leaves_for_data() -> None:
    nodes = {"n1": GIGABIT, "n2": {**GIGABIT, "nic.eth0.speed": 1.25e9}}
    room = 125e6 * 1448 / 1538
    assert told([stream("n1>n2", 0.99 * room)], nodes) == {"TCP's bandwidth": (0.99, 0)}
    assert told([stream("n1>n2", 0.99 * room), stream("n2>n1", 0.2 * room)], nodes) == {"TCP's bandwidth": (0.595, 1)}


def test_of_two_interfaces_the_one_that_carried_the_stream_counts() -> None:
    both = {
        **GIGABIT,
        "nic.interfaces": "eth0 ib0",
        "nic.ib0.speed": 12.5e9,
        "nic.ib0.mtu": 1500,
        "nic.ib0.driver": "mlx5",
    }
    carried = {end: {"nic": {"eth0": {"tx_bytes": 100}, "ib0": {"tx_bytes": 10**9}}} for end in ("client", "server")}
    one = stream("n1>n2", 6e9).model_copy(update={"counters": carried})
    assert told([one], {"n1": both, "n2": both}) == {"TCP's bandwidth": (round(6e9 / (12.5e9 * 1448 / 1538), 3), 1)}


@pytest.mark.parametrize("lacking", [{"nic.eth0.speed": None}, {"nic.eth0.driver": "veth", "nic.eth0.speed": 1.25e9}])
def test_a_link_of_unknown_speed_has_no_bound(lacking: dict[str, Any]) -> None:
    node = {**GIGABIT, **lacking}
    assert told([stream("n1>n2", 1e8)], {"n1": node, "n2": node}) == {}


def test_a_round_trip_beside_what_was_published_for_such_adapters() -> None:
    nodes = {"n1": GIGABIT, "n2": GIGABIT}
    trip = record("n1>n2", "rtt", 60e-6, phase="pairs", counters=CARRIED)
    assert told([trip], nodes) == {"TCP's round trip": (round(100 / 60, 3), 0)}
    assert told([record("n1>n2", "rtt", 400e-6, phase="pairs", counters=CARRIED)], nodes)["TCP's round trip"] == (
        0.25,
        1,
    )
    (finding,) = expected_findings([trip], {node: facts(own) for node, own in nodes.items()})
    assert "`wulf networks show gbe-moderated`" in finding.text
    guest = {**GIGABIT, "virtualisation.guest": True}
    assert told([trip], {"n1": guest, "n2": GIGABIT}) == {}, "a hypervisor's adapter is no such hardware"


def test_a_nodes_rows_beside_its_processor_its_memory_and_each_other() -> None:
    assert told(node_rows(), {"n1": EPYC}) == {
        "One CPU's multiply-adds": (round(50 / (3.4 * 16), 3), 0),
        "All CPUs' multiply-adds": (round(60 / 64, 3), 0),
        "DGEMM on all CPUs": (0.8, 0),
        "Memory's traffic, all CPUs": (round(150 / 204.8, 3), 0),
    }


def test_what_is_below_says_what_to_do() -> None:
    slow = node_rows(changed={"mem.triad.all.traffic": 60e9, "cpu.dgemm.all": 900e9})
    found = {one.evidence[0].measured: one for one in expected_findings(slow, {"n1": facts(EPYC)})}
    assert "60 GB/s: 29% of 205 GB/s" in found["Memory's traffic, all CPUs"].text
    assert "fill every channel alike" in found["Memory's traffic, all CPUs"].next_step
    assert "OpenBLAS" in found["DGEMM on all CPUs"].next_step
    assert found["All CPUs' multiply-adds"].next_step == ""


def test_a_processor_that_is_faster_than_its_name_allows_has_no_bound() -> None:
    assert "One CPU's multiply-adds" not in told(node_rows(fma=100e9), {"n1": EPYC})
    assert set(told(node_rows(), {})) == {"DGEMM on all CPUs"}, "without facts only figures of the same run are left"


def test_many_nodes_are_one_finding_with_the_slowest_first() -> None:
    records = [
        one
        for number in range(1, 41)
        for one in node_rows(f"n{number}", changed={"mem.triad.all.traffic": number * 4e9})
    ]
    (finding,) = (
        one for one in expected_findings(records, {f"n{number}": facts(EPYC) for number in range(1, 41)})
        if one.evidence[0].row == "mem.triad.all.traffic"
    )  # fmt: skip
    assert [one.subject for one in finding.evidence][:3] == ["n1", "n2", "n3"]
    assert len(finding.evidence) == 24
    assert finding.about["slow"] == 30
    assert finding.subject == "n[1-30]"


def test_hpl_beside_the_peak_that_the_top500_prints() -> None:
    given = {"pattern": "hpl", "n": 1000}
    rate = record("n1", "rate", 1.5e12, unit="flop/s", probe="app", params=given, phase="app")
    base = record(
        "n1", "share.base", 0.6, probe="app", params=given, phase="app",
        info={"peak": 2.5e12, "how": "64 cores x 2.45 GHz x 16 (Zen 3)"},
    )  # fmt: skip
    assert told([rate, base], {}) == {"HPL's rate": (0.6, 0)}


@pytest.mark.parametrize(
    ("kind", "words"),
    [("base", "the nodes' peak by base clock: 64 cores"), ("measured", "the nodes' measured peak: 64 cores")],
)
def test_what_was_measured_is_no_clock(kind: str, words: str) -> None:
    rate, share = (
        record("n1", metric, value, unit=unit, probe="app", params={"pattern": "hpl"}, phase="app", info=info)
        for metric, value, unit, info in (
            ("rate", 1.5e12, "flop/s", {}), (f"share.{kind}", 0.6, "1", {"peak": 2.5e12, "how": "64 cores"})
        )
    )  # fmt: skip
    (finding,) = expected_findings([rate, share], {})
    assert finding.text.endswith(f"{words}.")


def test_a_report_says_it_after_what_stands_out_and_marks_what_is_below() -> None:
    records = [stream("n1>n2", 100e6), stream("n2>n1", 30e6)]
    fingerprint = {node: facts(GIGABIT) for node in ("n1", "n2")}
    run = make_run(("n1", "n2"), records, expected_findings(records, fingerprint), fingerprint=fingerprint)
    text = io.StringIO()
    print_report(run, Console(file=text, width=80))
    assert "As fast as it should be?" in text.getvalue()
    assert "◆ TCP's bandwidth" in text.getvalue()
    assert max(map(len, text.getvalue().splitlines())) <= 80
    page = render(run)
    assert page.index('id="findings"') < page.index('id="expected"') < page.index('id="records"')
