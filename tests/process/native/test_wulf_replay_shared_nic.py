"""A sender's NIC with several large messages underway: one after another, or sharing their links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.process.native.session import Session
from tests.reference import compare

LATENCY, PER_BYTE, BYTES = 50_000_000, 8000, 5001
STRETCH = (BYTES - 1) * PER_BYTE

THREE = [
    [("send", 1, BYTES, 0, 0), ("recv", 2, BYTES, 0, 1), ("wait", 1), ("wait", 0)],
    [("recv", 2, BYTES, 0, 0), ("recv", 0, BYTES, 0, 1), ("wait", 0), ("wait", 1)],
    [("send", 1, BYTES, 0, 0), ("send", 0, BYTES, 0, 1), ("wait", 0), ("wait", 1)],
]
"""Rank 2 sends to 1 and to 0, and 0 to 1: 2's way up has two messages, and so has 1's way down."""


STAR = {"kind": "star", "bytes_per_second": 125e6, "flow_bytes": 0}
QUEUED, SHARED = LATENCY + 5 * STRETCH // 2, LATENCY + 2 * STRETCH


def on(session: Session, topology: dict[str, Any], **network: Any) -> int:
    """The three's time over a topology."""
    link = {"latency_ps": LATENCY, "send_ps": 0, "receive_ps": 0, "gap_ps": 0, "byte_fp": PER_BYTE << 20}
    loaded = compare.load(session, {"program": {"ranks": THREE}})
    (run,) = compare.runs(session, loaded, [{"name": "star", "inter": link, "topology": topology, **network}], "b")
    return int(run["ps"])


def time_of(session: Session, **topology: Any) -> int:
    return on(session, {**STAR, **topology})


def test_in_a_queue_the_second_message_waits_for_the_first_whatever_its_rate_is(session: Session) -> None:
    """From 0 to e the first is slowed down to a half by its receiver; then both share, until 2e and 2.5e."""
    assert time_of(session) == QUEUED
    assert time_of(session, shared_nic=False) == time_of(session)


def test_shared_all_three_have_half_a_link_and_end_together(session: Session) -> None:
    assert time_of(session, shared_nic=True) == SHARED


def test_the_network_says_it_unless_the_topology_does(session: Session) -> None:
    assert on(session, STAR, shared_nic=True) == SHARED
    assert on(session, STAR, shared_nic=False) == QUEUED
    assert on(session, {**STAR, "shared_nic": False}, shared_nic=True) == QUEUED
    assert on(session, {**STAR, "shared_nic": True}, shared_nic=False) == SHARED


def test_a_topologys_file_says_it_too_and_from_which_size_messages_flow(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "star.json"
    path.write_text(json.dumps(STAR))
    assert on(session, {"kind": "file", "path": str(path)}) == QUEUED  # without flow_bytes they would not flow at all
    path.write_text(json.dumps({**STAR, "shared_nic": False}))
    assert on(session, {"kind": "file", "path": str(path)}, shared_nic=True) == QUEUED


def test_shared_nic_is_true_or_false(session: Session) -> None:
    with pytest.raises(AssertionError, match="shared_nic"):
        time_of(session, shared_nic="yes")
