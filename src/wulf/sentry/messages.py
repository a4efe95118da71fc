"""What channels are told of an incident, as JSON, as a line, and as Slurm's reason. Pure."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import Any

from wulf.core.findings import Severity
from wulf.core.names import printable, shortened
from wulf.sentry.incident import Incident, What
from wulf.sentry.state import Delivery

SCHEMA = 1

OURS = "wulf: incident "
"""How Slurm's reason begins where the sentry drained a node."""

LONGEST_REASON = 200
"""Letters: sinfo shows a reason in one line."""


def as_json(one: Delivery, key: str) -> dict[str, Any]:
    """A webhook's message.

    Parameters
    ----------
    key
        `key_of` the delivery: the same each time that it is tried.
    """
    return {
        "schema": SCHEMA,
        "key": key,
        "event": one.number,
        "what": str(one.event.what),
        "at": when(one.event.at),
        "text": one.event.text,
        "incident": incident_json(one.incident),
    }


def incident_json(one: Incident) -> dict[str, Any]:
    """An incident for programs; times are ISO 8601, UTC."""
    own = one.what
    return {
        "id": one.id, "kind": str(own.kind), "node": own.node, "metric": own.metric, "severity": str(own.severity),
        "state": str(one.state), "since": when(own.since), "until": when(own.until), "unit": own.unit,
        "before": own.before, "now": own.now, "ratio": own.ratio, "low": own.low, "high": own.high, "text": own.text,
        "next_step": own.next_step, "opened": when(one.opened_at), "seen": when(one.seen_at),
        "closed": None if one.closed_at is None else when(one.closed_at), "flapping": one.is_flapping, "by": one.by,
        "note": one.note, "run": one.run,
    }  # fmt: skip


def key_of(one: Delivery, state: str) -> str:
    """Names one event of one state: a receiver that has seen it may drop the second."""
    return hashlib.sha256(f"{state}\0{one.number}\0{one.event.at!r}".encode()).hexdigest()[:32]


_WORDS = {
    What.OPENED: "", What.REOPENED: "again: ", What.FLAPPING: "comes and goes: ", What.ACKNOWLEDGED: "acknowledged: ",
    What.CLOSED: "closed: ",
}  # fmt: skip


def line(one: Delivery) -> str:
    """A line for a log."""
    return printable(f"wulf sentry: incident {one.incident.id}: {_WORDS[one.event.what]}{one.incident.what.text}")


def is_grave(one: Delivery) -> bool:
    """Whether it says that something is worse."""
    return one.event.what is not What.CLOSED and one.incident.what.severity is Severity.BAD


def reason(one: Incident) -> str:
    """Slurm's reason for a node that is drained."""
    return shortened(printable(f"{OURS}{one.id}: {one.what.text}"), LONGEST_REASON)


def incident_in(reason: str) -> int | None:
    """The incident that a reason of ours names; None: it is somebody else's."""
    match = re.match(rf"{OURS}(\d+):", reason)
    return int(match[1]) if match else None


def when(at: float) -> str:
    """A time as JSON has it: ISO 8601, UTC, seconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
