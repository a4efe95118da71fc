"""A rank's file written from records: what imports make, and tests read back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from wulf.core.files import emptied
from wulf.trace.calls import BY_NAME
from wulf.trace.errors import TraceError
from wulf.trace.reader import CHUNK, DONE, FRONT, HEAD, MAGIC, TOTALS, VERSION
from wulf.trace.record import Record
from wulf.trace.wire import FIELDS, put_varint

MOST = (1 << 20) - HEAD.size
"""Bytes of a chunk's payload."""

_WRITERS = {name: (call.number, tuple(FIELDS[field][1] for field in call.fields)) for name, call in BY_NAME.items()}


def name_of(rank: int) -> str:
    """The name of a rank's file."""
    return f"rank-{rank:06d}.wtr"


def encoded(record: Record) -> bytes:
    """A record's bytes. ValueError where a field that its shape needs has no value; KeyError for an unknown call."""
    out = bytearray()
    number, fields = _WRITERS[record.op]
    out.append(number)
    for write in fields:
        write(out, record)
    return bytes(out)


class RankWriter:
    """Writes one rank's file; a context manager, that a fault leaves without its last chunk: torn, as a killed rank's.

    Parameters
    ----------
    header
        "rank" and "size", and what else is known: "host", "mpi", "begin_realtime_ns".

    Raises
    ------
    TraceError
        The disk is full, or there is no permission.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self._path = folder / name_of(header["rank"])
        self._payload, self._records = bytearray(), 0
        self._thread = 0
        self._ends: dict[int, int] = {}
        self._totals = {"records": 0, "calls": 0, "failed_tests": 0, "bytes": 0}
        text = json.dumps(header, ensure_ascii=False).encode()
        self._file = self._open()
        self._write(FRONT.pack(MAGIC, VERSION, len(text)) + text)

    def _open(self) -> BinaryIO:
        try:
            return emptied(self._path)
        except OSError as error:
            raise TraceError(f"can't write {self._path}: {error.strerror}", "choose another place") from error

    def _write(self, data: bytes | bytearray) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise TraceError(f"can't write {self._path}: {error.strerror}", "free some space") from error

    def add(self, record: Record) -> None:
        """The next record; notes of threads are made by themselves."""
        if record.thread != self._thread:
            self._append(encoded(Record("thread", thread=record.thread)))
            self._thread = record.thread
        self._append(encoded(record))
        tests = record.count if record.op == "tests" else 0
        self._totals["failed_tests"] += tests
        self._totals["calls"] += tests or int("times" in BY_NAME[record.op].fields)
        span = record.gap_ns + record.call_ns + record.between
        self._ends[record.thread] = self._ends.get(record.thread, 0) + span
        if len(self._payload) >= MOST:
            self._flush()

    def add_all(self, records: Iterable[Record]) -> None:
        """These records."""
        for record in records:
            self.add(record)

    def _append(self, data: bytes) -> None:
        if self._payload and len(self._payload) + len(data) > MOST:
            thread = self._thread
            self._flush()
            if thread:
                self._payload.append(BY_NAME["thread"].number)
                put_varint(self._payload, thread)
                self._records += 1
                self._thread = thread
        self._payload += data
        self._records += 1

    def _flush(self) -> None:
        if not self._records:
            return
        head = HEAD.pack(CHUNK, len(self._payload), self._records, zlib.crc32(self._payload))
        self._write(head)
        self._write(self._payload)
        self._totals["records"] += self._records
        self._totals["bytes"] += HEAD.size + len(self._payload)
        self._payload, self._records, self._thread = bytearray(), 0, 0

    def close(self) -> None:
        """Write what is left, and the last chunk."""
        self._flush()
        end = max(self._ends.values(), default=0)
        known = self._totals
        payload = TOTALS.pack(
            known["records"], known["calls"], known["failed_tests"], end, end, 0, 0, 0, 0, 0, known["bytes"], 0
        )
        self._write(HEAD.pack(DONE, len(payload), 0, zlib.crc32(payload)) + payload)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()
