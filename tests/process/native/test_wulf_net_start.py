"""The agreed start and the cool-down: what lets runs of many pairs measure at the same time."""

from __future__ import annotations

import time

import pytest

from .session import Pair, Session

FAR = 0.3
"""Seconds ahead: enough for the request to arrive even on a busy machine; if not, the answer says by how much."""


@pytest.mark.parametrize(("transport", "pattern"), [("tcp", "pingpong"), ("tcp", "stream"), ("udp", "stream")])
def test_a_run_starts_when_it_was_agreed(transport: str, pattern: str) -> None:
    with Pair(transport) as pair:
        start_at = time.monotonic() + FAR
        answer = pair.run(pattern, start_at=start_at, seconds=0.02)
        assert answer["ok"], answer
        info = answer["info"]
        assert info["started_at"] == pytest.approx(start_at + info["late_seconds"], abs=1e-6)
        assert info["late_seconds"] >= 0
        assert info["started_at"] >= start_at - 1e-6
        assert time.monotonic() >= start_at + 0.02


def test_a_start_in_the_past_is_taken_at_once_and_says_how_late() -> None:
    with Pair("tcp") as pair:
        answer = pair.run("pingpong", start_at=max(0.0, time.monotonic() - 0.5), seconds=0.01)
        assert answer["info"]["late_seconds"] >= 0.5


def test_without_a_start_nothing_is_said_of_one() -> None:
    with Pair("tcp") as pair:
        assert "late_seconds" not in pair.run("pingpong", seconds=0.01)["info"]


def test_a_start_farther_off_than_the_timeout_is_refused() -> None:
    with Pair("tcp") as pair:
        error = pair.run("pingpong", start_at=time.monotonic() + 100, timeout=2.0)["error"]
        assert (error["code"], error["field"]) == ("bad-parameter", "start_at")


def test_a_server_that_goes_while_the_start_is_awaited_ends_the_run() -> None:
    with Pair("tcp") as pair:
        number = pair.start("pingpong", start_at=time.monotonic() + 25, timeout=30.0)
        assert pair.client.ask("ping")["ok"]  # the request is under way
        pair.stop()
        assert pair.client.wait(number)["error"]["code"] in ("peer-lost", "refused", "connect")


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_senders_go_on_for_the_cool_down(transport: str) -> None:
    with Pair(transport) as pair:
        began = time.monotonic()
        answer = pair.run("stream", seconds=0.05, warmup_seconds=0.05, cooldown_seconds=0.5, rate=1e6, bytes=1000)
        assert answer["ok"], answer
        assert time.monotonic() - began >= 0.6


def test_the_clock_is_read_quickly_after_its_first_measurement() -> None:
    with Session() as session:
        session.ask("clock")
        before = time.monotonic()
        answer = session.ask("clock")
        after = time.monotonic()
        assert before <= answer["monotonic"] <= after
        assert answer["realtime"] == pytest.approx(time.time(), abs=10)
