"""The JSON that Chrome wrote first and ui.perfetto.dev opens: hosts as processes, ranks as threads, messages as flows.

After "Trace Event Format" (Google, 2016): complete events (X), flows (s, f) and metadata (M); times in microseconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from wulf.trace.calls import BY_NAME, COLLECTIVES, NOTES
from wulf.trace.errors import writing
from wulf.trace.reader import RankFile, Trace, timed
from wulf.trace.record import ANY, OUTSIDE, PROC_NULL, Record
from wulf.trace.skew import begins
from wulf.trace.steps import Post, Wait, Walk, outcomes

HELP = "JSON for ui.perfetto.dev and chrome://tracing: one file."
FOLDER = False

Event = dict[str, Any]

NAMED = {ANY: "any", PROC_NULL: "nobody", OUTSIDE: "outside"}
SHOWN = ("peer", "tag", "bytes", "peer2", "tag2", "bytes2", "root", "comm", "count")


def write(trace: Trace, place: Path, _lower: object = None) -> list[str]:
    """Write what there is: torn ranks as far as they are whole, missing ones not at all."""
    offsets = begins(trace)
    processes = {host: number for number, host in enumerate(dict.fromkeys(trace.hosts.values()), 1)}
    with writing(place) as out:
        out.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        first = True
        for event in _events(trace, offsets, processes):
            out.write(("" if first else ",\n") + json.dumps(event, separators=(",", ":")))
            first = False
        out.write("\n]}\n")
    return [one.fault.what for one in trace.ranks if one.fault is not None]


def _events(trace: Trace, offsets: dict[int, int], processes: dict[str, int]) -> Iterator[Event]:
    for host, number in processes.items():
        yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": host or "ranks"}}
    for one in trace.ranks:
        yield from _Rank(one, trace.size, processes[one.host], offsets[one.rank]).events()


class _Rank:
    """One rank's events."""

    def __init__(self, one: RankFile, size: int, process: int, offset: int) -> None:
        self._one, self._size, self._process, self._offset = one, size, process, offset
        self._walk = Walk(one.rank, outcomes(one.records()))
        self._flows: dict[int, str] = {}
        self._numbers: Counter[tuple[Any, ...]] = Counter()
        self._threads: set[int] = set()

    def events(self) -> Iterator[Event]:
        """Slices of calls, and the ends of messages within them."""
        for record, begin, end in timed(self._one.records()):
            steps = self._walk.take(record)
            if record.op in NOTES and "times" not in BY_NAME[record.op].fields:
                continue
            yield from self._name(record.thread)
            yield self._slice(record, begin, end)
            for step in steps:
                if isinstance(step, Post):
                    flow = self._flow(step)
                    if step.sent:
                        yield self._at(record, begin) | {"ph": "s", "name": "message", "cat": "message", "id": flow}
                    else:
                        self._flows[step.slot] = flow
                elif isinstance(step, Wait) and step.slot in self._flows:
                    # an end binds to the slice that encloses it, whose own end is not within it
                    inside = max(begin, end - 1)
                    yield self._at(record, inside) | {"ph": "f", "bp": "e", "name": "message", "cat": "message",
                                                      "id": self._flows.pop(step.slot)}  # fmt: skip

    def _name(self, thread: int) -> Iterator[Event]:
        if thread not in self._threads:
            self._threads.add(thread)
            name = f"rank {self._one.rank}" + (f", thread {thread}" if thread else "")
            where = {"pid": self._process, "tid": self._one.rank + self._size * thread}
            yield {"ph": "M", "name": "thread_name", **where, "args": {"name": name}}
            yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": self._one.rank}}

    def _at(self, record: Record, ns: int) -> Event:
        return {"pid": self._process, "tid": self._one.rank + self._size * record.thread,
                "ts": (self._offset + ns) / 1000}  # fmt: skip

    def _slice(self, record: Record, begin: int, end: int) -> Event:
        fields = BY_NAME[record.op].fields
        told = {name: getattr(record, name) for name in SHOWN if name in fields}
        args = {name: NAMED.get(value, value) if name in ("peer", "peer2", "root") else value
                for name, value in told.items()}  # fmt: skip
        if record.actual is not None:
            args |= {"source": record.actual[0], "source_tag": record.actual[1]}
        if record.site in self._one.sites:
            args["site"] = self._one.sites[record.site]
        kind = "collective" if record.op in COLLECTIVES else "note" if record.op in NOTES else "call"
        name = record.op if record.op in NOTES else f"MPI_{record.op}"
        return {"ph": "X", "name": name, "cat": kind, **self._at(record, begin), "dur": (end - begin) / 1000,
                "args": args}  # fmt: skip

    def _flow(self, post: Post) -> str:
        """A message's name, the same at both its ends: the k-th of its ranks, communicator and tag."""
        ends = (self._one.rank, post.peer) if post.sent else (post.peer, self._one.rank)
        key = (*ends, post.key, post.tag)
        number = self._numbers[post.sent, key]
        self._numbers[post.sent, key] += 1
        return "0x" + blake2b(repr((key, number)).encode(), digest_size=8).hexdigest()
