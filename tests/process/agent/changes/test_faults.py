"""Not one setting is left changed without saying so, whatever ends when: the short form of `make change-faults`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.agent.changes.faults import KINDS, run_all, run_every_step

RUNS = 42


needs_memory = pytest.mark.skipif(
    not Path("/dev/shm").is_dir(), reason="no /dev/shm: the campaign keeps its machines in memory"
)


@pytest.mark.full
@needs_memory
def test_faults_at_random_steps() -> None:
    outcomes = run_all(RUNS, seed=7)
    assert {outcome.kind for outcome in outcomes} == set(KINDS)
    assert [(each.kind, each.step, each.wrong) for each in outcomes if each.wrong] == []
    told = sum((each.told for each in outcomes), start=outcomes[0].told)
    assert told["reverted"] > 0
    assert told["refused: damaged"] > 0


@needs_memory
@pytest.mark.parametrize("kind", ["both", "all"])
def test_agent_and_watchdog_killed_at_every_sixth_step(kind: str) -> None:
    outcomes = run_every_step(kind, seed=3, stride=6)
    assert len({outcome.step for outcome in outcomes}) > len(KINDS)
    assert [(each.step, each.wrong) for each in outcomes if each.wrong] == []
