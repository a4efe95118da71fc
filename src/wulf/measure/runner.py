"""The runner: turns a plan's cells into records over open sessions.

It knows nothing of how the sessions were opened, of the command line, or of files: what it measures goes into a sink,
how far it is into a callback.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

import numpy as np

from wulf.core.errors import NodeError
from wulf.core.records import Record
from wulf.measure.collect import pairs_of, records_of, samples_of
from wulf.measure.plan import Cell, Plan, order_pass
from wulf.stats.comparison import Comparison
from wulf.store.run import utc_now

ANSWER_GRACE = 15.0
"""Seconds that an answer may come later than its own measuring time and timeout before it counts as lost."""

ATTEMPTS = 3
"""Failed replicates after which a cell is given up: once may be chance, three times is a fact."""


Servers = dict[tuple[str, str], dict[str, Any]]
"""Node and transport → how its server is reached: address, port, key."""


class Session(Protocol):
    """What the runner needs of a session (`wulf.cluster.session.Session`)."""

    @property
    def alive(self) -> bool:
        """False once the program or the way to it is gone."""

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Send a request; the future fails with a NodeError."""


class Sink(Protocol):
    """Where measurements go (`wulf.store.run.RunWriter`)."""

    id: str

    def append(self, record: Record) -> None:
        """Keep a complete record."""

    def append_replicate(self, replicate: Mapping[str, Any]) -> None:
        """Keep what a probe answered."""


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

    def on_progress(self, progress: Progress) -> None:
        """After every wave of replicates."""


class Unwatched:
    """Nobody is told."""

    def say(self, what: str) -> None:
        """Nothing happens."""

    def on_progress(self, progress: Progress) -> None:
        """Nothing happens."""


UNWATCHED = Unwatched()


@dataclass
class _State:
    """One cell while it is measured."""

    cell: Cell
    replicates: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0

    @property
    def good(self) -> int:
        return len(self.replicates) - self.failed


