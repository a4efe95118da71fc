"""Messages that one end waited for, and by how much the other end came later: matched from the ranks' traces. Pure.

A receive waits for a send that begins later, a send of much data for a receive that does. Which send a receive took is
told by order, as MPI promises: of one sender, communicator and tag the first is taken first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from wulf.trace.reader import RankFile, timed
from wulf.trace.skew import Key, ahead
from wulf.trace.steps import Post, Wait, Walk, outcomes

LEAST_WAIT = 20_000
"""Nanoseconds: who waits for less waits for a message, not for who is late; a shorter call does not keep a rank."""

MOST_ENDS = 1_000_000
"""Ends of messages that are looked at, of all ranks together: a quarter of a kilobyte each. Of each rank the first."""


class End(NamedTuple):
    """One end of a message; times in nanoseconds of its host's monotonic clock.

    Attributes
    ----------
    since
        When the call before that posted it had ended that kept the rank for long, or that nothing preceded.
    posted
        When the call began that sent it, or from which on it could be received.
    waited, done
        From when to when a call waited for it.
    call
        The one that posted it, without its MPI_.
    """

    since: int
    posted: int
    waited: int
    done: int
    call: str


@dataclass
class RankMessages:
    """A rank's ends of messages.

    Attributes
    ----------
    left_out
        How many were too many.
    """

    rank: int
    host: str
    sent: dict[Key, End] = field(default_factory=dict)
    taken: dict[Key, End] = field(default_factory=dict)
    left_out: int = 0


def all_messages(files: Sequence[RankFile]) -> list[RankMessages]:
    """Every rank's messages, `MOST_ENDS` at most."""
    return [messages_of(one, MOST_ENDS // len(files)) for one in files]


def messages_of(file: RankFile, most: int = MOST_ENDS) -> RankMessages:
    """One rank's messages, by its first thread; beyond `most` ends what comes later is left out."""
    found, walk = RankMessages(file.rank, file.host), Walk(file.rank, outcomes(file.records()))
    zero = int(file.header.get("begin_monotonic_ns", 0))
    numbers: Counter[tuple[bool, int, Hashable, int]] = Counter()
    open_: dict[int, tuple[Post, Key, int, int, str]] = {}
    free = zero
    for record, begin, end in timed(file.records()):
        steps = walk.take(record)
        if record.thread != 0:
            continue
        for step in steps:
            if isinstance(step, Post):
                number = numbers[step.sent, step.peer, step.key, step.tag]
                numbers[step.sent, step.peer, step.key, step.tag] += 1
                ends = (file.rank, step.peer) if step.sent else (step.peer, file.rank)
                open_[step.slot] = step, Key(*ends, step.key, step.tag, number), free, zero + begin, record.op
            elif isinstance(step, Wait) and step.slot in open_:
                post, key, since, posted, call = open_.pop(step.slot)
                if len(found.sent) + len(found.taken) >= most:
                    found.left_out += 1
                    continue
                own = found.sent if post.sent else found.taken
                own[key] = End(since, posted, zero + begin, zero + end, call)
        if end - begin >= LEAST_WAIT:
            free = zero + end
    return found


def message_shifts(ranks: Sequence[RankMessages]) -> dict[str, float]:
    """Host → what is to be added to its times [ns], so that they are by the clock of the first rank's host.

    By the fastest messages either way; hosts that none join are left out.
    """
    hosts = {rank.rank: rank.host for rank in ranks}
    fastest: dict[tuple[str, str], float] = {}
    for key, sent, taken in matched(ranks):
        way = hosts[key.sender], hosts[key.receiver]
        if way[0] != way[1]:
            fastest[way] = min(fastest.get(way, inf), taken.done - sent.posted)
    return {host: -one for host, one in ahead(fastest, hosts.values()).items()}


def matched(ranks: Iterable[RankMessages]) -> Iterator[tuple[Key, End, End]]:
    """Messages of which both ends are known, with the sender's and the receiver's."""
    by_rank = {rank.rank: rank for rank in ranks}
    for receiver in by_rank.values():
        for key, taken in receiver.taken.items():
            sender = by_rank.get(key.sender)
            sent = sender.sent.get(key) if sender is not None else None
            if sent is not None:
                yield key, sent, taken


class Awaited(NamedTuple):
    """One end that the other waited for; times in nanoseconds, `since` and `posted` by the late rank's own clock."""

    late: int
    waiting: int
    by: float
    since: int
    posted: int
    call: str


def awaited(ranks: Sequence[RankMessages], shifts: Mapping[str, float]) -> tuple[list[Awaited], int]:
    """Who was late for whom by `LEAST_WAIT` or more, of the messages of one wait the latest; how many matched.

    Parameters
    ----------
    shifts
        Host → as `message_shifts` has it; ranks of other hosts are left out.
    """
    hosts = {rank.rank: rank.host for rank in ranks}
    worst: dict[tuple[int, int], Awaited] = {}
    count = 0
    for (sender, receiver, *_), sent, taken in matched(ranks):
        if hosts[sender] not in shifts or hosts[receiver] not in shifts:
            continue
        count += 1
        ahead = shifts[hosts[sender]] - shifts[hosts[receiver]]
        for late, waiting, own, other, shift in (
            (sender, receiver, sent, taken, ahead), (receiver, sender, taken, sent, -ahead),
        ):  # fmt: skip
            by = own.posted + shift - other.waited
            if by < LEAST_WAIT or other.done < own.posted + shift:
                continue
            key = waiting, other.waited
            if key not in worst or by > worst[key].by:
                worst[key] = Awaited(late, waiting, by, own.since, own.posted, own.call)
    return list(worst.values()), count
