"""A node beside others of its hardware: which figures are as they should be, and what is said where nobody knows."""

from __future__ import annotations

from tests.unit.report.make_run import record
from wulf.core.findings import Finding, Severity
from wulf.core.records import Record
from wulf.findings.node.fleet import Fleet, Usual, fleet_findings

READ, LATENCY, CLOCK = "mem.read", "mem.main.latency", "cpu.clock"
USUAL = {
    READ: Usual(100e9, 97e9, 102e9, 35), LATENCY: Usual(90e-9, 88e-9, 93e-9, 35), CLOCK: Usual(3e9, 2.99e9, 3.01e9, 34),
}  # fmt: skip


def row(name: str, value: float, unit: str, half: float, node: str = "n1") -> Record:
    return record(
        node, "value", value, unit=unit, low=value * (1 - half), high=value * (1 + half), probe="node",
        params={"pattern": "x"}, phase="row", row=name,
    )  # fmt: skip


def told(usual: dict[str, Usual], read: float = 100e9, latency: float = 90e-9, half: float = 0.005) -> Finding:
    rows = [row(READ, read, "B/s", half), row(LATENCY, latency, "s", half), row(CLOCK, 3e9, "Hz", half)]
    (found,) = fleet_findings(rows, Fleet({"n1": usual}, {"n1": "EPYC, 64 threads"}, "sentry, /s.db"))
    return found


def test_nodes_of_one_hardware_are_told_together() -> None:
    nodes = ["n1", "n2", "n3"]
    rows = [row(READ, 60e9 if node == "n3" else 100e9, "B/s", 0.005, node) for node in nodes]
    fleet = Fleet({"n1": USUAL, "n2": USUAL, "n3": USUAL}, {"n1": "EPYC", "n2": "Xeon", "n3": "EPYC"}, "sentry, /s.db")
    epyc, xeon = fleet_findings(rows, fleet)
    assert (epyc.about["of"], epyc.about["slow"], epyc.subject) == (2, 1, "n3")
    assert "n[1,3] reach 80% of the median of 35 other nodes with EPYC" in epyc.text
    assert (xeon.about["slow"], xeon.subject) == (0, "n2")


def test_a_node_like_the_others_is_as_it_should_be() -> None:
    found = told(USUAL)
    assert (found.about["slow"], found.about["of"], found.next_step) == (0, 3, "")
    like = "35 other nodes with EPYC, 64 threads (sentry, /s.db)"
    assert f"n1 reaches 100% of the median of {like}, over 3 figures." in found.text


def test_what_is_slower_than_nearly_all_is_named_the_worst_first() -> None:
    found = told(USUAL, read=80e9, latency=100e-9)
    assert found.about["slow"] == 2
    assert [one.row for one in found.evidence] == [READ, LATENCY, CLOCK]
    assert "n1's mem.read 80 GB/s (80% of 100 GB/s), n1's mem.main.latency 100 ns (90% of 90 ns)." in found.text
    assert found.severity is Severity.INFO, "it says where to look, and accuses nobody: others may have been at rest"


def test_what_is_faster_is_not_slow() -> None:
    assert told(USUAL, read=150e9, latency=50e-9).about["slow"] == 0


def test_what_is_within_the_margin_or_not_clearly_worse_is_not_slow() -> None:
    assert told(USUAL, read=96e9).about["slow"] == 0, "worse than nine of ten, and by 4 %"
    assert told(USUAL, read=92e9, half=0.1).about["slow"] == 0, "its interval reaches up to 101"


def test_where_nobody_knows_that_is_said() -> None:
    found = told({})
    assert found.kind == "note"
    assert "such figures are known of too few other nodes with EPYC, 64 threads (sentry, /s.db)" in found.text
