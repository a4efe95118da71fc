"""The ladder's kernels (bench/loops/ladder.cpp) replayed: each has its closed form in LogGP.

The forms are by hand, of two ranks, from L the latency, the overheads, g the gap and e(n) = (n-1)·G. They hold where
overhead, g and e of a small message together stay below L, as here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.unit.workflow.predict_fakes import this
from wulf.model.network.figures import COPY_BYTE, COPY_MESSAGE, Network, edited, nominal, split_expression
from wulf.model.network.patterns import WINDOW, turns_time, window_time
from wulf.trace.record import Completion, Record
from wulf.trace.writer import RankWriter
from wulf.workflow.foresight.predict import predict
from wulf.workflow.foresight.replaying import Replay
from wulf.workflow.foresight.scene import Wanted
from wulf.workflow.foresight.traced import read_traced

ROUNDS = 20
SMALL, MEDIUM, LARGE = 8, 4000, 262_144
"""The last waits for its receiver."""

REDUCED_BYTE = 0.1e-9
"""What reducing a byte takes, docs/how-it-works/replay-lowering.md [s]."""

CHAIN = 50
SLEEP, WORK = 0.005, 0.004
NETWORKS = ("this", "this*latency=0.5", "this*bandwidth=0.25", "this+gap=4us", "this+overhead=1us")

Calls = Sequence[Record]
"""Of one round of a rank."""


@dataclass(frozen=True)
class Costs:
    """A network's figures [s]."""

    latency: float
    send: float
    receive: float
    gap: float
    byte: float

    def bytes(self, size: int) -> float:
        return (size - 1) * self.byte

    def one(self, size: int) -> float:
        """From the begin of an eager message's send until its receiver has it."""
        return self.send + self.latency + self.bytes(size) + self.receive


def message(op: str, size: int, peer: int, gap: float = 0.0, **fields: int) -> Record:
    return Record(op, round(gap * 1e9), 1000, peer=peer, tag=7, comm=0, bytes=size, **fields)  # type: ignore[arg-type]


def round_trip(rank: int, size: int, sleep: float = 0.0) -> list[Record]:
    calls = ("Send", "Recv") if rank == 0 else ("Recv", "Send")
    return [message(call, size, 1 - rank, 0.0 if number else sleep) for number, call in enumerate(calls)]


def exchange(size: int, peer: int, work: float = 0.0) -> list[Record]:
    return [
        message("Irecv", size, peer, work, request=0), message("Send", size, peer),
        Record("Wait", 0, 1000, completions=[Completion(0)]),
    ]  # fmt: skip


def all_at_once(count: int, size: int, peer: int) -> list[Record]:
    posts = [message(call, size, peer, request=number + first) for call, first in (("Irecv", 0), ("Isend", count))
             for number in range(count)]  # fmt: skip
    return [*posts, Record("Waitall", 0, 1000, completions=[Completion(number) for number in range(2 * count)])]


def sendrecv(rank: int) -> list[Record]:
    return [message("Sendrecv", MEDIUM, 1 - rank, peer2=1 - rank, tag2=7, bytes2=MEDIUM)]


def chain(rank: int) -> list[Record]:
    there, back = ("Send", "Recv") if rank == 0 else ("Recv", "Send")
    return [*(message(there, SMALL, 1 - rank) for _ in range(CHAIN)), message(back, SMALL, 1 - rank)]


def allreduce(rank: int) -> list[Record]:
    return [Record("Allreduce", 0, 1000, comm=0, bytes=SMALL)]


def copied(size: int) -> float:
    return 2 * COPY_MESSAGE + size * COPY_BYTE


def in_a_row(of: Costs, count: int, size: int) -> float:
    """Messages one after another: from the first's send until the receiver has the last. The slowest of three paces."""
    apart = max(of.send, of.receive, of.gap + of.bytes(size))
    return of.one(size) + (count - 1) * apart


def both_at_once(of: Costs) -> float:
    """What `wulf model loggp` holds measured windows against."""
    return window_time(of.one(SMALL), of.send, of.receive, of.gap + of.bytes(SMALL))


def late_large(of: Costs) -> float:
    """Request, answer and data, both ways; the late one sets the pace, and is free when its data have left."""
    a_round = SLEEP + 4 * of.latency + 2 * of.bytes(LARGE) + of.receive + of.send
    return ROUNDS * a_round + of.latency + of.receive


def rendezvous(of: Costs) -> float:
    return of.send + 3 * of.latency + of.bytes(LARGE) + of.receive


