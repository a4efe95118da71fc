"""What imports have in common: request ids, communicators by number, and times as a rank's file has them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from wulf.trace.errors import FormatError, opened
from wulf.trace.record import ANY, OUTSIDE, SELF, WORLD, Record
from wulf.trace.writer import RankWriter

MOST_BYTES, MOST_NS, MOST_NUMBER = 1 << 60, (2**63 - 1) // 1000, 2**31 - 1
"""The largest message, run time, and tag that the replay takes: it counts in picoseconds."""

LONGEST = 1 << 24
"""Letters of a line: of the longest, Paraver's of a communicator of a million ranks, twice as many as it takes."""


class Limits:
    """What a program of so many ranks can mean, and a rank's file can hold."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._spent = 0

    def held(self, record: Record) -> Record:
        """The rank's next record. ValueError: it names a rank that is not there, or its figures are beyond limits."""
        told = [(record.actual or (None, None)), *((one.source, one.tag) for one in record.completions)]
        for peer in (record.peer, record.peer2, record.root, *(source for source, _ in told)):
            if peer is not None and not OUTSIDE <= peer < self._size:
                raise ValueError(f"there is no rank {_short(peer)}: there are {self._size}")
        for tag in (record.tag, record.tag2, *(tag for _, tag in told)):
            if tag is not None and not ANY <= tag <= MOST_NUMBER:
                raise ValueError(f"a tag of {_short(tag)}")
        for size in (record.bytes, record.bytes2, *record.counts, *record.counts2):
            if not 0 <= size <= MOST_BYTES:
                raise ValueError(f"a message of {_short(size)} B")
        self._spent += record.gap_ns + record.call_ns
        if self._spent > MOST_NS:
            raise ValueError("a run of more than a hundred days")
        return record


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**30 else "more than 30 digits"


class Clock:
    """Times of calls as a rank's file has them: since the call before, and in the call, in whole nanoseconds."""

    def __init__(self) -> None:
        self._end: int | None = None
        self.begin = 0
        """Of the first call, or the end of MPI_Init: what the others count from."""

    def at(self, begin: int, end: int) -> tuple[int, int]:
        """Gap and length of the next call."""
        if self._end is None:
            self._end = self.begin = begin
        gap = max(0, begin - self._end)
        self._end = max(self._end, end)
        return gap, max(0, end - begin)

    def start(self, end: int) -> None:
        """MPI_Init returned then."""
        self._end = self.begin = end


class Ids:
    """Small numbers for what a foreign trace calls by handles: the smallest that is free.

    Several requests may have one handle at a time: Open MPI gives all sends that are done at once the same.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, list[int]] = {}
        self._free: list[int] = []
        self._next = 0

    def new(self, handle: Hashable) -> int:
        """A number for a handle."""
        if self._free:
            number = heapq.heappop(self._free)
        else:
            number, self._next = self._next, self._next + 1
        self._known.setdefault(handle, []).append(number)
        return number

    def get(self, handle: Hashable) -> int | None:
        """The newest number of a handle that is in use."""
        return self._known[handle][-1] if handle in self._known else None

    def within(self, handles: range) -> list[Hashable]:
        """Those of the handles that are in use, in their order; the handles may be more than there ever were."""
        if len(handles) <= len(self._known):
            return [handle for handle in handles if handle in self._known]
        return sorted(handle for handle in self._known if handle in handles)  # type: ignore[type-var]

    def done(self, handle: Hashable) -> int | None:
        """The same, and it is free again."""
        numbers = self._known.get(handle)
        if numbers is None:
            return None
        number = numbers.pop()
        if not numbers:
            del self._known[handle]
        heapq.heappush(self._free, number)
        return number


class Communicators:
    """Foreign handles of communicators → numbers of ours."""

    def __init__(self, world: Hashable, self_: Hashable = None) -> None:
        self._numbers: dict[Hashable, int] = {world: WORLD}
        if self_ is not None:
            self._numbers[self_] = SELF
        self._next = SELF + 1

    def number(self, handle: Hashable) -> int | None:
        """Of a communicator that is known."""
        return self._numbers.get(handle)

    def add(self, handle: Hashable) -> int:
        """A new one; its number."""
        number = self._numbers[handle] = self._next
        self._next += 1
        return number

    def forget(self, handle: Hashable) -> None:
        """Of a communicator that is not known any more: its handle was given to another one."""
        self._numbers.pop(handle, None)


def write_rank(folder: Path, header: dict[str, Any], records: Iterable[Record]) -> None:
    """One rank's file. Raises TraceError where the disk is full."""
    with RankWriter(folder, header) as out:
        out.add_all(records)


def some(records: Iterable[Record], path: Path, advice: str) -> Iterator[Record]:
    """A rank's records; FormatError where there are none: a text that leaves the calls out is no empty program."""
    empty = True
    for record in records:
        empty = False
        yield record
    if empty:
        raise FormatError(f"{path}: there is no call of MPI in it", advice)


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a text with their numbers, from 1, without ends.

    Raises
    ------
    FormatError
        The file can't be read, or a line has more than `LONGEST` letters: it is no text.
    """
    with opened(path) as file, TextIOWrapper(file, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(iter(partial(lines.readline, LONGEST), ""), 1):
            if len(line) == LONGEST:
                raise FormatError(f"{path}, line {number} has more than {LONGEST:,} letters", "it is no such text")
            yield number, line.rstrip("\n")


def files_in(paths: Sequence[Path], pattern: str, what: str) -> list[Path]:
    """The files that are given, and of folders those that match. FormatError where there are none."""
    found = [path for given in paths for path in (sorted(given.glob(pattern)) if given.is_dir() else [given])]
    if not found:
        where = ", ".join(map(str, paths))
        raise FormatError(f"{where}: no {what} is there", f"name the files, or a folder that has {pattern}")
    return found


def ranks_in(
    paths: Sequence[Path], pattern: str, what: str, rank_of: Callable[[Path], int], advice: str
) -> list[tuple[int, Path]]:
    """The file of every rank, in their order; `what` one of them is: "trace of …", "text of …".

    Raises
    ------
    FormatError
        There are none, or some ranks' are missing.
    """
    files = files_in(paths, pattern, what)
    by_rank = {rank_of(path): path for path in files}
    absent = sorted(set(range(len(files))) - set(by_rank))
    if absent:
        kind = what.partition(" ")[0]
        raise FormatError(f"the {kind}s of ranks {absent[:5]} are missing: there are {len(files)} files", advice)
    return sorted(by_rank.items())


def notes_of(left_out: Counter[str]) -> list[str]:
    """What a text does not tell enough of."""
    told = ", ".join(f"{count} × {what}" for what, count in left_out.most_common())
    return [f"left out, since the text does not tell enough: {told}"] if told else []


def notes_by_kind(notes: Counter[str]) -> list[str]:
    """The same of what is counted as `kind: what`: a note a kind."""
    kinds: dict[str, list[str]] = {}
    for key, count in notes.most_common():
        kind, _, what = key.partition(": ")
        kinds.setdefault(kind, []).append(f"{count} × {what}")
    return [f"{kind}: {', '.join(found)}" for kind, found in kinds.items()]
