"""Fake sessions and sink, so that the runner's tests are exact and instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from wulf.core.errors import NodeError
from wulf.core.records import Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric
from wulf.measure.engine.watcher import Progress, Unwatched

RTT = (Metric("rtt", "s"), Metric("lost", "1"))


def cell(number: int, client: str, server: str, **params: Any) -> Cell:
    return Cell(number, client, server, "tcp", "pingpong", {"bytes": 1, "seconds": 0.01, **params}, RTT, "pairs")


def answer(rtt: float | None = 1e-5, **more: Any) -> dict[str, Any]:
    metric: dict[str, Any] = {"unit": "s", "value": rtt, "quantiles": {"0.5": rtt, "0.99": 2 * rtt} if rtt else {}}
    if rtt is None:
        metric["reason"] = "all 5 datagrams were lost"
    counters = {"client": {"softirq": 0.5, "eth0": {"rx": 2}}, "server": {}}
    return {"ok": True, "metrics": {"rtt": metric, "lost": {"unit": "1", "value": 0}}, "counters": counters} | more


class Impatient(Unwatched):
    """Interrupts after so many replicates."""

    def __init__(self, after: int) -> None:
        self.after = after

    def on_progress(self, progress: Progress) -> None:
        if progress.done >= self.after:
            raise KeyboardInterrupt


@dataclass
class Clock:
    """Moves on by itself at each reading."""

    step: float = 0.0
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@dataclass
class Sink:
    id: str = "test-run"
    records: list[Record] = field(default_factory=list)
    replicates: list[dict[str, Any]] = field(default_factory=list)

    def append(self, record: Record) -> None:
        self.records.append(record)

    def append_replicate(self, replicate: Mapping[str, Any]) -> None:
        self.replicates.append(dict(replicate))


@dataclass
class FakeSession:
    """Answers at once; `on_run` makes the answer, or raises the error that the future then carries."""

    node: str
    on_run: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: answer()
    alive: bool = True
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        self.calls.append((op, fields))
        future: Future[dict[str, Any]] = Future()
        try:
            if not self.alive:
                raise NodeError(self.node, "the connection was lost")
            if op == "serve":
                future.set_result({"ok": True, "server": 1, "address": fields["address"], "port": 4242})
            else:
                future.set_result(self.on_run(fields))
        except (NodeError, KeyboardInterrupt) as error:
            future.set_exception(error)
        return future
