"""A node of a Chakra execution trace, from its message (mlcommons/chakra, schema/protobuf/et_def.proto, 0.0.4 to 1.0).

A file is a stream: GlobalMetadata, then a Node each. Attributes that say nothing of what a replay needs are not read.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wulf.trace.errors import FormatError
from wulf.trace.imports.chakra.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    WireError,
    fields,
    messages,
    packed,
    signed,
)

METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)
"""NodeType; 0 is none at all."""

WANTED = frozenset({
    "is_cpu_op", "tid", "stream", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "pg_name",
    "involved_dim",
})  # fmt: skip
"""Attributes that are read."""

OLDEST, NEWER = (0, 0, 4), (2, 0, 0)
"""Versions of the schema: the first that is read, and the first that is not known."""

_KINDS = {
    1: (VARINT,), 2: (BYTES,), 3: (VARINT,), 4: (VARINT, BYTES), 5: (VARINT, BYTES), 6: (VARINT,), 7: (VARINT,),
    8: (BYTES,), 9: (BYTES,), 10: (BYTES,),
}  # fmt: skip
"""Field of a Node → the kinds that it may have: id, name, type, control and data dependencies, start, duration …"""

Value = int | float | str | list[int]


def _zigzag(value: int) -> int:
    return value >> 1 ^ -(value & 1)


def _of_width(form: str) -> Callable[[int], float]:
    size = struct.calcsize(form)
    return lambda value: struct.unpack(form, value.to_bytes(size, "little"))[0]


_VALUES: dict[int, tuple[int, Callable[[int], float]]] = {
    3: (FIXED64, _of_width("<d")), 5: (FIXED32, _of_width("<f")), 7: (VARINT, signed), 9: (VARINT, signed),
    11: (VARINT, int), 13: (VARINT, int), 15: (VARINT, _zigzag), 17: (VARINT, _zigzag), 19: (FIXED32, int),
    21: (FIXED64, int), 23: (FIXED32, _of_width("<i")), 25: (FIXED64, _of_width("<q")), 27: (VARINT, int),
}  # fmt: skip
"""Field of an attribute that is a number → its kind, and what it stands for."""

BOOLS, TEXT = 28, 29
"""Fields of an attribute that are a list of bool, and a text."""


@dataclass(slots=True)
class Node:
    """A node.

    Attributes
    ----------
    needs, after
        Data and control dependencies: nodes.
    micros
        Its duration, in microseconds.
    values
        What its inputs were, as text: of process groups what they are.
    at
        The byte of the file at which its message begins.
    """

    at: int
    id: int = 0
    name: str = ""
    kind: int = 0
    needs: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    micros: int = 0
    values: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)

    def number(self, name: str) -> int | None:
        """An attribute that is a number from 0 on; None: it is not there. ValueError where it is something else."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or value < 0:
            raise ValueError(f"its {name} is {str(value)[:40]!r}, which is no number from 0 on")
        return value


def nodes(path: Path) -> Iterator[Node]:
    """The nodes of a file, one by one.

    Raises
    ------
    FormatError
        It is cut, of another schema, or no such file: names the byte.
    """
    stream = messages(path)
    at, first = next(stream, (0, None))
    if first is None:
        raise refused(path, 0, "the file is empty")
    try:
        _check_metadata(first, at)
        for at, message in stream:
            yield _node(message, at)
    except WireError as error:
        raise refused(path, error.at, str(error)) from error


def refused(path: Path, at: int, what: str) -> FormatError:
    """What stands at a byte is not what the schema has there."""
    return FormatError(f"{path}: byte {at:,}: {what}", "is it a whole .et of Chakra's schema 0.0.4 or later, unpacked?")


def _check_metadata(message: bytes, at: int) -> None:
    for one in fields(message, at):
        if one.number == 1:
            if one.kind == VARINT or (isinstance(one.value, bytes) and one.value.startswith(b"\n")):
                raise WireError(at, "its first message is of a schema older than 0.0.4")
            _check_version(_text(one), one.at)
        elif one.number == 2:
            name, value = _attribute(one, frozenset({"schema"}))
            if name == "schema" and isinstance(value, str):
                _check_version(value.rpartition("chakra.")[2], one.at)
        else:
            raise WireError(at, "its first message is no GlobalMetadata")


def _check_version(text: str, at: int) -> None:
    match = re.fullmatch(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})", text)
    if text and (match is None or not OLDEST <= tuple(map(int, match.groups())) < NEWER):
        raise WireError(at, f"the schema's version is {text[:40]!r}, of which 0.0.4 to 1 are known")


def _node(message: bytes, at: int) -> Node:
    parts = defaultdict[int, list[Field]](list)
    for one in fields(message, at):
        if one.kind not in _KINDS.get(one.number, (one.kind,)):
            raise WireError(one.at, f"field {one.number} of a node is of kind {one.kind}, as in no known schema")
        parts[one.number].append(one)

    def number(name: int) -> int:
        return parts[name][-1].value if parts[name] else 0  # type: ignore[return-value] # _KINDS has it a varint

    node = Node(at, number(1), "".join(map(_text, parts[2][-1:])), number(3), micros=number(7))
    if node.kind > COLLECTIVE:
        raise WireError(at, f"node {node.id} is of type {node.kind}, of which 0 to {COLLECTIVE} are known")
    node.after = [value for one in parts[4] for value in packed(one)]
    node.needs = [value for one in parts[5] for value in packed(one)]
    for one in parts[10]:
        name, found = _attribute(one, WANTED)
        if found is not None:
            node.attributes[name] = found
    if node.kind == METADATA:
        inputs = [inner for one in parts[8] for inner in _within(one) if inner.number == 1]
        node.values = "".join(map(_text, inputs[-1:]))
    return node


def _attribute(message: Field, wanted: frozenset[str]) -> tuple[str, Value | None]:
    """Its name and value; None: it is not wanted, or of a kind that is not read."""
    parts = list(_within(message))
    name = next((_text(one) for one in parts if one.number == 1), "")
    value: Value | None = None
    for one in parts if name in wanted else ():
        if one.number in _VALUES:
            kind, meaning = _VALUES[one.number]
            if one.kind != kind or not isinstance(one.value, int):
                raise WireError(one.at, f"the value of {name} is of kind {one.kind}, where {kind} is due")
            value = meaning(one.value)
        elif one.number == BOOLS:
            value = [flag for inner in _within(one) if inner.number == 1 for flag in packed(inner)]
        elif one.number == TEXT:
            value = _text(one)
    return name, value


def _within(message: Field) -> Iterator[Field]:
    if not isinstance(message.value, bytes):
        raise WireError(message.at, f"field {message.number} is a number, where a message is due")
    return fields(message.value, message.at)


def _text(one: Field) -> str:
    if not isinstance(one.value, bytes):
        raise WireError(one.at, f"field {one.number} is a number, where a text is due")
    return one.value.decode(errors="replace")
