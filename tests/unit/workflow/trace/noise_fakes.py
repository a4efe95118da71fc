"""A node's recording, as wulf-node tells it."""

from __future__ import annotations

from typing import Any

from wulf.core.errors import NodeError

PID = 77


def answer(*pieces: tuple[int, int, int], start: int = 1_000_000, lost: int = 0, full: bool = False) -> dict[str, Any]:
    """Pieces: begin and length in nanoseconds, and the number of the culprit."""
    return {
        "start": start, "end": start + 10**9, "full": full, "records": 500, "lost_records": lost,
        "culprits": [
            {"class": "entry", "name": ""}, {"class": "task", "name": "make", "pid": 9},
            {"class": "timer", "name": "tick_nohz_handler"},
        ],
        "processes": [{"process": PID, "seen": True, "left_out": 0, "stolen": [list(piece) for piece in pieces]}],
    }  # fmt: skip


class FakeRecorder:
    """A session of wulf-node that has recorded; or that refuses."""

    def __init__(self, host: str, said: dict[str, Any] | None) -> None:
        self.greeting = {"host": host}
        self._said = said
        self.asked: dict[str, Any] = {}

    def request(self, op: str, timeout: float | None = None, **fields: Any) -> dict[str, Any]:
        self.asked = {"op": op, **fields}
        if self._said is None:
            raise NodeError("n1", "it needs root")
        return self._said
