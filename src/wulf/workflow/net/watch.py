"""`wulf watch`: one pair measured again and again, looked at all the time, until Ctrl-C or the budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wulf.cluster.inventory import Inventory
from wulf.core.records import Param
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.watcher import Progress, Unwatched
from wulf.measure.net.watching import PHASE, Explain, Moment, Watching, moment_of, no_verdict
from wulf.store.run import RunWriter
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.measuring import Effort, Outcome, measure

STREAM_SECONDS, STREAM_WARMUP = 0.1, 0.05
"""A stream long enough for a figure, and short, since it fills the link that somebody may need."""

VERDICT: Explain = no_verdict
"""What turns a replicate's counters into lines of text for the view."""

Show = Callable[[Watching, Moment], None]
"""Told of every replicate, with all that came before."""


@dataclass(frozen=True)
class WatchPlan:
    """What is measured over and over.

    Parameters
    ----------
    client, server
        Node names.
    params
        Of each ping-pong.
    stream_every
        Every n-th pass has a short TCP stream, too; 0: none.
    interval
        Seconds from one replicate's start to the next one's.
    budget
        Seconds after which it ends; None: Ctrl-C does.
    """

    client: str
    server: str
    params: Mapping[str, Param]
    stream_every: int = 20
    interval: float = 0.5
    budget: float | None = None

    def cells(self, connected: Connected, probe: Probe) -> tuple[Cell, ...]:
        """The ping-pong, and the stream where one is wanted; none where a node did not answer."""
        if not {self.client, self.server} <= set(connected.sessions):
            return ()
        stream = {"seconds": STREAM_SECONDS, "warmup_seconds": STREAM_WARMUP}
        cells = [self._cell(0, "pingpong", self.params, connected, probe)]
        if self.stream_every:
            cells.append(replace(self._cell(1, "stream", stream, connected, probe), every=self.stream_every))
        return tuple(cells)

    def _cell(self, number: int, pattern: str, params: Mapping[str, Param], connected: Connected, probe: Probe) -> Cell:
        checked = probe.check(pattern, "tcp", connected.placed(self.client, self.server, params))
        return Cell(number, self.client, self.server, "tcp", pattern, checked, probe.pattern(pattern).metrics, PHASE)


class Pace(Unwatched):
    """Shows every replicate, and waits between them.

    Parameters
    ----------
    say
        Told what happens before there is anything to show.
    clock, sleep
        Seconds; injected so that tests are instant.
    """

    def __init__(
        self,
        plan: WatchPlan,
        show: Show,
        say: Callable[[str], None],
        *,
        explain: Explain = VERDICT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.watching = Watching(f"{plan.client}>{plan.server}")
        self._interval, self._show, self._say, self._explain = plan.interval, show, say, explain
        self._clock, self._sleep = clock, sleep
        self._began: float | None = None
        self._due = 0.0

    def say(self, what: str) -> None:
        """Handed on."""
        self._say(what)

    def on_replicate(self, cell: Cell, replicate: Mapping[str, Any]) -> None:
        """Take it in, and show it."""
        now = self._clock()
        self._began = now if self._began is None else self._began
        moment = moment_of(cell, replicate, now - self._began, self._explain)
        self.watching.take(moment)
        self._show(self.watching, moment)

    def on_progress(self, progress: Progress) -> None:
        """Wait for the next replicate's turn; one that is late does not hurry those after it."""
        now = self._clock()
        self._due = max(self._due + self._interval, now) if self._due else now + self._interval
        if self._due > now:
            self._sleep(self._due - now)


def watch(inventory: Inventory, plan: WatchPlan, writer: RunWriter, seed: int, pace: Pace) -> Outcome:
    """Measure until Ctrl-C (exit code 130), the budget (0) or a node's death (3); all of it is kept as a run."""
    effort = Effort(budget=plan.budget, endless=True)
    return measure(inventory, plan.cells, effort, writer, seed, watch=pace)
