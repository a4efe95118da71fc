"""The wire format of Protocol Buffers, as much as a reader needs (protobuf.dev/programming-guides/encoding).

No length is believed before it is held against the file's: what is read next never takes more memory than the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from wulf.trace.errors import FormatError, opened
from wulf.trace.wire import varint

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Kinds of fields; groups (3, 4) are of old."""

_WIDTHS = {FIXED64: 8, FIXED32: 4}
_MOST = 1 << 64


class WireError(ValueError):
    """What is wrong, and at which byte of the file."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(what)
        self.at = at


class Field(NamedTuple):
    """A field of a message: varints and fixed ones as unsigned numbers, others as bytes; `at` is where its value is."""

    number: int
    kind: int
    value: int | bytes
    at: int


def fields(data: bytes, base: int) -> Iterator[Field]:
    """The fields of a message that stands at byte `base` of its file.

    Raises
    ------
    WireError
        It ends within a field, or has one of no known kind.
    """
    at = 0
    while at < len(data):
        begin = at
        try:
            key, at = varint(data, at)
            number, kind = key >> 3, key & 7
            value: int | bytes
            if kind == VARINT:
                first = at
                value, at = varint(data, at)
            elif kind == BYTES:
                length, first = varint(data, at)
                value, at = _slice(data, first, length)
            elif kind in _WIDTHS:
                first = at
                raw, at = _slice(data, first, _WIDTHS[kind])
                value = int.from_bytes(raw, "little")
            else:
                raise WireError(base + begin, f"a field of kind {kind}, which is none")
        except IndexError as error:
            raise WireError(base + begin, "the message ends within a field") from error
        if number == 0 or (isinstance(value, int) and value >= _MOST):
            raise WireError(base + begin, "a field number or a value that no message has")
        yield Field(number, kind, value, base + first)


def _slice(data: bytes, at: int, length: int) -> tuple[bytes, int]:
    if length > len(data) - at:
        raise IndexError("beyond the end")
    return data[at : at + length], at + length


def packed(field: Field) -> list[int]:
    """The numbers of a repeated field of varints: one, or several in one piece. WireError where they are cut."""
    if isinstance(field.value, int):
        return [field.value]
    found, at = [], 0
    try:
        while at < len(field.value):
            value, at = varint(field.value, at)
            found.append(value)
    except IndexError as error:
        raise WireError(field.at + at, "a list of numbers ends within one") from error
    return found


def signed(value: int) -> int:
    """A varint of int32 or int64: negative ones have ten bytes."""
    return value - _MOST if value >> 63 else value


def messages(path: Path) -> Iterator[tuple[int, bytes]]:
    """The messages of a file, each behind its length: where it begins, and its bytes.

    Raises
    ------
    FormatError
        The file can't be read, or ends within a message: names the byte.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        while file.tell() < size:
            begin = file.tell()
            length = _length(path, file)
            at = file.tell()
            if length > size - at:
                raise cut(path, begin, f"a message of {length:,} bytes is said to be there, and {size - at:,} are")
            yield at, file.read(length)


def _length(path: Path, file: BinaryIO) -> int:
    begin = file.tell()
    data = b""
    while not data or data[-1] & 0x80:
        byte = file.read(1)
        if not byte or len(data) == 5:
            raise cut(path, begin, "the length of a message has no end")
        data += byte
    return varint(data, 0)[0]


def cut(path: Path, at: int, what: str) -> FormatError:
    """A file that is not whole, or no such file."""
    return FormatError(f"{path}: byte {at:,}: {what}", "was it copied whole, and unpacked?")
