"""A Paraver trace's text: what stands before its records, its communications, and its calls of MPI.

    #Paraver (09/10/2019 at 16:08):6082352213_ns:2(4,4):1:4(1:1,1:1,1:2,1:2),5
             date                  length        nodes    tasks: threads and node of each; communicators
    c:1:2:2:1:3                  application, number, how many, which tasks
    2:3:1:3:1:419:50000002:7:50100001:0:50100002:4112:50100004:1
                                 cpu, application, task, thread, time, and pairs of type and value
    3:1:1:1:1:73135:73236:2:1:2:1:73020:73639:32:11
                                 sender, logical and physical time; receiver, likewise; size, tag

Types and values are those of Extrae's src/merger/paraver/MPI_EventEncoding.h.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wulf.trace.errors import FormatError
from wulf.trace.imports.building import lines_of

POINT, COLLECTIVE, OTHER, ONE_SIDED = 50000001, 50000002, 50000003, 50000004
"""Types of events that are calls: a value names the call, 0 ends it."""

CALLS = frozenset({POINT, COLLECTIVE, OTHER, ONE_SIDED})

SENT, RECEIVED, IS_ROOT, COMMUNICATOR = 50100001, 50100002, 50100003, 50100004
"""Types of events that say more of a collective."""

MOST = 1 << 53
"""Values that no trace has: times of ten years in microseconds are below it in nanoseconds, too."""

UNITS = {"": 1000, "_us": 1000, "_ns": 1}
"""What stands behind the length of a trace → nanoseconds of a unit."""

LEFT = "left out, since the text does not tell enough"

_HEADER = re.compile(r"#Paraver \([^)]*\):\d+(_\w+)?:\d+(?:\([\d,]*\))?:(\d+):(.*)")
_TASKS = re.compile(r"(\d+)\((\d+:\d+(?:,\d+:\d+)*),?\)(?:,\d+)?")
_RECORDS = ("1:", "2:", "3:", "4:", "c:", "i:", "#")

ADVICE = "is it the .prv that mpi2prv wrote, unpacked and whole?"


class Header(NamedTuple):
    """What stands before the records: nanoseconds of a unit of time, and the node of every task, from 1."""

    ns: int
    nodes: list[int]

    @property
    def size(self) -> int:
        """How many tasks there are."""
        return len(self.nodes)


class Message(NamedTuple):
    """A communication: tasks from 0; when it was sent, when its receive was posted, and when that completed.

    Extrae's logical times are the begin of a send and of a blocking receive, and the end of MPI_Irecv; the physical
    time at the receiver is the end of the call that completed the receive (mpi_prv_semantics.c).
    """

    sender: int
    receiver: int
    sent: int
    posted: int
    arrived: int
    bytes: int
    tag: int


class TaskCall(NamedTuple):
    """A call of a task's first thread: its type and value, times in the trace's unit, and what is said of it."""

    task: int
    kind: int
    value: int
    begin: int
    end: int
    told: dict[int, int]


def read_header(path: Path) -> Header:
    """The first line. FormatError where it is none, or names several applications."""
    _, line = next(lines_of(path), (0, ""))
    match = _HEADER.fullmatch(line)
    unit = UNITS.get(match[1] or "") if match else None
    if match is None or unit is None:
        raise FormatError(f"{path}:1: {line[:120]!r} is no header of Paraver's", ADVICE)
    if int(match[2][:9]) != 1:
        raise FormatError(f"{path}:1: {match[2][:9]} applications are in it", "cut one of them out with paramedir")
    tasks = _TASKS.fullmatch(match[3])
    nodes = [int(one.partition(":")[2][:9]) for one in tasks[2].split(",")] if tasks else []
    if tasks is None or str(len(nodes)) != tasks[1]:
        raise FormatError(f"{path}:1: {match[3][:120]!r} is no list of tasks, each with its threads and node", ADVICE)
    return Header(unit, nodes)


def read_communicators(path: Path, size: int) -> dict[int, tuple[int, ...]]:
    """Number → members, tasks from 0, of those that are declared with tasks of the application alone.

    Raises
    ------
    FormatError
        A line that is no record of Paraver's, or a declaration that does not name as many tasks as it says.
    """
    found = {}
    for number, line in lines_of(path):
        if not line.startswith(_RECORDS) and line:
            raise bad(path, number, line, "it begins as none")
        if not line.startswith("c:"):
            continue
        try:
            _, _, name, many, *tasks = line.split(":")
            members = tuple(int(task) - 1 for task in tasks)
            if len(members) != int(many):
                raise ValueError("it does not name as many tasks as it says")
            if members and all(0 <= task < size for task in members):
                found[_number(name)] = members
        except ValueError as error:
            raise bad(path, number, line, error) from error
    return found


class Records:
    """The records of a trace in their order, read anew each time.

    Attributes
    ----------
    left_out
        What is in the text and in no call of this, as `kind: what`, once the calls have been read.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path, self._size = path, size
        self.left_out: Counter[str] = Counter()

    def messages(self) -> Iterator[Message]:
        """Its communications. FormatError where a line can't be read."""
        for number, line in lines_of(self._path):
            if line.startswith("3:"):
                try:
                    yield self._message(line.split(":"))
                except ValueError as error:
                    raise bad(self._path, number, line, error) from error

    def _message(self, words: list[str]) -> Message:
        if len(words) != 15:
            raise ValueError(f"it has {len(words)} numbers, of 15")
        sent, posted, arrived, size, tag = (_number(words[at]) for at in (5, 11, 12, 13, 14))
        _only_application(words[2], words[8])
        return Message(self._task(words[3]), self._task(words[9]), sent, posted, arrived, size, tag)

    def calls(self) -> Iterator[TaskCall]:
        """The calls of each task's first thread, as they end. FormatError where a line can't be read."""
        self.left_out = Counter()
        open_: dict[int, TaskCall] = {}
        for number, line in lines_of(self._path):
            if line.startswith("2:") and (":5000000" in line or ":5010000" in line):
                try:
                    yield from self._ended(line.split(":"), open_)
                except ValueError as error:
                    raise bad(self._path, number, line, error) from error
        self.left_out[f"{LEFT}: calls that never end"] += len(open_)
        self.left_out = +self.left_out

    def _ended(self, words: list[str], open_: dict[int, TaskCall]) -> Iterator[TaskCall]:
        """The calls that end with a line; others begin with it."""
        if len(words) < 8 or len(words) % 2:
            raise ValueError("a type or a value is missing")
        _only_application(words[2])
        task, at = self._task(words[3]), _number(words[5])
        told: dict[int, int] = {}
        for name, text in zip(words[6::2], words[7::2], strict=True):
            if len(name) != 8 or not name.startswith(("5000000", "5010000")):
                continue
            kind, value = int(name), _number(text)
            if words[4] != "1":
                self.left_out[f"{LEFT}: calls of other threads than a task's first"] += kind in CALLS and value > 0
            elif kind in CALLS:
                yield from self._edge(TaskCall(task, kind, value, at, at, {}), open_)
            else:
                told[kind] = value
        if told and task in open_ and open_[task].begin == at:
            open_[task].told.update(told)

    def _edge(self, edge: TaskCall, open_: dict[int, TaskCall]) -> Iterator[TaskCall]:
        """A call begins or ends. One that begins within another takes its place: calls in calls are what it did."""
        before = open_.pop(edge.task, None)
        if edge.value:
            self.left_out[f"{LEFT}: calls with others in them"] += before is not None
            open_[edge.task] = edge
        elif before is None or before.kind != edge.kind:
            self.left_out[f"{LEFT}: ends of calls that did not begin"] += 1
            if before is not None:
                open_[edge.task] = before
        elif before.begin > edge.end:
            raise ValueError(f"its call began at {before.begin}, which is later")
        else:
            yield before._replace(end=edge.end)

    def _task(self, text: str) -> int:
        task = _number(text)
        if not 1 <= task <= self._size:
            raise ValueError(f"there is no task {task}")
        return task - 1


def bad(path: Path, number: int, line: str, error: object) -> FormatError:
    """What is wrong with a line."""
    return FormatError(f"{path}:{number}: {line[:120]!r} is no record of Paraver's ({error})", ADVICE)


def _only_application(*numbers: str) -> None:
    if any(number != "1" for number in numbers):
        raise ValueError("it is of another application than the header's")


def _number(text: str) -> int:
    value = int(text)
    if not 0 <= value < MOST:
        raise ValueError(f"{text[:30]} is no number that a trace has")
    return value
