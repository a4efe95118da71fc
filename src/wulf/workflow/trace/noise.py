"""`wulf trace --noise`: who had the CPUs while a program ran, recorded on its hosts, and joined with its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wulf.cluster.access import Access
from wulf.cluster.inventory import Node
from wulf.cluster.launcher import close_sessions
from wulf.cluster.programs import find_program
from wulf.cluster.session import Session
from wulf.core.errors import NodeError
from wulf.core.names import fold, plural
from wulf.trace.errors import TraceError
from wulf.trace.lateness import Stolen, lateness, times_of
from wulf.trace.reader import Trace, open_trace
from wulf.trace.waits import all_messages

UNKNOWN = "who took the CPUs is not known"

START_TIMEOUT, STOP_TIMEOUT = 30.0, 120.0


@dataclass
class Recorder:
    """The recordings of all hosts.

    Attributes
    ----------
    sessions
        Node → wulf-node, which records.
    notes
        Why some nodes don't.
    """

    sessions: dict[str, Session] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def told(self, folder: Path) -> dict[str, Any] | None:
        """What was taken from the ranks whose trace is there, and who was late for whom; None where nothing is known.

        Ends the recordings.
        """
        try:
            trace = open_trace(folder)
        except TraceError:
            return None
        if not self.sessions:
            return None
        stolen, recordings = self._stolen(trace)
        messages = all_messages(trace.ranks)
        found = lateness([times_of(one) for one in trace.ranks], stolen, messages)
        if left := int(found["late"]["left_out"]):
            self.notes.append(f"{plural(left, 'end')} of messages were too many: who was late for those is not told")
        unseen = [str(one.rank) for one in trace.ranks if one.rank not in stolen]
        if unseen:
            self.notes.append(f"nothing was recorded of {plural(len(unseen), 'rank')}: {fold(unseen)}")
        lost = sum(int(one["lost_records"]) for one in recordings)
        if lost:
            self.notes.append(
                f"{plural(lost, 'record')} had no room: who had the CPU meanwhile is told as lost records"
            )
        if any(one["full"] for one in recordings):
            self.notes.append("the program ran for so long that the recording had no more room: its end is not told")
        return {**found, "records": sum(int(one["records"]) for one in recordings), "lost_records": lost}

    def _stolen(self, trace: Trace) -> tuple[dict[int, Stolen], list[dict[str, Any]]]:
        stolen: dict[int, Stolen] = {}
        recordings = []
        for node, session in self.sessions.items():
            host = str(session.greeting.get("host", node))
            own = [one for one in trace.ranks if one.host == host or len(self.sessions) == 1]
            pids = [int(one.header.get("pid", 0)) for one in own]
            try:
                answer = session.request("noise_stop", STOP_TIMEOUT, processes=pids)
            except NodeError as error:
                self.notes.append(f"{UNKNOWN}: {error.what}")
                continue
            recordings.append(answer)
            for one, said in zip(own, answer["processes"], strict=True):
                if said["seen"]:
                    stolen[one.rank] = stolen_of(answer, said)
        return stolen, recordings


def stolen_of(answer: Mapping[str, Any], said: Mapping[str, Any]) -> Stolen:
    """A process's part of an answer to `noise_stop`, in its host's monotonic time."""
    rows = np.asarray(said["stolen"], dtype=np.int64).reshape(-1, 3)
    names = [(str(one["class"]), str(one["name"])) for one in answer["culprits"]]
    return Stolen(
        begin=rows[:, 0].astype(float) + float(answer["start"]),
        length=rows[:, 1].astype(float),
        culprit=[names[number] for number in rows[:, 2].tolist()],
        left_out=int(said["left_out"]),
    )


@contextmanager
def recorded(access: Access, nodes: Sequence[Node], *, wanted: bool) -> Iterator[Recorder]:
    """Who has these nodes' CPUs, recorded for the length of the block where that is wanted; notes say where it is not.

    Raises
    ------
    UsageError
        wulf-node has not been built.
    """
    recorder = Recorder()
    if not wanted:
        yield recorder
        return
    opened = access.launcher.open(nodes, find_program("wulf-node"))
    try:
        recorder.notes += [f"{UNKNOWN}: {why.what}" for why in opened.failed.values()]
        for node, session in opened.sessions.items():
            try:
                session.request("noise_start", START_TIMEOUT)
                recorder.sessions[node] = session
            except NodeError as error:
                recorder.notes.append(f"{UNKNOWN}: {error.what}")
        yield recorder
    finally:
        with suppress(NodeError):
            close_sessions(opened.sessions.values())
