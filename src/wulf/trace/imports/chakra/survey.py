"""What has to be known of all ranks of a Chakra trace before the first is written, and what each node is then."""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from wulf.trace.errors import FormatError
from wulf.trace.imports.building import MOST_BYTES
from wulf.trace.imports.chakra.collectives import TYPES, Collectives
from wulf.trace.imports.chakra.groups import Group, Groups, declared
from wulf.trace.imports.chakra.node import (
    COLLECTIVE,
    COMPUTE,
    LOAD,
    METADATA,
    RECEIVE,
    SEND,
    STORE,
    Node,
    nodes,
    refused,
)
from wulf.trace.imports.goal_schedule import Schedule

MOST_MICROS = 10**12
"""A duration that no node has: eleven days."""

AS_COMPUTING = "taken for computing of its duration, since the trace does not tell enough"
GUESSED = "guessed, since the trace does not tell"
LEFT = "left out"


class CommNode(NamedTuple):
    """What a COMM_SEND or COMM_RECV is."""

    sent: bool
    peer: int
    bytes: int
    tag: int


class Joined(NamedTuple):
    """What a COMM_COLL is: its type, what the rank brings in, and its process group's name."""

    type: str
    bytes: int
    group: str


class Waiting(NamedTuple):
    """A collective's node, until all groups are known."""

    path: Path
    rank: int
    at: int
    node: int
    joined: Joined


