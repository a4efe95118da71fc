"""The survey of many simulated nodes, on fewer: how its work grows, counted in calls, since clocks would tell lies."""

from __future__ import annotations

import cProfile
import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench.scale.survey import LIMITS, Survey, command, planted, told


def calls(nodes: int, out: Path) -> int:
    """How many functions a survey of so many nodes called; it names the slow one."""
    profile = cProfile.Profile()
    assert profile.runcall(command, nodes, out) == 1
    findings = json.loads((out / "findings.json").read_text())
    assert {found["subject"] for found in findings if found["kind"] in ("node", "link")} == {planted(nodes)}
    return sum(entry.callcount for entry in profile.getstats())  # type: ignore[attr-defined]


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_work_per_node_is_flat_and_the_slow_node_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wulf.cluster.launchers import null

    monkeypatch.setattr(null, "LAUNCHER", null.LAUNCHER)  # which `command` replaces
    few, many = calls(100, tmp_path / "few"), calls(200, tmp_path / "many")
    assert many / 200 <= 1.05 * few / 100, (few, many)
    capsys.readouterr()


def test_a_limit_that_is_exceeded_is_said() -> None:
    small = Survey(100, 4.0, 3.0, 2**28, 10**7, "n33", ("n33",))
    large = Survey(1000, 30.0, 20.0, 2**29, 10**8, "n333", ("n333",))
    said: list[str] = []
    assert told([small, large], said.append)
    assert sum("kept" in line for line in said) == len(LIMITS)
    assert not told([small, replace(large, seconds=121.0)], said.append)
    assert not told([small, replace(large, memory=2**31 + 1)], said.append)
    assert not told([small, replace(large, cpu=38.0)], said.append)
    assert not told([small, replace(large, named=())], said.append)
