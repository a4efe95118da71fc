"""Programs and networks by chance, for wulf-replay to be compared with the reference.

No program deadlocks: its steps are drawn in one global order in which each can be taken, a wait only after both sides
of its message are posted (or at once, where the send is eager and so never waits for anybody).
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

from tests.reference.replay import FRACTION, Step

ROUND, ODD = "round", "odd"
"""Costs of a few round figures, so that many moments coincide; or figures that share no divisor."""

LARGE = 1 << 20
"""Bytes of the largest messages."""


def _figure(rng: random.Random, kind: str, largest: int) -> int:
    return rng.choice((0, 0, 1000, 2000)) if kind == ROUND else rng.randrange(largest)


def costs(rng: random.Random, kind: str) -> dict[str, int]:
    """One class of a network."""
    byte = rng.choice((0, 1 << FRACTION, 80 << FRACTION)) if kind == ROUND else rng.randrange(90 << FRACTION)
    return {
        "latency_ps": rng.choice((0, 1000, 2000, 5000)) if kind == ROUND else rng.randrange(60_000_000),
        "send_ps": _figure(rng, kind, 8_000_000),
        "receive_ps": _figure(rng, kind, 8_000_000),
        "gap_ps": _figure(rng, kind, 9_000_000),
        "byte_fp": byte,
        "send_byte_fp": _figure(rng, kind, 20 << FRACTION),
        "receive_byte_fp": _figure(rng, kind, 20 << FRACTION),
        "packet_byte_fp": _figure(rng, kind, 50 << FRACTION),
        "packet_bytes": rng.choice((0, 100, 1500, 9000)),
        "eager_bytes": rng.choice((0, 1, 100, 4096, LARGE, LARGE + 1)),
    }


def network(rng: random.Random, ranks: int, *, receiver_gap: bool = True) -> dict[str, Any]:
    """A network for so many ranks, some of them on one host."""
    kind = rng.choice((ROUND, ODD))
    drawn: dict[str, Any] = {"name": kind, "inter": costs(rng, kind), "receiver_gap": receiver_gap}
    if rng.random() < 0.7:
        drawn["intra"] = costs(rng, kind)
        drawn["hosts"] = [rng.randrange(max(1, ranks // 2)) for _ in range(ranks)]
    return drawn


class _Draft:
    """A program in the making, and what of it is open."""

    def __init__(self, rng: random.Random, ranks: int, safe: int) -> None:
        self.rng, self.safe = rng, safe
        self.ranks: list[list[Step]] = [[] for _ in range(ranks)]
        self.posts: dict[tuple[str, int, int, int], list[int]] = defaultdict(list)  # sends' bytes
        self.count: dict[tuple[str, int, int, int], int] = defaultdict(int)
        self.open: list[tuple[int, int, str, tuple[int, int, int], int]] = []  # rank, slot, kind, channel, k

    def calc(self) -> None:
        rank = self.rng.randrange(len(self.ranks))
        self.ranks[rank].append(("calc", self.rng.choice((0, 1000, 3000, self.rng.randrange(50_000_000)))))

    def post(self, kind: str, channel: tuple[int, int, int]) -> None:
        source, target, tag = channel
        rank, peer = (source, target) if kind == "send" else (target, source)
        taken = {slot for at, slot, *_ in self.open if at == rank}
        slot = next(number for number in range(len(taken) + 1) if number not in taken)
        key, k = (kind, *channel), self.count[kind, *channel]
        room = self.rng.choice((0, 0, 0, LARGE)) if kind == "recv" else 0  # a buffer may be larger than its message
        self.ranks[rank].append((kind, peer, self.bytes(channel, k) + room, tag, slot))
        self.count[key] += 1
        self.open.append((rank, slot, kind, channel, k))

    def bytes(self, channel: tuple[int, int, int], k: int) -> int:
        """The k-th message of a channel, by whichever side asks first."""
        drawn = self.posts["bytes", *channel]
        while len(drawn) <= k:
            drawn.append(self.rng.choice((0, 0, 1, 8, 100, 101, 5000, self.rng.randrange(LARGE + 2))))
        return drawn[k]

    def waitable(self) -> list[int]:
        """Open slots whose wait blocks for nobody that is still to come."""
        found = []
        for number, (_, _, kind, channel, k) in enumerate(self.open):
            other = "recv" if kind == "send" else "send"
            if self.count[other, *channel] > k or (kind == "send" and self.bytes(channel, k) <= self.safe):
                found.append(number)
        return found

    def wait(self) -> bool:
        able = self.waitable()
        if able:
            rank, slot, *_ = self.open.pop(self.rng.choice(able))
            self.ranks[rank].append(("wait", slot))
        return bool(able)

    def lacking(self) -> list[tuple[str, tuple[int, int, int]]]:
        """The posts without which a message has one side alone."""
        channels = {key[1:] for key in list(self.count)}
        ordered = sorted(channels)
        sides = (("send", "recv"), ("recv", "send"))
        return [(a, c) for c in ordered for a, b in sides for _ in range(self.count[b, *c] - self.count[a, *c])]


def program(rng: random.Random, ranks: int, actions: int, safe: int = -1) -> list[list[Step]]:
    """A program that ends, of about `actions` steps; sends of at most `safe` bytes are eager wherever it will run."""
    draft = _Draft(rng, ranks, safe)
    tags = rng.choice((1, 1, 3))
    for _ in range(actions):
        action = rng.random()
        if action < 0.15:
            draft.calc()
        elif action < 0.40 and draft.wait():
            continue
        elif action < 0.60 and (lacking := draft.lacking()):
            draft.post(*rng.choice(lacking))
        else:
            channel = rng.randrange(ranks), rng.randrange(ranks), rng.randrange(tags)
            draft.post(rng.choice(("send", "send", "recv")), channel)
    remaining = draft.lacking()
    rng.shuffle(remaining)
    for post in remaining:
        draft.post(*post)
    while draft.wait():
        pass
    return draft.ranks


def safe_bytes(*networks: dict[str, Any]) -> int:
    """The longest message that is eager in all of these."""
    classes = [drawn[name] for drawn in networks for name in ("inter", "intra") if drawn.get(name)]
    return min(int(one["eager_bytes"]) for one in classes)
