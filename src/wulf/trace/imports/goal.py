"""GOAL: what LogGOPSim and its relatives simulate (Group Operation Assembly Language), as text or as its binary.

A GOAL file is a schedule rather than a trace: it has dependencies and no times. It is checked, and passed on as it is.
The text's grammar is that of LogGOPSim's txt2bin: operations with or without a label, `tag`, `cpu` and `nic` in this
order, -1 for any source or tag, `requires` and `irequires`, and both kinds of C++'s comments.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from wulf.core.files import copy_file
from wulf.trace.errors import FormatError, TraceError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import MOST_BYTES, MOST_NS, lines_of
from wulf.trace.imports.goal_binary import is_binary, read_binary
from wulf.trace.imports.goal_schedule import ANY, MOST, MOST_NUMBER, Schedule, waiting_for_itself
from wulf.trace.manifest import GOAL, SCHEDULE

HELP = "GOAL's text, of LogGOPSim, or what txt2bin makes of it: one file, passed on as it is."

_LABEL = r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?"
_OPERATION = re.compile(
    _LABEL + r"(?P<kind>send|recv)\s*(?P<bytes>\d+)\s*b\s*(?P<way>to|from)\s*(?P<peer>-1|\d+)"
    r"(?:\s*tag\s*(?P<tag>-1|\d+))?(?:\s*cpu\s*(?P<cpu>\d+))?(?:\s*nic\s*(?P<nic>\d+))?",
    re.ASCII,
)
_CALC = re.compile(_LABEL + r"calc\s*(?P<time>\d+)(?:\s*cpu\s*(?P<cpu>\d+))?(?:\s*nic\s*(?P<nic>\d+))?", re.ASCII)
_NEEDS = re.compile(r"(?P<label>[A-Za-z]\w*)\s*i?requires\s+(?P<other>[A-Za-z]\w*)", re.ASCII)
_RANKS, _RANK = re.compile(r"num_ranks\s*(\d+)", re.ASCII), re.compile(r"rank\s*(\d+)\s*\{", re.ASCII)
_WAY = {"send": "to", "recv": "from"}


def read_goal(path: Path) -> Schedule:
    """Read and check a GOAL file.

    Raises
    ------
    FormatError
        A line is none of the grammar's; a label is unknown or there twice; a peer or rank is beyond num_ranks; a
        number is larger than the replay takes; operations wait for one another; a message has no partner; a binary
        file is cut: names rank, line or operation, and the first such.
    """
    try:
        binary = is_binary(path)
    except OSError as error:
        raise FormatError(f"{path} can't be read: {error.strerror}") from error
    schedule = read_binary(path) if binary else _read_text(path)
    schedule.unmatched = Counter({key: count for key, count in schedule.unmatched.items() if count})
    if lonely := schedule.lonely():
        raise FormatError(f"{path}: messages without a partner: {lonely}", "write all ranks' operations into one file")
    return schedule


def _read_text(path: Path) -> Schedule:
    """A line at a time."""
    reader = _Reader(path)
    for number, line in _statements(lines_of(path)):
        reader.take(number, line)
    return reader.done()


def _statements(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines without comments; what stands on one line with a brace is set apart from it."""
    inside = False
    for number, line in lines:
        text, inside = _without_comments(line, inside)
        for piece in re.sub(r"([{}])", r"\1\n", text).replace("}", "\n}").splitlines():
            if piece.strip():
                yield number, piece.strip()


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    kept = ""
    while line:
        if inside:
            _, end, line = line.partition("*/")
            inside = not end
            continue
        cut = re.search(r"//|/\*", line)
        if cut is None:
            return kept + line, False
        kept += line[: cut.start()]
        if cut[0] == "//":
            return kept, False
        line, inside = line[cut.end() :], True
    return kept, inside


