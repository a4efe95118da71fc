"""Programs whose time can be written down: each with its formula, for eager and for rendezvous messages.

All ranks stand on hosts of their own, and every message of a program has the same size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.reference.replay import Step, product

Ranks = list[list[Step]]


@dataclass(frozen=True)
class Costs:
    """What a message of one size costs in one network, in ps."""

    latency: int
    stored: int
    send: int  # the sender's CPU
    receive: int  # the receiver's CPU
    gap: int  # a NIC, a message
    stretch: int  # from the first byte to the last
    eager: bool
    receiver_gap: bool

    @property
    def hop(self) -> int:
        """From a send to the end of its receive, where the receive was posted in time and nothing is in the way."""
        ways = 1 if self.eager else 3
        return self.send + ways * self.latency + self.stored + self.stretch + self.receive

    @property
    def busy(self) -> int:
        """How long a message keeps a NIC: the sender's if it is eager, and the receiver's."""
        return self.gap + self.stretch if self.eager or self.receiver_gap else 0


def costs(network: dict[str, Any], size: int) -> Costs:
    """A message of so many bytes between two hosts."""
    link = network["inter"]
    return Costs(
        link["latency_ps"],
        product(link["packet_byte_fp"], min(size, link["packet_bytes"])),
        link["send_ps"] + product(link["send_byte_fp"], size),
        link["receive_ps"] + product(link["receive_byte_fp"], size),
        link["gap_ps"],
        product(link["byte_fp"], max(size - 1, 0)),
        size <= link["eager_bytes"],
        network.get("receiver_gap", True),
    )


def send(peer: int, size: int) -> list[Step]:
    """A blocking send."""
    return [("send", peer, size, 0, 0), ("wait", 0)]


def receive(peer: int, size: int) -> list[Step]:
    """A blocking receive."""
    return [("recv", peer, size, 0, 0), ("wait", 0)]


ROUNDS = 5


def ping_pong(size: int) -> Ranks:
    return [(send(1, size) + receive(1, size)) * ROUNDS, (receive(0, size) + send(0, size)) * ROUNDS]


def ping_pong_ps(one: Costs) -> int:
    """Round trips, no two of which begin closer together than the sender's NIC can begin messages."""
    return 2 * one.hop + (ROUNDS - 1) * max(2 * one.hop, one.busy)


RING = 6


def token(size: int) -> Ranks:
    """A token that goes round and round a ring."""
    first = (send(1, size) + receive(RING - 1, size)) * ROUNDS
    others = [(receive(rank - 1, size) + send((rank + 1) % RING, size)) * ROUNDS for rank in range(1, RING)]
    return [first, *others]


def token_ps(one: Costs) -> int:
    return RING * one.hop + (ROUNDS - 1) * max(RING * one.hop, one.busy)


def shift(size: int) -> Ranks:
    """Every rank of a ring sends to its right and receives from its left, again and again."""
    return [
        [
            ("recv", (rank - 1) % RING, size, 0, 0),
            ("send", (rank + 1) % RING, size, 0, 1),
            ("wait", 0),
            ("wait", 1),
        ]
        * ROUNDS
        for rank in range(RING)
    ]


def shift_ps(one: Costs) -> int:
    return one.hop + (ROUNDS - 1) * max(one.hop, one.busy)


LEVELS = 4


def tree(size: int) -> Ranks:
    """Broadcast down a binomial tree: in round j each rank below 2^j, which has the data, sends to its j-th child."""
    ranks: Ranks = []
    for rank in range(1 << LEVELS):
        level = rank.bit_length()  # the round after that in which the data comes
        parent = receive(rank - (1 << (level - 1)), size) if rank else []
        ranks.append(parent + [step for below in range(level, LEVELS) for step in send(rank + (1 << below), size)])
    return ranks


def tree_ps(one: Costs) -> int:
    """Down the chain of eldest children, or along the root's sends to its youngest one.

    Between two sends of one rank: its CPU or its NIC; with rendezvous until the answer came and the data left.
    """
    between = max(one.send, one.busy) if one.eager else one.send + 2 * one.latency + one.stretch
    return max(LEVELS * one.hop, one.hop + (LEVELS - 1) * between)


SENDERS = 8


def incast(size: int) -> Ranks:
    """Eight send to one at the same time."""
    posts: list[Step] = [("recv", peer, size, 0, peer) for peer in range(1, SENDERS + 1)]
    waits: list[Step] = [("wait", peer) for peer in range(1, SENDERS + 1)]
    return [posts + waits, *(send(0, size) for _ in range(SENDERS))]


def incast_ps(one: Costs) -> int:
    """The receiver's NIC takes one after the other, and its CPU too, whichever is slower."""
    apart = one.busy if one.receiver_gap else 0
    return one.hop + (SENDERS - 1) * max(apart, one.receive)


FORMS: dict[str, tuple[Callable[[int], Ranks], Callable[[Costs], int]]] = {
    "ping-pong": (ping_pong, ping_pong_ps),
    "token": (token, token_ps),
    "shift": (shift, shift_ps),
    "binomial tree": (tree, tree_ps),
    "8-to-1 incast": (incast, incast_ps),
}
"""Name → (program of a message size, its time in ps)."""