class Survey:
    """All ranks' files, read once.

    Parameters
    ----------
    notes
        Where what is not known is counted, as `kind: what`.
    """

    def __init__(self, groups: Groups, size: int, notes: Counter[str]) -> None:
        self.collectives = Collectives()
        self._groups, self._size, self._notes = groups, size, notes
        self._schedule = Schedule(size)
        self._waiting: list[Waiting] = []
        self._first: Path | None = None

    def read(self, rank: int, path: Path) -> None:
        """The next rank's file: its graph is checked. FormatError where it is not as the schema wants it."""
        self._first = self._first or path
        graph: dict[int, list[int]] = {}
        controls: dict[int, list[int]] = {}
        for node in nodes(path):
            if node.id in graph:
                raise refused(path, node.at, f"there is another node {node.id} before this one")
            try:
                self._take(rank, path, node)
            except ValueError as error:
                raise refused(path, node.at, f"node {node.id}: {error}") from error
            graph[node.id], controls[node.id] = node.needs, node.after
        if not graph:
            raise refused(path, 0, "there is no node in it")
        self._check(path, graph, controls)

    def _take(self, rank: int, path: Path, node: Node) -> None:
        if node.micros > MOST_MICROS:
            raise ValueError(f"it takes {node.micros:,} µs, which no node does")
        if node.kind == METADATA and "pg_name" in node.values:
            self._declare(rank, node)
        elif node.kind in (SEND, RECEIVE):
            self._match(rank, self.message(rank, node))
        elif node.kind == COLLECTIVE:
            joined = _joined(node)
            if joined is None:
                self._count(f"{AS_COMPUTING}: COMM_COLL without type or size, or in part of the dimensions")
            else:
                self._waiting.append(Waiting(path, rank, node.at, node.id, joined))
        elif node.kind in (LOAD, STORE, COMPUTE) and not node.micros:
            self._count(f"{GUESSED}: the duration of a node that has none, taken for 0")

    def _declare(self, rank: int, node: Node) -> None:
        try:
            for name, ranks in declared(node.values):
                self._groups.declare(name, ranks, by=rank)
        except (ValueError, KeyError, TypeError):
            self._count(f"{LEFT}: process groups that can't be read")

    def _match(self, rank: int, message: CommNode | None) -> None:
        if message is None:
            self._count(f"{AS_COMPUTING}: COMM_SEND or COMM_RECV without partner or size")
        elif message.sent:
            self._schedule.unmatched[rank, message.peer, message.tag] += 1
        else:
            self._schedule.unmatched[message.peer, rank, message.tag] -= 1

    def _check(self, path: Path, graph: dict[int, list[int]], controls: dict[int, list[int]]) -> None:
        """Edges lead to nodes that are there, but for those of control, and in no circle."""
        for node, needs in graph.items():
            absent = next((one for one in needs if one not in graph), None)
            if absent is not None:
                raise FormatError(f"{path}: node {node} needs node {absent}, which is not there", "was the file cut?")
            there = [one for one in controls[node] if one in graph]
            self._count(f"{LEFT}: control dependencies on nodes that are not there", len(controls[node]) - len(there))
            graph[node] += there
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = " → ".join(map(str, error.args[1][:8]))
            raise FormatError(f"{path}: its nodes wait for each other: {circle}", "make the trace anew") from error

    def done(self) -> None:
        """All files are read. FormatError where ranks do not fit together."""
        for path, rank, at, node, joined in self._waiting:
            group = self._groups.of(joined.group, rank)
            if group is None:
                self._count(f"{AS_COMPUTING}: COMM_COLL on a process group whose ranks are not told")
                continue
            try:
                self.collectives.join(group, rank, joined.type, joined.bytes)
            except ValueError as error:
                raise refused(path, at, f"node {node}: {joined.type} {error}") from error
        self._waiting = []
        for what, times in self.collectives.guesses().items():
            self._count(f"{GUESSED}: {what}", times)
        try:
            self.collectives.check()
        except ValueError as error:
            raise FormatError(
                f"{self._first} and the other ranks' files do not fit together: {error}", "name the files of one run"
            ) from error
        schedule = self._schedule
        schedule.unmatched = Counter({key: count for key, count in schedule.unmatched.items() if count})
        if lonely := schedule.lonely():
            raise FormatError(
                f"{self._first} and the other ranks' files: messages without a partner: {lonely}",
                "name the files of all ranks of one run",
            )

    def message(self, rank: int, node: Node) -> CommNode | None:
        """What a rank's node sends or receives; None: it does not tell. ValueError where it tells what can't be."""
        sent = node.kind == SEND
        own, peer = (node.number(name) for name in (("comm_src", "comm_dst") if sent else ("comm_dst", "comm_src")))
        size = _size(node)
        if own not in (None, rank):
            raise ValueError(f"it is rank {own}'s, in the file of rank {rank}")
        if peer is None or size is None:
            return None
        if peer >= self._size:
            raise ValueError(f"there is no rank {peer}: {self._size} files are given")
        return CommNode(sent, peer, size, node.number("comm_tag") or 0)

    def group(self, rank: int, node: Node) -> Group | None:
        """The process group whose collective a rank's node is; None: it does not tell enough."""
        joined = _joined(node)
        return None if joined is None else self._groups.of(joined.group, rank)

    def _count(self, what: str, times: int = 1) -> None:
        if times:
            self._notes[what] += times


def _joined(node: Node) -> Joined | None:
    """What a collective's node tells; None: not enough. ValueError where it tells what can't be."""
    number, size, name = node.number("comm_type"), _size(node), node.attributes.get("pg_name", "")
    if number is None or not _all_dimensions(node):
        return None
    if number >= len(TYPES):
        raise ValueError(f"its comm_type is {number}, of which 0 to {len(TYPES) - 1} are known")
    if TYPES[number] == "BARRIER":
        size = 0
    return None if size is None else Joined(TYPES[number], size, str(name))


def _all_dimensions(node: Node) -> bool:
    """Whether a collective is on all dimensions of the network: which ranks one has, the trace does not tell."""
    dimensions = node.attributes.get("involved_dim", 1)
    return all(dimensions) if isinstance(dimensions, list) else bool(dimensions)


def _size(node: Node) -> int | None:
    size = node.number("comm_size")
    if size is not None and size > MOST_BYTES:
        raise ValueError(f"its comm_size is {size:,} B, which no message has")
    return size
