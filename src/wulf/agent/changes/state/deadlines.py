"""What the watchdog waits for: until when a change must be confirmed, and until when a controller must be heard of."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from wulf.agent.files.durable import read_object, remove, replace

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host

NAME = "deadlines"


@dataclass
class Deadlines:
    """Of the campaign that holds the node. Times are the host's `now`, and hold for one boot.

    Parameters
    ----------
    campaign
        None: of all that there are, where its name was lost.
    serial
        Counts up with every writing: the watchdog says which one it knows.
    lease, lease_until
        Seconds that a controller may be silent; until when it may.
    pending
        Changes that nobody has confirmed: number → {"until", "confirm" (seconds), "session"}.
    """

    campaign: str | None
    boot: str
    lease: float
    lease_until: float
    serial: int = 0
    pending: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def next(self) -> float:
        """The earliest moment at which something must be taken back."""
        return min([self.lease_until, *(float(each["until"]) for each in self.pending.values())])

    def overdue(self, now: float) -> list[int]:
        """Changes whose confirmation is late, by number."""
        return sorted(int(change) for change, each in self.pending.items() if each["until"] <= now)


def load(host: Host) -> Deadlines | None:
    """What stands there; None where nothing is waited for. Raises ValueError where it can't be understood."""
    found = read_object(host.run / NAME)
    if found is None:
        return None
    try:
        known = Deadlines(**found)
        known.overdue(known.next + 0 * known.lease)  # numbers all
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{host.run / NAME} is no list of deadlines: {error}") from error
    return known


def save(host: Host, known: Deadlines) -> None:
    """Write them, one serial further. Raises OSError."""
    known.serial += 1
    host.step("deadlines")
    replace(host.run / NAME, json.dumps(asdict(known)).encode())


def clear(host: Host) -> None:
    """Nothing is waited for any more."""
    host.step("no deadlines")
    remove(host.run / NAME)


def alive(host: Host) -> bool:
    """Whether the campaign that holds the node has been heard of lately."""
    with suppress(ValueError):
        known = load(host)
        return known is not None and known.boot == host.boot and host.now() < known.lease_until
    return False
