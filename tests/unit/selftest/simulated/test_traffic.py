"""Quiet hours of recorded traffic: nobody is accused, and a fault in the same hours is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wulf.selftest import blame
from wulf.selftest.simulated import traffic
from wulf.stats.claims import Size


@pytest.mark.parametrize("load", ["mpi", "requests"])
def test_recorded_windows_are_whole(load: str) -> None:
    for window in traffic.recorded(load):
        assert len(window["pressure"]) == 6
        assert all(
            len(series) == 6 and {len(poll) for poll in series} == {len(traffic.FIELDS)} for series in window["pairs"]
        )


def test_a_quiet_hour_accuses_nobody_and_a_lossy_node_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "POLLS", 12)
    assert not traffic.hour(np.random.default_rng(1), 8, "requests")
    said = traffic._answer

    def lossy(window: Any, number: int, peers: list[str], series: list[Any]) -> dict[str, Any]:
        answer = said(window, number, peers, series)
        groups = answer["groups"]
        groups["again"] = [
            round(0.02 * sent) if peer == "n3" else again
            for peer, sent, again in zip(peers, groups["segments"], groups["again"], strict=True)
        ]
        return answer

    monkeypatch.setattr(traffic, "_answer", lossy)
    assert traffic.hour(np.random.default_rng(1), 8, "requests")


def test_its_claims_say_how_many_hours_there_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blame, "hour", lambda *_: False)
    for size, hours in ((Size(300, 150), 2), (Size(2000, 1000), 83)):
        (claim,) = blame.quiet(np.random.default_rng(1), size=size, load="mpi")
        assert (claim.share, claim.n, claim.bound) == (0.0, hours, 0.05)
    assert claim.interval[1] <= 0.05
