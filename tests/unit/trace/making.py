"""Small traces for tests."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wulf.trace.calls import BY_NAME
from wulf.trace.reader import CHUNK, HEAD, Trace, open_trace
from wulf.trace.record import ANY, Completion, Record
from wulf.trace.writer import RankWriter


def made(
    folder: Path, ranks: Sequence[Sequence[Record]], headers: Mapping[int, Mapping[str, Any]] | None = None
) -> Trace:
    """A trace with these records, by rank."""
    folder.mkdir(exist_ok=True)
    for rank, records in enumerate(ranks):
        header = {"rank": rank, "size": len(ranks), "host": "n1", "mpi": "MPI 1"}
        with RankWriter(folder, {**header, **((headers or {}).get(rank, {}))}) as out:
            out.add_all(records)
    return open_trace(folder)


def sealed(file: bytes, payload: bytes, records: int) -> bytes:
    """A rank's file with another payload in its first chunk, and the checksum of that."""
    at = file.index(CHUNK)
    end = at + HEAD.size + HEAD.unpack_from(file, at)[1]
    return file[:at] + HEAD.pack(CHUNK, len(payload), records, zlib.crc32(payload)) + payload + file[end:]


def send(peer: int, size: int, tag: int = 0, gap: int = 0, call: int = 0, **more: Any) -> Record:
    return Record("Send", gap, call, peer=peer, tag=tag, bytes=size, **more)


def recv(peer: int, size: int, tag: int = 0, gap: int = 0, call: int = 0, **more: Any) -> Record:
    return Record("Recv", gap, call, peer=peer, tag=tag, bytes=size, **more)


def wait(*requests: int, gap: int = 0, call: int = 0) -> Record:
    return Record("Waitall", gap, call, given=len(requests), completions=[Completion(one) for one in requests])


def pingpong(rounds: int = 2, size: int = 8, gap: int = 100, call: int = 50) -> list[list[Record]]:
    """Two ranks."""
    there = [one for _ in range(rounds) for one in (send(1, size, 7, gap, call), recv(1, size, 7, 0, 2 * call))]
    back = [one for _ in range(rounds) for one in (recv(0, size, 7, 0, 3 * call), send(0, size, 7, gap, call))]
    return [[*there, Record("finalize")], [*back, Record("finalize")]]


def some_record(name: str, draw: random.Random) -> Record:
    """Any record of this operation: every field of its shape has a value, large and small ones alike."""

    def number(least: int = 0) -> int:
        return draw.choice((least, 0, 1, 127, 128, 16384, 2**31 - 1, 2**40)) if least == 0 else draw.choice((least, 5))

    peer, tag = draw.choice((ANY, -2, -3, 0, 7, 100000)), draw.choice((ANY, 0, 42, 2**31 - 2))
    values: dict[str, Any] = {
        "peer": peer, "tag": tag, "peer2": draw.choice((ANY, 3)), "tag2": draw.choice((ANY, 9)), "root": number(-2),
        "comm": draw.choice((0, 1, 200)), "window": number(), "newcomm": draw.choice((None, 2)),
        "newwin": draw.choice((None, 0)), "bytes": number(), "bytes2": number(), "request": draw.choice((None, 0, 300)),
        "requests": [draw.choice((None, 1, 2)) for _ in range(draw.randrange(4))], "given": number(),
        "counts": [draw.choice((5, 5, 6)) for _ in range(draw.randrange(9))],
        "counts2": [draw.choice((5, 5, 6)) for _ in range(draw.randrange(3))],
        "members": draw.choice(([], [3], [0, 2, 4, 6], [7, 6, 5, 0, 1])), "members2": draw.choice(([], [1, 3])),
        "count": number(), "between": number(), "number": draw.choice((-5, 0, 7)), "thread": draw.choice((0, 3)),
        "site": number(), "text": draw.choice(("", "äö+0x12")),
    }  # fmt: skip
    done = [Completion(None), Completion(4, 2, ANY), Completion(5, bytes=9), Completion(0, -2, 3, 2, cancelled=True)]
    fields = BY_NAME[name].fields
    record = Record(name, number(), number())
    for field in fields:
        if field in values:
            setattr(record, field, values[field])
    if "completions" in fields:
        record.completions = [draw.choice(done) for _ in range(draw.randrange(4))]
    if "completion" in fields:
        record.completions = [draw.choice(done)]
    if "actual" in fields and ANY in (record.source if record.peer2 is None else (record.peer2, record.tag2)):
        record.actual = (3, 8)
    if "times" not in fields:
        record.gap_ns = record.call_ns = 0
    return record


def plain(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Records as they compare: lists are lists, whatever made them."""
    rows = [{name: getattr(record, name) for name in Record.__slots__} for record in records]
    return [{name: list(value) if isinstance(value, (list, tuple, range)) else value for name, value in row.items()}
            for row in rows]  # fmt: skip
