"""Running commands: their output goes to the log, a failure says what to do, and tests put a script in their place."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

TAIL_LINES = 20


class SetupError(Exception):
    """The set-up can't go on: what happened, and what to do next."""

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}\n  → {self.next_step}" if self.next_step else self.what


@dataclass(frozen=True)
class Done:
    """A command that has ended: exit status, and standard output and error together."""

    status: int
    output: str = ""

    @property
    def ok(self) -> bool:
        return self.status == 0


class Runner(Protocol):
    """Runs commands and tells the user what is going on."""

    def run(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done: ...

    def say(self, text: str) -> None: ...


def must(
    runner: Runner,
    argv: Sequence[str],
    next_step: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Done:
    """Run a command; raise SetupError with its last lines when it fails."""
    done = runner.run(argv, env=env, cwd=cwd)
    if not done.ok:
        raise SetupError(f"{' '.join(argv)} failed with status {done.status}:\n{tail(done.output)}", next_step)
    return done


def tail(output: str, lines: int = TAIL_LINES) -> str:
    return "\n".join(f"    {line}" for line in output.rstrip().splitlines()[-lines:])


class Shell:
    """The real runner. Commands get no stdin; a terminal shows the newest line of their output while they run."""

    def __init__(self, log: TextIO, screen: TextIO = sys.stderr) -> None:
        self._log = log
        self._screen = screen
        self._live = screen.isatty()

    def say(self, text: str) -> None:
        self._log.write(f"# {text}\n")
        self._screen.write(f"wulf: {text}\n")
        self._screen.flush()

    def run(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
        self._log.write(f"$ {' '.join(argv)}\n")
        self._log.flush()
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                text=True,
                errors="replace",
            )
        except OSError as error:
            self._log.write(f"{error}\n")
            return Done(127, str(error))
        with process:
            output = self._follow(process)
        self._log.write(f"= status {process.returncode}\n")
        return Done(process.returncode, output)

    def _follow(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        lines, shown = [], time.monotonic()
        for line in process.stdout:
            lines.append(line)
            self._log.write(line)
            if self._live and time.monotonic() - shown > 0.2:
                shown = time.monotonic()
                self._screen.write(f"\r\x1b[K  {line.strip()[:100]}")
                self._screen.flush()
        if self._live:
            self._screen.write("\r\x1b[K")
        return "".join(lines)
