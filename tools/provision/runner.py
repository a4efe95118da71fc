"""Running commands: their output goes to the log, a failure says what to do, and tests put a script in their place."""

from __future__ import annotations

import codecs
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TextIO

from provision.progress import BETWEEN_LOOKS_S, Count, Display, Nothing

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

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        count: Count | None = None,
    ) -> Done: ...

    def say(self, text: str) -> None: ...


def must(
    runner: Runner,
    argv: Sequence[str],
    next_step: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    count: Count | None = None,
) -> Done:
    """Run a command; raise SetupError with its last lines when it fails."""
    done = runner.run(argv, env=env, cwd=cwd, count=count)
    if not done.ok:
        raise SetupError(f"{' '.join(argv)} failed with status {done.status}:\n{tail(done.output)}", next_step)
    return done


def tail(output: str, lines: int = TAIL_LINES) -> str:
    return "\n".join(f"    {line}" for line in output.rstrip().splitlines()[-lines:])


class Shell:
    """The real runner. Commands get no stdin; what takes long says how far it is, under the words last said."""

    def __init__(self, log: TextIO, screen: TextIO = sys.stderr) -> None:
        self._log = log
        self._screen = screen
        self._doing = "at work"

    def say(self, text: str) -> None:
        self._doing = text
        self._log.write(f"# {text}\n")
        self._screen.write(f"wulf: {text}\n")
        self._screen.flush()

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        count: Count | None = None,
    ) -> Done:
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
            )
        except OSError as error:
            self._log.write(f"{error}\n")
            return Done(127, str(error))
        with process:
            assert process.stdout is not None
            display = Display(self._doing, count or Nothing(), self._screen, time.monotonic)
            output = self._follow(process.stdout, display)
        self._log.write(f"= status {process.returncode}\n")
        return Done(process.returncode, output)

    def _follow(self, stdout: IO[bytes], display: Display) -> str:
        lines = []
        for line in _lines_or_silence(stdout):
            if line:
                lines.append(line)
                self._log.write(line)
                display.read(line)
            else:
                display.look()
        display.end()
        return "".join(lines)


def _lines_or_silence(stdout: IO[bytes]) -> Iterator[str]:
    """Yield a command's lines, and an empty text whenever none has come for a moment."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest = ""
    while True:
        if not select.select([stdout], [], [], BETWEEN_LOOKS_S)[0]:
            yield ""
            continue
        got = os.read(stdout.fileno(), 1 << 16)
        *whole, rest = (rest + decoder.decode(got, final=not got)).split("\n")
        yield from (line + "\n" for line in whole)
        if not got:
            if rest:
                yield rest
            return
