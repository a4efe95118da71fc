"""The write-ahead journal: what will be written stands here, on disk, before it is written.

A line is `["crc32 in hex", bytes, {entry}]`: JSON, and a torn line can be told from a damaged one. Torn: the process or
the machine ended while it was appended, so that what it announces never began. Damaged: anything else; nothing is
guessed then.

A copy lies in memory. It stands for a disk that is gone, silent or damaged, and has what a full or read-only one could
not take: it is written after the disk, and removed before it, so that the one that has more lines is the newer one.

Kinds of entry: `change` (one began, in which FORMAT), `write` (one setting will be written), `wrote` (what came of it),
`undoing`, `undone`, `keep`. A sound line that is none of these, or lacks what it should have, is of another wulf: it is
kept and shown, and hides no other one.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wulf.agent.changes.state.entry import Entry, Key, key_of
from wulf.agent.files.durable import make_folder, remove, replace, sync_folder

if TYPE_CHECKING:
    from wulf.agent.changes.host import Host

NAME = "journal.jsonl"
FORMAT = 1
"""Of the lines that this wulf writes; raised when one of them comes to mean something else."""
ARCHIVED = 16
"""Ended journals that are kept beside it, for people."""
WATCHDOG = "watchdog: "
"""How the journal's reasons begin where the node took back by itself."""
UNKNOWN = object()
"""Stands for a value that we may have left somewhere, and could not read back."""

_LINE = re.compile(rb'\["([0-9a-f]{8})", ([1-9][0-9]*), (\{.*\})\]', re.DOTALL)
_HEAD = re.compile(rb'\["[0-9a-f]{8}", ([1-9][0-9]*), (.*)', re.DOTALL)
_BEGUN = re.compile(rb'\[?"?[0-9a-f]{0,8}"?,? ?[0-9]*,?')


class Damaged(Exception):  # noqa: N818 - it says what is the matter
    """The journal can't be trusted: where, why, and the line as it is."""

    def __init__(self, path: Path, copy: Path, line: int, why: str, text: str) -> None:
        self.what = f"{path}, line {line}, is damaged: {why}"
        super().__init__(
            f"{self.what}. Nothing is written and nothing guessed: see the lines with "
            f"`wulf-agent --changes`, put back by hand what they name, move the file away, and remove its copy {copy}"
        )
        self.told = {"path": str(path), "line": line, "why": why, "text": text}


