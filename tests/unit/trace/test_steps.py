"""Requests by what completed them, communicators by members, collectives as rounds in which nothing is lost."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.trace.making import recv, send, wait
from wulf.trace.record import ANY, PROC_NULL, Completion, Record
from wulf.trace.schedules import SCHEDULES, Ask, Message, ring_allgather, ring_allreduce, ring_reduce_scatter, rounds_of
from wulf.trace.steps import Calc, Communicators, Post, Step, Together, Wait, Walk, outcomes


def steps_of(records: list[Record], rank: int = 0, size: int = 4) -> list[Step]:
    walk = Walk(rank, size, outcomes(records))
    return [step for record in records for step in walk.take(record)]


def irecv(peer: int, request: int, tag: int = 0, size: int = 8) -> Record:
    return Record("Irecv", peer=peer, tag=tag, bytes=size, request=request)


def posts(steps: list[Step]) -> list[tuple[bool, int, int, int]]:
    return [(one.sent, one.peer, one.bytes, one.tag) for one in steps if isinstance(one, Post)]


def test_blocking_calls_are_posted_and_waited_for() -> None:
    steps = steps_of([send(1, 8, 7, gap=100, call=5), recv(2, 16, 8)])
    assert steps == [Calc(100), Post(True, 1, 8, 7, "world", 0), Wait(0), Post(False, 2, 16, 8, "world", 0), Wait(0)]


def test_requests_are_waited_for_where_they_complete() -> None:
    records = [irecv(1, 0), Record("Isend", peer=1, tag=3, bytes=4, request=1), wait(1), irecv(2, 1), wait(0, 1)]
    steps = steps_of(records)
    slots = {one.peer: one.slot for one in steps if isinstance(one, Post)}
    waits = [one.slot for one in steps if isinstance(one, Wait)]
    assert posts(steps) == [(False, 1, 8, 0), (True, 1, 4, 3), (False, 2, 8, 0)]
    assert waits == [1, 0, 1] and slots == {1: 1, 2: 1}


def test_a_wildcard_is_posted_with_what_it_took() -> None:
    """Two from anybody: the second completes first, and says so."""
    done = [Record("Waitany", given=2, completions=[Completion(1, 3, 9)]),
            Record("Wait", completions=[Completion(0, 2, 5, 6)])]  # fmt: skip
    steps = steps_of([irecv(ANY, 0, ANY), irecv(ANY, 1, ANY), *done])
    assert posts(steps) == [(False, 2, 6, 5), (False, 3, 8, 9)]
    assert [one.slot for one in steps if isinstance(one, Wait)] == [1, 0]
    assert posts(steps_of([recv(ANY, 8, ANY, actual=(3, 4))])) == [(False, 3, 8, 4)]


def test_what_never_completes_or_is_cancelled_awaits_nothing() -> None:
    cancelled = Record("Wait", completions=[Completion(0, cancelled=True)])
    assert posts(steps_of([irecv(1, 0), cancelled, irecv(2, 0)])) == []
    assert posts(steps_of([send(PROC_NULL, 8), recv(PROC_NULL, 8)])) == []


def test_a_persistent_request_is_a_message_each_time_it_is_started() -> None:
    init = Record("Recv_init", peer=ANY, tag=1, bytes=8, request=0)
    start = Record("Startall", requests=[0])
    first, second = (Record("Wait", completions=[Completion(0, source, 1)]) for source in (2, 3))
    steps = steps_of([init, start, first, start, second, Record("Request_free", request=0)])
    assert posts(steps) == [(False, 2, 8, 1), (False, 3, 8, 1)]


def test_an_exchange_is_both_ways() -> None:
    record = Record("Sendrecv", peer=1, tag=2, bytes=8, peer2=ANY, tag2=3, bytes2=16, actual=(3, 3))
    assert posts(steps_of([record])) == [(False, 3, 16, 3), (True, 1, 8, 2)]


def test_a_collective_without_blocking_stands_where_it_completes() -> None:
    records = [Record("Ibcast", root=0, bytes=64, request=0), Record("Barrier"), wait(0)]
    found = [(one.call, one.number) for one in steps_of(records) if isinstance(one, Together)]
    assert found == [("barrier", 1), ("bcast", 0)]


def test_what_no_step_stands_for_is_counted() -> None:
    records = [
        Record("Put", call_ns=5, peer=1, window=0, bytes=8),
        Record("Neighbor_alltoall", call_ns=7, comm=0),
        Record("File_write", gap_ns=1, call_ns=9, bytes=8),
        Record("tests", call_ns=3, count=4, between=20),
    ]
    walk = Walk(0, 4, {})
    steps = [step for record in records for step in walk.take(record)]
    assert walk.left_out == {"Put": 1, "Neighbor_alltoall": 1}
    assert walk.left_out_ns == {"Put": 5, "Neighbor_alltoall": 7}
    assert steps == [Calc(10), Calc(20)]


def test_a_communicator_has_one_key_on_all_its_ranks_whatever_its_number() -> None:
    one, other = Communicators(0, 4), Communicators(2, 4)
    one.take(Record("Comm_split", comm=0, newcomm=2, members=[0, 2]))
    other.take(Record("Comm_dup", comm=0, newcomm=2, members=range(4)))
    other.take(Record("Comm_split", comm=0, newcomm=3, members=[0, 2]))
    assert one.key(2) == other.key(3) != other.key(2) and one.members(2) == (0, 2)
    one.take(Record("Comm_split", comm=0, newcomm=3, members=[0, 2]))
    assert one.key(3) != one.key(2)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("call", sorted(SCHEDULES))
@pytest.mark.parametrize("root", [0, 1])
def test_every_message_of_a_collective_has_a_partner_and_no_rank_waits_for_ever(
    call: str, size: int, root: int
) -> None:
    root %= size
    given = list(range(1, size + 1))
    asks = [
        Ask(rank, size, root, 64, given, [given[rank]] * size) if call.startswith(("alltoall", "reduce_s"))
        else Ask(rank, size, root, 64)
        for rank in range(size)
    ]  # fmt: skip
    rounds = [rounds_of(call, ask) for ask in asks]
    sent, taken = Counter[tuple[int, int, int]](), Counter[tuple[int, int, int]]()
    for rank, some in enumerate(rounds):
        for message in (one for part in some for one in part):
            key = (rank, message.peer) if message.sent else (message.peer, rank)
            (sent if message.sent else taken)[*key, message.bytes] += 1
    assert sent == taken and all(a != b for a, b, _ in sent)
    assert run_to_the_end(rounds)


def run_to_the_end(rounds: list[list[list[Message]]]) -> bool:
    """Every rank posts a round, and goes on when all its receives have their message."""
    done, posted, sent = [0] * len(rounds), [-1] * len(rounds), Counter[tuple[int, int]]()
    moved = True
    while moved:
        moved = False
        for rank, some in enumerate(rounds):
            if done[rank] == len(some):
                continue
            now = some[done[rank]]
            if posted[rank] < done[rank]:
                posted[rank] = done[rank]
                sent.update((rank, one.peer) for one in now if one.sent)
                moved = True
            wanted = Counter((one.peer, rank) for one in now if not one.sent)
            if all(sent[key] >= count for key, count in wanted.items()):
                sent -= wanted
                done[rank] += 1
                moved = True
    return done == [len(some) for some in rounds]


@pytest.mark.parametrize("size", [2, 3, 8])
def test_rings_hand_every_block_around_once(size: int) -> None:
    blocks = list(range(1, size + 1))
    whole = sum(blocks)
    for ring, ask, each in (
        (ring_allgather, Ask(0, size, taken=blocks), lambda rank: whole - blocks[(rank + 1) % size]),
        (ring_reduce_scatter, Ask(0, size, given=blocks), lambda rank: whole - blocks[rank]),
        (ring_allreduce, Ask(0, size, bytes=size * 7), lambda _: 2 * (size - 1) * 7),
    ):
        rounds = [ring(ask._replace(rank=rank)) for rank in range(size)]
        assert run_to_the_end(rounds)
        for rank, some in enumerate(rounds):
            assert sum(one.bytes for part in some for one in part if one.sent) == each(rank)
            sent = [one.bytes for part in some for one in part if one.sent]
            ahead = [one.bytes for part in rounds[(rank + 1) % size] for one in part if not one.sent]
            assert sent == ahead and all(one.peer == (rank + 1) % size for part in some for one in part if one.sent)


def test_a_broadcast_of_eight_is_the_binomial_tree() -> None:
    assert rounds_of("bcast", Ask(0, 8, 0, 9)) == [[Message(True, 4, 9)], [Message(True, 2, 9)], [Message(True, 1, 9)]]
    assert rounds_of("bcast", Ask(6, 8, 0, 9)) == [[Message(False, 4, 9)], [Message(True, 7, 9)]]
    assert rounds_of("reduce", Ask(6, 8, 0, 9)) == [[Message(False, 7, 9)], [Message(True, 4, 9)]]
