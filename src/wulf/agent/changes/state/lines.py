"""The lines of a journal's file: what is torn, what is damaged, and which of two files is the newer one.

A line is `["crc32 in hex", bytes, {entry}]`: JSON, and a torn line can be told from a damaged one. Torn: the process or
the machine ended while it was appended, so that what it announces never began. Damaged: anything else; nothing is
guessed then.
"""

from __future__ import annotations

import json
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from wulf.agent.changes.host import Host

_LINE = re.compile(rb'\["([0-9a-f]{8})", ([1-9][0-9]*), (\{.*\})\]', re.DOTALL)
_HEAD = re.compile(rb'\["[0-9a-f]{8}", ([1-9][0-9]*), (.*)', re.DOTALL)
_BEGUN = re.compile(rb'\[?"?[0-9a-f]{0,8}"?,? ?[0-9]*,?')


class Damaged(Exception):  # noqa: N818 - it says what is the matter
    """The journal can't be trusted: where, why, and the line as it is; and how many `lines` were written."""

    def __init__(self, path: Path, copy: Path, line: int, why: str, *, text: str, lines: int) -> None:
        self.what = f"{path}, line {line}, is damaged: {why}"
        self.path, self.lines = path, lines
        super().__init__(
            f"{self.what}. Nothing is written and nothing guessed: see the lines with "
            f"`wulf-agent --changes`, put back by hand what they name, move the file away, and remove its copy {copy}"
        )
        self.told = {"path": str(path), "line": line, "why": why, "text": text}


def line_of(entry: dict[str, Any]) -> bytes:
    """An entry as a line."""
    body = json.dumps(entry).encode()
    return b'["%08x", %d, %s]\n' % (zlib.crc32(body), len(body), body)


class Found(NamedTuple):
    """The lines of a file that are sound, down to the first that is not, and their bytes."""

    lines: list[dict[str, Any]]
    data: bytes
    damage: Damaged | None
    length: int
    """Lines that were written, as far as they tell: a bit that turns can make two of one."""


_NOTHING = Found([], b"", None, 0)


def newest(host: Host, path: Path, copy: Path) -> tuple[Found, int | None]:
    """The disk's lines or the copy's, and how many of their bytes the disk has; None: it can't be read."""
    copied = hidden = _NOTHING
    with suppress(OSError):
        copied = _read(copy, copy)
    if copied.damage is not None:
        copied, hidden = _NOTHING, copied
    try:
        found = host.disk.do(lambda: _read(path, copy))
    except OSError:
        if not copied.lines:
            raise
        return copied, None
    if copied.length < found.length or hidden.length > found.length:
        if found.damage is not None:
            raise found.damage
        if hidden.damage is not None and hidden.length > found.length:
            raise hidden.damage
        return found, len(found.data)
    return copied._replace(damage=found.damage), _alike(copied.data, found.data)


def _alike(one: bytes, other: bytes) -> int:
    """Bytes of the lines that both begin with."""
    length = 0
    for line, its in zip(one.splitlines(keepends=True), other.splitlines(keepends=True)):
        if line != its:
            break
        length += len(line)
    return length


def _read(path: Path, copy: Path) -> Found:
    """What a file has; bytes at its end that are torn are no line. Raises OSError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return _NOTHING
    *texts, rest = data.split(b"\n")
    altered = bool(rest) and not _torn(rest)
    checked = [_checked(text, number) for number, text in enumerate(texts, 1)]
    if altered:
        texts, checked = [*texts, rest], [*checked, (None, "its end was altered after it was written")]
    lines: list[dict[str, Any]] = []
    good = 0
    for number, (text, (line, why)) in enumerate(zip(texts, checked), 1):
        if line is None:
            length = _written(texts)
            told = Damaged(path, copy, number, why, text=text.decode("utf-8", "replace"), lines=length)
            return Found(lines, data[:good], told, length)
        lines.append(line)
        good += len(text) + 1
    return Found(lines, data[:good], None, len(lines))


def _written(texts: list[bytes]) -> int:
    """How many lines a damaged file had: the number of the last that is sound, and one more where others follow it."""
    numbers = [line["number"] for line, _ in map(_line_in, texts) if line is not None]
    return max(numbers, default=0) + (_line_in(texts[-1])[0] is None)


def readable_lines(host: Host, path: Path) -> list[dict[str, Any]]:
    """Every line of a journal that can't be trusted, for a person: {"line", "sound", "text"}."""
    texts = host.disk.do(path.read_bytes).split(b"\n")
    return [
        {"line": number, "sound": _checked(text, number)[0] is not None, "text": text.decode("utf-8", "replace")}
        for number, text in enumerate(texts, 1)
        if text
    ]


def _checked(text: bytes, number: int) -> tuple[dict[str, Any] | None, str]:
    """The entry of a line that stands where it was written; or None, and why."""
    line, why = _line_in(text)
    if line is not None and line["number"] != number:
        return None, f"it is number {line['number']}: lines are missing, or were moved"
    return line, why


def _line_in(text: bytes) -> tuple[dict[str, Any] | None, str]:
    """A line's entry, wherever it stands; or None, and why."""
    match = _LINE.fullmatch(text)
    if match is None:
        return None, "it is no line of a journal"
    body = match[3]
    if len(body) != int(match[2]) or zlib.crc32(body) != int(match[1], 16):
        return None, "its checksum is wrong"
    try:
        line: dict[str, Any] = json.loads(body)
    except ValueError as error:
        return None, f"it is no JSON: {error}"
    return (line, "") if isinstance(line.get("number"), int) else (None, "it has no number")


def _torn(rest: bytes) -> bool:
    """Whether bytes without a newline are the beginning of a line, perhaps with the NULs that a power cut leaves."""
    begun = rest.rstrip(b"\0")
    head = _HEAD.fullmatch(begun)
    if head is None:
        return _BEGUN.fullmatch(begun) is not None
    return len(head[2]) <= int(head[1]) + len("]")  # one more: the newline became another byte
