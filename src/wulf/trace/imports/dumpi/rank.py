"""DUMPI of SST, as dumpi2ascii prints it: a file a rank, a block of lines a call.

    MPI_Isend entering at walltime 1296777956.739674000, cputime 0.008347000 seconds in thread 0.
    int count=1
    MPI_Datatype datatype=9 (MPI_INT)
    int dest=1
    int tag=1337
    MPI_Comm comm=2 (MPI_COMM_WORLD)
    MPI_Request request=[2]
    MPI_Isend returning at walltime 1296777956.739689000, cputime 0.008362000 seconds in thread 0.

The calls are in the text only where dumpi2ascii was told to print them (-S), and sizes of derived types where it was
told to print those (-X). Who belongs to a communicator that was split off is not in it: what happens on one is left
out, aloud; duplicates of the world are known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from wulf.trace.calls import BY_NAME, COLLECTIVES, COMPLETIONS, EXCHANGES, POSTS, RECEIVES, SENDS, STARTS, TEMPLATES
from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import (
    Clock,
    Communicators,
    Ids,
    Limits,
    lines_of,
    notes_of,
    ranks_in,
    some,
    write_rank,
)
from wulf.trace.manifest import RANKS
from wulf.trace.record import ANY, PROC_NULL, WORLD, Completion, Record

HELP = "DUMPI, as dumpi2ascii prints each rank's file: *.txt or *.ascii."

PATTERN = "*-[0-9]*.[ta][xs]*"
_RANK = re.compile(r"-0*(\d+)\.[^.]*$")
_EDGE = re.compile(
    r"MPI_(\w+) (entering|returning) at walltime (\d{1,18})\.(\d{9}), cputime \S+ seconds in thread (\d{1,9})\.",
    re.ASCII,
)
_VALUE = re.compile(r"(?:int|int64_t|MPI_\w+) (\w+)(?:\[\d+\])?=(.*)")
_STATUS = re.compile(r"\{bytes=(-?\d+), cancelled=(-?\d+), source=(-?\d+), tag=(-?\d+), error=-?\d+\}")
_NUMBER = re.compile(r"-?\d+")

WORLD_HANDLE, SELF_HANDLE = 2, 3
"""dumpi/common/constants.h: error 0, null 1, then these."""

NULL_REQUEST = 1
"""The number of MPI_REQUEST_NULL."""

ANY_SOURCE = -1
"""Its own number for MPI_ANY_SOURCE, and for any tag; anything else below zero is MPI_PROC_NULL or MPI_ROOT."""

SIZES = dict(enumerate((
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
)))  # fmt: skip
"""Bytes of its types by number, on machines of 64 bits: char, signed, unsigned, byte, wchar, short …"""

_SIZE = re.compile(r"Datatype (\d{1,9}) \(.*\) has size (\d{1,18})")
"""A line that -X prints after all calls."""


TOLD = POSTS | TEMPLATES | EXCHANGES | set(COLLECTIVES)
"""Calls that become records of messages."""


class Block(NamedTuple):
    """A call as the text has it."""

    name: str
    begin: int
    end: int
    thread: int
    values: dict[str, str]
    line: int

    def number(self, name: str, default: int | None = None) -> int:
        """An integer, or a handle's number. KeyError where it is not there and has no default."""
        if name not in self.values and default is not None:
            return default
        match = _NUMBER.match(self.values[name].lstrip("["))
        if match is None:
            raise ValueError(f"{name} is no number")
        return int(match[0])

    def numbers(self, name: str) -> list[int]:
        """A list; empty where the text ignored it."""
        return [int(text) for text in _NUMBER.findall(self.values.get(name, ""))]

    def statuses(self, name: str) -> list[tuple[int, int, int, int]]:
        """(bytes, cancelled, source, tag) of each; empty where the text ignored them."""
        return [tuple(map(int, found)) for found in _STATUS.findall(self.values.get(name, ""))]  # type: ignore[misc]


def bring(paths: Sequence[Path], folder: Path) -> Imported:
    """A file a rank."""
    files = ranks_in(
        paths, PATTERN, "text of dumpi2ascii", _rank_of, "name all files of the run, each printed by dumpi2ascii"
    )
    left_out: Counter[str] = Counter()
    for rank, path in files:
        one = _Rank(path, rank, len(files), left_out)
        first = list(some(one.records(), path, "print it with dumpi2ascii -SX: without -S it leaves the calls out"))
        header = {"rank": rank, "size": len(files), "host": one.host, "mpi": "DUMPI", "begin_realtime_ns": one.begin}
        write_rank(folder, header, first)
    return Imported(len(files), RANKS, notes_of(left_out))


def _rank_of(path: Path) -> int:
    match = _RANK.search(path.name)
    if match is None:
        raise FormatError(f"{path}: its name tells no rank", "DUMPI names them dumpi-DATE-0000.bin: keep the number")
    return int(match[1])


def _sizes(path: Path) -> dict[int, int]:
    """What the text says of types: those that it calls 0 bytes long were never asked for."""
    found = (_SIZE.match(line) for _, line in lines_of(path) if line.startswith("Datatype "))
    return {int(size[1]): int(size[2]) for size in found if size and size[2] != "0"}


