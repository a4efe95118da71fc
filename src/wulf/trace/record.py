"""One record of a trace as a value: the twin of native/trace/format/record.hpp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

ANY, PROC_NULL, OUTSIDE = -1, -2, -3
"""Peers that are no rank of MPI_COMM_WORLD: any source, nobody, a process of another world. ANY is any tag, too."""

WORLD, SELF = 0, 1
"""The communicators that are there from the start."""

MOST_RANKS = 1 << 22
"""Of a run, and entries of a list of one for each rank: what says more is damaged, and would take all memory."""

MOST_OUTSIDE = 65_536
"""Processes outside of MPI_COMM_WORLD that a group may have: spawned ones, those behind ports."""

UNTIMED = "none"
"""The clock of a file, by its header, whose calls have no times: other tools' traces, of computing and sizes alone."""


class Completion(NamedTuple):
    """What became of a request: where it was a wildcard's, who it came from; where fewer bytes came, how many.

    Attributes
    ----------
    request
        None: a null, inactive or unknown one.
    """

    request: int | None
    source: int | None = None
    tag: int | None = None
    bytes: int | None = None
    cancelled: bool = False


@dataclass(slots=True)
class Record:
    """A call of MPI, or a note; the fields that its shape has are set.

    Attributes
    ----------
    op
        The call without its MPI_ ("Isend"), or the note ("tests").
    gap_ns, call_ns
        Nanoseconds from the end of this thread's call before to its begin, and in it.
    peer, peer2, root
        Ranks in MPI_COMM_WORLD, or ANY, PROC_NULL, OUTSIDE; peer2 and tag2 of an exchange's receive.
    actual
        Source and tag of what a wildcard received; else None.
    bytes, bytes2
        Given and taken, as docs/reference/trace-format.md has it by collective.
    requests, completions, given
        Of calls about several requests; `given` is how many active ones a Wait or Test was given.
    counts, counts2
        Bytes by rank; counts2 what an exchange gets, empty where that is not told.
    newcomm, newwin
        The number of what was made; None: nothing for this rank.
    thread
        The thread that called, counted from 0.
    site
        The call site's number, where sites were recorded.
    """

    op: str
    gap_ns: int = 0
    call_ns: int = 0
    peer: int | None = None
    tag: int | None = None
    comm: int = WORLD
    bytes: int = 0
    peer2: int | None = None
    tag2: int | None = None
    bytes2: int = 0
    root: int | None = None
    actual: tuple[int, int] | None = None
    request: int | None = None
    requests: Sequence[int | None] = ()
    completions: Sequence[Completion] = ()
    given: int = 0
    counts: Sequence[int] = ()
    counts2: Sequence[int] = ()
    newcomm: int | None = None
    members: Sequence[int] = ()
    members2: Sequence[int] = ()
    window: int | None = None
    newwin: int | None = None
    count: int = 0
    between: int = 0
    number: int = 0
    text: str = ""
    thread: int = 0
    site: int | None = None

    @property
    def source(self) -> tuple[int | None, int | None]:
        """Source and tag of what a receive took: the actual ones of a wildcard's."""
        if self.actual is not None:
            return self.actual
        return (self.peer, self.tag) if self.peer2 is None else (self.peer2, self.tag2)


Watch = Callable[[Record, int, int], None]
"""What is told of each record of a rank, with its begin and end in nanoseconds."""