class Runner:
    """Measures a plan.

    Parameters
    ----------
    sessions
        Node → open session of wulf-net.
    addresses
        Node → address that its servers bind to.
    clock
        Seconds, monotonic; injected so that tests are instant.
    watch
        Told after every wave.
    servers
        Those that runners before this one started in the same sessions; this one adds its own.
    """

    def __init__(
        self,
        plan: Plan,
        sessions: Mapping[str, Session],
        addresses: Mapping[str, str],
        sink: Sink,
        *,
        clock: Callable[[], float] = time.monotonic,
        watch: Watcher = UNWATCHED,
        servers: Servers | None = None,
    ) -> None:
        self._plan = plan
        self._sessions = sessions
        self._addresses = addresses
        self._sink = sink
        self._clock = clock
        self._watch = watch
        self._rule = plan.rule
        self._states = {cell.id: _State(cell) for cell in plan.cells}
        self._open = dict(self._states)
        self._servers: Servers = {} if servers is None else servers
        self._lost: dict[str, str] = {}
        self._records: list[Record] = []
        self._done = 0
        self._began = 0.0
        self._block = 0

    @property
    def lost(self) -> Mapping[str, str]:
        """Nodes that died while they were measured, and how."""
        return self._lost

    @property
    def records(self) -> list[Record]:
        """The records of the cells closed so far, in the order completed."""
        return self._records

    def run(self) -> list[Record]:
        """Measure until every cell is closed, and return the records in the order completed.

        KeyboardInterrupt closes the open cells with what they have, and goes on up.
        """
        random = np.random.default_rng(self._plan.seed)
        self._began = self._clock()
        try:
            for self._block in count():
                if not self._open:
                    break
                for wave in order_pass([s.cell for s in self._open.values()], self._plan.hosts, random):
                    self._measure_wave([cell for cell in wave if cell.id in self._open])
                    if self._time_over():
                        self._close_all(f"the budget of {self._plan.budget:g} s was over")
                        break
                self._end_contrast()
        except KeyboardInterrupt:
            self._close_all("interrupted")
            raise
        return self._records

    def _time_over(self) -> bool:
        return self._plan.budget is not None and self._clock() - self._began >= self._plan.budget

    def _measure_wave(self, wave: Sequence[Cell]) -> None:
        """One replicate of each cell of the wave, at the same time."""
        ready = [cell for cell in wave if self._nodes_alive(cell) and self._server_ready(cell)]
        pending = [(cell, self._start(cell)) for cell in ready]
        for cell, future in pending:
            self._finish(cell, future)
        self._report(wave)

    def _nodes_alive(self, cell: Cell) -> bool:
        """Give the cell up if one of its nodes is gone."""
        for node in (cell.client, cell.server):
            session = self._sessions.get(node)
            if node not in self._lost and (session is None or not session.alive):
                self._lost[node] = "it has no session" if session is None else self._why_dead(node, session)
            if node in self._lost:
                self._close(cell, failure=f"{node}: {self._lost[node]}")
                return False
        return True

    def _why_dead(self, node: str, session: Session) -> str:
        """How the session ended, in its own words: whatever it is asked now fails with them."""
        _, error = self._await(session.call("ping"), node, ANSWER_GRACE)
        return error["message"].removeprefix(f"{node}: ") if error else "its session ended"

    def _server_ready(self, cell: Cell) -> bool:
        """Have the server node serve the cell's transport; its key never leaves the two sessions."""
        where = (cell.server, cell.transport)
        if where in self._servers:
            return True
        key = secrets.token_hex(16)
        address = self._addresses[cell.server]
        future = self._sessions[cell.server].call("serve", transport=cell.transport, address=address, key=key)
        answer, error = self._await(future, cell.server, ANSWER_GRACE)
        if answer is None:
            self._close(cell, failure=f"{cell.server} can't serve {cell.transport} on {address}: {error['message']}")
            return False
        self._servers[where] = {"address": answer["address"], "port": answer["port"], "key": key}
        return True

    def _start(self, cell: Cell) -> Future[dict[str, Any]]:
        return self._sessions[cell.client].call(
            "run",
            pattern=cell.pattern,
            transport=cell.transport,
            **self._servers[cell.server, cell.transport],
            params=dict(cell.params),
        )

    def _await(
        self, future: Future[dict[str, Any]], node: str, patience: float
    ) -> tuple[dict[str, Any] | None, dict[str, str]]:
        """The answer, or None and why there is none; a node whose session died is noted as lost."""
        try:
            return future.result(timeout=patience), {}
        except FutureTimeout:
            future.cancel()
            return None, {"code": "no-answer", "message": f"no answer from {node} within {patience:g} s"}
        except NodeError as error:
            if not self._sessions[node].alive:
                self._lost.setdefault(node, error.what.removeprefix(f"{node}: "))
            return None, {"code": getattr(error, "code", "lost"), "message": error.what}

    def _finish(self, cell: Cell, future: Future[dict[str, Any]]) -> None:
        """Take one replicate in, and close the cell if it has been measured long enough."""
        patience = cell.seconds + float(cell.params.get("timeout") or 0.0) + ANSWER_GRACE
        answer, error = self._await(future, cell.client, patience)
        replicate: dict[str, Any] = {
            "cell": cell.id, "block": self._block, "at": utc_now(), "ok": answer is not None,
        }  # fmt: skip
        if answer is None:
            replicate["error"] = error
        else:
            replicate |= {name: answer.get(name) for name in ("metrics", "counters", "info", "seconds")}
        self._sink.append_replicate(replicate)
        state = self._open[cell.id]
        state.replicates.append(replicate)
        self._done += 1
        if answer is None:
            state.failed += 1
            if self._nodes_alive(cell) and state.failed >= ATTEMPTS:
                self._close(cell, failure=f"{state.failed} of {len(state.replicates)} attempts: {error['message']}")
        elif self._plan.versus is None and self._long_enough(state):
            self._close(cell)

    def _end_contrast(self) -> None:
        """After a block: close A and B if their comparison is clear, or one of them is gone."""
        rule = self._plan.versus
        if rule is None or not self._open:
            return
        if len(self._open) < len(self._states) or rule.enough(*self._arms()):
            comparison = self.comparison
            for state in list(self._open.values()):
                self._close(state.cell, cut=f"the comparison: {comparison.reason}" if comparison else None)
        elif min(state.good for state in self._open.values()) >= rule.most + ATTEMPTS:
            self._close_all("too few blocks in which both had a value")

    def _arms(self) -> tuple[list[float], list[float]]:
        """A's and B's values, block by block."""
        a, b = (self._states[cell.id] for cell in self._plan.cells)
        return pairs_of(a.cell.metrics[0].name, a.replicates, b.replicates)

    @property
    def comparison(self) -> Comparison | None:
        """B against A as it stands; None where nothing is compared."""
        return self._plan.versus.compare(*self._arms()) if self._plan.versus else None

    def _long_enough(self, state: _State) -> bool:
        """By the rule, over the replicates that have a value.

        A probe that never has one (all datagrams lost) gets the least number of tries; one that sometimes has none,
        `ATTEMPTS` more than the rule's most.
        """
        samples = samples_of(state.cell.metrics[0].name, state.replicates)
        if not samples:
            return state.good >= self._rule.least
        most = self._rule.most
        return self._rule.decide(samples).stop or (most is not None and state.good >= most + ATTEMPTS)

    def _close(self, cell: Cell, *, failure: str | None = None, cut: str | None = None) -> None:
        """Turn what the cell has into records."""
        state = self._open.pop(cell.id)
        records = records_of(
            cell, state.replicates, self._plan, self._sink.id, at=utc_now(), failure=failure, stopped=cut
        )
        for record in records:
            if cut and record.reason:
                record.reason = f"{record.reason}; {cut}"
            self._sink.append(record)
        self._records.extend(records)

    def _close_all(self, why: str) -> None:
        for state in list(self._open.values()):
            self._close(state.cell, cut=why)

    def _expected(self) -> int:
        """Replicates until every open cell reaches its next look, with those done."""
        looks = self._plan.versus.looks if self._plan.versus else self._plan.looks
        ahead = (next((look for look in looks if look > s.good), s.good) - s.good for s in self._open.values())
        return self._done + sum(ahead)

    def _report(self, wave: Sequence[Cell]) -> None:
        spent = self._clock() - self._began
        expected = self._expected()
        left = spent / self._done * (expected - self._done) if self._done else None
        if self._plan.budget is not None and left is not None:
            left = min(left, max(0.0, self._plan.budget - spent))
        now = ", ".join(f"{c.subject} {c.transport} {c.pattern}" for c in wave[:2])
        self._watch.on_progress(Progress(self._done, expected, left, now + (" …" if len(wave) > 2 else "")))
