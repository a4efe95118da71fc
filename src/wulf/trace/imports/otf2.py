"""OTF2 of Score-P, as its own `otf2-print -A traces.otf2` prints it: definitions, then events of all locations.

    ENTER                     0      62047862183240  Region: "MPI_Send" <7>
    MPI_SEND                  0      62047862183290  Receiver: 1 ("Master thread" <4>), Communicator: "" <0>, Tag: 0, …

Events between the ENTER and the LEAVE of a region are one call. Peers are ranks of the communicator, and the location
that stands behind each says which rank of the world that is. What a non-blocking collective was, and on which
communicator a non-blocking receive was, is told where it is complete: the text is read ahead for that. Computing is all
time outside of MPI's regions.

It is one long file, since the format is read in one pass: definitions, events, and calls stand on each other.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wulf.trace.calls import BY_NAME, COLLECTIVES, COMPLETIONS, NEW_COMMUNICATORS, QUIET, RECEIVES, SENDS
from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import Clock, Communicators, Ids, Limits, lines_of
from wulf.trace.manifest import RANKS
from wulf.trace.record import ANY, PROC_NULL, WORLD, Completion, Record
from wulf.trace.writer import RankWriter

HELP = "OTF2, as `otf2-print -A traces.otf2` prints it: one text."

NS = 10**9

_DIGITS = re.compile(r"\d+")
_ID = re.compile(r"<(\d+)>")
_CLOCK = re.compile(r"CLOCK_PROPERTIES\s+Ticks per Seconds: (\d+)")
_GROUP = re.compile(
    r'GROUP\s+(\d+)\s+Name: .*, Type: (\w+), Paradigm: "?(\w+)"?(?: <\d+>)?, Flags: .*, \d+ Members?:(.*)'
)
"""A paradigm stands as MPI, or as "MPI" <4> where the trace defines it, as Score-P does; one member is a Member."""
_TREE_NODE = re.compile(r'SYSTEM_TREE_NODE\s+(\d+)\s+Name: "(.*?)" <\d+>, Class: "(.*?)" <\d+>, Parent: (.*)')
_PROCESS = re.compile(r"LOCATION_GROUP\s+(\d+)\s+Name: .*?, Type: \w+, Parent: (?:\".*?\" <(\d+)>|UNDEFINED)")
_LOCATION = re.compile(r'LOCATION\s+(\d+)\s+Name: .*, Group: ".*?" <(\d+)>')
_COMM = re.compile(r"COMM\s+(\d+)\s+Name: .*, Group: (.*), Parent: (.*)")
_INTER_COMM = re.compile(r"INTER_COMM\s+(\d+)\s+[Nn]ame: .*, Group A: (.*), Group B: (.*), Common Communicator: ")
_EVENT = re.compile(r"(MPI_\w+|NON_BLOCKING_COLLECTIVE_\w+|COMM_CREATE|ENTER|LEAVE)\s+(\d+)\s+(\d+)\s*(.*)")
_REGION = re.compile(r'Region: "(.*)" <\d+>')
_PARTS = re.compile(r"(Receiver|Sender|Root): (?:(\d+) \((?:.*?<(\d+)>)?[^)]*\)|(UNDEFINED))")
_NUMBERS = re.compile(r"(Tag|Length|Request|Sent|Received): (\d+)")
_COMMUNICATOR = re.compile(r'Communicator: (?:".*?" <(\d+)>|(\d+))')
_SPECIAL_ROOT = re.compile(r"Root: (SELF|THIS_GROUP)")

STARTED, COMPLETE = "NON_BLOCKING_COLLECTIVE_REQUEST", "NON_BLOCKING_COLLECTIVE_COMPLETE"
RECEIVED, CANCELLED = "MPI_IRECV", "MPI_REQUEST_CANCELLED"


_HOW = "is it the output of otf2-print -A?"


class Event(NamedTuple):
    """A line of an event, its words as numbers."""

    kind: str
    location: int
    at: int
    text: str
    line: int

    def numbers(self) -> dict[str, int]:
        """Tag, Length, Request, Sent, Received."""
        return {name: int(value) for name, value in _NUMBERS.findall(self.text)}

    def partner(self) -> int | None:
        """The location behind a rank; None: there is none."""
        match = _PARTS.search(self.text)
        return int(match[3]) if match and match[3] is not None else None

    def communicator(self) -> int | None:
        """Its definition's number."""
        match = _COMMUNICATOR.search(self.text)
        return int(match[1] or match[2]) if match else None


