"""Who is told how a run goes."""

from __future__ import annotations

from collections.abc import Mapping
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


UNWATCHED = Unwatched()
