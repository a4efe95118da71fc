"""The simulated round of the sentry: what is left is recovered, few nodes are asked, and limits are held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench.scale.sentry import LEFT, LIMITS, ROUND, Round, simulated, told


def test_a_round_over_few_nodes_is_whole(tmp_path: Path) -> None:
    found = simulated(80, tmp_path)
    assert (found.recovered, found.started) == (LEFT, 4)
    assert 0 < found.asked <= 16
    assert set(ROUND) <= set(found.cpu)
    said: list[str] = []
    assert told(replace(found, memory=0), said.append), "this process's memory is that of all tests before"


@pytest.mark.parametrize(
    ("cpu", "memory", "recovered"), [(LIMITS["round"], 0, LEFT), (0.0, int(LIMITS["memory"]) + 1, LEFT), (0.0, 0, 1)]
)
def test_what_exceeds_a_limit_or_did_not_happen_is_told(cpu: float, memory: int, recovered: int) -> None:
    spent = dict.fromkeys(ROUND, cpu)
    assert not told(Round(10, spent, memory, 4, 4, recovered), lambda _: None)
