"""What a GOAL file holds, as a text or binary: counted, and whether every message has a partner."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

ANY = -1

MOST = 5
"""Faults of a kind that a message names."""


@dataclass
class Schedule:
    """What a GOAL file holds.

    Attributes
    ----------
    counts
        Rank → how many of calc, send, recv it has.
    bytes
        (sender, receiver) → bytes sent.
    unmatched
        (sender, receiver, tag) → messages sent more often than received (positive), or less often.
    calculated
        Rank → the sum of its calc, in nanoseconds.
    """

    ranks: int = 0
    counts: dict[int, Counter[str]] = field(default_factory=dict)
    bytes: Counter[tuple[int, int]] = field(default_factory=Counter)
    unmatched: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    calculated: Counter[int] = field(default_factory=Counter)
    wildcards: int = 0

    @property
    def messages(self) -> int:
        return sum(counts["send"] for counts in self.counts.values())

    def lonely(self) -> str:
        """The first messages without a partner; "" where there are none."""
        over = sum(self.unmatched.values())
        if over == self.wildcards and (self.wildcards or not self.unmatched):
            return ""
        texts = [
            f"{abs(count)} from {sender} to {receiver} with tag {tag} {'sent' if count > 0 else 'awaited'} too often"
            for (sender, receiver, tag), count in list(self.unmatched.items())[:MOST]
        ]
        return "; ".join(texts) or f"{self.wildcards} receives from anybody have no message"
