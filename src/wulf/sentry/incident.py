"""An incident: something changed on a node, when, and what became of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from wulf.core.durations import DAY
from wulf.core.findings import Severity

FLAPPING_TIMES = 3
"""Openings of the same incident within `FLAPPING_WITHIN` from which on it is told as flapping, once."""

FLAPPING_WITHIN = 14 * DAY
"""Seconds; as long as a closed incident can be opened again rather than a new one made."""


class Kind(StrEnum):
    """What an incident is of."""

    CHANGED = "changed"
    """A figure of a node left the level that it had."""
    COMMON = "common"
    """All nodes of a hardware class moved together: an update, a room's temperature, a switch."""
    ILL = "ill"
    """`wulf check` names something that is wrong with the node."""
    UNREACHABLE = "unreachable"
    """The node could not be asked, several times after one another."""
    BLAMED = "blamed"
    """A run over several nodes blames it, as `wulf links` or `wulf survey` does."""


class State(StrEnum):
    """What became of an incident."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"


class What(StrEnum):
    """What happened to an incident: one line of its history, and what channels are told."""

    OPENED = "opened"
    REOPENED = "reopened"
    FLAPPING = "flapping"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"


QUIET = frozenset({What.REOPENED, What.ACKNOWLEDGED})
"""What no channel is told: whoever acknowledges knows it, and what comes and goes is told once, as flapping."""


@dataclass(frozen=True)
class Observation:
    """What stands out now, before it is known whether it did so already.

    Attributes
    ----------
    node
        Whose; of a class its name, with `@` before it.
    metric
        The figure, or the check, that it is about; empty: the node as a whole.
    severity
        `bad` where it is worse, `info` where it is better or nobody says which way is.
    since, until
        Unix seconds between which it changed: the last time that it was as before, and the first that it was not.
    before, now
        The figure's level then and now, in `unit`; None where it is no figure.
    ratio, low, high
        now / before with its interval; None likewise.
    text
        One or two sentences for a person.
    next_step
        What to do.
    """

    kind: Kind
    node: str
    metric: str
    severity: Severity
    since: float
    until: float
    text: str
    next_step: str = ""
    unit: str = ""
    before: float | None = None
    now: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What is one and the same: kind, node, and metric."""
        return str(self.kind), self.node, self.metric


@dataclass(frozen=True)
class Incident:
    """An observation with its life.

    Attributes
    ----------
    id
        0: not yet in a state.
    opened_at, seen_at, closed_at
        Unix seconds: when it was first told, last seen, and closed.
    openings
        When it was opened and opened again, within the last `FLAPPING_WITHIN`.
    by, note
        Who acknowledged it, and what they said.
    run
        The run whose figures told it; empty where none did.
    """

    id: int
    what: Observation
    state: State
    opened_at: float
    seen_at: float
    openings: tuple[float, ...]
    closed_at: float | None = None
    by: str = ""
    note: str = ""
    run: str = ""

    @property
    def is_flapping(self) -> bool:
        """Whether it comes and goes."""
        return len(self.openings) >= FLAPPING_TIMES

    @property
    def is_open(self) -> bool:
        """Whether it lasts, acknowledged or not."""
        return self.state is not State.CLOSED


@dataclass(frozen=True)
class Event:
    """A line of an incident's history."""

    incident: int
    at: float
    what: What
    text: str


def seen(known: Incident | None, what: Observation, at: float, run: str = "") -> tuple[Incident, What | None]:
    """An incident after something was seen, and what happened to it; None: it was open already, as it is.

    Parameters
    ----------
    known
        The newest incident of that key; None where there is none.
    """
    if known is not None and known.is_open:
        return replace(known, seen_at=at, what=_kept(known.what, what)), None
    recent = _recent(known, at)
    if known is None or not recent:
        return Incident(0, what, State.OPEN, at, at, (at,), run=run), What.OPENED
    again = replace(
        known, what=what, state=State.OPEN, seen_at=at, closed_at=None, openings=(*recent, at), by="", note="", run=run
    )
    return again, What.FLAPPING if len(again.openings) == FLAPPING_TIMES else What.REOPENED


def _recent(known: Incident | None, at: float) -> tuple[float, ...]:
    return tuple(time for time in known.openings if at - time <= FLAPPING_WITHIN) if known else ()


def _kept(before: Observation, now: Observation) -> Observation:
    """What is newest, but for when it changed: that was best known when it was first told."""
    return replace(now, since=before.since, until=before.until)


def closed(known: Incident, at: float, note: str = "") -> Incident:
    """An incident that is over."""
    return replace(known, state=State.CLOSED, closed_at=at, note=note or known.note)


def acknowledged(known: Incident, at: float, by: str, note: str) -> Incident:
    """An incident that somebody has taken on: it stays, and nobody is told again."""
    return replace(known, state=State.ACKNOWLEDGED, seen_at=at, by=by, note=note)


def gravest(incidents: Sequence[Incident]) -> list[Incident]:
    """Open ones that are bad first, the newest before older ones."""
    return sorted(incidents, key=lambda one: (not one.is_open, -one.what.severity.weight, -one.opened_at, one.id))
