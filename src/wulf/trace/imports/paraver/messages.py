"""Which communication of a Paraver trace belongs to which call: by task, and by the logical time."""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from wulf.trace.imports.paraver.events import Message

Wanted = Callable[[int, Message], Any]
"""How well a message, by its logical time, suits a call: the least is taken; None: not at all."""


class Messages:
    """All communications, in columns: 56 bytes each."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._columns = [array("q") for _ in Message._fields]
        for message in messages:
            for column, value in zip(self._columns, message, strict=True):
                column.append(value)

    def __getitem__(self, number: int) -> Message:
        return Message(*(column[number] for column in self._columns))

    def sides(self, size: int) -> tuple[list[Side], list[Side]]:
        """What each task sends, and what it receives."""
        sent, received = (self._by("sender", "sent"), self._by("receiver", "posted"))
        return (
            [Side(self, sent[task], self._column("sent")) for task in range(size)],
            [Side(self, received[task], self._column("posted")) for task in range(size)],
        )

    def _column(self, name: str) -> array[int]:
        return self._columns[Message._fields.index(name)]

    def _by(self, task: str, when: str) -> defaultdict[int, list[int]]:
        found = defaultdict[int, list[int]](list)
        for number, one in enumerate(self._column(task)):
            found[one].append(number)
        for numbers in found.values():
            numbers.sort(key=self._column(when).__getitem__)
        return found


class Side:
    """What one task sends, or what it receives, by logical time; a call takes its own.

    Attributes
    ----------
    passed
        How many no call has taken, and none will: they are of before the last one.
    """

    def __init__(self, messages: Messages, numbers: Iterable[int], when: array[int]) -> None:
        self._messages, self._when = messages, when
        self._later, self._near = deque(numbers), list[int]()
        self.passed = 0

    def take(self, begin: int, end: int, wanted: Wanted) -> Message | None:
        """The message within a call that suits it best."""
        self._go(begin, end)
        best = None
        for number in self._near:
            how = wanted(self._when[number], self._messages[number])
            if how is not None and (best is None or how < best[0]):
                best = how, number
        if best is None:
            return None
        self._near.remove(best[1])
        return self._messages[best[1]]

    def all_within(self, begin: int, end: int) -> list[Message]:
        """All messages within a call."""
        self._go(begin, end)
        found, self._near = self._near, []
        return [self._messages[number] for number in found]

    def left(self) -> int:
        """How many no call has taken."""
        return self.passed + len(self._near) + len(self._later)

    def _go(self, begin: int, end: int) -> None:
        while self._later and self._when[self._later[0]] <= end:
            self._near.append(self._later.popleft())
        kept = [number for number in self._near if self._when[number] >= begin]
        self.passed += len(self._near) - len(kept)
        self._near = kept


def of_send(begin: int, end: int) -> Wanted:
    """A send's is of its begin, or else of within it."""
    return lambda when, _: _first(when == begin, begin < when < end)


def of_receive(begin: int, end: int) -> Wanted:
    """A blocking receive's is of its begin, and has arrived at its end; or else of within it."""
    return lambda when, one: _first(when == begin and one.arrived == end, when == begin, begin < when < end)


def of_irecv(begin: int, end: int) -> Wanted:
    """MPI_Irecv's is of its end; of several, what arrives last: a blocking receive may begin at the same moment."""

    def wanted(when: int, one: Message) -> tuple[int, int] | None:
        how = _first(when == end, begin <= when < end)
        return None if how is None else (how, -one.arrived)

    return wanted


def _first(*those: bool) -> int | None:
    """The first that holds."""
    return next((at for at, holds in enumerate(those) if holds), None)
