"""The write-ahead journal: what will be written stands here, on disk, before it is written.

A line that is torn had not begun; where one is damaged nothing is guessed (`lines`).

A copy lies in memory. It stands for a disk that is gone, silent or damaged, and has what a full or read-only one could
not take: it is written after the disk, and removed before it, so that the one that has more lines is the newer one.

Kinds of entry: `change` (one began, in which FORMAT), `write` (one setting will be written), `wrote` (what came of it),
`undoing`, `undone`, `keep`. A sound line that is none of these, or lacks what it should have, is of another wulf: it is
kept and shown, and hides no other one.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wulf.agent.changes.state.entry import Entry, Key, key_of
from wulf.agent.changes.state.lines import line_of, newest
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
        found, self._good = newest(host, self.path, self.copy)
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

    def outlive(self) -> None:
        """What stands here is all that is left of it: the copy gets it, and the file with the next line."""
        self._good = 0
        with suppress(OSError):
            replace(self.copy, bytes(self._whole))

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
        self._whole += line_of(line)
        with suppress(OSError):  # of two places one is enough
            _extend(self.copy, known, self._whole)

    def _put(self, line: dict[str, Any]) -> None:
        self._host.step(f"journal {line['kind']}")
        self._to_disk(line_of(line), line["kind"])

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
            if line.get("format", FORMAT) not in range(FORMAT + 1):
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
