"""A rank's file, a chunk at a time: however long it is, one chunk is in memory. What is torn or damaged is told."""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from os import SEEK_CUR
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Required

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from wulf.core.foreign import parse
from wulf.core.given import first_fault
from wulf.trace.calls import BY_NUMBER
from wulf.trace.errors import TraceError, opened
from wulf.trace.record import MOST_OUTSIDE, MOST_RANKS, Record
from wulf.trace.wire import FIELDS, Read

MAGIC, VERSION = b"wulftrc\0", 2
ADDED = {2: ("counts2",)}
"""Version of the format → the fields that records have since then."""

FRONT = struct.Struct("<8sHI")
"""Magic, version, length of the header."""

HEAD = struct.Struct("<4sIII")
"""Of a chunk: its mark, bytes and records of its payload, CRC-32."""

CHUNK, DONE = b"CHNK", b"DONE"
TOTALS = struct.Struct("<12Q")

MOST_HEADER = 1 << 24
MOST_PAYLOAD = 1 << 30
"""Bytes beyond which a length is damage: a chunk is 1 MiB, save one with a single long record."""

ENDS = ("finalize", "abort", "exit", "signal", "write")
"""Why recording ended, by its number: all but the first leave a cut trace."""

LISTS = {"counts", "members", "members2"}
"""Fields of a value for each rank."""

_Readers = dict[int, tuple[str, tuple[Read, ...], bool]]


def _readers(version: int) -> _Readers:
    """Of each operation the name, what reads its fields in files of that version, and whether one of them is a list."""
    absent = {field for since, fields in ADDED.items() if since > version for field in fields}
    return {
        number: (
            call.name, tuple(FIELDS[field][0] for field in call.fields if field not in absent),
            not LISTS.isdisjoint(call.fields),
        )
        for number, call in BY_NUMBER.items()
    }  # fmt: skip


_READERS = {version: _readers(version) for version in range(1, VERSION + 1)}


@dataclass(frozen=True)
class Totals:
    """What the last chunk of a whole file says; times in nanoseconds."""

    records: int
    calls: int
    failed_tests: int
    end_ns: int
    end_monotonic_ns: int
    ended: int
    detail: int
    lost_calls: int
    failed_calls: int
    unknown_requests: int
    bytes: int

    @property
    def cut(self) -> str:
        """Why the rank's trace ends before its program did; empty where it does not."""
        if self.ended == 0:
            return ""
        end = ENDS[self.ended] if self.ended < len(ENDS) else str(self.ended)
        return {
            "abort": f"it called MPI_Abort with {self.detail}",
            "exit": "it ended without MPI_Finalize",
            "signal": f"it was ended by signal {self.detail}",
            "write": f"its trace could not be written further (errno {self.detail}); {self.lost_calls} calls are lost",
        }.get(end, f"it ended for a reason that this wulf does not know ({end})")


class Header(TypedDict, total=False):
    """What a rank's file says of itself, as far as it is read: docs/reference/trace-format.md."""

    rank: Required[Annotated[int, Field(ge=0, le=MOST_RANKS)]]
    size: Annotated[int, Field(ge=1, le=MOST_RANKS)]
    host: str
    mpi: str
    command: str
    clock: str
    begin_realtime_ns: Annotated[int, Field(ge=0)]
    begin_monotonic_ns: Annotated[int, Field(ge=0)]
    pid: Annotated[int, Field(ge=0)]


@cache
def _header_shape() -> TypeAdapter[Header]:
    return TypeAdapter(Header)