def event_of(line: str, number: int) -> Event | None:
    """The event of a line; None: it is none that counts here."""
    match = _EVENT.match(line)
    return Event(match[1], int(match[2]), int(match[3]), match[4], number) if match else None


@dataclass
class Definitions:
    """What stands before the events: clock, locations of the ranks and their hosts, members of communicators."""

    ticks: int = 0
    ranks: dict[int, int] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)
    sides: dict[int, list[list[int]]] = field(default_factory=dict)
    """Communicator → its members as world ranks; of an intercommunicator, those of both groups."""
    _tree: dict[int, tuple[str, str, int | None]] = field(default_factory=dict)
    """Part of the system → name, class, what it is part of."""
    _processes: dict[int, int | None] = field(default_factory=dict)
    _locations: dict[int, int] = field(default_factory=dict)
    _wanted: dict[int, list[int]] = field(default_factory=dict)

    def take(self, line: str) -> None:
        """A line of a definition."""
        if match := _CLOCK.match(line):
            self.ticks = int(match[1])
        elif match := _GROUP.match(line):
            members = [int(one) for one in _ID.findall(match[4]) or _DIGITS.findall(match[4])]
            if match[2] == "COMM_LOCATIONS" and match[3] == "MPI":
                self.ranks = {location: rank for rank, location in enumerate(members)}
            elif match[2] == "COMM_GROUP" and match[3] == "MPI":
                self.groups[int(match[1])] = members
        elif match := _TREE_NODE.match(line):
            above = _ID.search(match[4])
            self._tree[int(match[1])] = match[2], match[3], int(above[1]) if above else None
        elif match := _PROCESS.match(line):
            self._processes[int(match[1])] = int(match[2]) if match[2] else None
        elif match := _LOCATION.match(line):
            self._locations[int(match[1])] = int(match[2])
        elif match := _COMM.match(line):
            self._wanted[int(match[1])] = [int(one) for one in _ID.findall(match[2])]
        elif match := _INTER_COMM.match(line):
            self._wanted[int(match[1])] = [int(one) for one in _ID.findall(match[2]) + _ID.findall(match[3])]

    def host(self, location: int) -> str:
        """The node that a location's process ran on, or else what it is part of; "" where nothing is told."""
        part = self._processes.get(self._locations.get(location, -1))
        first = self._tree.get(-1 if part is None else part)
        while part is not None and part in self._tree:
            name, kind, above = self._tree[part]
            if kind == "node":
                return name
            part = above if above != part else None
        return first[0] if first else ""

    def done(self, path: Path) -> None:
        """All definitions are there. FormatError where they are not."""
        if self.ticks and not self.ranks:
            raise FormatError(f"{path} has no ranks of MPI", "only what MPI programs say to one another is replayed")
        if not self.ticks:
            raise FormatError(
                f"{path} has no definitions of clock and MPI ranks before its events",
                "print all of it: otf2-print -A traces.otf2 > trace.txt",
            )
        for comm, groups in self._wanted.items():
            if groups and all(group in self.groups for group in groups):
                self.sides[comm] = [[self.ranks.get(one, one) for one in self.groups[group]] for group in groups]

    @property
    def several(self) -> bool:
        """Whether there are other communicators than one."""
        return len(self._wanted) > 1

    def members(self, comm: int, rank: int) -> tuple[list[int], list[int]] | None:
        """Those on a rank's side of a communicator, and of an intercommunicator those on the other; None: not known."""
        sides = self.sides.get(comm)
        if sides is None or all(rank not in side for side in sides):
            return None
        own = next(side for side in sides if rank in side)
        return own, next((side for side in sides if side is not own), [])

    def ns(self, ticks: int) -> int:
        """Nanoseconds, in whole numbers."""
        return ticks * NS // self.ticks


