"""Who is told how a run goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from wulf.measure.engine.plan import Cell


@dataclass(frozen=True)
class Progress:
    """How far a run is: replicates done and expected, and the seconds left (None at the very start)."""

    done: int
    expected: int
    seconds_left: float | None
    now: str


class Watcher(Protocol):
    """Who is told how a run goes; the progress line is one."""

    def say(self, what: str) -> None:
        """What is being done, in a few words, before there is anything to count."""

    def on_replicate(self, cell: Cell, replicate: Mapping[str, Any]) -> None:
        """What a probe answered (a line of replicates.jsonl), the moment it is kept."""

    def on_progress(self, progress: Progress) -> None:
        """After every wave of replicates."""


class Unwatched:
    """Nobody is told."""

    def say(self, what: str) -> None:
        """Nothing happens."""

    def on_replicate(self, cell: Cell, replicate: Mapping[str, Any]) -> None:
        """Nothing happens."""

    def on_progress(self, progress: Progress) -> None:
        """Nothing happens."""


EVERY = 30.0
"""Seconds between two lines of a log: it wants no bars, and says that it goes on."""


class Lines(Unwatched):
    """One line a step, and how far it is every 30 s.

    Parameters
    ----------
    tell
        Called with each line.
    """

    def __init__(self, tell: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._told = clock()

    def say(self, what: str) -> None:
        """One line."""
        self._told = self._clock()
        self._tell(what)

    def on_progress(self, progress: Progress) -> None:
        """One line, where the last one is long ago."""
        if self._clock() - self._told < EVERY:
            return
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        self.say(f"{progress.done} of {progress.expected}{left}: {progress.now}")


UNWATCHED = Unwatched()