class RankFile:
    """One rank's trace.

    Attributes
    ----------
    header
        As the file's JSON has it.
    totals
        Known once `records` has come to the end of a file that is not torn.
    fault
        Why `records` ended early: a torn or damaged chunk; None where all is well.
    sites
        Call site's number → its name, as far as it was read.

    Raises
    ------
    TraceError
        It is no trace, of another version, or its header is torn; it can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.totals: Totals | None = None
        self.fault: TraceError | None = None
        self.sites: dict[int, str] = {}
        with opened(path) as file:
            self.header, self._start = self._read_header(file)

    def _read_header(self, file: BinaryIO) -> tuple[dict[str, Any], int]:
        front = file.read(FRONT.size)
        if len(front) < FRONT.size or not front.startswith(MAGIC):
            raise TraceError(f"{self.path} is no trace of a rank", "is it a file that libwulf-trace wrote?", offset=0)
        _, version, length = FRONT.unpack(front)
        if version not in _READERS:
            raise TraceError(
                f"{self.path} has version {version} of the format; this wulf reads versions 1 to {VERSION}",
                "read it with the wulf that wrote it", offset=8,
            )  # fmt: skip
        self._readers = _READERS[version]
        text = file.read(min(length, MOST_HEADER))
        try:
            header = parse(text) if len(text) == length else None
        except ValueError:
            header = None
        if not isinstance(header, dict):
            raise TraceError(f"{self.path}: its header is torn", "trace the program again", offset=FRONT.size)
        try:
            _header_shape().validate_python(header, strict=True)
        except ValidationError as error:
            raise TraceError(
                f"{self.path}: its header's {first_fault(error)}", "trace the program again", offset=FRONT.size
            ) from error
        return header, FRONT.size + length

    @cached_property
    def rank(self) -> int:
        return int(self.header["rank"])

    @property
    def size(self) -> int:
        """Ranks of its MPI_COMM_WORLD."""
        return int(self.header.get("size", 1))

    @property
    def host(self) -> str:
        return str(self.header.get("host", ""))

    def records(self) -> Iterator[Record]:
        """All records of whole chunks, in order; notes of threads and sites are folded into the records after them.

        Afterwards `totals`, `fault` and `sites` are known.
        """
        for number, offset, count, payload in self._chunks():
            yield from self._decode(number, offset, count, payload)
            if self.fault is not None:
                return

    def _chunks(self) -> Iterator[tuple[int, int, int, bytes]]:
        """Number, offset, records and payload of each whole chunk, until the last one or a fault."""
        self.totals, self.fault = None, None
        with opened(self.path) as file:
            file.seek(self._start)
            number, offset = 0, self._start
            while self.totals is None:
                head = file.read(HEAD.size)
                if not head:
                    self._torn("it ends without its last chunk: the rank was killed, or still runs", number, offset)
                    return
                payload = self._payload(file, head, number, offset)
                if payload is None:
                    return
                if head.startswith(DONE):
                    self._finish(payload, number, offset)
                    return
                yield number, offset, HEAD.unpack(head)[2], payload
                number, offset = number + 1, offset + HEAD.size + len(payload)

    def ending(self) -> tuple[Totals, Record | None] | None:
        """The totals and the last record of a whole file, by its chunks' heads alone; None where it is torn."""
        last = None
        with opened(self.path) as file:
            file.seek(self._start)
            while len(head := file.read(HEAD.size)) == HEAD.size:
                mark, length, count, _ = HEAD.unpack(head)
                if mark == DONE:
                    payload = file.read(length)
                    whole = len(payload) >= TOTALS.size and zlib.crc32(payload) == HEAD.unpack(head)[3]
                    return (Totals(*TOTALS.unpack_from(payload)[:11]), self._last(file, last)) if whole else None
                if mark != CHUNK:
                    return None
                last = (file.tell(), length, count)
                file.seek(length, SEEK_CUR)
        return None

    def _last(self, file: BinaryIO, chunk: tuple[int, int, int] | None) -> Record | None:
        """The last record of a chunk that lies there."""
        if chunk is None:
            return None
        offset, length, count = chunk
        file.seek(offset)
        last = deque(self._decode(0, offset, count, file.read(length)), maxlen=1)
        return last[0] if last else None

    def _payload(self, file: BinaryIO, head: bytes, number: int, offset: int) -> bytes | None:
        if len(head) < HEAD.size:
            self._torn("it ends within a chunk's head", number, offset)
            return None
        mark, length, _, crc = HEAD.unpack(head)
        if mark not in (CHUNK, DONE) or length > MOST_PAYLOAD:
            self._torn("no chunk begins there", number, offset)
            return None
        payload = file.read(length)
        if len(payload) < length:
            self._torn(f"it ends within a chunk, {length - len(payload)} bytes early", number, offset)
            return None
        if zlib.crc32(payload) != crc:
            self._torn("the chunk's checksum does not fit", number, offset)
            return None
        return payload

    def _finish(self, payload: bytes, number: int, offset: int) -> None:
        if len(payload) < TOTALS.size:
            self._torn("its last chunk is too short", number, offset)
            return
        self.totals = Totals(*TOTALS.unpack_from(payload)[:11])

    def _decode(self, number: int, offset: int, count: int, payload: bytes) -> Iterator[Record]:
        """The records of a chunk. A fault within it, which a checksum can't show, ends the file there."""
        at, thread, site = 0, 0, None
        most = int(self.header.get("size", MOST_RANKS)) + MOST_OUTSIDE
        for index in range(count):
            try:
                name, fields, listed = self._readers[payload[at]]
                record, at = Record(name, thread=thread), at + 1
                for read in fields:
                    at = read(payload, at, record)
            except (KeyError, IndexError) as error:
                what = f"operation {error}" if isinstance(error, KeyError) else "its end"
                self._torn(f"record {index} of the chunk can't be read ({what})", number, offset + HEAD.size + at)
                return
            if listed and max(len(record.members), len(record.members2), len(record.counts)) > most:
                what = f"record {index} of the chunk names more processes than there are"
                self._torn(what, number, offset + HEAD.size + at)
                return
            if name == "thread":
                thread = record.thread
            elif name == "site":
                site = record.site
            elif name == "site_name":
                self.sites[record.site or 0] = record.text
            else:
                record.site, site = site, None
                yield record

    def _torn(self, what: str, chunk: int, offset: int) -> None:
        self.fault = TraceError(
            f"rank {self.rank}: {self.path.name} is torn at byte {offset}, chunk {chunk}: {what}",
            "what its whole chunks hold is right; trace the program again for the rest",
            rank=self.rank, chunk=chunk, offset=offset,
        )  # fmt: skip


