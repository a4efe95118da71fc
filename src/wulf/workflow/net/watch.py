"""`wulf watch`: one pair measured again and again, looked at all the time, until Ctrl-C or the budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wulf.core.records import Param
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Probe
from wulf.measure.engine.watcher import Progress, Unwatched
from wulf.measure.net.watching import PHASE, Explain, Moment, Watching, moment_of, no_verdict
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.study import Conditions, Study

STREAM_SECONDS, STREAM_WARMUP = 0.1, 0.05
"""A stream long enough for a figure, and short, since it fills the link that somebody may need."""

VERDICT: Explain = no_verdict
"""What turns a replicate's counters into lines of text for the view."""

Show = Callable[[Watching, Moment], None]
"""Told of every replicate, with all that came before."""


class Watch(Study):
    """One pair, over and over, until Ctrl-C (exit code 130), the budget (0) or a node's death (3).

    Parameters
    ----------
    client, server
        Node names.
    params
        Of each ping-pong.
    stream_every
        Every n-th pass has a short TCP stream, too; 0: none.
    """

    page = False

    def __init__(
        self, given: Conditions, client: str, server: str, params: Mapping[str, Param], stream_every: int = 20
    ) -> None:
        super().__init__(given)
        self._pair, self._params, self._stream_every = (client, server), params, stream_every

    def cells(self, connected: Connected, probe: Probe) -> Sequence[Cell]:
        """The ping-pong, and the stream where one is wanted; none where a node did not answer."""
        if not set(self._pair) <= set(connected.sessions):
            return ()
        cells = [self._cell(0, "pingpong", self._params, connected, probe)]
        if self._stream_every:
            stream = {"seconds": STREAM_SECONDS, "warmup_seconds": STREAM_WARMUP}
            cells.append(replace(self._cell(1, "stream", stream, connected, probe), every=self._stream_every))
        return cells

    def _cell(self, number: int, pattern: str, params: Mapping[str, Param], connected: Connected, probe: Probe) -> Cell:
        checked = probe.check(pattern, "tcp", connected.placed(*self._pair, params))
        return Cell(number, *self._pair, "tcp", pattern, checked, probe.pattern(pattern).metrics, PHASE)


class Pace(Unwatched):
    """Shows every replicate, and waits between them.

    Parameters
    ----------
    pair
        `n1>n2`.
    interval
        Seconds from one replicate's start to the next one's.
    say
        Told what happens before there is anything to show.
    clock, sleep
        Seconds; injected so that tests are instant.
    """

    def __init__(
        self,
        pair: str,
        interval: float,
        show: Show,
        say: Callable[[str], None],
        *,
        explain: Explain = VERDICT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.watching = Watching(pair)
        self._interval, self._show, self._say, self._explain = interval, show, say, explain
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
