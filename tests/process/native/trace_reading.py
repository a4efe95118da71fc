"""A trace of a rank as a list of records: docs/reference/trace-format.md, read once more, by the tests."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wulf.trace.ops import OPERATIONS

TOTALS = ("records", "calls", "failed_tests", "end_ns", "end_monotonic_ns", "ended", "detail", "lost_calls",
          "failed_calls", "unknown_requests", "bytes", "spare")  # fmt: skip
ANY = -1

FINALIZED, ABORTED, EXITED, SIGNALLED, UNWRITABLE = range(5)
"""Why recording ended."""


@dataclass
class Trace:
    header: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)
    totals: dict[str, int] | None = None
    sizes: list[int] = field(default_factory=list)

    def calls(self, *left_out: str) -> list[dict[str, Any]]:
        """The records of calls without their times."""
        return [
            {name: value for name, value in record.items() if name not in ("gap", "call", "thread")}
            for record in self.records
            if record["op"].startswith("MPI_") and record["op"] not in left_out
        ]


def ended(trace: Trace) -> tuple[int, int]:
    """Why, and with what detail."""
    assert trace.totals is not None
    return trace.totals["ended"], trace.totals["detail"]


class Fields:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def completion(self) -> dict[str, Any]:
        value = self.varint()
        one: dict[str, Any] = {"request": (value >> 3) - 1}
        if value & 1:
            one |= {"source": self.varint() - 3, "tag": self.varint() - 1}
        if value & 2:
            one["bytes"] = self.varint()
        return one | ({"cancelled": True} if value & 4 else {})

    def counts(self) -> list[int]:
        return self.runs(self.varint())

    def runs(self, count: int) -> list[int]:
        values = list[int]()
        while len(values) < count:
            value = self.varint()
            values += [value >> 1] * (self.varint() if value & 1 else 1)
        return values

    def counts2(self, before: list[int]) -> list[int]:
        count = self.varint()
        return list(before) if count == 0 else self.runs(count - 1)

    def members(self) -> list[int]:
        ranks = []
        for _ in range(self.varint()):
            first, run = self.varint() - 3, self.varint()
            stride = self.zigzag() if run > 1 else 0
            ranks += [first + i * stride for i in range(run)]
        return ranks

    def text(self) -> str:
        length = self.varint()
        self.at += length
        return self.data[self.at - length : self.at].decode()


MOVED = {"peer": 3, "peer2": 3, "root": 3, "tag": 1, "tag2": 1, "newcomm": 1, "newwin": 1, "request": 1}
SPECIAL: dict[str, Callable[[Fields], Any]] = {
    "completion": Fields.completion, "counts": Fields.counts, "members": Fields.members, "members2": Fields.members,
    "text": Fields.text, "number": Fields.zigzag,
    "requests": lambda fields: [fields.varint() - 1 for _ in range(fields.varint())],
    "completions": lambda fields: [fields.completion() for _ in range(fields.varint())],
}  # fmt: skip


def one_record(fields: Fields) -> dict[str, Any]:
    name, shape = OPERATIONS[fields.data[fields.at]]
    fields.at += 1
    record: dict[str, Any] = {"op": name}
    for each in shape:
        if each == "times":
            record |= {"gap": fields.varint(), "call": fields.varint()}
        elif each == "actual":
            peer, tag = ("peer2", "tag2") if "peer2" in record else ("peer", "tag")
            if ANY in (record[peer], record[tag]):
                record |= {"source": fields.varint() - 3, "source_tag": fields.varint() - 1}
        elif each == "counts2":
            record[each] = fields.counts2(record["counts"])
        else:
            record[each] = SPECIAL[each](fields) if each in SPECIAL else fields.varint() - MOVED.get(each, 0)
    return record


def read_trace(path: Path) -> Trace:
    """All whole chunks of a file."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<8sHI", data)
    assert (magic, version) == (b"wulftrc\0", 2)
    trace = Trace(json.loads(data[14 : 14 + length]))
    at = 14 + length
    while at + 16 <= len(data):
        kind, size, count, check = struct.unpack_from("<4sIII", data, at)
        payload = data[at + 16 : at + 16 + size]
        if len(payload) < size:
            break
        assert zlib.crc32(payload) == check
        if kind == b"DONE":
            trace.totals = dict(zip(TOTALS, struct.unpack("<12Q", payload), strict=True))
            break
        assert kind == b"CHNK"
        _take_chunk(trace, payload, count)
        at += 16 + size
    return trace


def _take_chunk(trace: Trace, payload: bytes, count: int) -> None:
    fields, thread = Fields(payload, 0), 0
    for _ in range(count):
        before = fields.at
        record = one_record(fields)
        thread = record["thread"] if record["op"] == "thread" else thread
        trace.records.append({**record, "thread": thread})
        trace.sizes.append(fields.at - before)
    assert fields.at == len(payload)
