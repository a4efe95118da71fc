"""The `wulf` program, where its command line can't be loaded."""

from __future__ import annotations

import sys

import pytest

from wulf.cli import start
from wulf.core import errors


def test_what_can_not_be_loaded_is_wulfs_own_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wulf.cli.main", None)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == errors.INTERNAL
    line, next_step = capsys.readouterr().err.splitlines()
    assert line.startswith("error: wulf can't be loaded: ModuleNotFoundError: ")
    assert next_step == "  → install it anew"


def test_it_ends_as_the_command_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["wulf", "no-such-command"])
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == errors.UsageError.exit_code
    assert "no-such-command" in capsys.readouterr().err


def test_its_numbers_are_those_of_the_command() -> None:
    assert (start.INTERNAL, start.INTERRUPTED) == (errors.INTERNAL, errors.INTERRUPTED)
