"""The audit of many simulated nodes, on fewer: how its work grows, counted in calls, since clocks would tell lies."""

from __future__ import annotations

import cProfile
from dataclasses import replace
from pathlib import Path

import pytest
from bench.scale.audit import LIMITS, Cost, command, named, planted, told


def calls(nodes: int, out: Path) -> int:
    """How many functions an audit of so many nodes called; it names the odd ones."""
    profile = cProfile.Profile()
    assert profile.runcall(command, nodes, out) == 1
    assert sorted(named(out)) == sorted(planted(nodes))
    return sum(entry.callcount for entry in profile.getstats())  # type: ignore[attr-defined]


@pytest.mark.full
def test_the_work_per_node_is_flat_and_the_odd_nodes_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wulf.cluster.launchers import null

    monkeypatch.setattr(null, "LAUNCHER", null.LAUNCHER)  # which `command` replaces
    few, many = calls(20, tmp_path / "few"), calls(60, tmp_path / "many")
    assert many / 60 <= 1.05 * few / 20, (few, many)
    capsys.readouterr()


def test_a_limit_that_is_exceeded_is_said() -> None:
    cost = Cost(1000, 10**5, 20.0, 15.0, 2**29, 10**6, planted(1000), planted(1000))
    said: list[str] = []
    assert told(cost, said.append)
    assert sum("kept" in line for line in said) == len(LIMITS)
    assert not told(replace(cost, seconds=61.0), said.append)
    assert not told(replace(cost, memory=2**31 + 1), said.append)
    assert not told(replace(cost, named=()), said.append)