def timed(records: Iterator[Record]) -> Iterator[tuple[Record, int, int]]:
    """Each record with its begin and end in nanoseconds since the rank's begin, each thread by its own times."""
    ends: dict[int, int] = {}
    for record in records:
        begin = ends.get(record.thread, 0) + record.gap_ns
        end = begin + record.call_ns + record.between
        ends[record.thread] = end
        yield record, begin, end


@dataclass(frozen=True)
class Trace:
    """The traces of all ranks, in order; `missing` are ranks without a file, `unread` files that are none."""

    path: Path
    ranks: tuple[RankFile, ...]
    size: int
    missing: tuple[int, ...] = ()
    unread: tuple[TraceError, ...] = ()

    @property
    def hosts(self) -> dict[int, str]:
        return {one.rank: one.host for one in self.ranks}


def open_trace(folder: Path) -> Trace:
    """The files of a trace, their headers read.

    Raises
    ------
    TraceError
        There is no rank's file in the folder, or none that can be read.
    """
    found: dict[int, RankFile] = {}
    unread = []
    for path in sorted(folder.glob("rank-*.wtr")):
        try:
            one = RankFile(path)
        except TraceError as error:
            unread.append(error)
            continue
        found.setdefault(one.rank, one)
    if not found:
        if unread:
            raise unread[0]
        raise TraceError(f"{folder} holds no trace: no rank-*.wtr is there", "`wulf trace -- mpirun …` makes one")
    size = max(*(one.size for one in found.values()), max(found) + 1)
    missing = tuple(rank for rank in range(size) if rank not in found)
    return Trace(folder, tuple(found[rank] for rank in sorted(found)), size, missing, tuple(unread))
