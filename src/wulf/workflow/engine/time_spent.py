"""How long a run took, and how much of that was measuring: the rest is connecting, setting up and waiting."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wulf.measure.engine.plan import Cell
from wulf.measure.engine.watcher import Progress, Watcher


@dataclass
class TimeSpent:
    """Counts as replicates come in, and tells the watcher behind it everything.

    What is measured at the same time on several machines counts once: the machine that was measured longest tells.

    Parameters
    ----------
    watch
        Who is told besides.
    clock
        Seconds, monotonic.
    """

    watch: Watcher
    clock: Callable[[], float] = time.monotonic
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Node, or subject of MPI's ranks → machine or lane, as the plan has it; one that is not in it is its own."""

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._measured: dict[str, float] = {}

    def say(self, what: str) -> None:
        """As `Watcher`."""
        self.watch.say(what)

    def agrees(self, question: str) -> bool:
        """As `Watcher`."""
        return self.watch.agrees(question)

    def on_progress(self, progress: Progress) -> None:
        """As `Watcher`."""
        self.watch.on_progress(progress)

    def on_replicate(self, cell: Cell, replicate: Mapping[str, Any]) -> None:
        """As `Watcher`; what the probe says that it measured counts, without warm-up and setting up."""
        self.watch.on_replicate(cell, replicate)
        for machine in {self.hosts.get(node, node) for node in (cell.client, cell.server)}:
            self._measured[machine] = self._measured.get(machine, 0.0) + float(replicate.get("seconds") or 0.0)

    def told(self) -> dict[str, float]:
        """What run.json holds under `time`, in seconds: `whole`, up to now, and `measured`."""
        whole = self.clock() - self._began
        return {"whole": round(whole, 3), "measured": round(max(self._measured.values(), default=0.0), 3)}