class Journal:
    """What the file says, and appending to it. Only whoever holds the guard (`lock.guard`) may have one.

    Raises
    ------
    Damaged
        A line is not as it was written.
    OSError
        Neither the file nor its copy can be read.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.path, self.copy = host.folder / NAME, host.run / NAME
        self._entries: dict[int, Entry] = {}
        self.changes: dict[int, dict[str, Any]] = {}
        self.left: dict[Key, Any] = {}
        """What we know to have left at each key; UNKNOWN where a write was cut short."""
        self.foreign: list[dict[str, Any]] = []
        """Sound lines of another wulf."""
        self.newer: set[int] = set()
        """Changes of a wulf whose lines may mean something else."""
        found, self._good = _newest(host, self.path, self.copy)
        self._lines, self._whole = list(found.lines), bytearray(found.data)
        """All lines; the disk has the first `_good` bytes of them, and None is one that can't be read."""
        self.damage = found.damage
        """What is wrong with the file, of which the copy has every line."""
        for line in self._lines:
            self._fold(line)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def entries(self) -> list[Entry]:
        """Every write, in the order in which they were made."""
        return list(self._entries.values())

    def open_entries(self, campaign: str | None = None) -> list[Entry]:
        """Writes that may still have to be undone, in the order in which they were made."""
        return [entry for entry in self.entries if entry.open and campaign in (None, entry.campaign)]

    def taken_back(self, campaign: str | None = None) -> list[Entry]:
        """Writes that the node undid by itself: a controller that was away must not think that they still hold."""
        undone = [entry for entry in self.entries if entry.undone is not None and campaign in (None, entry.campaign)]
        return [entry for entry in undone if (entry.undone or {}).get("by", "").startswith(WATCHDOG)]

    def append(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Put a line on disk for good; returns it. Raises OSError, and the journal is then as it was."""
        line = self._next(kind, fields)
        self._put(line)
        self._add(line)
        self._host.step(f"journaled {kind}")
        return line

    def note(self, kind: str, **fields: Any) -> OSError | None:
        """As `append`, of what has happened: what the disk can't take, and is returned, has the copy, and the disk with
        the next line that it takes.
        """
        line, trouble = self._next(kind, fields), None
        try:
            self._put(line)
        except OSError as error:
            trouble = error
        self._add(line)
        if trouble is None:
            self._host.step(f"journaled {kind}")
        return trouble

    def _next(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        line = {"kind": kind, "number": len(self._lines) + 1, "time": self._host.wall(), **fields}
        return {**line, "format": FORMAT} if kind == "change" else line

    def _add(self, line: dict[str, Any]) -> None:
        self._lines.append(line)
        self._fold(line)
        known = len(self._whole)
        self._whole += _line_of(line)
        with suppress(OSError):  # of two places one is enough
            _extend(self.copy, known, self._whole)

    def _put(self, line: dict[str, Any]) -> None:
        self._host.step(f"journal {line['kind']}")
        self._to_disk(_line_of(line), line["kind"])

    def _to_disk(self, data: bytes, kind: str) -> None:
        """Append bytes, and before them what the disk could not take until now."""
        if self._good is None:
            raise OSError(errno.EIO, "the journal can't be read", str(self.path))
        good, data = self._good, bytes(self._whole[self._good :]) + data
        self._host.disk.do(lambda: self._write(good, data, kind))
        self._good = good + len(data)

    def _write(self, good: int, data: bytes, kind: str) -> None:
        """Have the file be its first `good` bytes, and these."""
        if not self._whole:
            make_folder(self.path.parent)
        new = not self.path.exists()
        if new and self._whole:
            raise OSError(errno.ENOENT, "the journal is gone", str(self.path))
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._append_to(descriptor, good, data, kind)
        finally:
            os.close(descriptor)
        if new:
            sync_folder(self.path.parent)

    def _append_to(self, descriptor: int, good: int, data: bytes, kind: str) -> None:
        self._cut(descriptor, good)  # a torn line goes
        try:
            written = 0
            while written < len(data):
                self._host.disk.go_on()
                written += os.pwrite(descriptor, data[written:], good + written)
                self._host.step(f"half of journal {kind}")
            self._cut(descriptor, good + len(data))  # of another, whom a silent disk kept waiting before us
            os.fsync(descriptor)
        except OSError:
            self._cut(descriptor, good)
            raise

    def _cut(self, descriptor: int, length: int) -> None:
        """What comes beyond goes; only where there is something, since a silent disk may do it much later."""
        self._host.disk.go_on()
        if os.fstat(descriptor).st_size > length:
            os.ftruncate(descriptor, length)

    def archive(self) -> None:
        """Put the file aside when nothing in it is open: the next change begins a new one. Raises OSError."""
        if not self._lines or self.open_entries() or self.foreign:
            return
        self._host.step("archive")
        if self._good != len(self._whole):
            self._to_disk(b"", "end")
        remove(self.copy)
        self._host.disk.do(self._put_aside)

    def _put_aside(self) -> None:
        older = sorted(self.path.parent.glob("ended-*.jsonl"), key=_number_of)
        number = _number_of(older[-1]) + 1 if older else 1
        self.path.rename(self.path.parent / f"ended-{number}.jsonl")
        for path in older[: max(0, len(older) + 1 - ARCHIVED)]:
            path.unlink()
        sync_folder(self.path.parent)

    def _fold(self, line: dict[str, Any]) -> None:
        try:
            self._take(line)
        except (AttributeError, KeyError, TypeError):
            self.foreign.append(line)

    def _take(self, line: dict[str, Any]) -> None:
        kind = line["kind"]
        if kind == "change":
            if line.get("format", 1) > FORMAT:
                self.foreign.append(line)
                self.newer.add(line["change"])
            self.changes[line["change"]] = line
        elif kind == "write":
            known = {word: line[word] for word in _WRITE}
            self._entries[line["number"]] = Entry(number=line["number"], **known)
            self._leave(key_of(line), UNKNOWN)
        elif kind == "keep":
            for entry in self._named(line["of"]):
                entry.kept = True
        else:
            {"wrote": self._wrote, "undoing": self._undoing, "undone": self._undone}[kind](line)

    def _wrote(self, line: dict[str, Any]) -> None:
        for entry in self._named([line["of"]]):
            entry.outcome, entry.after = line["outcome"], line["after"]
            entry.closed = line["closed"]
            self._leave(entry.key, UNKNOWN if line["outcome"] == "unconfirmed" else line["after"])
        for each in line["resets"]:
            self._leave(key_of(each), each["after"])

    def _undoing(self, line: dict[str, Any]) -> None:
        for entry in self._named(line["of"]):
            entry.plan = line["plan"]
            self._leave(entry.key, UNKNOWN)  # until it is read back

    def _undone(self, line: dict[str, Any]) -> None:
        for entry in self._named(line["of"]):
            entry.undone = {word: line.get(word) for word in ("outcome", "now", "reason", "by", "time")}
            entry.closed = line["closed"]
            if line["outcome"] == "reverted":
                self._leave(entry.key, line["now"])
        for each in line["resets"]:
            self._leave(key_of(each), each["now"])
        for rebase in line["rebase"]:  # what our write had reset is what the one above it must go back to
            for entry in self._named([rebase["of"]]):
                entry.before = rebase["before"]

    def _named(self, numbers: list[int]) -> list[Entry]:
        return [self._entries[number] for number in numbers if number in self._entries]

    def _leave(self, key: Key, value: Any) -> None:
        self.left[key] = value


_WRITE = (
    "campaign", "change", "name", "mechanism", "target", "place", "identity", "boot", "before", "asked", "resets",
)  # fmt: skip


def _number_of(path: Path) -> int:
    digits = path.stem.partition("-")[2]
    return int(digits) if digits.isdigit() else 0


def _line_of(line: dict[str, Any]) -> bytes:
    body = json.dumps(line).encode()
    return b'["%08x", %d, %s]\n' % (zlib.crc32(body), len(body), body)


class _Found(NamedTuple):
    """The lines of a file that are sound, down to the first that is not, and their bytes."""

    lines: list[dict[str, Any]]
    data: bytes
    damage: Damaged | None
    length: int
    """Lines in all."""


_NOTHING = _Found([], b"", None, 0)


def _newest(host: Host, path: Path, copy: Path) -> tuple[_Found, int | None]:
    """The disk's lines or the copy's, and how many of their bytes the disk has; None: it can't be read."""
    copied = _NOTHING
    with suppress(OSError):
        copied = _read(copy, copy)
    if copied.damage is not None:
        copied = _NOTHING
    try:
        found = host.disk.do(lambda: _read(path, copy))
    except OSError:
        if not copied.lines:
            raise
        return copied, None
    if copied.length < found.length:
        if found.damage is not None:
            raise found.damage
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


def _extend(path: Path, known: int, whole: bytearray) -> None:
    """Bring a file to these bytes; it may have the first `known` of them, or any others."""
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if known and os.fstat(descriptor).st_size == known:
                os.write(descriptor, whole[known:])
                return
        finally:
            os.close(descriptor)
    make_folder(path.parent)
    replace(path, bytes(whole))


def _read(path: Path, copy: Path) -> _Found:
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
            told = Damaged(path, copy, number, why, text.decode("utf-8", "replace"))
            return _Found(lines, data[:good], told, len(texts))
        lines.append(line)
        good += len(text) + 1
    return _Found(lines, data[:good], None, len(lines))


def readable_lines(host: Host) -> list[dict[str, Any]]:
    """Every line of a journal that can't be trusted, for a person: {"line", "sound", "text"}."""
    texts = host.disk.do((host.folder / NAME).read_bytes).split(b"\n")
    return [
        {"line": number, "sound": _checked(text, number)[0] is not None, "text": text.decode("utf-8", "replace")}
        for number, text in enumerate(texts, 1)
        if text
    ]


def _checked(text: bytes, number: int) -> tuple[dict[str, Any] | None, str]:
    """A line's entry; or None, and why."""
    match = _LINE.fullmatch(text)
    if match is None:
        return None, "it is no line of a journal"
    body = match[3]
    if len(body) != int(match[2]) or zlib.crc32(body) != int(match[1], 16):
        return None, "its checksum is wrong"
    line: dict[str, Any] = json.loads(body)
    if line["number"] != number:
        return None, f"it is number {line['number']}: lines are missing, or were moved"
    return line, ""


def _torn(rest: bytes) -> bool:
    """Whether bytes without a newline are the beginning of a line, perhaps with the NULs that a power cut leaves."""
    begun = rest.rstrip(b"\0")
    head = _HEAD.fullmatch(begun)
    if head is None:
        return _BEGUN.fullmatch(begun) is not None
    return len(head[2]) <= int(head[1]) + len("]")  # one more: the newline became another byte
