"""The replay model by brute force: LogGOPS with eager and rendezvous messages, in integer picoseconds.

A network is the dictionary that wulf-replay reads; a program is a list of ranks, and a rank a list of steps, as in
wulf-replay's inline programs:
    ("calc", ps)   ("send", peer, bytes, tag, slot)   ("recv", peer, bytes, tag, slot)   ("wait", slot)

Every choice of what comes next is a search through everything that could. A NIC serves in one of two orders:
    "a"  whoever is waited for first; ranks run as far as they can, in any order. A sender's NIC serves rendezvous when
         the sender waits for them; their data arrive as if nothing else left
    "b"  whoever is there first (then the lower sender, then its earlier message): an event loop that takes the earliest
         of all ranks' steps, then of all rendezvous data that can leave, then of all arrivals
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Step = tuple[Any, ...]
Program = Sequence[Sequence[Step]]
FRACTION = 20
"""Fractional bits of a cost a byte, and of the scale of compute."""
UNKNOWN = -1
STEP, LEAVE, ARRIVE = range(3)


class DeadlockError(Exception):
    """No rank can go on: the program deadlocks."""


@dataclass
class Result:
    """Each rank's last clock, and how often "a" served a message when "b" might not."""

    ranks: list[int]
    inversions: int = 0

    @property
    def ps(self) -> int:
        return max(self.ranks)


@dataclass
class Message:
    """What is known of a message so far; times in ps, negative: not yet."""

    sender: int
    receiver: int
    order: int  # the place of its send in the sender's program
    bytes: int
    network: dict[str, int]  # the class it travels in
    eager: bool
    stretch: int  # from its first byte to its last: e(n) of the model
    sent: int = UNKNOWN  # the sender's clock after the send's overhead
    posted: int = UNKNOWN  # the receiver's clock at its recv
    agreed: int = UNKNOWN  # rendezvous: when the sender knows of both, so that data may leave
    left: int = UNKNOWN  # rendezvous: when the last byte has left
    first: int = UNKNOWN  # when its first byte is at the receiver
    end: int = UNKNOWN  # its last byte, once the receiver's NIC has served it

    def cost(self, side: str) -> int:
        """What it costs a CPU, the sender's ("send") or the receiver's ("receive")."""
        return self.network[f"{side}_ps"] + product(self.network[f"{side}_byte_fp"], self.bytes)


def product(per_byte: int, count: int) -> int:
    """`count` times a fixed-point cost, rounded down."""
    return (per_byte * count) >> FRACTION


def matched(program: Program, network: dict[str, Any]) -> dict[tuple[int, int], Message]:
    """(rank, step) → message: the k-th send from i to j of a tag goes to j's k-th recv of that tag from i."""
    hosts = network.get("hosts") or list(range(len(program)))
    sends, recvs = defaultdict(list), defaultdict(list)
    for rank, steps in enumerate(program):
        for place, step in enumerate(steps):
            if step[0] == "send":
                sends[rank, step[1], step[3]].append((place, step[2]))
            elif step[0] == "recv":
                recvs[step[1], rank, step[3]].append(place)
    found = {}
    for (source, target, tag), posts in sends.items():
        costs = network["inter"] if hosts[source] != hosts[target] else network.get("intra") or network["inter"]
        for (place, count), other in zip(posts, recvs[source, target, tag], strict=True):
            protocol = count <= costs["eager_bytes"], product(costs["byte_fp"], max(count - 1, 0))
            found[source, place] = found[target, other] = Message(source, target, place, count, costs, *protocol)
    return found


