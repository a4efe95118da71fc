"""A rank's records as messages: what is posted, and what is waited for.

Which message a receive from anybody took is known only when it completes: the records are read twice, first for what
became of the requests (`outcomes`), then in order (`Walk`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from wulf.trace.calls import (
    COLLECTIVES,
    COMPLETIONS,
    EXCHANGES,
    NEW_COMMUNICATORS,
    POSTS,
    RECEIVES,
    STARTS,
    TEMPLATES,
)
from wulf.trace.errors import TraceError
from wulf.trace.record import SELF, WORLD, Completion, Record

LOST = Completion(None, cancelled=True)
"""What becomes of a receive that nothing completes: no message is awaited."""


class Post(NamedTuple):
    """A message sent or awaited; `slot` names it until its `Wait`, `key` its communicator on all ranks alike."""

    sent: bool
    peer: int
    bytes: int
    tag: int
    key: Hashable
    slot: int


class Wait(NamedTuple):
    """Until that message is there, or has left."""

    slot: int


Step = Post | Wait


@dataclass
class _Request:
    """A request under way: its start's index, and the post that it stands for."""

    index: int
    template: Record
    step: Post | None = None
    persistent: bool = False


def outcomes(records: Iterable[Record]) -> dict[int, Completion]:
    """Start of a non-blocking receive, counted from 0 → what became of it, where its own record does not say.

    Those from anybody or with any tag, those of fewer bytes, cancelled ones, and those that never completed.
    """
    found: dict[int, Completion] = {}
    open_: dict[int, _Request] = {}
    index = 0
    for record in records:
        for request, template, persistent in _begun(record, open_):
            if template.op in RECEIVES:
                found[index] = LOST
            open_[request] = _Request(index, template, persistent=persistent)
            index += 1
        for one in record.completions if record.op in COMPLETIONS else ():
            begun = open_.get(one.request) if one.request is not None else None
            if begun is None or begun.index < 0:
                continue
            if one.cancelled or one.source is not None or one.bytes is not None:
                found[begun.index] = one
            else:
                found.pop(begun.index, None)
            _ended(open_, one.request, begun)
    return found


def _begun(record: Record, open_: dict[int, _Request]) -> Iterator[tuple[int, Record, bool]]:
    """The requests that a call starts: each with the record that says what it is, and whether it is persistent."""
    if record.op in TEMPLATES and record.request is not None:
        open_[record.request] = _Request(-1, record, persistent=True)
    elif record.op in STARTS:
        for request in record.requests:
            if request is not None and request in open_:
                yield request, open_[request].template, True
    elif record.request is not None and (record.op in POSTS or record.op in COLLECTIVES):
        yield record.request, record, False
    elif record.op == "Request_free" and record.request is not None:
        open_.pop(record.request, None)


def _ended(open_: dict[int, _Request], request: int | None, begun: _Request) -> None:
    """A request has completed: a persistent one stays, until it is started again."""
    if request is not None and begun.persistent:
        open_[request] = _Request(-1, begun.template, persistent=True)
    elif request is not None:
        open_.pop(request, None)


MOST_MEMBERS = 1 << 24
"""Members of all communicators of a rank: a trace names a million of them by fifteen bytes."""


def _digest(members: Sequence[int]) -> bytes:
    """What is kept of a group: a run of thousands of ranks has thousands of groups."""
    return blake2b(array("q", members).tobytes(), digest_size=16).digest()


class Communicators:
    """A rank's communicators: a key of each that is the same on all its ranks."""

    def __init__(self, rank: int) -> None:
        self._kept = 0
        self._keys: dict[int, Hashable] = {WORLD: "world", SELF: ("self", rank)}
        self._made: Counter[Hashable] = Counter()

    def take(self, record: Record) -> None:
        """A record that makes a communicator, or finds one. TraceError where they have more members than any run."""
        if record.newcomm is None:
            return
        self._kept += len(record.members) + len(record.members2)
        if self._kept > MOST_MEMBERS:
            raise TraceError(f"its communicators have more than {MOST_MEMBERS:,} members", "trace the program again")
        number, parent = record.newcomm, "found" if record.op == "found_comm" else self.key(record.comm)
        groups = [_digest(group) for group in (record.members, record.members2) if group]
        same = (parent, *sorted(groups))
        self._made[same] += 1
        self._keys[number] = (same, self._made[same])

    def key(self, number: int) -> Hashable:
        """Of a communicator; one that no record made has a key of its own number."""
        return self._keys.get(number, ("unknown", number))


class Walk:
    """A rank's records as steps, one record at a time."""

    def __init__(self, rank: int, known: dict[int, Completion]) -> None:
        self.communicators = Communicators(rank)
        self._known = known
        self._open: dict[int, _Request] = {}
        self._index, self._slot = 0, 0
        self._free: list[int] = []

    def take(self, record: Record) -> list[Step]:
        """The steps of the next record."""
        if record.op in NEW_COMMUNICATORS:
            self.communicators.take(record)
        if record.op in COMPLETIONS:
            return self._completed(record)
        if record.op in EXCHANGES:
            return self._exchange(record)
        if record.request is not None or record.op in STARTS:
            return self._started(record)
        return self._blocking(self._post(record, *record.source)) if record.op in POSTS else []

    def _post(self, template: Record, peer: int | None, tag: int | None, size: int | None = None) -> Post | None:
        """A message, unless it is to or from nobody, or nobody that is known."""
        if peer is None or peer < 0:
            return None
        slot = self._free.pop() if self._free else self._slot
        self._slot += slot == self._slot
        sent = template.op not in RECEIVES
        length = template.bytes if size is None else size
        return Post(sent, peer, length, tag if tag is not None else 0, self.communicators.key(template.comm), slot)

    def _blocking(self, *posts: Post | None) -> list[Step]:
        there = [post for post in posts if post is not None]
        return [*there, *(self._wait(post) for post in there)]

    def _wait(self, post: Post) -> Wait:
        self._free.append(post.slot)
        return Wait(post.slot)

    def _exchange(self, record: Record) -> list[Step]:
        source, tag = record.source
        into = self._post(Record("Recv", comm=record.comm), source, tag, record.bytes2)
        out = self._post(Record("Send", comm=record.comm), record.peer, record.tag, record.bytes)
        return self._blocking(into, out)

    def _started(self, record: Record) -> list[Step]:
        steps: list[Step] = []
        for request, template, persistent in list(_begun(record, self._open)):
            step = self._begin(template)
            self._open[request] = _Request(self._index, template, step, persistent)
            self._index += 1
            if step is not None:
                steps.append(step)
        return steps

    def _begin(self, template: Record) -> Post | None:
        if template.op in COLLECTIVES:
            return None
        if template.op not in RECEIVES:
            return self._post(template, template.peer, template.tag)
        told = self._known.get(self._index)
        if told is not None and told.cancelled:
            return None
        source = told.source if told is not None and told.source is not None else template.peer
        tag = told.tag if told is not None and told.tag is not None else template.tag
        return self._post(template, source, tag, told.bytes if told is not None else None)

    def _completed(self, record: Record) -> list[Step]:
        steps: list[Step] = []
        for one in record.completions:
            begun = self._open.get(one.request) if one.request is not None else None
            if begun is None:
                continue
            _ended(self._open, one.request, begun)
            if begun.step is not None:
                steps.append(self._wait(begun.step))
        return steps
