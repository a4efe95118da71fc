"""Who is blamed for what traffic suffers, over polls recorded in a lab under load (`python -m bench.links`)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measure.net.test_traffic import columns
from wulf.core.findings import Finding, Severity
from wulf.findings.net.traffic import traffic_findings
from wulf.measure.engine.plan import Plan
from wulf.measure.net.traffic import Polls, traffic_losses, traffic_records

FIELDS = (
    "peer", "sockets", "acked", "segments", "again", "dups", "busy", "rwnd", "sndbuf", "rtt", "least", "rate"
)  # fmt: skip


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_polls.json").read_text())
    return found


def answer(told: dict[str, Any]) -> dict[str, Any]:
    """One node's poll as its agent says it; addresses are nodes' names."""
    groups = []
    for own in told["groups"]:
        group = dict(zip(FIELDS, own, strict=True))
        more = {"port": 5001, "serving": False, "program": "", "received": 0, "window": 1 << 20}
        groups.append({**more, **group, "delivered": group["segments"] if group["rtt"] else 0})
    usual = {"sockets": 9, "new": 0, "ended": 0, "left_out": 0, "cpu_seconds": 0.002}
    return {**usual, "seconds": told["seconds"], "host": told["host"], "groups": columns(*groups)}


def findings(name: str) -> list[Finding]:
    polls = Polls({node: node for node in ("n1", "n2", "n3", "n4", "n5")})
    for block, one in enumerate(recorded()[name]["polls"]):
        polls.take({node: answer(told) for node, told in one.items()}, block, "2026-11-29T03:00:00Z")
    plan = Plan(tuple(polls.cells), 0, looks=(6,))
    records = traffic_records(plan, polls, "run", "2026-11-29T03:00:00Z", {})
    losses, every = traffic_losses(polls), recorded()[name].get("every", 2.0)
    return traffic_findings(records, {}, losses, {}, every)


def accused(name: str) -> list[tuple[str, set[str]]]:
    """Whom it blames, and which ways its evidence tells."""
    bad = [one for one in findings(name) if one.severity is Severity.BAD]
    return [(one.subject, {str(own.way) for own in one.evidence if own.way} - {"both"}) for one in bad]


@pytest.mark.parametrize("name", ["quiet-requests", "quiet-busy-host", "quiet-streams"])
def test_nobody_is_blamed_for_queues(name: str) -> None:
    """A pair whose data always waits shows a long least round trip, and full queues lose."""
    assert recorded()[name]["planted"] is None or recorded()[name]["planted"]["kind"] == "hog"
    assert accused(name) == []


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("streams-capped-in", {"receive"}),  # no figure of a pair says so: two streams into a node are as slow
        ("mpi-capped", set()),  # all ranks wait for the slowest; which way can't be told
        ("mpi-lossy-in", {"receive"}),  # 0.5 %: single polls don't resolve it
        ("streams-delayed", set()),  # each pair is active in a few polls alone
        ("requests-delayed", set()),
    ],
)
def test_what_was_planted_is_named_and_nothing_else(name: str, ways: set[str]) -> None:
    assert accused(name) == [(recorded()[name]["planted"]["subject"], ways)]


def test_a_link_that_loses_among_servers_and_clients_is_named() -> None:
    assert accused("requests-lossy-link") == [(recorded()["requests-lossy-link"]["planted"]["subject"], {"send"})]


def test_losses_beside_others_losses_are_told_as_a_queue() -> None:
    told = [one for one in findings("quiet-streams") if "queues overflow" in one.text]
    assert told
    assert {(one.kind, one.severity) for one in told} == {("queue", Severity.INFO)}
