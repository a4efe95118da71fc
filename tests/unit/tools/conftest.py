"""The set-up under test lives in tools/, beside the package; a scripted runner stands in for the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from provision.packages import Host
from provision.progress import Count
from provision.runner import Done

REPO = Path(__file__).resolve().parents[3]


class Script:
    """A runner that runs nothing: it records commands and answers the first rule whose words begin the command."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.said: list[str] = []
        self.rules: list[tuple[tuple[str, ...], Done | Callable[[Sequence[str]], Done]]] = []

    def on(self, *words: str, status: int = 0, output: str = "") -> None:
        self.rules.append((words, Done(status, output)))

    def call(self, words: Sequence[str], answer: Callable[[Sequence[str]], Done]) -> None:
        self.rules.append((tuple(words), answer))

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        count: Count | None = None,
    ) -> Done:
        self.commands.append(list(argv))
        for words, answer in self.rules:
            if tuple(argv[: len(words)]) == words:
                return answer(argv) if callable(answer) else answer
        return Done(0)

    def say(self, text: str) -> None:
        self.said.append(text)

    def ran(self, *words: str) -> list[list[str]]:
        """Give the commands in which these words stand next to each other."""
        size = len(words)
        return [c for c in self.commands if any(tuple(c[i : i + size]) == words for i in range(len(c)))]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def repo() -> Path:
    return REPO


@pytest.fixture
def make_host(tmp_path: Path) -> Callable[..., Host]:
    """Make a machine in a folder: its distribution, and the programs and files that are there."""

    def make(os_release: str = "ID=debian\n", programs: Sequence[str] = (), files: Sequence[str] = ()) -> Host:
        root = tmp_path / "machine"
        for name in ("etc/os-release", *files):
            path = root / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(os_release if name == "etc/os-release" else "")
        for program in programs:
            path = root / "usr/bin" / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        return Host(root=root, extra=(tmp_path / "sysroot",), venv=tmp_path / "venv", path=("/usr/bin",))

    return make
