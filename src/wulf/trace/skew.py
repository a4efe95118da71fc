"""How far the clocks of hosts are apart, as messages show it: none arrives before it was sent.

Of each pair of ranks the first messages are kept, so that memory does not grow with the trace. The fastest message of
a pair of hosts each way bounds the difference of their clocks from both sides (Lamport 1978; the bound of a pair as in
NTP, RFC 5905, section 8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from wulf.trace.calls import EXCHANGES, SENDS, STARTS
from wulf.trace.reader import RankFile, Trace, timed
from wulf.trace.record import ANY, Record, Watch
from wulf.trace.steps import Communicators

FIRST = 32
"""Messages of a pair of ranks that are looked at."""

MOST_PEERS = 256
"""Peers of a rank that are looked at."""

NS = 1e-9


class Key(NamedTuple):
    """A message, the same at both of its ends."""

    sender: int
    receiver: int
    comm: Hashable
    tag: int
    number: int


class Skews:
    """The first messages of all ranks whose times are known."""

    def __init__(self) -> None:
        self._sent: dict[Key, int] = {}
        self._taken: dict[Key, int] = {}
        self._hosts: dict[int, str] = {}

    def of(self, one: RankFile) -> Watch:
        """What is to be told of each record of a rank, with its begin and end."""
        self._hosts[one.rank] = one.host
        began = int(one.header.get("begin_realtime_ns") or 0)
        communicators = Communicators(one.rank)
        numbers: Counter[tuple[bool, int, Hashable, int]] = Counter()
        peers: Counter[int] = Counter()
        clear = True

        def watch(record: Record, begin: int, end: int) -> None:
            nonlocal clear
            communicators.take(record)
            clear = clear and not _unclear(record)
            for sent, peer, tag, told in _ends(record) if clear else ():
                if peer < 0 or (peer not in peers and len(peers) >= MOST_PEERS):
                    continue
                key = communicators.key(record.comm)
                number = numbers[sent, peer, key, tag]
                numbers[sent, peer, key, tag] += 1
                peers[peer] += 1
                if number >= FIRST or not told:
                    continue
                if sent:
                    self._sent[Key(one.rank, peer, key, tag, number)] = began + begin
                else:
                    self._taken[Key(peer, one.rank, key, tag, number)] = began + end

        return watch

    def fastest(self) -> dict[tuple[str, str], int]:
        """(sending host, receiving host) → nanoseconds of the fastest message, by the two clocks."""
        found: dict[tuple[str, str], int] = {}
        for key, sent in self._sent.items():
            taken = self._taken.get(key)
            hosts = self._hosts.get(key.sender, ""), self._hosts.get(key.receiver, "")
            if taken is not None and hosts[0] != hosts[1]:
                found[hosts] = min(found.get(hosts, taken - sent), taken - sent)
        return found

    def offsets(self) -> dict[str, float]:
        """Host → nanoseconds that its clock is ahead of the first one's, as far as messages both ways tell.

        Half of the difference of the fastest messages both ways; hosts that no messages join are left out.
        """
        return ahead(self.fastest(), self._hosts.values())

    def findings(self) -> list[str]:
        """Pairs of hosts whose clocks are certainly apart: a message arrived before it was sent."""
        texts = []
        for (a, b), least in sorted(self.fastest().items()):
            if least < 0:
                texts.append(
                    f"{a}'s clock is at least {-least * NS:.6f} s ahead of {b}'s: messages arrive before they are "
                    "sent. Times within a rank are right all the same"
                )
        return texts


def ahead(fastest: Mapping[tuple[str, str], float], hosts: Iterable[str]) -> dict[str, float]:
    """Host → nanoseconds that its clock is ahead of the first one's; `fastest` as `Skews.fastest` has it."""
    known = list(dict.fromkeys(hosts))
    found = {known[0]: 0.0} if known else {}
    open_ = list(found)
    while open_:
        a = open_.pop()
        for b in known:
            if b not in found and (a, b) in fastest and (b, a) in fastest:
                found[b] = found[a] + (fastest[a, b] - fastest[b, a]) / 2
                open_.append(b)
    return found


def _unclear(record: Record) -> bool:
    """Whether a rank's messages can't be numbered from here on: which one this call takes, it does not say."""
    wild = record.op in ("Irecv", "Imrecv") and ANY in (record.peer, record.tag)
    return wild or record.op in STARTS or record.op == "Imrecv"


def _ends(record: Record) -> list[tuple[bool, int, int, bool]]:
    """Ends of messages in a call: sent or taken, peer, tag, and whether the call's times are the message's."""
    if record.op in SENDS:
        return [(True, record.peer or 0, record.tag or 0, True)]
    if record.op == "Irecv":
        return [(False, record.peer or 0, record.tag or 0, False)]
    source, tag = record.source
    if record.op in ("Recv", "Mrecv") and source is not None:
        return [(False, source, tag or 0, True)]
    if record.op in EXCHANGES and source is not None:
        return [(True, record.peer or 0, record.tag or 0, True), (False, source, tag or 0, True)]
    return []


def begins(trace: Trace) -> dict[int, int]:
    """Rank → nanoseconds from the first rank's begin to its own, by clocks corrected as far as messages tell."""
    skews = Skews()
    if len(set(trace.hosts.values())) > 1:
        for one in trace.ranks:
            watch = skews.of(one)
            for record, begin, end in timed(one.records()):
                watch(record, begin, end)
    ahead = skews.offsets()
    found = {
        one.rank: int(one.header.get("begin_realtime_ns") or 0) - round(ahead.get(one.host, 0.0)) for one in trace.ranks
    }
    first = min(found.values(), default=0)
    return {rank: begin - first for rank, begin in found.items()}
