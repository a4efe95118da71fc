"""Where a node's state lies: the watchdog is told the place, and must find there what the agent has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.agent.files.state import RUN, STATE, run_folder, state_folder
from wulf.agent.settings import pmqos


@pytest.mark.parametrize("told", [None, "", str(STATE)])
def test_it_is_the_same_said_or_unsaid(monkeypatch: pytest.MonkeyPatch, told: str | None) -> None:
    monkeypatch.delenv("WULF_STATE", raising=False)
    if told is not None:
        monkeypatch.setenv("WULF_STATE", told)
    assert (state_folder(), run_folder()) == (STATE, RUN)
    assert pmqos._note().parent == RUN


def test_elsewhere_it_is_one_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WULF_STATE", str(tmp_path))
    assert (state_folder(), run_folder()) == (tmp_path, tmp_path / "run")