class _Reader:
    """The state between two lines."""

    def __init__(self, path: Path) -> None:
        self._path, self._schedule = path, Schedule()
        self._rank: int | None = None
        self._labels: dict[str, int] = {}
        self._needs = array("q"), array("q")
        """Of each dependency the label that is first, and the one that waits for it, by their numbers."""

    def take(self, number: int, line: str) -> None:
        """The next statement."""
        if self._rank is None:
            self._outside(number, line)
        elif line == "}":
            self._end()
        elif match := _OPERATION.fullmatch(line):
            if match["way"] != _WAY[match["kind"]]:
                raise self._fault(number, f"{line!r}: a {match['kind']} goes {_WAY[match['kind']]!r} a rank")
            self._message(number, match)
        elif match := _CALC.fullmatch(line):
            self._label(number, match["label"])
            self._schedule.counts[self._rank]["calc"] += 1
            self._schedule.calculated[self._rank] += self._number(number, match["time"], MOST_NS)
            self._places(number, match)
        elif match := _NEEDS.fullmatch(line):
            for label in (match["label"], match["other"]):
                if label not in self._labels:
                    raise self._fault(number, f"rank {self._rank} has no operation labelled {label!r} before this line")
            self._needs[0].append(self._labels[match["other"]])
            self._needs[1].append(self._labels[match["label"]])
        else:
            raise self._fault(number, f"{line!r} is no operation of GOAL")

    def _outside(self, number: int, line: str) -> None:
        if match := _RANKS.fullmatch(line):
            if self._schedule.ranks:
                raise self._fault(number, "num_ranks stands there twice")
            self._schedule.ranks = self._number(number, match[1], MOST_NUMBER)
        elif match := _RANK.fullmatch(line):
            self._rank = self._number(number, match[1], MOST_NUMBER)
            if self._rank >= self._schedule.ranks or self._rank in self._schedule.counts:
                why = "is there twice" if self._rank in self._schedule.counts else "is not below num_ranks"
                raise self._fault(number, f"rank {self._rank} {why}")
            self._schedule.counts[self._rank] = Counter()
            self._labels, self._needs = {}, (array("q"), array("q"))
        else:
            raise self._fault(number, f"{line!r} stands outside of a rank")

    def _message(self, number: int, match: re.Match[str]) -> None:
        assert self._rank is not None  # noqa: S101 - the caller has looked
        self._label(number, match["label"])
        kind, size = match["kind"], self._number(number, match["bytes"], MOST_BYTES)
        peer, tag = (self._number(number, match[name] or "0", MOST_NUMBER) for name in ("peer", "tag"))
        self._places(number, match)
        if tag == ANY and kind == "send":
            raise self._fault(number, "a send has a tag; -1 is of receives alone")
        if peer >= self._schedule.ranks or (peer == ANY and kind == "send"):
            raise self._fault(number, f"there is no rank {peer}: num_ranks is {self._schedule.ranks}")
        self._schedule.counts[self._rank][kind] += 1
        if kind == "send":
            self._schedule.bytes[self._rank, peer] += size
            self._schedule.unmatched[self._rank, peer, tag] += 1
        elif ANY in (peer, tag):
            self._schedule.wildcards += 1
        else:
            self._schedule.unmatched[peer, self._rank, tag] -= 1

    def _label(self, number: int, label: str | None) -> None:
        if label in self._labels:
            raise self._fault(number, f"rank {self._rank} has two operations labelled {label!r}")
        if label is not None:
            self._labels[label] = len(self._labels)

    def _places(self, number: int, match: re.Match[str]) -> None:
        for name in ("cpu", "nic"):
            if match[name] is not None:
                self._number(number, match[name], MOST_NUMBER)

    def _number(self, number: int, text: str, most: int) -> int:
        value = int(text) if len(text) <= len(str(most)) else most + 1
        if value > most:
            raise self._fault(number, f"{text[:40]} is larger than {most:,}, the most that can be replayed")
        return value

    def _end(self) -> None:
        """A rank is complete."""
        circle = waiting_for_itself(len(self._labels), *self._needs)
        if circle is not None:
            label = next(islice(self._labels, circle, None))
            raise self._fault(None, f"rank {self._rank}: what {label!r} requires requires it in turn")
        self._rank = None

    def done(self) -> Schedule:
        """The whole, once it is known that nothing is missing."""
        schedule = self._schedule
        if self._rank is not None:
            raise self._fault(None, f"the file ends within rank {self._rank}: a brace is missing")
        if schedule.ranks == 0:
            raise self._fault(None, "it names no num_ranks")
        absent = schedule.ranks - len(schedule.counts)
        if absent:
            first = list(islice((rank for rank in range(schedule.ranks) if rank not in schedule.counts), MOST))
            raise self._fault(None, f"{absent} ranks are missing, the first of them {first}")
        return schedule

    def _fault(self, line: int | None, what: str) -> FormatError:
        where = f"{self._path}:{line}" if line else str(self._path)
        return FormatError(f"{where}: {what}", "is it GOAL's text, or what txt2bin made of it?")


def bring(paths: Sequence[Path], folder: Path) -> Imported:
    """One schedule, checked, and copied as it is."""
    if len(paths) != 1 or paths[0].is_dir():
        raise FormatError("a GOAL schedule is one file", "name one file")
    schedule = read_goal(paths[0])
    try:
        copy_file(paths[0], folder / SCHEDULE)
    except OSError as error:
        raise TraceError(f"can't write {folder / SCHEDULE}: {error.strerror}", "free some space") from error
    notes = [f"{schedule.wildcards} receives from anybody: only a replay that matches live can resolve them"]
    return Imported(schedule.ranks, GOAL, notes if schedule.wildcards else [])