class Replay:
    """One run of a program over a network."""

    def __init__(self, program: Program, network: dict[str, Any], scale: int = 1 << FRACTION) -> None:
        ranks = len(program)
        self.program, self.scale, self.inversions = program, scale, 0
        self.gap: bool = network.get("receiver_gap", True)
        self.messages = matched(program, network)
        self.clock, self.nic, self.rnic, self.next = ([0] * ranks for _ in range(4))
        self.wire = [(0, -1)] * ranks  # rendezvous: when the sender's NIC is free, and whose data it took last
        self.slots: list[dict[int, tuple[str, Message]]] = [{} for _ in range(ranks)]
        self.events: list[tuple[int, int, int, int]] = []  # time, kind, sender, order: "b"
        self.latest: list[tuple[int, int, int]] = [(-1, -1, -1)] * ranks  # the latest arrival served: "a"

    def run(self, engine: Literal["a", "b"]) -> Result:
        """Every rank to its end. Raises DeadlockError."""
        self.live = engine == "b"
        while any(at < len(steps) for at, steps in zip(self.next, self.program, strict=True)):
            ready = [(self.clock[rank], STEP, rank, 0) for rank in range(len(self.program)) if self.ready(rank)]
            if not ready and not self.events:
                raise DeadlockError(f"ranks wait for each other at {self.next}")
            _, kind, rank, order = event = min(ready + self.events) if self.live else ready[0]
            if kind == STEP:
                self.step(rank)
            else:
                self.events.remove(event)
                (self.leave if kind == LEAVE else self.serve)(self.messages[rank, order])
        return Result(self.clock, self.inversions)

    def ready(self, rank: int) -> bool:
        """Whether the rank's next step can be taken now."""
        step = next(iter(self.program[rank][self.next[rank] :]), None)
        if step is None or step[0] != "wait":
            return step is not None
        kind, message = self.slots[rank][step[1]]
        if kind == "send":
            return message.eager or (message.left if self.live else message.agreed) != UNKNOWN
        return (message.end if self.live else message.first) != UNKNOWN

    def step(self, rank: int) -> None:
        step = self.program[rank][self.next[rank]]
        if step[0] == "calc":
            self.clock[rank] += product(self.scale, step[1])
        elif step[0] == "wait":
            self.wait(rank, *self.slots[rank].pop(step[1]))
        else:
            message = self.messages[rank, self.next[rank]]
            self.slots[rank][step[4]] = step[0], message
            if step[0] == "send":
                message.sent = self.clock[rank] = self.clock[rank] + message.cost("send")
                if message.eager:
                    leaves = max(message.sent, self.nic[rank])
                    self.nic[rank] = leaves + message.network["gap_ps"] + message.stretch
                    self.arrive(message, leaves)
            else:
                message.posted = self.clock[rank]
            if not message.eager and UNKNOWN not in (message.sent, message.posted):
                self.agree(message)
        self.next[rank] += 1

    def agree(self, message: Message) -> None:
        """Of a rendezvous both sides are there: the request came to the receiver, the answer goes back."""
        latency = message.network["latency_ps"]
        message.agreed = max(message.sent + latency, message.posted) + latency
        if self.live:
            self.events.append((message.agreed, LEAVE, message.sender, message.order))
        else:
            self.arrive(message, message.agreed)

    def leave(self, message: Message) -> None:
        """The sender's NIC takes the data of a rendezvous, when it has done with those before."""
        leaves = max(message.agreed, self.wire[message.sender][0])
        message.left = leaves + message.stretch
        self.wire[message.sender] = message.left, message.order
        if self.live:
            self.arrive(message, leaves)

    def arrive(self, message: Message, leaves: int) -> None:
        """The first byte of what leaves then is on its way."""
        stored = min(message.bytes, (costs := message.network).get("packet_bytes", 0))
        message.first = leaves + costs["latency_ps"] + product(costs.get("packet_byte_fp", 0), stored)
        if self.live and self.gap:
            self.events.append((message.first, ARRIVE, message.sender, message.order))
        elif self.live:
            self.serve(message)  # by nothing that others could hold up

    def serve(self, message: Message) -> None:
        """The receiver's NIC takes a message, when it has done with those before."""
        message.end = max(message.first, self.rnic[message.receiver]) + message.stretch
        self.rnic[message.receiver] = self.gap * (message.end + message.network["gap_ps"])

    def wait(self, rank: int, kind: str, message: Message) -> None:
        if kind == "send" and not message.eager:
            if not self.live:
                self.inversions += (message.agreed, message.order) < self.wire[rank]
                self.leave(message)
            self.clock[rank] = max(self.clock[rank], message.left)
        elif kind == "recv":
            if not self.live:
                arrival = message.first, message.sender, message.order
                self.inversions += self.gap and arrival < self.latest[rank]
                self.latest[rank] = max(self.latest[rank], arrival)
                self.serve(message)
            self.clock[rank] = max(self.clock[rank], message.end) + message.cost("receive")


def replay(program: Program, network: dict[str, Any], engine: Literal["a", "b"], scale: int = 1 << FRACTION) -> Result:
    """What `program` comes to over `network`; raises DeadlockError where it deadlocks."""
    return Replay(program, network, scale).run(engine)
