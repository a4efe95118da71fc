"""A rank's text of dumpi2ascii → its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from wulf.trace.calls import BY_NAME, COLLECTIVES, COMPLETIONS, EXCHANGES, POSTS, RECEIVES, SENDS, STARTS, TEMPLATES
from wulf.trace.errors import FormatError
from wulf.trace.imports.building import Clock, Communicators, Ids, Limits, lines_of
from wulf.trace.imports.dumpi.communicators import SELF_HANDLE, WORLD_HANDLE, Members
from wulf.trace.imports.dumpi.text import COMMUNICATORS, Block, Text, blocks, unreadable
from wulf.trace.record import ANY, PROC_NULL, SELF, WORLD, Completion, Record

NULL_REQUEST = 1
"""The number of MPI_REQUEST_NULL."""

ANY_SOURCE = -1
"""Its own number for MPI_ANY_SOURCE, and for any tag; anything else below zero is MPI_PROC_NULL or MPI_ROOT."""

SIZES = dict(enumerate((
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
)))  # fmt: skip
"""Bytes of its types by number, on machines of 64 bits: char, signed, unsigned, byte, wchar, short …"""

TOLD = POSTS | TEMPLATES | EXCHANGES | set(COLLECTIVES)
"""Calls that become records of messages."""


class Rank:
    """One text; `begin` is known when its records are.

    Parameters
    ----------
    made
        Line of a call → members of the communicator that it made.
    left_out
        What the text does not tell enough of, counted here.
    """

    def __init__(self, text: Text, rank: int, size: int, made: Mapping[int, Members], left_out: Counter[str]) -> None:
        self._path, self._rank, self._size, self._made, self._left_out = text.path, rank, size, made, left_out
        self._clocks: dict[int, Clock] = {}
        self._ids = Ids()
        self._templates: set[int] = set()
        self._types = {**SIZES, **text.sizes}
        self._communicators = Communicators(WORLD_HANDLE, SELF_HANDLE)
        self._members: dict[int, Members] = {WORLD: range(size), SELF: (rank,)}
        self._wild: dict[int, Members | None] = {}
        self._limits = Limits(size)
        self.begin = 0

    def records(self) -> Iterator[Record]:
        """Its calls; those that are no communication take time, and say nothing."""
        for block in blocks(lines_of(self._path), self._path):
            try:
                record = self._record(block)
                if record is None:
                    continue
                record.thread = block.thread
                clock = self._clocks.setdefault(block.thread, self._clock())
                record.gap_ns, record.call_ns = clock.at(block.begin, block.end)
                yield self._limits.held(record)
            except (ValueError, KeyError, IndexError) as error:
                raise unreadable(self._path, block, error) from error

    def _clock(self) -> Clock:
        clock = Clock()
        if self.begin:
            clock.start(self.begin)
        return clock

    def _record(self, block: Block) -> Record | None:
        name = block.name
        if name in ("Init", "Init_thread"):
            self.begin = block.end
        elif name == "Finalize":
            return Record("finalize")
        elif name in COMMUNICATORS:
            return self._communicator(block)
        elif name in ("Comm_size", "Comm_rank"):
            self._check(block)
        elif name in COMPLETIONS:
            return self._completed(block)
        elif name in STARTS or name == "Request_free":
            return self._about_requests(block)
        elif name in TOLD:
            return self._communication(block)
        return None

    def _check(self, block: Block) -> None:
        """What the text says of a communicator's size and of its own place in it, beside what was put together."""
        comm = self._comm(block, "comm")
        if comm is None:
            return
        members = self._members[comm]
        size, rank = block.number("size", len(members)), block.number("rank", members.index(self._rank))
        if comm == WORLD and size != self._size:
            raise FormatError(
                f"{self._path}:{block.line}: the program has {size:,} ranks, and there are {self._size} files",
                "name the texts of all ranks",
            )
        if size != len(members) or members[rank] != self._rank:
            raise FormatError(
                f"{self._path}:{block.line}: MPI_{block.name} says {block.values}, where the calls that made this "
                f"communicator say {members.index(self._rank)} of {len(members)}",
                "are the files of one run, and was none of its grids put in another order?",
            )

    def _communicator(self, block: Block) -> Record | None:
        parent, handle = self._comm(block, "oldcomm"), block.number("newcomm")
        members = self._made.get(block.line)
        if parent is None or not members:
            self._communicators.forget(handle)
            return None if parent is None else Record(block.name, comm=parent)
        number = self._communicators.add(handle)
        self._members[number] = members
        return Record(block.name, comm=parent, newcomm=number, members=members)

    def _about_requests(self, block: Block) -> Record:
        if block.name == "Request_free":
            self._templates.discard(block.number("request"))
            return Record(block.name, request=self._ids.done(block.number("request")))
        handles = block.numbers("requests") or block.numbers("request")
        return Record(block.name, requests=[self._ids.get(handle) for handle in handles])

    def _communication(self, block: Block) -> Record | None:
        comm = self._comm(block, "comm")
        if comm is None:
            self._left_out[f"MPI_{block.name} on a communicator whose members are not told"] += 1
            return None
        members = self._members[comm]
        record = self._collective(block, members) if block.name in COLLECTIVES else self._message(block, members)
        record.comm = comm
        return record

    def _comm(self, block: Block, name: str) -> int | None:
        return self._communicators.number(block.number(name))

    def _message(self, block: Block, members: Members) -> Record:
        name = block.name
        record = Record(name)
        if name in RECEIVES:
            record.peer, record.tag = self._source(block, "tag", members)
            record.bytes = self._bytes(block, "count", "datatype")
        else:
            record.peer = _ranked(block.number("dest"), members)
            record.tag = block.number("sendtag" if name in EXCHANGES else "tag")
            given = ("sendcount", "sendtype") if name == "Sendrecv" else ("count", "datatype")
            record.bytes = self._bytes(block, *given)
        if name in EXCHANGES:
            record.peer2, record.tag2 = self._source(block, "recvtag", members)
            taken = ("recvcount", "recvtype") if name == "Sendrecv" else ("count", "datatype")
            record.bytes2 = self._bytes(block, *taken)
        status = block.statuses("status")
        if status and name not in SENDS and ANY in record.source:
            record.actual = (_ranked(status[0][2], members), status[0][3])
        if "request" in block.values:
            handle = block.number("request")
            record.request = self._ids.new(handle)
            self._wild[handle] = members if name in RECEIVES and ANY in record.source else None
            (self._templates.add if name in TEMPLATES else self._templates.discard)(handle)
        return record

    def _source(self, block: Block, tag: str, members: Members) -> tuple[int, int]:
        source = block.number("source")
        return ANY if source == ANY_SOURCE else _ranked(source, members), max(ANY, block.number(tag))

    def _bytes(self, block: Block, count: str, kind: str) -> int:
        number = block.number(kind)
        if number not in self._types:
            self._left_out["size of a derived type, counted as 1 byte"] += 1
        return block.number(count) * self._types.get(number, 1)

    def _completed(self, block: Block) -> Record:
        """Which requests are done: all of a Wait's and Waitall's, those of the index or indices of the others."""
        handles = block.numbers("requests") or block.numbers("request")
        statuses = block.statuses("statuses") or block.statuses("status")
        if block.name in ("Waitany", "Testany"):
            index = block.number("index", -1)
            handles = handles[index : index + 1] if index >= 0 else []
        elif block.name in ("Waitsome", "Testsome"):
            handles = [handles[index] for index in block.numbers("indices")]
        if block.name.startswith("Test") and block.number("flag", 1) == 0:
            return Record("tests", count=1)
        done = []
        for at, handle in enumerate(handles):
            status = statuses[at] if at < len(statuses) else None
            done.append(self._one_done(handle, status))
        return Record(block.name, given=len(handles), completions=done or [Completion(None)])

    def _one_done(self, handle: int, status: tuple[int, int, int, int] | None) -> Completion:
        request = self._ids.get(handle) if handle in self._templates else self._ids.done(handle)
        if request is None and handle > NULL_REQUEST:
            self._left_out["end of a request whose beginning is not told (a non-blocking collective, MPI_Imrecv)"] += 1
        if status is not None and (members := self._wild.get(handle)):
            return Completion(request, _ranked(status[2], members), status[3])
        return Completion(request)

    def _collective(self, block: Block, members: Members) -> Record:
        rooted = "root" in BY_NAME[block.name].fields
        record = Record(block.name, root=_ranked(block.number("root"), members) if rooted else None)
        if "count" in block.values:
            record.bytes = self._bytes(block, "count", "datatype")
        if "sendcount" in block.values:
            record.bytes = self._bytes(block, "sendcount", "sendtype")
        if "recvcount" in block.values:
            record.bytes2 = self._bytes(block, "recvcount", "recvtype")
        lists = {"sendcounts": "sendtype", "recvcounts": "recvtype" if "recvtype" in block.values else "datatype"}
        counts = {name: [count * self._types.get(block.number(kind), 1) for count in block.numbers(name)]
                  for name, kind in lists.items() if name in block.values}  # fmt: skip
        record.counts = counts.get("sendcounts", counts.get("recvcounts", []))
        if "sendcounts" in counts and "recvcounts" in counts:
            record.counts2 = counts["recvcounts"]
            record.bytes, record.bytes2 = sum(record.counts), sum(record.counts2)
        if "request" in block.values:
            record.request = self._ids.new(block.number("request"))
        return record


def _ranked(peer: int, members: Members) -> int:
    """In MPI_COMM_WORLD, of a rank in a communicator. IndexError where it has no such rank."""
    return members[peer] if peer >= 0 else PROC_NULL
