"""The simulated round of the sentry in a process of its own: its memory is its own."""

from __future__ import annotations

from bench.engine.child import own_peak
from bench.scale.sentry import measured

BALLAST = 160 << 20


def test_the_memory_of_who_started_the_round_is_not_in_it() -> None:
    ballast = bytearray(BALLAST)
    assert own_peak() > BALLAST
    assert 0 < measured(80).memory < BALLAST
    assert len(ballast) == BALLAST
