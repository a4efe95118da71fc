"""Patterns of messages that no parameter of LogGP is taken from, and what LogGP makes of each.

Programs send many messages at once, and both ways; parameters are measured by messages that come one after another, and
one way. So how far LogGP is off where they do is measured, not taken for granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

WINDOW = 16
"""Messages each way of a window."""

BOTH_WAYS = "both ways"
"""Two messages that cross: each should take as long as one alone."""

TOGETHER = f"{WINDOW} each way"
"""All posted at once, then waited for together."""

TURNS = "one answered, then both ways"
"""Two large messages that cross: one end sends when it has answered the other's request."""

PATTERNS: Mapping[str, str] = {
    BOTH_WAYS: "Messages that cross, against one alone",
    TOGETHER: "Many messages at once",
    TURNS: "Large messages of which one begins later",
}
"""Each pattern, and what it is in a sentence."""

HIDES = 0.5
"""Share of an exchange, behind computing as long, from which on large messages count as getting on without calls.

A library without a thread for them hides next to nothing: a request is answered in a call, and all data come later.
"""

PROGRESS: Mapping[bool, str] = {
    True: "Large messages get on while both ends compute.",
    False: "Large messages get on in calls of MPI alone, not while a rank computes.",
}

IN_ORDER: Mapping[bool, str] = {
    True: "Requests and their answers wait behind data that were sent before them: large messages that cross take "
    "turns, unless both ends begin within a latency.",
    False: "Requests and their answers pass data that are on their way: large messages cross.",
}

Times = Mapping[float, Sequence[float]]
"""Bytes → replicates in seconds."""


@dataclass(frozen=True)
class Patterns:
    """What was measured of them.

    Attributes
    ----------
    crossings
        Seconds until both messages of a crossing are there.
    windows
        Seconds of `WINDOW` messages each way.
    hidden
        Bytes → replicates of the share of an exchange that hides behind computing as long: of messages that need no
        call to get on, and of large ones.
    turns
        Seconds of two large messages that cross, of which one begins when the other's request is answered.
    """

    crossings: Times = field(default_factory=dict)
    windows: Times = field(default_factory=dict)
    hidden: Times = field(default_factory=dict)
    turns: Times = field(default_factory=dict)


def window_time(alone: float, send: float, receive: float, gap: float) -> float:
    """Seconds of a window by LogGP; a message follows the one before by the slowest of three paces.

    Both ends post all, then take all: what has come until then waits for the posts. So it takes as long as a train, or
    as the calls of one end. tests/contract/test_ladder.py holds the replay against the same form.

    Parameters
    ----------
    alone
        Of one message, L and both overheads included.
    send, receive, gap
        Both o and g + (s-1)·G, of a message of that size.
    """
    return max(alone + (WINDOW - 1) * max(send, receive, gap), WINDOW * (send + receive))


def turns_time(alone: float, latency: float, data: float, *, in_order: bool) -> float:
    """Seconds of two large messages that cross, where the second's request finds the first one's data leaving.

    Parameters
    ----------
    alone
        Of one message that waits for its receiver.
    data
        Of its bytes, (s-1)·G: the answer waits for them where all leaves in order.
    """
    return alone + latency + (data if in_order else 0.0)