class _Rank:
    """One file; `host` and `begin` are known when its records are."""

    def __init__(self, path: Path, rank: int, size: int, left_out: Counter[str]) -> None:
        self._path, self._rank, self._size, self._left_out = path, rank, size, left_out
        self._clocks: dict[int, Clock] = {}
        self._ids = Ids()
        self._templates: set[int] = set()
        self._types = {**SIZES, **_sizes(path)}
        self._communicators = Communicators(WORLD_HANDLE, SELF_HANDLE)
        self._wild: dict[int, bool] = {}
        self._limits = Limits(size)
        self.host, self.begin = "", 0

    def records(self) -> Iterator[Record]:
        """Its calls; those that are no communication take time, and say nothing."""
        for block in self._blocks():
            try:
                record = self._record(block)
                if record is None:
                    continue
                record.thread = block.thread
                clock = self._clocks.setdefault(block.thread, self._clock())
                record.gap_ns, record.call_ns = clock.at(block.begin, block.end)
                yield self._limits.held(record)
            except (ValueError, KeyError, IndexError) as error:
                raise FormatError(f"{self._path}:{block.line}: MPI_{block.name} can't be read ({error})",
                                  "is it dumpi2ascii's whole output?") from error  # fmt: skip

    def _clock(self) -> Clock:
        clock = Clock()
        if self.begin:
            clock.start(self.begin)
        return clock

    def _blocks(self) -> Iterator[Block]:
        open_: tuple[str, int, int, dict[str, str]] | None = None
        for number, line in lines_of(self._path):
            edge = _EDGE.match(line)
            if edge is None:
                value = _VALUE.match(line)
                if value and open_ is not None:
                    open_[3][value[1]] = value[2]
                elif line.startswith("hostname="):
                    self.host = line.partition("=")[2]
                continue
            at = int(edge[3]) * 10**9 + int(edge[4])
            if edge[2] == "entering":
                open_ = (edge[1], at, number, {})
            elif open_ is None or open_[0] != edge[1]:
                raise FormatError(f"{self._path}:{number}: MPI_{edge[1]} returns that was not entered",
                                  "is it dumpi2ascii's whole output?")  # fmt: skip
            else:
                yield Block(edge[1], open_[1], at, int(edge[5]), open_[3], open_[2])
                open_ = None

    def _record(self, block: Block) -> Record | None:
        name = block.name
        if name in ("Init", "Init_thread"):
            self.begin = block.end
        elif name == "Finalize":
            return Record("finalize")
        elif name in ("Comm_dup", "Comm_dup_with_info"):
            return self._duplicate(block)
        elif name == "Comm_size":
            self._check_size(block)
        elif name in COMPLETIONS:
            return self._completed(block)
        elif name in STARTS or name == "Request_free":
            return self._about_requests(block)
        elif name in TOLD:
            return self._communication(block)
        return None

    def _check_size(self, block: Block) -> None:
        size = block.number("size", self._size)
        if self._comm(block, "comm") == WORLD and size != self._size:
            raise FormatError(
                f"{self._path}:{block.line}: the program has {size:,} ranks, and there are {self._size} files",
                "name the texts of all ranks",
            )

    def _duplicate(self, block: Block) -> Record | None:
        if self._comm(block, "oldcomm") != WORLD:
            return None
        number = self._communicators.add(block.number("newcomm"))
        return Record(block.name, newcomm=number, members=range(self._size))

    def _about_requests(self, block: Block) -> Record:
        if block.name == "Request_free":
            self._templates.discard(block.number("request"))
            return Record(block.name, request=self._ids.done(block.number("request")))
        handles = block.numbers("requests") or block.numbers("request")
        return Record(block.name, requests=[self._ids.get(handle) for handle in handles])

    def _communication(self, block: Block) -> Record | None:
        comm = self._comm(block, "comm")
        if comm is None:
            self._left_out[f"MPI_{block.name} on a communicator that was split off"] += 1
            return None
        record = self._collective(block) if block.name in COLLECTIVES else self._message(block)
        record.comm = comm
        return record

    def _comm(self, block: Block, name: str) -> int | None:
        return self._communicators.number(block.number(name))

    def _message(self, block: Block) -> Record:
        name = block.name
        record = Record(name)
        if name in RECEIVES:
            record.peer, record.tag = self._source(block, "source", "tag")
            record.bytes = self._bytes(block, "count", "datatype")
        else:
            record.peer = self._ranked(block.number("dest"))
            record.tag = block.number("sendtag" if name in EXCHANGES else "tag")
            given = ("sendcount", "sendtype") if name == "Sendrecv" else ("count", "datatype")
            record.bytes = self._bytes(block, *given)
        if name in EXCHANGES:
            record.peer2, record.tag2 = self._source(block, "source", "recvtag")
            taken = ("recvcount", "recvtype") if name == "Sendrecv" else ("count", "datatype")
            record.bytes2 = self._bytes(block, *taken)
        status = block.statuses("status")
        if status and name not in SENDS and ANY in record.source:
            record.actual = (status[0][2], status[0][3])
        if "request" in block.values:
            handle = block.number("request")
            record.request = self._ids.new(handle)
            self._wild[handle] = name in RECEIVES and ANY in record.source
            (self._templates.add if name in TEMPLATES else self._templates.discard)(handle)
        return record

    def _source(self, block: Block, peer: str, tag: str) -> tuple[int, int]:
        source = block.number(peer)
        return ANY if source == ANY_SOURCE else self._ranked(source), max(ANY, block.number(tag))

    @staticmethod
    def _ranked(peer: int) -> int:
        return peer if peer >= 0 else PROC_NULL

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
        if status is not None and self._wild.get(handle):
            return Completion(request, status[2], status[3])
        return Completion(request)

    def _collective(self, block: Block) -> Record:
        record = Record(block.name, root=block.number("root") if "root" in BY_NAME[block.name].fields else None)
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
