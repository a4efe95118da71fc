"""The fields of records as bytes, both ways (docs/reference/trace-format.md, "A record"); a shape is its fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wulf.trace.record import ANY, MOST_RANKS, Completion, Record
from wulf.trace.runs import Run, Runs

HAS_SOURCE, HAS_BYTES, CANCELLED = 1, 2, 4
"""Flags of a completion."""

Read = Callable[[bytes, int, Record], int]
"""Sets what a field holds in a record; the place after it."""

Write = Callable[[bytearray, Record], None]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and the place after it. IndexError where the data ends within it."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at + 1
        shift += 7
        if shift >= 70:
            raise IndexError("a number of more than ten bytes")


def put_varint(out: bytearray, value: int) -> None:
    """Append a number. ValueError where it is negative."""
    if value < 0:
        raise ValueError(f"{value} is below what its field can hold")
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _unzigzag(value: int) -> int:
    return value >> 1 if not value & 1 else -((value + 1) >> 1)


def _number(name: str, less: int = 0) -> tuple[Read, Write]:
    """A field that is stored as its value and so much more: peers as rank + 3, tags as tag + 1."""

    def read(data: bytes, at: int, record: Record) -> int:
        value, at = varint(data, at)
        setattr(record, name, value - less)
        return at

    def write(out: bytearray, record: Record) -> None:
        value = getattr(record, name)
        if value is None:
            raise ValueError(f"{record.op} needs {name}")
        put_varint(out, value + less)

    return read, write


def _optional(name: str) -> tuple[Read, Write]:
    """Varint value + 1; 0 is absent."""

    def read(data: bytes, at: int, record: Record) -> int:
        value, at = varint(data, at)
        setattr(record, name, value - 1 if value else None)
        return at

    def write(out: bytearray, record: Record) -> None:
        value = getattr(record, name)
        put_varint(out, 0 if value is None else value + 1)

    return read, write


def _read_times(data: bytes, at: int, record: Record) -> int:
    record.gap_ns, at = varint(data, at)
    record.call_ns, at = varint(data, at)
    return at


def _write_times(out: bytearray, record: Record) -> None:
    put_varint(out, record.gap_ns)
    put_varint(out, record.call_ns)


def _is_wild(record: Record) -> bool:
    """Whether a receive's actual source and tag follow."""
    if record.peer2 is not None:
        return ANY in (record.peer2, record.tag2)
    return ANY in (record.peer, record.tag)


def _read_actual(data: bytes, at: int, record: Record) -> int:
    if not _is_wild(record):
        return at
    peer, at = varint(data, at)
    tag, at = varint(data, at)
    record.actual = (peer - 3, tag - 1)
    return at


def _write_actual(out: bytearray, record: Record) -> None:
    if _is_wild(record):
        peer, tag = record.actual or (ANY, ANY)
        put_varint(out, peer + 3)
        put_varint(out, tag + 1)


def _read_requests(data: bytes, at: int, record: Record) -> int:
    many, at = varint(data, at)
    found: list[int | None] = []
    for _ in range(many):
        value, at = varint(data, at)
        found.append(value - 1 if value else None)
    record.requests = found
    return at


def _write_requests(out: bytearray, record: Record) -> None:
    put_varint(out, len(record.requests))
    for request in record.requests:
        put_varint(out, 0 if request is None else request + 1)


def _completion(data: bytes, at: int) -> tuple[Completion, int]:
    head, at = varint(data, at)
    flags, request = head & 7, head >> 3
    source = tag = size = None
    if flags & HAS_SOURCE:
        source, at = varint(data, at)
        tag, at = varint(data, at)
        source, tag = source - 3, tag - 1
    if flags & HAS_BYTES:
        size, at = varint(data, at)
    return Completion(request - 1 if request else None, source, tag, size, bool(flags & CANCELLED)), at


def _put_completion(out: bytearray, one: Completion) -> None:
    wild, fewer = one.source is not None, one.bytes is not None
    flags = HAS_SOURCE * wild + HAS_BYTES * fewer + CANCELLED * one.cancelled
    put_varint(out, (0 if one.request is None else one.request + 1) << 3 | flags)
    if one.source is not None:
        put_varint(out, one.source + 3)
        put_varint(out, (0 if one.tag is None else one.tag) + 1)
    if one.bytes is not None:
        put_varint(out, one.bytes)


def _read_completion(data: bytes, at: int, record: Record) -> int:
    one, at = _completion(data, at)
    record.completions = (one,)
    return at


def _write_completion(out: bytearray, record: Record) -> None:
    _put_completion(out, record.completions[0] if record.completions else Completion(None))


def _read_completions(data: bytes, at: int, record: Record) -> int:
    many, at = varint(data, at)
    found = []
    for _ in range(many):
        one, at = _completion(data, at)
        found.append(one)
    record.completions = found
    return at


def _write_completions(out: bytearray, record: Record) -> None:
    put_varint(out, len(record.completions))
    for one in record.completions:
        _put_completion(out, one)


def _read_counts(data: bytes, at: int, record: Record) -> int:
    many, at = varint(data, at)
    record.counts, at = _runs(data, at, many)
    return at


