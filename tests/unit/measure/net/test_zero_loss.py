"""The search for the fastest rate without a loss, on links whose limit is known."""

from __future__ import annotations

import pytest

from wulf.core.records import Verdict
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.net.zero_loss import ROUNDS, TRIALS, Bracket, Rate, record_of, sentence

CELL = Cell(0, "n1", "n2", "udp", "stream", {}, (Metric("throughput", "B/s", "higher"),))


def search(limit: float, fastest: float = 1e8, tolerance: float = 0.02, sender: float = 1.0) -> Bracket:
    """A link that loses above `limit` [B/s], and a sender that makes a share of what it is asked for."""
    found = Bracket(64)
    rate: float | None = fastest
    while rate is not None:
        sent = rate if found.high is None else rate * sender
        found.learn(Rate(rate, sent, TRIALS * sent / found.bytes), lost=sent > limit)
        rate = found.next_rate(tolerance)
    return found


@pytest.mark.parametrize("limit", [9.9e7, 5e7, 1e7, 1e6])
def test_the_limit_lies_between_two_rates_within_the_tolerance(limit: float) -> None:
    found = search(limit)
    assert found.low is not None and found.high is not None
    assert found.low.sent <= limit < found.high.sent <= found.low.sent * 1.021
    assert found.rounds <= ROUNDS


def test_a_link_that_never_loses_is_as_fast_as_its_sender() -> None:
    found = search(1e9)
    assert (found.rounds, found.high) == (1, None)
    assert "as fast as the sender goes" in sentence(found)
    record = record_of(CELL, found, "run", "now")
    assert (record.value, record.high, record.verdict) == (pytest.approx(1e8 / 18), None, Verdict.OK)


def test_a_sender_that_falls_short_is_told_so_and_its_own_rate_counts() -> None:
    found = search(1e7, sender=0.5)
    record = record_of(CELL, found, "run", "now")
    assert record.value is not None
    assert 0.95e7 < record.value * 18 <= 1e7
    assert "all that the sender made of" in sentence(found)


def test_a_link_that_always_loses_has_no_such_rate() -> None:
    found = search(0.0)
    assert found.rounds == ROUNDS
    record = record_of(CELL, found, "run", "now")
    assert (record.value, record.verdict) == (None, Verdict.UNRESOLVED)
    assert record.reason and record.reason in sentence(found)


def test_what_no_loss_leaves_room_for() -> None:
    found = Bracket(64)
    found.learn(Rate(1.8e6, 1.8e6, 60_000), lost=False)
    assert record_of(CELL, found, "run", "now").least_visible == pytest.approx(3 / 60_000)
