"""Who is told how a run goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from wulf.measure.engine.plan import Cell


@dataclass(frozen=True)
class Progress:
    """How far a run is: replicates done and expected, and the seconds left (None at the very start).

    Attributes
    ----------
    most_left
        The seconds left where no interval gets narrow enough before the last replicate; None where that isn't known.
    """

    done: int
    expected: int
    seconds_left: float | None
    now: str
    most_left: float | None = None

    @property
    def left(self) -> str:
        """`1–2 min left`, in whole steps that nobody takes for exact; empty where nothing is known."""
        if self.seconds_left is None:
            return ""
        least, most = (_roughly(each) for each in (self.seconds_left, self.most_left or self.seconds_left))
        (low, unit), (high, unit_most) = least, most
        if least == most or high * SECONDS[unit_most] <= low * SECONDS[unit]:
            return f"{low} {unit} left"
        return f"{low}–{high} {unit} left" if unit == unit_most else f"{low} {unit} – {high} {unit_most} left"


SECONDS = {"s": 1, "min": 60, "h": 3600}


def _roughly(seconds: float) -> tuple[int, str]:
    """Rounded up: seconds by fives, then minutes, then hours."""
    if seconds <= 55:
        return max(1, ceil(seconds) if seconds < 10 else 5 * ceil(seconds / 5)), "s"
    return (ceil(seconds / 60), "min") if seconds <= 5400 else (ceil(seconds / 3600), "h")


class Watcher(Protocol):
    """Who is told how a run goes; the progress line is one."""

    def say(self, what: str) -> None:
        """What is being done, in a few words, before there is anything to count."""

    def agrees(self, question: str) -> bool:
        """Whether to do what takes long; where nobody is there to ask, yes."""
        ...

    def on_replicate(self, cell: Cell, replicate: Mapping[str, Any]) -> None:
        """What a probe answered (a line of replicates.jsonl), the moment it is kept."""

    def on_progress(self, progress: Progress) -> None:
        """After every wave of replicates."""


class Unwatched:
    """Nobody is told."""

    def say(self, what: str) -> None:
        """Nothing happens."""

    def agrees(self, question: str) -> bool:
        """Nobody is there to ask."""
        return True

    def on_replicate(self, cell: Cell, replicate: Mapping[str, Any]) -> None:
        """Nothing happens."""

    def on_progress(self, progress: Progress) -> None:
        """Nothing happens."""


EVERY = 30.0
"""Seconds between two lines of a log: it has no use for bars, and says that it goes on."""


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
        far = filter(None, [f"{progress.done} of {progress.expected}", progress.left])
        self.say(f"{', '.join(far)}: {progress.now}")


UNWATCHED = Unwatched()
