"""RFC 2544's throughput: what is known of the fastest rate at which no datagram is lost, and which is next. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from wulf.core.records import Record, Verdict
from wulf.core.units import show
from wulf.measure.engine.plan import Cell

TRIAL, PHASE = "trial", "zero loss"
"""Of the trials' records, and of those of the rates that they come to."""

METRIC, KIND = "zero_loss_rate", "zero-loss"

METRICS = ("sent", "loss")
"""Of a trial, of a stream's: when nothing arrives, it has no throughput, and yet is a trial."""

SHORT = 0.95
"""A sender that reaches less of what it is asked for is told to fall short."""

ANY_WIDTH = 100.0
"""How widely the throughput of trials scatters does not matter."""

FRAMES = (64, 128, 256, 512, 1024, 1280, 1518)
"""Of Ethernet, in bytes, header and checksum included (RFC 2544, 9.1)."""

HEADERS = 46
"""Bytes of Ethernet (header and checksum), IPv4 and UDP in a frame: the datagram has the rest."""

TRIALS = 6
"""Of each rate; one that loses is enough to call it lossy."""

RULE_OF_THREE = 3.0
"""Of n datagrams none was lost: the chance of a loss is below 3/n, at 95 %."""

ROUNDS = 16
"""Of halving, at most."""


@dataclass(frozen=True)
class Rate:
    """A rate that was tried.

    Attributes
    ----------
    asked, sent
        By the sender, and what it came to on a median trial [B/s of datagrams].
    datagrams
        Sent in all trials.
    """

    asked: float
    sent: float
    datagrams: float


@dataclass
class Bracket:
    """What is known of one length of frame.

    Attributes
    ----------
    low, high
        The fastest rate at which none was lost, the slowest at which some were.
    dead
        Why it could not be measured.
    """

    frame: int
    low: Rate | None = None
    high: Rate | None = None
    rounds: int = 0
    dead: str = ""

    @property
    def bytes(self) -> int:
        """Of a datagram."""
        return self.frame - HEADERS

    def next_rate(self, tolerance: float) -> float | None:
        """Half-way between the two [B/s]; None: they are within the tolerance, or there is no more to try."""
        if self.dead or self.high is None or self.rounds >= ROUNDS:
            return None
        low = self.low.asked if self.low else 0.0
        return (low + self.high.asked) / 2 if self.high.asked - low > tolerance * self.high.asked else None

    def learn(self, rate: Rate, *, lost: bool) -> None:
        """What became of the datagrams at a rate between the two."""
        self.rounds += 1
        if lost:
            self.high = rate
        else:
            self.low = rate


def record_of(cell: Cell, one: Bracket, run: str, at: str) -> Record:
    """What one length comes to, in datagrams a second of the trial's `cell`."""
    reason, low, high = _why_none(one), one.low, one.high
    value = low.sent / one.bytes if low else None
    return Record(
        run=run, subject=cell.subject, probe=cell.program, metric=METRIC, unit="Hz",
        params={
            "transport": "udp", "frame": one.frame, "bytes": one.bytes, "asked": low.asked / one.bytes if low else None
        },
        value=value, low=value, high=high.sent / one.bytes if low and high and high.sent > low.sent else None,
        statistic="fastest rate without a loss; high: slowest with one", replicates=one.rounds * TRIALS,
        verdict=Verdict.UNRESOLVED if reason else Verdict.OK, reason=reason, better="higher", at=at,
        phase=PHASE, least_visible=RULE_OF_THREE / low.datagrams if low and low.datagrams else None,
    )  # fmt: skip


def _why_none(one: Bracket) -> str | None:
    if one.dead:
        return one.dead
    return None if one.low else "datagrams were lost at every rate that was tried"


def sentence(one: Bracket) -> str:
    """One length in words: `Frames of 64 B: none lost up to 120 kHz (7.7 MB/s of data), some at 122 kHz.`"""
    head = f"Frames of {one.frame} B"
    if one.low is None:
        return f"{head}: {_why_none(one)}."
    rate = f"{show(one.low.sent / one.bytes, 'Hz')} ({show(one.low.sent, 'B/s')} of data)"
    if one.high is None:
        return f"{head}: none lost at {rate}, as fast as the sender goes."
    if one.low.sent < SHORT * one.low.asked:
        rate += f", which is all that the sender made of {show(one.low.asked / one.bytes, 'Hz')}"
    return f"{head}: none lost at {rate}; some are when it is asked for {show(one.high.asked / one.bytes, 'Hz')}."