def _read_counts2(data: bytes, at: int, record: Record) -> int:
    """One more than their number; 0: they are as those before."""
    many, at = varint(data, at)
    record.counts2, at = _runs(data, at, many - 1) if many else (record.counts, at)
    return at


def _runs(data: bytes, at: int, many: int) -> tuple[Runs, int]:
    if many > MOST_RANKS:
        raise IndexError("more counts than any machine has ranks")
    found: list[Run] = []
    left = many
    while left:
        head, at = varint(data, at)
        times = 1
        if head & 1:
            times, at = varint(data, at)
        if not 1 <= times <= left:
            raise IndexError("a run of counts that does not fit")
        found.append((head >> 1, times, 0))
        left -= times
    return Runs(found), at


def _write_counts(out: bytearray, record: Record) -> None:
    put_varint(out, len(record.counts))
    _put_runs(out, record.counts)


def _write_counts2(out: bytearray, record: Record) -> None:
    if list(record.counts2) == list(record.counts):
        put_varint(out, 0)
    else:
        put_varint(out, len(record.counts2) + 1)
        _put_runs(out, record.counts2)


def _put_runs(out: bytearray, values: Sequence[int]) -> None:
    for value, times in _repeated(values):
        put_varint(out, value << 1 | (times > 1))
        if times > 1:
            put_varint(out, times)


def _repeated(values: Sequence[int]) -> list[tuple[int, int]]:
    if isinstance(values, Runs) and all(step == 0 for _, _, step in values.runs):
        return [(value, times) for value, times, _ in values.runs if times]
    runs: list[tuple[int, int]] = []
    for value in values:
        if runs and runs[-1][0] == value:
            runs[-1] = (value, runs[-1][1] + 1)
        else:
            runs.append((value, 1))
    return runs


def _members(data: bytes, at: int) -> tuple[Runs, int]:
    runs, at = varint(data, at)
    found: list[Run] = []
    left = MOST_RANKS
    for _ in range(runs):
        first, at = varint(data, at)
        length, at = varint(data, at)
        stride = 0
        if length > 1:
            coded, at = varint(data, at)
            stride = _unzigzag(coded)
        left -= length
        if left < 0:
            raise IndexError("a group larger than any machine")
        found.append((first - 3, length, stride))
    return Runs(found), at


def _put_members(out: bytearray, members: Sequence[int]) -> None:
    runs = _strided(members)
    put_varint(out, len(runs))
    for first, length, stride in runs:
        put_varint(out, first + 3)
        put_varint(out, length)
        if length > 1:
            put_varint(out, _zigzag(stride))


def _strided(values: Sequence[int]) -> Sequence[Run]:
    """As few runs of first, length and stride as a greedy walk finds; those that the list came by."""
    if isinstance(values, Runs):
        return values.runs
    runs: list[Run] = []
    for value in values:
        first, length, stride = runs[-1] if runs else (0, 0, 0)
        if length == 1:
            runs[-1] = (first, 2, value - first)
        elif length and value == first + stride * length:
            runs[-1] = (first, length + 1, stride)
        else:
            runs.append((value, 1, 0))
    return runs


def _group(name: str) -> tuple[Read, Write]:
    def read(data: bytes, at: int, record: Record) -> int:
        found, at = _members(data, at)
        setattr(record, name, found)
        return at

    def write(out: bytearray, record: Record) -> None:
        _put_members(out, getattr(record, name))

    return read, write


def _read_signed(data: bytes, at: int, record: Record) -> int:
    value, at = varint(data, at)
    record.number = _unzigzag(value)
    return at


def _write_signed(out: bytearray, record: Record) -> None:
    put_varint(out, _zigzag(record.number))


def _read_text(data: bytes, at: int, record: Record) -> int:
    length, at = varint(data, at)
    if at + length > len(data):
        raise IndexError("a text beyond the chunk's end")
    record.text = data[at : at + length].decode(errors="replace")
    return at + length


def _write_text(out: bytearray, record: Record) -> None:
    text = record.text.encode()
    put_varint(out, len(text))
    out += text


FIELDS: dict[str, tuple[Read, Write]] = {
    "times": (_read_times, _write_times),
    "peer": _number("peer", 3),
    "peer2": _number("peer2", 3),
    "root": _number("root", 3),
    "tag": _number("tag", 1),
    "tag2": _number("tag2", 1),
    "comm": _number("comm"),
    "window": _number("window"),
    "newcomm": _optional("newcomm"),
    "newwin": _optional("newwin"),
    "bytes": _number("bytes"),
    "bytes2": _number("bytes2"),
    "actual": (_read_actual, _write_actual),
    "request": _optional("request"),
    "requests": (_read_requests, _write_requests),
    "completion": (_read_completion, _write_completion),
    "given": _number("given"),
    "completions": (_read_completions, _write_completions),
    "counts": (_read_counts, _write_counts),
    "counts2": (_read_counts2, _write_counts2),
    "members": _group("members"),
    "members2": _group("members2"),
    "count": _number("count"),
    "between": _number("between"),
    "number": (_read_signed, _write_signed),
    "thread": _number("thread"),
    "site": _number("site"),
    "text": (_read_text, _write_text),
}
"""Name of a field, as the tables of shapes have it → how it is read and written."""
