"""One task's calls of a Paraver trace as records."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from wulf.trace.calls import BY_NAME, COLLECTIVES, COMPLETIONS, EXCHANGES, RECEIVES, SENDS, STARTS
from wulf.trace.imports.building import Clock, Communicators, Ids
from wulf.trace.imports.paraver.collectives import FINALIZE, INIT, NAMES, UNTOLD, Survey, sized
from wulf.trace.imports.paraver.events import COMMUNICATOR, LEFT, ONE_SIDED, Header, Message, TaskCall
from wulf.trace.imports.paraver.messages import Side, of_irecv, of_receive, of_send
from wulf.trace.record import PROC_NULL, Completion, Record

ALONE = "without a communication, and taken as with MPI_PROC_NULL"
GUESSED = "guessed, since the text does not tell which request"
SPREAD = "spread evenly, since the text tells only the sum of the sizes"


class Requests:
    """Those of one task that are under way."""

    def __init__(self) -> None:
        self._ids, self._begun = Ids(), 0
        self._receives: list[tuple[int, int]] = []  # a heap of when it arrived, and the handle
        self._others: list[tuple[int, int]] = []  # when it may be complete, and the handle

    def receive(self, arrived: int) -> int:
        """A number for a receive that completes then."""
        number = self._new()
        heapq.heappush(self._receives, (arrived, self._begun))
        return number

    def other(self, ready: int) -> int:
        """A number for what completes then or later: a send, which is so once its receive is posted."""
        number = self._new()
        self._others.append((ready, self._begun))
        return number

    def _new(self) -> int:
        self._begun += 1
        return self._ids.new(self._begun)

    def arrived(self, end: int, most: int | None) -> list[Completion]:
        """The receives that are complete by then, at most so many."""
        found = list[int]()
        while self._receives and self._receives[0][0] <= end and (most is None or len(found) < most):
            found.append(heapq.heappop(self._receives)[1])
        return self._done(found)

    def ready(self, end: int, most: int | None) -> list[Completion]:
        """The others that may be complete by then, at most so many, the oldest first."""
        found = [one for one in self._others if one[0] <= end][:most]
        self._others = [one for one in self._others if one not in found]
        return self._done(handle for _, handle in found)

    def rest(self) -> list[Completion]:
        """All that are left."""
        found = sorted(handle for _, handle in self._receives + self._others)
        self._receives, self._others = [], []
        return self._done(found)

    def _done(self, handles: Iterable[int]) -> list[Completion]:
        return [Completion(self._ids.done(handle)) for handle in handles]


class Task:
    """One task, call by call.

    Parameters
    ----------
    sends, receives
        Its communications.
    notes
        Where what is not known is counted, as `kind: what`.
    """

    def __init__(
        self, rank: int, header: Header, communicators: Mapping[int, tuple[int, ...]], survey: Survey,
        *, sides: tuple[Side, Side], notes: Counter[str],
    ) -> None:  # fmt: skip
        self._rank, self._ns, self._members, self._survey = rank, header.ns, communicators, survey
        (self._sends, self._receives), self._notes = sides, notes
        self._clock, self._requests = Clock(), Requests()
        world = tuple(range(header.size))
        self._communicators = Communicators(next((one for one, some in communicators.items() if some == world), None))
        self._numbers = defaultdict[int, int](int)
        self.ended = False

    def take(self, call: TaskCall) -> Iterator[Record]:
        """The records of the next call; those that talk to nobody take time, and say nothing."""
        times = call.begin * self._ns, call.end * self._ns
        if call.value == INIT:
            self._clock.start(times[1])
            return
        records = list(self._records(call))
        gap, long = self._clock.at(*times) if records else (0, 0)
        for record in records:
            if "times" in BY_NAME[record.op].fields:
                record.gap_ns, gap = gap, 0
                if record is records[-1]:
                    record.call_ns = long
            yield record

    def _records(self, call: TaskCall) -> Iterator[Record]:
        name = NAMES.get(call.value, "")
        if call.kind == ONE_SIDED:
            self._notes[f"{LEFT}: one-sided calls"] += 1
        elif call.value == FINALIZE:
            yield from self._finished()
        elif name in COLLECTIVES:
            yield from self._collective(name, call)
        elif name in COMPLETIONS:
            yield self._completed(name, call)
        elif name in EXCHANGES:
            yield self._exchange(name, call)
        elif name in SENDS | RECEIVES:
            yield self._message(name, call)
        elif name in STARTS:
            yield from self._started(name, call)
        elif call.value in UNTOLD:
            self._notes[f"{LEFT}: MPI_{UNTOLD[call.value]}"] += 1

    def _finished(self) -> Iterator[Record]:
        self.ended = True
        rest = self._requests.rest()
        if rest:
            self._notes[f"{GUESSED}: completed at MPI_Finalize"] += len(rest)
            yield Record("Waitall", given=len(rest), completions=rest)
        yield Record("finalize")

    def _message(self, name: str, call: TaskCall) -> Record:
        span = call.begin, call.end
        if name in SENDS:
            message = self._sends.take(*span, of_send(*span))
        else:
            message = self._receives.take(*span, (of_irecv if name == "Irecv" else of_receive)(*span))
        if message is None:
            self._notes[f"{ALONE}: MPI_{name}"] += 1
        return self._told(name, message)

    def _told(self, name: str, message: Message | None) -> Record:
        """A send or a receive of a message; None: of nobody's."""
        record, sends = Record(name, peer=PROC_NULL, tag=0), name in SENDS
        if message is not None:
            record.peer = message.receiver if sends else message.sender
            record.tag, record.bytes = message.tag, message.bytes
        if name.startswith("I"):
            record.request = (
                self._requests.receive(message.arrived)
                if message is not None and not sends
                else self._requests.other(0 if message is None else message.posted)
            )
        return record

    def _exchange(self, name: str, call: TaskCall) -> Record:
        span = call.begin, call.end
        record = Record(name, peer=PROC_NULL, tag=0, peer2=PROC_NULL, tag2=0)
        out, into = self._sends.take(*span, of_send(*span)), self._receives.take(*span, of_receive(*span))
        if out is not None:
            record.peer, record.tag, record.bytes = out.receiver, out.tag, out.bytes
        if into is not None:
            record.peer2, record.tag2, record.bytes2 = into.sender, into.tag, into.bytes
        if out is None or into is None:
            self._notes[f"{ALONE}: a side of MPI_{name}"] += (out is None) + (into is None)
        return record

    def _started(self, name: str, call: TaskCall) -> Iterator[Record]:
        """Persistent requests are new ones each time they are started."""
        into = self._receives.all_within(call.begin, call.end)
        out = self._sends.all_within(call.begin, call.end)
        if not into and not out:
            self._notes[f"{ALONE}: MPI_{name}"] += 1
        yield from (self._told("Irecv", message) for message in into)
        yield from (self._told("Isend", message) for message in out)

    def _completed(self, name: str, call: TaskCall) -> Record:
        """What arrives in a call is known. Of what else is complete by then, the oldest is taken, or all by a …all."""
        done = self._requests.arrived(call.end, None if name.endswith(("all", "some")) else 1)
        if name.endswith("all") or not done:
            others = self._requests.ready(call.end, None if name.endswith("all") else 1)
            if others:
                self._notes[f"{GUESSED}: completion of a send or of a non-blocking collective"] += len(others)
            done += others
        if not done and name.startswith("Test"):
            return Record("tests", count=1)
        return Record(name, given=len(done), completions=done or [Completion(None)])

    def _collective(self, name: str, call: TaskCall) -> Iterator[Record]:
        comm = call.told.get(COMMUNICATOR, -1)
        number, self._numbers[comm] = self._numbers[comm], self._numbers[comm] + 1
        members = self._members.get(comm, ())
        if self._rank not in members:
            self._notes[f"{LEFT}: MPI_{name} on a communicator whose members are not declared"] += 1
            return
        if self._communicators.number(comm) is None:
            yield Record("found_comm", newcomm=self._communicators.add(comm), members=members)
        record = Record(name, comm=self._communicators.number(comm) or 0)
        if "root" in BY_NAME[name].fields:
            root = self._survey.root((comm, number))
            record.root = members[0] if root is None else root
        if sized(record, call, len(members), self._rank == record.root):
            self._notes[f"{SPREAD}: MPI_{name}"] += 1
        if "request" in BY_NAME[name].fields:
            record.request = self._requests.other(self._survey.begun.get((comm, number), 0))
        yield record
