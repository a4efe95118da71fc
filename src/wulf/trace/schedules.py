"""Collectives as rounds of messages, for formats that know none: what is posted in a round is waited for at its end.

The algorithms are the textbook's, as Schedgen has them (Hoefler, Siebert, Lumsdaine: LogGOPSim, HPDC 2010):
dissemination, binomial trees, everybody with everybody; and rings, which the large messages of training take. What an
MPI really chose is not in a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Message(NamedTuple):
    """One message of a round: sent to, or received from, a rank of the communicator."""

    sent: bool
    peer: int
    bytes: int


Round = list[Message]


class Ask(NamedTuple):
    """What a collective is asked for, on one of its ranks.

    Attributes
    ----------
    bytes
        Of one rank's block: what everybody contributes, or what the root gives to each.
    given, taken
        Bytes to and from each rank, of the calls that end in v or w; empty: `bytes` for each.
    """

    rank: int
    size: int
    root: int = 0
    bytes: int = 0
    given: Sequence[int] = ()
    taken: Sequence[int] = ()

    def to(self, peer: int) -> int:
        """Bytes for that rank."""
        return self.given[peer] if self.given else self.bytes

    def of(self, peer: int) -> int:
        """Bytes from that rank."""
        return self.taken[peer] if self.taken else self.bytes


def dissemination(ask: Ask) -> list[Round]:
    """Every rank hands on to the rank 2^k further, ⌈log2 p⌉ times."""
    rounds, step = [], 1
    while step < ask.size:
        ahead, behind = (ask.rank + step) % ask.size, (ask.rank - step) % ask.size
        rounds.append([Message(False, behind, ask.bytes), Message(True, ahead, ask.bytes)])
        step *= 2
    return rounds


def bruck(ask: Ask) -> list[Round]:
    """Dissemination in which what is handed on doubles, until all ranks have all blocks."""
    rounds, step = [], 1
    while step < ask.size:
        size = ask.bytes * min(step, ask.size - step)
        ahead, behind = (ask.rank + step) % ask.size, (ask.rank - step) % ask.size
        rounds.append([Message(False, behind, size), Message(True, ahead, size)])
        step *= 2
    return rounds


def evenly(total: int, parts: int) -> list[int]:
    """A sum in parts that differ by 1 at most, the larger first."""
    return [total // parts + (at < total % parts) for at in range(parts)]


def ring_allgather(ask: Ask) -> list[Round]:
    """Every block goes around once, from rank to rank: p - 1 rounds (Thakur, Rabenseifner, Gropp, IJHPCA 19, 2005)."""
    return _around(ask, [ask.of(peer) for peer in range(ask.size)], 0)


def ring_reduce_scatter(ask: Ask) -> list[Round]:
    """The same with sums on their way: the block of a rank ends there, after all others have added theirs."""
    return _around(ask, [ask.to(peer) for peer in range(ask.size)], 1)


def ring_allreduce(ask: Ask) -> list[Round]:
    """A reduce-scatter and an allgather of a p-th each (Patarasuk, Yuan, JPDC 69, 2009)."""
    shares = evenly(ask.bytes, ask.size)
    return _around(ask, shares, 1) + _around(ask, shares, 0)


def _around(ask: Ask, blocks: Sequence[int], first: int) -> list[Round]:
    """Rounds in which rank r hands block r - first - k on in the k-th."""
    ahead, behind = (ask.rank + 1) % ask.size, (ask.rank - 1) % ask.size
    rounds = []
    for step in range(first, first + ask.size - 1):
        out, into = (ask.rank - step) % ask.size, (ask.rank - step - 1) % ask.size
        rounds.append([Message(False, behind, blocks[into]), Message(True, ahead, blocks[out])])
    return rounds


def broadcast(ask: Ask) -> list[Round]:
    """A binomial tree: from the parent, then to the children, the largest subtree first."""
    place, rounds = (ask.rank - ask.root) % ask.size, []
    low = place & -place if place else 1 << (ask.size - 1).bit_length()
    if place:
        rounds.append([Message(False, (place - low + ask.root) % ask.size, ask.bytes)])
    step = low >> 1
    while step:
        if place + step < ask.size:
            rounds.append([Message(True, (place + step + ask.root) % ask.size, ask.bytes)])
        step >>= 1
    return rounds


def reduction(ask: Ask) -> list[Round]:
    """The same tree upwards: the smallest subtree first."""
    return [[Message(not one.sent, one.peer, one.bytes) for one in some] for some in reversed(broadcast(ask))]


def gather(ask: Ask) -> list[Round]:
    """Everybody to the root."""
    if ask.rank != ask.root:
        return [[Message(True, ask.root, ask.bytes)]]
    return [[Message(False, peer, ask.of(peer)) for peer in range(ask.size) if peer != ask.rank]]


def scatter(ask: Ask) -> list[Round]:
    """The root to everybody."""
    if ask.rank != ask.root:
        return [[Message(False, ask.root, ask.bytes)]]
    return [[Message(True, peer, ask.to(peer)) for peer in range(ask.size) if peer != ask.rank]]


def everybody(ask: Ask) -> list[Round]:
    """All to all, all at once: the receives first, each rank beginning with the one after it."""
    others = [(ask.rank + step) % ask.size for step in range(1, ask.size)]
    into = [Message(False, (ask.rank - step) % ask.size, ask.of((ask.rank - step) % ask.size))
            for step in range(1, ask.size)]  # fmt: skip
    return [into + [Message(True, peer, ask.to(peer)) for peer in others]]


def chain(ask: Ask) -> list[Round]:
    """From the rank before, to the rank after."""
    rounds: list[Round] = [[Message(False, ask.rank - 1, ask.bytes)]] if ask.rank else []
    return rounds + ([[Message(True, ask.rank + 1, ask.bytes)]] if ask.rank + 1 < ask.size else [])


SCHEDULES: dict[str, Callable[[Ask], list[Round]]] = {
    "barrier": dissemination,
    "allreduce": dissemination,
    "bcast": broadcast,
    "reduce": reduction,
    "gather": gather,
    "gatherv": gather,
    "scatter": scatter,
    "scatterv": scatter,
    "allgather": bruck,
    "allgatherv": everybody,
    "alltoall": everybody,
    "alltoallv": everybody,
    "alltoallw": everybody,
    "reduce_scatter": everybody,
    "reduce_scatter_block": everybody,
    "scan": chain,
    "exscan": chain,
}
"""Collective, as the trace's table of calls names it without an I for non-blocking → its rounds on one rank."""


def rounds_of(collective: str, ask: Ask) -> list[Round]:
    """The rounds of a collective on one rank; none where a rank is alone. KeyError where none is known."""
    schedule = SCHEDULES[collective]
    return [some for some in schedule(ask) if some] if ask.size > 1 else []
