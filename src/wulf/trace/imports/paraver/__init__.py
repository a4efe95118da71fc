"""Paraver's text, as Extrae's mpi2prv writes it: one file of all ranks, their calls and communications by time.

A call does not name its partner: communications stand apart, and belong to calls by task and logical time. What a
receive took, and when it completed, is in them; which call completed a send is nowhere, nor who was a collective's
root but in that task's own event. So the text is read three times: for communications, for roots, and for the calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from wulf.trace.errors import FormatError
from wulf.trace.imports import Imported
from wulf.trace.imports.building import lines_of, notes_by_kind
from wulf.trace.imports.paraver.collectives import Survey
from wulf.trace.imports.paraver.events import LEFT, Header, Records, read_communicators, read_header
from wulf.trace.imports.paraver.messages import Messages
from wulf.trace.imports.paraver.rank import Task
from wulf.trace.manifest import RANKS
from wulf.trace.writer import RankWriter

HELP = "Paraver's text, as Extrae writes it: one .prv."


def bring(paths: Sequence[Path], folder: Path) -> Imported:
    """One .prv; the names of its nodes are in the .row beside it, if there is one."""
    if len(paths) != 1 or paths[0].is_dir():
        raise FormatError("a trace of Paraver is one file", "name the .prv")
    path = paths[0]
    header = read_header(path)
    communicators = read_communicators(path, header.size)
    records = Records(path, header.size)
    sends, receives = Messages(records.messages()).sides(header.size)
    survey = Survey(records.calls())
    if not survey.calls:
        raise FormatError(f"{path}: there is no call of MPI in it", "was the program traced by Extrae's libmpitrace?")
    notes = Counter[str]()
    tasks = [
        Task(rank, header, communicators, survey, sides=sides, notes=notes)
        for rank, sides in enumerate(zip(sends, receives, strict=True))
    ]
    with ExitStack() as stack:
        outs = [stack.enter_context(RankWriter(folder, head)) for head in _heads(path, header)]
        for call in records.calls():
            outs[call.task].add_all(tasks[call.task].take(call))
    notes.update(records.left_out)
    notes[f"{LEFT}: communications that no call made"] += sum(side.left() for side in sends + receives)
    notes[f"{LEFT}: MPI_Finalize, of ranks whose end is not in the text"] += sum(not task.ended for task in tasks)
    return Imported(header.size, RANKS, notes_by_kind(+notes))


def _heads(path: Path, header: Header) -> list[dict[str, object]]:
    """What each rank's file says of it."""
    names = _nodes(path.with_suffix(".row"))
    hosts = [names[node - 1] if 0 < node <= len(names) else f"node{node}" for node in header.nodes]
    return [{"rank": rank, "size": header.size, "host": host, "mpi": "Paraver"} for rank, host in enumerate(hosts)]


def _nodes(path: Path) -> list[str]:
    """The nodes' names, in their order; none where they are not told."""
    if not path.is_file():
        return []
    names, left = [], 0
    for _, line in lines_of(path):
        words = line.split()
        if words[:3] == ["LEVEL", "NODE", "SIZE"] and len(words) == 4 and words[3].isdecimal():
            left = int(words[3][:9])
        elif left:
            names.append(line.strip())
            left -= 1
    return names
