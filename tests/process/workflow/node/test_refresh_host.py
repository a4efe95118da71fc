"""The real machine of a refresh: whose CPU time is whose, and a child that is gone as soon as the load rises."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.unit.workflow.node.test_refresh_host import looks
from tests.wording import lacking
from wulf.workflow.node import refresh_host
from wulf.workflow.node.refresh import Why
from wulf.workflow.node.refresh_host import ThisHost, processes

SLEEPER = "import subprocess, sys, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"


def test_a_load_that_rises_ends_measuring_and_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh_host, "WINDOW", 0.01)
    folders: list[Path] = []

    def command(names: Sequence[str], run: Path) -> list[str]:
        assert names == ["a", "b"]
        folders.append(run.parent)
        return [sys.executable, "-c", SLEEPER]

    before = children()
    seen = looks([0.0] * 60 + [0.5])
    batch = ThisHost(command, tmp_path / "state", lambda: next(seen)).measure(["a", "b"], 0.1)
    assert batch.ended is Why.STOPPED
    assert next(seen).at == 62, "at the first look that shows it"
    assert not folders[0].exists()
    assert children() <= before


def children() -> set[int]:
    """Processes of this one: other tests may have left some that end later."""
    return {pid for pid, (parent, _) in processes().items() if parent == os.getpid()}


def test_a_child_that_ends_is_waited_for_and_paid(tmp_path: Path) -> None:
    busy = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    seen = looks([0.0])
    host = ThisHost(lambda *_: [sys.executable, "-c", busy], tmp_path / "state", lambda: next(seen))
    batch = host.measure(["a"], 0.1)
    assert batch.ended is None
    assert batch.cpu_seconds >= 0.2


def test_a_child_that_fails_is_heard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes, seen = iter((3, 2, 1)), looks([0.0])

    def command(*_: object) -> list[str]:
        return [sys.executable, "-c", f"import sys; print('no disk'); sys.exit({next(codes)})"]

    host = ThisHost(command, tmp_path / "state", lambda: next(seen))
    assert host.measure(["a"], 0.1).ended is None, "3: not every rate has a value, which is no failure"
    assert host.measure(["a"], 0.1).ended is Why.FAILED
    told = capsys.readouterr()
    assert told.out == ""
    first, second = told.err.splitlines()
    assert lacking(first, "wulf rates refresh: ", "ended with 2") == []
    assert second == "no disk"
    assert host.measure(["a"], 0.1).ended is Why.FAILED, "1: how Python ends where a module is missing"
