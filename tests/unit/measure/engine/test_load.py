"""What hosts counted beside a stream, as figures a message."""

from __future__ import annotations

from typing import Any

import pytest

from wulf.core.records import Verdict
from wulf.measure.engine.load import busy_cpus, interrupts, load_records, messages, retransmits
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.stats.stopping import WidthRule

CELL = Cell(0, "n1", "n2", "tcp", "stream", {"bytes": 1000}, (Metric("throughput", "B/s", "higher"),), "throughput")


def replicate(**counters: Any) -> dict[str, Any]:
    """50 messages of 1,000 B in half a second."""
    return {"ok": True, "seconds": 0.5, "metrics": {"throughput": {"value": 1e5}}, "counters": counters}


BUSY = {"cpu": {"all": {"user": 0.1, "system": 0.2, "softirq": 0.2, "idle": 0.5, "steal": 9.0}}, "intr": 200}


def test_a_host_is_as_busy_as_its_cpus_were() -> None:
    assert busy_cpus(replicate(client=BUSY), "client") == pytest.approx(1.0)
    assert busy_cpus(replicate(client=BUSY), "server") is None
    assert interrupts(replicate(client=BUSY), "client") == 200
    assert (busy_cpus(replicate(client={}), "client"), interrupts(replicate(client={}), "client")) == (0, 0)


def test_both_ends_resend() -> None:
    both = {end: {"snmp": {"Tcp": {"RetransSegs": n}}} for end, n in (("client", 3), ("server", 4))}
    assert retransmits(replicate(**both)) == 7
    assert retransmits(replicate(client={"snmp": {"Tcp": {"InSegs": 5}}})) == 0, "a counter that did not move"
    assert retransmits(replicate(client=BUSY)) == 0, "nor one whose file says nothing new"
    assert retransmits(replicate()) is None


def test_messages_are_what_arrived() -> None:
    assert messages(replicate(), 1000) == 50
    assert messages({**replicate(), "metrics": {"throughput": {"value": None}}}, 1000) is None


def test_records_are_medians_a_message() -> None:
    found = {
        one.metric: one
        for one in load_records(CELL, [replicate(client=BUSY)] * 8, "run", "2026-11-28T00:00:00Z", WidthRule())
    }
    assert found["client_cpus"].value == pytest.approx(1.0)
    assert found["client_interrupts_per_message"].value == pytest.approx(4.0)
    assert found["client_interrupts_per_message"].low is not None
    server = found["server_cpus"]
    assert (server.value, server.verdict, server.reason) == (
        None,
        Verdict.UNRESOLVED,
        "the host's counters were not read",
    )


def test_failed_replicates_count_for_nothing() -> None:
    bad = {"ok": False, "error": {"code": "timeout", "message": "nothing moved"}}
    (first, *_) = load_records(CELL, [bad, *[replicate(client=BUSY)] * 8], "run", "now", WidthRule())
    assert first.replicates == 8