class Ends:
    """How requests ended, read ahead in the same text, just as far as is asked.

    Parameters
    ----------
    kinds
        Events that end them: all that begin with those must be asked for, or what was read ahead stays in memory.
    """

    def __init__(self, path: Path, *kinds: str) -> None:
        self._ahead = (
            event
            for number, line in lines_of(path)
            if line.startswith(kinds) and (event := event_of(line, number)) is not None and event.kind in kinds
        )
        self._known = defaultdict[tuple[int, int], deque[Event]](deque)

    def next(self, location: int, request: int) -> Event | None:
        """The end of the next one with that request; None: it never ended."""
        wanted = location, request
        while wanted not in self._known:
            event = next(self._ahead, None)
            if event is None:
                return None
            self._known[event.location, event.numbers().get("Request", -1)].append(event)
        found = self._known[wanted].popleft()
        if not self._known[wanted]:
            del self._known[wanted]
        return found


class Ahead(NamedTuple):
    """What is read ahead: ends of collectives that do not block, and, if those are not all on one communicator,
    of receives.
    """

    collectives: Ends
    receives: Ends | None


def bring(paths: Sequence[Path], folder: Path) -> Imported:
    """One text; its ranks' files are written side by side, since its events come by time."""
    if len(paths) != 1 or paths[0].is_dir():
        raise FormatError("OTF2 is one text of all locations", "otf2-print -A traces.otf2 > trace.txt")
    path, definitions = paths[0], Definitions()
    ranks: dict[int, _Rank] = {}
    with ExitStack() as stack:
        for number, line in lines_of(path):
            try:
                event = event_of(line, number)
                if event is None:
                    definitions.take(line)
                    continue
            except ValueError as error:  # a number of thousands of digits
                raise FormatError(f"{path}:{number}: {line[:120]!r} can't be read ({error})", _HOW) from error
            if not ranks:
                definitions.done(path)
                receives = Ends(path, RECEIVED, CANCELLED) if definitions.several else None
                ranks = _opened(stack, folder, definitions, Ahead(Ends(path, COMPLETE), receives))
            one = ranks.get(event.location)
            if one is not None:  # a location that is no rank's: a thread, a device
                one.take(event, path)
        if not any(one.told for one in ranks.values()):
            raise FormatError(f"{path} holds no event of MPI", _HOW)
    lost = sum(one.lost for one in ranks.values())
    notes = [f"{lost} calls could not be told from their events, and are left out"] if lost else []
    return Imported(len(ranks), RANKS, notes)


def _opened(stack: ExitStack, folder: Path, definitions: Definitions, ahead: Ahead) -> dict[int, _Rank]:
    size = len(definitions.ranks)
    found = {}
    for location, rank in definitions.ranks.items():
        head = {"rank": rank, "size": size, "host": definitions.host(location), "mpi": "OTF2"}
        out = stack.enter_context(RankWriter(folder, head))
        found[location] = _Rank(rank, size, definitions, ahead, out)
    return found