KERNELS: dict[str, tuple[Callable[[int], Calls], Callable[[Costs], float]]] = {
    "ping-pong": (
        lambda rank: [*round_trip(rank, SMALL), *round_trip(rank, MEDIUM)],
        lambda of: ROUNDS * 2 * (of.one(SMALL) + of.one(MEDIUM)),
    ),
    "both-ways": (lambda rank: exchange(SMALL, 1 - rank), lambda of: ROUNDS * of.one(SMALL)),
    "both-ways-medium": (lambda rank: exchange(MEDIUM, 1 - rank), lambda of: ROUNDS * of.one(MEDIUM)),
    "both-ways-large": (lambda rank: all_at_once(1, LARGE, 1 - rank), lambda of: ROUNDS * rendezvous(of)),
    "sendrecv": (sendrecv, lambda of: ROUNDS * of.one(MEDIUM)),
    "chain": (chain, lambda of: ROUNDS * (in_a_row(of, CHAIN, SMALL) + of.one(SMALL))),
    "itself": (
        lambda rank: [*exchange(MEDIUM, rank), *round_trip(rank, SMALL)],
        lambda of: ROUNDS * (copied(MEDIUM) + 2 * of.one(SMALL)),
    ),
    "waitall": (lambda rank: all_at_once(WINDOW, SMALL, 1 - rank), lambda of: ROUNDS * both_at_once(of)),
    "late-eager": (
        lambda rank: round_trip(rank, MEDIUM, SLEEP * rank),
        lambda of: ROUNDS * (SLEEP + of.receive + of.send) + of.one(MEDIUM) - of.send,
    ),
    "late-large": (lambda rank: round_trip(rank, LARGE, SLEEP * rank), late_large),
    "busy": (lambda rank: exchange(MEDIUM, 1 - rank, WORK), lambda of: ROUNDS * (WORK + of.one(MEDIUM))),
    "allreduce": (allreduce, lambda of: ROUNDS * (of.one(SMALL) + SMALL * REDUCED_BYTE)),
    "gradients": (
        lambda rank: [
            *exchange(MEDIUM, 1 - rank), *exchange(MEDIUM, rank), *exchange(SMALL, 1 - rank), *exchange(SMALL, 1 - rank)
        ],
        lambda of: ROUNDS * (of.one(MEDIUM) + copied(MEDIUM) + 2 * of.one(SMALL)),
    ),
}  # fmt: skip


def changed(text: str) -> Network:
    return edited(this(), split_expression(text)[1])


def traced(folder: Path, calls: Callable[[int], Calls]) -> None:
    for rank in (0, 1):
        with RankWriter(folder, {"rank": rank, "size": 2, "host": f"n{rank}"}) as writer:
            for _ in range(ROUNDS):
                writer.add_all(list(calls(rank)))
            writer.add(Record("finalize", 0, 1000))


def costs(network: Network) -> Costs:
    own = nominal(network)[0]
    return Costs(*(own[part] for part in ("latency", "send", "receive", "gap", "byte")))


@pytest.mark.parametrize("engine", ["a", "b"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_takes_what_its_closed_form_says(replay: Replay, tmp_path: Path, kernel: str, engine: str) -> None:
    calls, form = KERNELS[kernel]
    traced(tmp_path, calls)
    networks = [changed(text) for text in NETWORKS]
    found = predict(replay, read_traced(tmp_path), networks[0], Wanted(networks[1:], draws=0, engine=engine))
    replayed = [found.baseline.replayed, *(one.forecast.replayed for one in found.candidates)]
    assert replayed == pytest.approx([form(costs(network)) for network in networks], rel=1e-6)


def replayed(
    replay: Replay, folder: Path, calls: Callable[[int], Calls], said: Mapping[str, bool]
) -> tuple[str, list[float], list[Costs]]:
    """The engine that is taken; and of all networks, with what is said of large messages, run times and costs."""
    traced(folder, calls)
    base = this().base.model_copy(update=said)
    networks = [replace(changed(text), base=base) for text in NETWORKS]
    found = predict(replay, read_traced(folder), networks[0], Wanted(networks[1:], draws=0))
    seconds = [found.baseline.replayed, *(one.forecast.replayed for one in found.candidates)]
    return found.engine, seconds, [costs(network) for network in networks]


def hidden(rank: int) -> Calls:
    """A large message each way behind computing that would take longer."""
    posts, [waits] = all_at_once(1, LARGE, 1 - rank)[:-1], all_at_once(1, LARGE, 1 - rank)[-1:]
    return [*posts, replace(waits, gap_ns=round(WORK * 1e9))]


@pytest.mark.parametrize("progress", [True, False])
def test_large_messages_hide_behind_computing_where_they_get_on_without_calls(
    replay: Replay, tmp_path: Path, progress: bool
) -> None:
    """Else both ends answer the other's request when they wait, and only then do the data leave."""
    engine, seconds, own = replayed(replay, tmp_path, hidden, {"progress": progress})
    assert engine == ("a" if progress else "b")
    late = [0.0 if progress else 2 * of.latency + of.bytes(LARGE) for of in own]
    assert all(rendezvous(of) < WORK for of in own)
    forms = [ROUNDS * (of.send + WORK + more + of.receive) for of, more in zip(own, late, strict=True)]
    assert seconds == pytest.approx(forms, rel=1e-6)


def staggered(rank: int) -> Calls:
    """A large message each way; rank 1 begins when rank 0's request is answered, by a word that comes behind it."""
    receive, send = message("Irecv", LARGE, 1 - rank, request=0), message("Isend", LARGE, 1 - rank, request=1)
    word = message("Recv" if rank else "Send", SMALL, 1 - rank)
    waits = Record("Waitall", 0, 1000, completions=[Completion(0), Completion(1)])
    return [receive, *((word, send) if rank else (send, word)), waits]


@pytest.mark.parametrize("in_order", [True, False])
def test_large_messages_take_turns_where_answers_wait_behind_data(
    replay: Replay, tmp_path: Path, in_order: bool
) -> None:
    """As `wulf model loggp` expects of what it measures; without turns the word and its calls are in the way."""
    engine, seconds, own = replayed(replay, tmp_path, staggered, {"in_order": in_order})
    assert engine == ("b" if in_order else "a")
    word = [0.0 if in_order else 2 * of.send + of.bytes(SMALL) + of.receive for of in own]
    forms = [
        ROUNDS * (turns_time(rendezvous(of), of.latency, of.bytes(LARGE), in_order=in_order) + more)
        for of, more in zip(own, word, strict=True)
    ]
    assert seconds == pytest.approx(forms, rel=1e-6)


def test_the_ladder_that_is_measured_has_the_same_kernels() -> None:
    from bench.foresight.public import KERNELS as MEASURED

    assert set(KERNELS) == set(MEASURED)
