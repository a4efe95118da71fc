"""Requests by what completed them, communicators by members."""

from __future__ import annotations

from tests.unit.trace.making import recv, send, wait
from wulf.trace.record import ANY, PROC_NULL, Completion, Record
from wulf.trace.steps import Communicators, Post, Step, Wait, Walk, outcomes


def steps_of(records: list[Record], rank: int = 0) -> list[Step]:
    walk = Walk(rank, outcomes(records))
    return [step for record in records for step in walk.take(record)]


def irecv(peer: int, request: int, tag: int = 0, size: int = 8) -> Record:
    return Record("Irecv", peer=peer, tag=tag, bytes=size, request=request)


def posts(steps: list[Step]) -> list[tuple[bool, int, int, int]]:
    return [(one.sent, one.peer, one.bytes, one.tag) for one in steps if isinstance(one, Post)]


def test_blocking_calls_are_posted_and_waited_for() -> None:
    steps = steps_of([send(1, 8, 7, gap=100, call=5), recv(2, 16, 8)])
    assert steps == [Post(True, 1, 8, 7, "world", 0), Wait(0), Post(False, 2, 16, 8, "world", 0), Wait(0)]


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


def test_what_is_no_message_is_no_step() -> None:
    records = [
        Record("Ibcast", root=0, bytes=64, request=0),
        Record("Put", call_ns=5, peer=1, window=0, bytes=8),
        Record("File_write", gap_ns=1, call_ns=9, bytes=8),
        Record("tests", call_ns=3, count=4, between=20),
        wait(0),
    ]
    assert steps_of(records) == []


def test_a_communicator_has_one_key_on_all_its_ranks_whatever_its_number() -> None:
    one, other = Communicators(0), Communicators(2)
    one.take(Record("Comm_split", comm=0, newcomm=2, members=[0, 2]))
    other.take(Record("Comm_dup", comm=0, newcomm=2, members=range(4)))
    other.take(Record("Comm_split", comm=0, newcomm=3, members=[0, 2]))
    assert one.key(2) == other.key(3) != other.key(2)
    one.take(Record("Comm_split", comm=0, newcomm=3, members=[0, 2]))
    assert one.key(3) != one.key(2)
