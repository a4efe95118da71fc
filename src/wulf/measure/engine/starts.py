"""One start for many: when each client begins, by its own clock, so that all measure at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from wulf.core.errors import NodeError
from wulf.measure.engine.clocks import ClockOffset, Exchange, estimate, overlap
from wulf.measure.engine.plan import Cell

EXCHANGES = 8
"""With each node: the fastest of eight is near the least round trip, and costs a session milliseconds."""

FRESH_SECONDS = 10.0
"""After that an offset is estimated anew."""

DRIFT = 1e-4
"""What two ordinary quartzes run apart at most, each 50 parts in a million off: added to the bound as time goes by."""

ANSWER_SECONDS = 5.0
"""A node that does not tell its time within that begins at once, and the record says that its start is not known."""

LEAST_MARGIN, MARGIN_A_PAIR = 0.05, 5e-4
"""Seconds from asking to the start: for opening the connections, and for telling every client."""

MOST_MARGIN = 1.5
"""The probe refuses a start that lies farther off than its timeout of 2 s."""


class ClockSession(Protocol):
    """What is needed of a session."""

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask; the future fails with a NodeError."""


@dataclass
class _Asked:
    """A request for the time under way; the answer's moment is taken on the thread that hears it."""

    asked: float
    future: Future[dict[str, Any]]
    heard: float = 0.0

    def exchange(self, patience: float) -> Exchange | None:
        """None where the node does not say."""
        try:
            theirs = self.future.result(timeout=patience).get("monotonic")
        except (FutureTimeout, NodeError):
            return None
        return None if theirs is None else Exchange(self.asked, float(theirs), self.heard or self.asked)


def read_clocks(
    sessions: Mapping[str, ClockSession], clock: Callable[[], float] = time.monotonic
) -> dict[str, ClockOffset]:
    """Every node's monotonic clock against ours; nodes that don't tell their time are absent.

    One exchange after the other with each node, with all nodes side by side.
    """
    exchanges: dict[str, list[Exchange]] = {node: [] for node in sessions}
    silent: set[str] = set()
    for _ in range(EXCHANGES + 1):  # the first answer comes late: the probe measures its clock's quality before it
        asked = {node: _ask(session, clock) for node, session in sessions.items() if node not in silent}
        deadline = clock() + ANSWER_SECONDS
        for node, question in asked.items():
            if found := question.exchange(max(0.0, deadline - clock())):
                exchanges[node].append(found)
            else:
                silent.add(node)  # waited for once, not nine times
    return {node: estimate(found) for node, found in exchanges.items() if found}


def clock_steps(sessions: Mapping[str, ClockSession]) -> dict[str, float]:
    """The step of every node's clock in seconds, asked side by side; nodes that don't tell are absent."""
    asked = {node: session.call("clock") for node, session in sessions.items()}
    deadline, steps = time.monotonic() + ANSWER_SECONDS, {}
    for node, future in asked.items():
        with suppress(FutureTimeout, NodeError):
            step = future.result(timeout=max(0.0, deadline - time.monotonic())).get("resolution")
            if step is not None:
                steps[node] = float(step)
    return steps


def _ask(session: ClockSession, clock: Callable[[], float]) -> _Asked:
    asked = clock()
    question = _Asked(asked, session.call("clock"))

    def heard(_: Future[dict[str, Any]]) -> None:
        question.heard = clock()

    question.future.add_done_callback(heard)
    return question


@dataclass(frozen=True)
class Start:
    """When one client begins.

    Attributes
    ----------
    at
        By the client's clock, in seconds.
    clock
        The client's clock against ours.
    """

    at: float
    clock: ClockOffset


@dataclass
class Starter:
    """Agrees on starts over open sessions.

    Parameters
    ----------
    sessions
        Node → session.
    clock
        Ours, in seconds, monotonic.
    """

    sessions: Mapping[str, ClockSession]
    clock: Callable[[], float] = time.monotonic
    _offsets: dict[str, ClockOffset] = field(default_factory=dict)
    _read_at: float | None = None
    _lateness: float = 0.0

    def agree(self, cells: Sequence[Cell]) -> dict[int, Start]:
        """Cell → its start, the same moment for all; cells whose client does not tell its time are absent."""
        self._refresh()
        margin = LEAST_MARGIN + MARGIN_A_PAIR * len(cells) + 2 * self._lateness
        moment = self.clock() + min(margin, MOST_MARGIN)
        drifted = DRIFT * (moment - (self._read_at or moment))
        offsets = {
            cell.id: replace(known, bound=known.bound + drifted)
            for cell in cells
            if (known := self._offsets.get(cell.client))
        }
        return {number: Start(offset.to_theirs(moment), offset) for number, offset in offsets.items()}

    def _refresh(self) -> None:
        if self._read_at is None or self.clock() - self._read_at > FRESH_SECONDS:
            self._offsets = read_clocks(self.sessions, self.clock)
            self._read_at = self.clock()

    def learn(self, late: float) -> None:
        """Give the next waves more time where a client was told too late."""
        self._lateness = max(late, 0.5 * self._lateness)


def report(
    cells: Iterable[Cell], starts: Mapping[int, Start], infos: Mapping[int, Mapping[str, Any]]
) -> dict[int, Any]:
    """Cell → what its replicate says of the common start: how late, how sure, and how much of its time all shared.

    Parameters
    ----------
    infos
        Cell → the probe's info, of the replicates that have one.
    """
    windows: dict[int, tuple[float, float]] = {}
    for cell in cells:
        begun = infos.get(cell.id, {}).get("started_at")
        if begun is not None and cell.id in starts:
            begin = starts[cell.id].clock.to_ours(float(begun)) + float(cell.params.get("warmup_seconds") or 0.0)
            windows[cell.id] = (begin, begin + float(cell.params.get("seconds") or 0.0))
    share = overlap(windows.values()) if windows else None
    return {
        number: {
            "late": infos[number].get("late_seconds"), "bound": starts[number].clock.bound,
            "overlap": share, "together": len(windows),
        }
        for number in windows
    }  # fmt: skip
