"""How far a command is, by what it prints: n of m, and the time left."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, TextIO

WORTH_SAYING_S = 2.0
"""What takes less is over before anybody has read of it."""
BETWEEN_LINES_S = 30.0
"""On a pipe, where each word stays."""
BETWEEN_LOOKS_S = 0.2

_NINJA = re.compile(r"^\[(\d+)/(\d+)\]")
_APT_TOTAL = re.compile(r"(\d+) upgraded, (\d+) newly installed")
_APT_STEP = re.compile(r"^(Get:\d+|Preparing to unpack|Setting up) ")
_PIP_STEP = re.compile(r"^\s*Collecting ")


class Count(Protocol):
    """Reads a command's lines; `done` of `total`, which is 0 while nobody knows it."""

    done: int
    total: int

    def read(self, line: str) -> None: ...


class Nothing:
    """Of a command that does not say how far it is."""

    done = total = 0

    def read(self, line: str) -> None:
        pass


class Ninja:
    """`[12/31] Building …`."""

    def __init__(self) -> None:
        self.done = self.total = 0

    def read(self, line: str) -> None:
        if match := _NINJA.match(line):
            self.done, self.total = int(match[1]), int(match[2])


class Apt:
    """Each package is fetched, unpacked and set up."""

    STEPS = 3

    def __init__(self) -> None:
        self.done = self.total = 0

    def read(self, line: str) -> None:
        if match := _APT_TOTAL.search(line):
            self.total = self.STEPS * (int(match[1]) + int(match[2]))
        elif _APT_STEP.match(line):
            self.done += 1


class Pip:
    """Each package is collected; the last step, unpacking all of them, takes as long as so many."""

    UNPACKING = 0.4

    def __init__(self, packages: int) -> None:
        self._packages = packages
        self.done = 0
        self.total = round(packages * (1 + self.UNPACKING))

    def read(self, line: str) -> None:
        if _PIP_STEP.match(line):
            self.done += 1
            self.total = max(self.total, round(self.done * (1 + self.UNPACKING)))


def text(count: Count, elapsed: float) -> str:
    """`12 of 31, 20 s left`; how long it has taken so far where it can't be told how far that is."""
    if not count.total or count.done > count.total:
        return f"{elapsed:.0f} s so far"
    left = f", {elapsed / count.done * (count.total - count.done):.0f} s left" if count.done else ""
    return f"{count.done} of {count.total}{left}"


class Display:
    """Shows how far one command is: a line that is written over on a terminal, now and then a new one elsewhere."""

    def __init__(self, what: str, count: Count, screen: TextIO, clock: Callable[[], float]) -> None:
        self._what = what
        self._count = count
        self._screen = screen
        self._clock = clock
        self._live = screen.isatty()
        self._began = clock()
        self._next = self._began + (WORTH_SAYING_S if self._live else BETWEEN_LINES_S)

    def read(self, line: str) -> None:
        self._count.read(line)
        self.look()

    def look(self) -> None:
        """Say how far it is, if it is time to."""
        now = self._clock()
        if now < self._next:
            return
        words = f"{self._what}: {text(self._count, now - self._began)}"
        self._next = now + (BETWEEN_LOOKS_S if self._live else BETWEEN_LINES_S)
        self._screen.write(f"\r\x1b[K  {words}" if self._live else f"wulf: {words}\n")
        self._screen.flush()

    def end(self) -> None:
        if self._live:
            self._screen.write("\r\x1b[K")
            self._screen.flush()