class _Rank:
    """One location's events as records: `told` counts them, `lost` calls whose events do not tell what they did."""

    def __init__(self, rank: int, size: int, definitions: Definitions, ahead: Ahead, out: RankWriter) -> None:
        self._rank, self._size, self._definitions, self._ahead, self._out = rank, size, definitions, ahead, out
        self._clock, self._ids, self._limits = Clock(), Ids(), Limits(size)
        world = next((comm for comm, sides in definitions.sides.items() if sides == [list(range(size))]), 0)
        self._communicators = Communicators(world)
        self._region: tuple[str, int] | None = None
        self._events: list[Event] = []
        self.told = self.lost = 0

    def take(self, event: Event, path: Path) -> None:
        """The next event."""
        if event.kind == "ENTER":
            region = _REGION.search(event.text)
            if region and region[1].startswith("MPI_"):
                self._region, self._events = (region[1].removeprefix("MPI_"), event.at), []
        elif event.kind == "LEAVE":
            region = _REGION.search(event.text)
            if self._region is not None and region and region[1] == f"MPI_{self._region[0]}":
                self._leave(event, path)
                self._region = None
        elif self._region is not None:
            self._events.append(event)

    def _leave(self, event: Event, path: Path) -> None:
        assert self._region is not None  # noqa: S101 - the caller has looked
        name, begin = self._region
        if name in ("Init", "Init_thread"):
            self._clock.start(self._definitions.ns(event.at))
            return
        try:
            records = list(self._records(name))
            times = self._clock.at(self._definitions.ns(begin), self._definitions.ns(event.at)) if records else (0, 0)
            for record in records:
                if "times" in BY_NAME[record.op].fields:
                    record.gap_ns, record.call_ns = times
                    times = (0, 0)
                self._out.add(self._limits.held(record))
                self.told += 1
        except (KeyError, ValueError) as error:
            raise FormatError(f"{path}:{event.line}: MPI_{name} has events that can't be read ({error})",
                              _HOW) from error  # fmt: skip

    def _records(self, name: str) -> Iterator[Record]:
        """The records of a call; before it communicators that nothing told of."""
        by = {event.kind: event for event in self._events}
        if name in NEW_COMMUNICATORS and {"MPI_COLLECTIVE_END", "COMM_CREATE"} <= by.keys():
            yield self._created(name, by["MPI_COLLECTIVE_END"], by["COMM_CREATE"])
            return
        if name in COLLECTIVES and STARTED in by:
            end = self._ahead.collectives.next(by[STARTED].location, by[STARTED].numbers()["Request"])
            if end is None:
                self.lost += 1
                return
            by["MPI_COLLECTIVE_END"] = end
            self._events.append(end)
        yield from self._found(self._events)
        if name == "Finalize":
            yield Record("finalize")
        elif name in COLLECTIVES and "MPI_COLLECTIVE_END" in by:
            record = self._collective(name, by["MPI_COLLECTIVE_END"])
            if STARTED in by:
                record.request = self._ids.new(by[STARTED].numbers()["Request"])
            yield record
        elif name in ("Sendrecv", "Sendrecv_replace") and {"MPI_SEND", "MPI_RECV"} <= by.keys():
            yield self._exchange(name, by["MPI_SEND"], by["MPI_RECV"])
        elif name in COMPLETIONS or (name in ("Start", "Startall")):
            yield from self._several(name)
        elif name in SENDS | RECEIVES and name in BY_NAME:
            yield from self._message(name)
        elif self._events and name not in QUIET:
            self.lost += 1

    def _found(self, events: Sequence[Event]) -> Iterator[Record]:
        for event in events:
            comm = event.communicator()
            if comm is not None and self._communicators.number(comm) is None:
                yield self._new("found_comm", comm)

    def _created(self, name: str, end: Event, made: Event) -> Record:
        comm = made.communicator()
        if comm is None:
            raise ValueError("COMM_CREATE names no communicator")
        record = self._new(name, comm)
        record.comm = self._communicators.number(end.communicator()) or 0
        return record

    def _new(self, name: str, comm: int) -> Record:
        own, others = self._definitions.members(comm, self._rank) or ([self._rank], [])
        return Record(name, newcomm=self._communicators.add(comm), members=own, members2=others)

    def _message(self, name: str) -> Iterator[Record]:
        for event in self._events:
            told = event.numbers()
            if event.kind in ("MPI_SEND", "MPI_ISEND", "MPI_RECV"):
                record = self._told(Record(name), event)
                if "Request" in told:
                    record.request = self._ids.new(told["Request"])
                yield record
            elif event.kind == "MPI_IRECV_REQUEST":
                yield from self._receive(name, event)

    def _receive(self, name: str, event: Event) -> Iterator[Record]:
        """A receive that does not block: what it takes, and on which communicator, is told when it is complete."""
        request = event.numbers()["Request"]
        record = Record(name, peer=ANY, tag=ANY, request=self._ids.new(request))
        ends = self._ahead.receives
        end = ends.next(event.location, request) if ends is not None else None
        if end is not None:
            yield from self._found([end])
            record.comm = self._communicators.number(end.communicator()) or WORLD
        yield record

    def _told(self, record: Record, event: Event) -> Record:
        told = event.numbers()
        location = event.partner()
        if location is None or location not in self._definitions.ranks:
            raise ValueError(f"the partner of {event.kind} is no rank")
        record.peer, record.tag, record.bytes = self._definitions.ranks[location], told["Tag"], told["Length"]
        comm = event.communicator()
        record.comm = self._communicators.number(comm) or 0
        return record

    def _exchange(self, name: str, out: Event, into: Event) -> Record:
        record, taken = self._told(Record(name), out), self._told(Record("Recv"), into)
        record.peer2, record.tag2, record.bytes2 = taken.peer, taken.tag, taken.bytes
        return record

    def _several(self, name: str) -> Iterator[Record]:
        """Completions; persistent requests that are started are new requests each time."""
        done = []
        for event in self._events:
            request = event.numbers().get("Request")
            if event.kind == "MPI_ISEND":
                yield self._told(Record("Isend", request=self._ids.new(request)), event)
            elif event.kind == "MPI_IRECV_REQUEST":
                yield from self._receive("Irecv", event)
            elif event.kind in ("MPI_ISEND_COMPLETE", COMPLETE):
                done.append(Completion(self._ids.done(request)))
            elif event.kind == "MPI_IRECV":
                taken = self._told(Record("Recv"), event)
                done.append(Completion(self._ids.done(request), taken.peer, taken.tag, taken.bytes))
            elif event.kind == "MPI_REQUEST_CANCELLED":
                done.append(Completion(self._ids.done(request), cancelled=True))
        if name in COMPLETIONS and (done or name.startswith("Wait")):
            yield Record(name, given=len(done), completions=done or [Completion(None)])

    def _collective(self, name: str, event: Event) -> Record:
        """Score-P tells what went to and came from all ranks in all; here it is one rank's block, where that counts."""
        told = event.numbers()
        known = self._definitions.members(event.communicator() or 0, self._rank)
        many = max(1, len(known[0])) if known else self._size
        given, taken = told["Sent"], told["Received"]
        record = Record(name, comm=self._communicators.number(event.communicator()) or 0, bytes=given, bytes2=taken)
        if "root" in BY_NAME[name].fields:
            record.root = self._root(event)
        kind = COLLECTIVES[name]
        if kind == "bcast":
            record.bytes = taken or given // many
        elif kind == "allreduce":
            record.bytes = given // many
        elif kind in ("alltoall", "reduce_scatter_block"):
            record.bytes, record.bytes2 = given // many, taken // many
        elif kind in ("allgather", "gather"):
            record.bytes, record.bytes2 = given // (many if kind == "allgather" else 1), taken // many
        elif kind == "scatter":
            record.bytes, record.bytes2 = given // many, taken
        elif "counts" in BY_NAME[name].fields:
            spread = taken if kind in ("gatherv", "allgatherv") else given
            record.counts = [spread // many] * many if spread else []
        return record

    def _root(self, event: Event) -> int:
        """In an intercommunicator the root names itself, and its neighbours name nobody."""
        if special := _SPECIAL_ROOT.search(event.text):
            return self._rank if special[1] == "SELF" else PROC_NULL
        location = event.partner()
        return self._definitions.ranks.get(-1 if location is None else location, 0)
