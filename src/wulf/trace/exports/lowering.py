"""What formats of messages have in common: tags that fit, collectives as messages, and what they left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wulf.core import files
from wulf.trace.errors import TraceError
from wulf.trace.reader import RankFile, Trace
from wulf.trace.record import ANY, WORLD
from wulf.trace.schedules import SCHEDULES, Ask, rounds_of
from wulf.trace.steps import Calc, Post, Step, Together, Wait, Walk, outcomes
from wulf.trace.summary import ranges

OWN = 1 << 24
"""Tags below this one stay what they are on MPI_COMM_WORLD; all others are numbered from here."""

COLLECTIVE = 1 << 30
"""Tags of collectives are numbered from here."""


class Tags:
    """Tags of all communicators as numbers of one space, the same on all ranks of a trace."""

    def __init__(self) -> None:
        self._tags: dict[tuple[Hashable, int], int] = {}
        self._collectives: dict[tuple[Hashable, int], int] = {}

    def of(self, key: Hashable, tag: int) -> int:
        """Of a message."""
        if key == "world" and tag < OWN:
            return tag
        return self._tags.setdefault((key, tag), OWN + len(self._tags))

    def of_collective(self, key: Hashable, number: int) -> int:
        """Of all messages of a communicator's collective."""
        return self._collectives.setdefault((key, number), COLLECTIVE + len(self._collectives))


class Lowered:
    """The steps of one rank whose collectives are messages, but for those that `native` keeps as they are.

    Attributes
    ----------
    left_out
        Call → how often it came without a step that stands for it.
    """

    def __init__(self, one: RankFile, size: int, tags: Tags, native: frozenset[str] = frozenset()) -> None:
        self._one, self._tags, self._native = one, tags, native
        self._walk = Walk(one.rank, size, outcomes(one.records()))
        self._slot = 0

    @property
    def left_out(self) -> Counter[str]:
        return self._walk.left_out

    def steps(self) -> Iterator[Step]:
        """All of them, in order; slots of messages of collectives are negative."""
        for record in self._one.records():
            for step in self._walk.take(record):
                if isinstance(step, Post):
                    yield step._replace(tag=self._tags.of(step.key, step.tag))
                elif isinstance(step, Together) and not self._is_native(step):
                    yield from self._messages(step)
                else:
                    yield step

    def _is_native(self, step: Together) -> bool:
        return step.call in self._native and step.record.comm == WORLD

    def _messages(self, step: Together) -> Iterator[Step]:
        tag = self._tags.of_collective(step.key, step.number)
        if step.call not in SCHEDULES:
            self._walk.left_out[step.record.op] += 1
            return
        for some in rounds_of(step.call, ask_of(step, self._one.rank)):
            posts = []
            for message in some:
                self._slot -= 1
                peer = step.members[message.peer]
                posts.append(Post(message.sent, peer, message.bytes, tag, step.key, self._slot))
            yield from posts
            yield from (Wait(post.slot) for post in posts)


def ask_of(step: Together, rank: int) -> Ask:
    """What a collective is asked for on this rank: its record in ranks of the communicator.

    Where a record tells of what comes from each rank in an all-to-all only the sum, that is spread evenly.
    """
    record, size = step.record, len(step.members)
    root = step.members.index(record.root) if record.root in step.members else 0
    given: Sequence[int] = ()
    taken: Sequence[int] = ()
    one = record.bytes
    match step.call:
        case "gatherv":
            taken = record.counts
        case "scatterv":
            given, one = record.counts, record.bytes2
        case "scatter":
            one = record.bytes if record.root == rank else record.bytes2
        case "allgatherv":
            given, taken = [record.bytes] * size, record.counts
        case "alltoallv" | "alltoallw":
            given, taken = record.counts, record.counts2 or [record.bytes2 // size] * size
        case "reduce_scatter":
            given = record.counts
            taken = [record.counts[step.members.index(rank)]] * size if record.counts else ()
    return Ask(step.members.index(rank), size, root, one, given, taken)


def whole(trace: Trace, what: str) -> None:
    """Raises TraceError where ranks are missing: their partners would wait for ever."""
    if trace.missing or trace.unread:
        lacking = ranges(trace.missing) or str(trace.unread[0])
        raise TraceError(
            f"{what} needs all ranks: {lacking} of {trace.size} are missing",
            "trace the program again; Perfetto's format takes what there is",
        )


def check_end(one: RankFile, what: str) -> None:
    """Raises TraceError where a rank's file turned out to be torn, or ends before its program did."""
    if one.fault is not None:
        raise TraceError(one.fault.what, f"{what} needs whole ranks; Perfetto's format takes what there is",
                         rank=one.rank, chunk=one.fault.chunk, offset=one.fault.offset)  # fmt: skip
    if one.totals is not None and one.totals.cut:
        raise TraceError(f"rank {one.rank}: {one.totals.cut}", f"{what} needs a program that ended well", rank=one.rank)


def notes_of(left_out: Counter[str], expanded: bool) -> list[str]:
    """What a reader of the file should know."""
    notes = ["collectives are messages by the textbook's algorithms (docs/trace.md)"] if expanded else []
    if left_out:
        calls = ", ".join(f"{count} × MPI_{name}" for name, count in left_out.most_common())
        notes.append(f"left out, for want of a way to say it: {calls}")
    return notes


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """A text file that is whole or not there: it takes its name when the block ends well.

    Raises
    ------
    TraceError
        The disk is full, or there is no permission.
    """
    try:
        with files.writing(path) as out:
            yield out
    except OSError as error:
        raise TraceError(f"can't write {path}: {error.strerror}", "free some space, or name another place") from error


__all__ = ["ANY", "Calc", "Lowered", "Post", "Tags", "Together", "Wait", "check_end", "notes_of", "whole", "writing"]
