"""Programs of the system that mechanisms ask, and have something changed by."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.agent import kernel
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in PATH with the program `tool`, which does what its first word says."""
    program = tmp_path / "tool"
    program.write_text(
        '#!/bin/sh\ncase $1 in\nsay) echo "$2";;\nread) cat;;\nfail) echo "$2" >&2; exit 3;;\nsleep) sleep 60;;\nesac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_what_a_program_says(tool: Path) -> None:
    with Machine() as machine:
        assert machine.ask("output", "tool", "say", "hello") == {"status": 0, "out": "hello\n", "err": ""}
        assert machine.ask("output", "tool", "fail", "no luck") == {"status": 3, "out": "", "err": "no luck\n"}
        assert machine.ask("output", "tool", "read")["out"] == "", "it has no input unless it is given one"


def test_a_program_that_is_nowhere_is_absent(tool: Path) -> None:
    with Machine() as machine, pytest.raises(Unknown, match="no program warp on this node") as caught:
        machine.ask("output", "warp")
    assert caught.value.absent


def test_roots_programs_are_found_without_roots_path(monkeypatch: pytest.MonkeyPatch, tool: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(kernel, "_ROOTS_FOLDERS", (str(tool),))
    assert kernel.output(["tool", "say", "x"])["out"] == "x\n"


def test_a_change_that_fails_says_why_in_the_programs_words(tool: Path) -> None:
    with Machine() as machine:
        machine.tell("program", "tool", "read", text="rules")
        with pytest.raises(Unknown, match="fail no luck failed with status 3: no luck"):
            machine.tell("program", "tool", "fail", "no luck")


def test_a_program_that_does_not_end_is_given_up(tool: Path) -> None:
    with pytest.raises(Unknown, match="tool sleep did not end within"):
        kernel.output(["tool", "sleep"], patience=0.05)
