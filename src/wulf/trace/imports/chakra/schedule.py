"""One rank of a Chakra trace as GOAL's text: operations, labelled by their nodes' numbers, and what each waits for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import IO

from wulf.trace.imports.chakra.collectives import Collective, Expand
from wulf.trace.imports.chakra.node import COLLECTIVE, RECEIVE, SEND, Node, nodes
from wulf.trace.imports.chakra.survey import Survey

NS = 1000
"""Nanoseconds in a microsecond: the unit of durations."""


class Tags:
    """Tags of messages and of collectives as numbers of one space, the same on all ranks of a trace.

    Those of messages below 2^24 stay what they are, all others are numbered as they come.
    """

    OWN = 1 << 24

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """Of a message's tag, or of what names a collective."""
        if isinstance(key, int) and key < self.OWN:
            return key
        return self._numbers.setdefault(key, self.OWN + len(self._numbers))


def write_rank(out: IO[str], path: Path, rank: int, survey: Survey, *, tags: Tags, expand: Expand) -> None:
    """Append a rank; tags are those of all ranks. Its file was surveyed, and is read once more."""
    out.write(f"\nrank {rank} {{\n")
    writer = _Rank(out, rank, survey, tags, expand)
    for node in nodes(path):
        writer.take(node)
    writer.end()
    out.write("}\n")


class _Rank:
    """The operations of one rank. What waits for a node that is further on is written at the end."""

    def __init__(self, out: IO[str], rank: int, survey: Survey, tags: Tags, expand: Expand) -> None:
        self._out, self._rank, self._survey, self._tags, self._expand = out, rank, survey, tags, expand
        self._cpus: dict[Hashable, int] = {}
        self._there: dict[int, str] = {}
        self._later: list[tuple[str, int]] = []

    def take(self, node: Node) -> None:
        """The next node: its last operation has its number, and its first waits for all that it depends on.

        A send is done once it has begun, whether or not its receive is posted, as in ASTRA-sim.
        """
        label, cpu = f"n{node.id}", self._cpu(node)
        message = self._survey.message(self._rank, node) if node.kind in (SEND, RECEIVE) else None
        group = self._survey.group(self._rank, node) if node.kind == COLLECTIVE else None
        if message is not None:
            way, tag = "send" if message.sent else "recv", self._tags.of(message.tag)
            self._operation(label, _posted(way, message.peer, message.bytes, tag), cpu)
        elif group is not None:
            label = self._collective(label, self._survey.collectives.next(group, self._rank), cpu)
        else:
            self._operation(label, f"calc {node.micros * NS}", cpu)
        for need in dict.fromkeys(node.needs + node.after):
            if need in self._there:
                self._out.write(f"{label} {self._there[need]} n{need}\n")
            else:
                self._later.append((label, need))
        self._there[node.id] = "irequires" if message is not None and message.sent else "requires"

    def _cpu(self, node: Node) -> int:
        """Of the thread of the host, the stream of the device, or else of all computing, or all messages."""
        if node.attributes.get("is_cpu_op"):
            key: Hashable = "host", str(node.attributes.get("tid"))
        elif "stream" in node.attributes:
            key = "stream", str(node.attributes["stream"])
        else:
            key = node.kind in (SEND, RECEIVE, COLLECTIVE)
        return self._cpus.setdefault(key, len(self._cpus))

    def _collective(self, label: str, one: Collective, cpu: int) -> str:
        """Its rounds, each after the one before; the label of its first operation."""
        rounds = one.rounds(self._rank, self._expand)
        if not rounds:
            self._operation(label, "calc 0", cpu)
            return label
        tag = self._tags.of((one.group, one.number))
        first = before = f"{label}b"
        self._operation(first, "calc 0", cpu)
        for number, parts in enumerate(rounds, 1):
            after = label if number == len(rounds) else f"{label}r{number}"
            texts = [_posted(way, one.group.ranks[peer], size, tag) for way, peer, size in parts]
            self._round(texts, before, after, cpu)
            before = after
        return first

    def _round(self, messages: Sequence[str], before: str, after: str, cpu: int) -> None:
        labels = [f"{after}m{number}" for number in range(len(messages))] if len(messages) > 1 else [after]
        for label, text in zip(labels, messages, strict=True):
            self._operation(label, text, cpu, [before])
        if len(messages) > 1:
            self._operation(after, "calc 0", cpu, labels)

    def _operation(self, label: str, text: str, cpu: int, needs: Iterable[str] = ()) -> None:
        self._out.write(f"{label}: {text} cpu {cpu}\n" if cpu else f"{label}: {text}\n")
        for need in needs:
            self._out.write(f"{label} requires {need}\n")

    def end(self) -> None:
        """The edges to nodes that came later; those that did not come are of control, and were counted."""
        for label, need in self._later:
            if need in self._there:
                self._out.write(f"{label} {self._there[need]} n{need}\n")


def _posted(way: str, peer: int, size: int, tag: int) -> str:
    return f"{way} {size}b {'to' if way == 'send' else 'from'} {peer} tag {tag}"
