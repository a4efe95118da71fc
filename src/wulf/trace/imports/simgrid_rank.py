"""One rank's actions of a SimGrid trace as records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wulf.trace.imports.building import Ids, Limits
from wulf.trace.record import ANY, PROC_NULL, Completion, Record

TYPES = (
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8, 16, 16, 8, 8, 8, 16,
    16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8,
)  # fmt: skip
"""Bytes of SimGrid's types by their numbers: 0 is MPI_DOUBLE, 1 MPI_INT, 6 MPI_BYTE. Derived ones are -1."""

DOUBLE, BYTE = 0, 6

MESSAGES = {
    "send": "Send", "isend": "Isend", "ssend": "Ssend", "issend": "Issend", "bsend": "Bsend", "ibsend": "Ibsend",
    "recv": "Recv", "irecv": "Irecv",
}  # fmt: skip
"""Action in small letters (SimGrid writes some of them with capitals) → call."""

SIMPLE = {
    "bcast": "count root type", "reduce": "count flops root type", "allreduce": "count flops type",
    "scan": "count flops type", "exscan": "count flops type", "alltoall": "count count2 type type2",
    "allgather": "count count2 type type2", "gather": "count count2 root type type2",
    "scatter": "count count2 root type type2", "barrier": "",
}  # fmt: skip
"""Collective → its words; all after the counts may be missing, and then are 0, or the trace's own type."""

VECTORS = {
    "gatherv": "count counts root type type2", "allgatherv": "count counts type type2",
    "scatterv": "counts count2 root type type2", "reducescatter": "counts flops type",
    "alltoallv": "count counts count2 counts2 type type2",
}  # fmt: skip
"""The same of those with a count a rank; SimGrid's name of MPI_Reduce_scatter is its own."""

NAMES = {"reducescatter": "Reduce_scatter"}

QUIET = frozenset({"init", "location", "comm_size"})
"""Actions that stand for no call that another rank could notice."""

NONBLOCKING = -1000
"""Tags below: SimGrid's own, of collectives; in a wait, of one that does not block."""

LEFT, GUESSED, OPEN, SIZES = (
    "left out, since it is not understood",
    "guessed, since the text does not tell which request",
    "left open, since the text does not tell",
    "of unknown size",
)

Key = tuple[int, int, int]
"""From, to, tag: how a wait names its request. From -1: anybody."""


class Request(NamedTuple):
    """What is under way."""

    key: Key
    number: int
    handle: int


def key_of(words: Sequence[str]) -> Key:
    """Of a wait's or a test's three words. IndexError where there are fewer."""
    source, to, tag = (int(words[at]) for at in range(3))
    return _rank(source), to, tag if tag < NONBLOCKING else _tag(tag)


def posted_key(rank: int, words: Sequence[str]) -> Key | None:
    """The key of what an action begins; None: it begins nothing."""
    name = words[0].lower()
    if name == "start":
        to, tag = int(words[1]), int(words[2])
        return (ANY if to == rank else rank, to, tag)
    if MESSAGES.get(name, "")[:1] != "I":
        return None
    peer, tag = _rank(int(words[1])), _tag(int(words[2]))
    return (rank, peer, tag) if name.endswith("send") else (peer, rank, tag)


class Tested:
    """Which tests found their request complete: the last one before its key is used anew, or before the end.

    A test's line is the same whether it found something or not.
    """

    def __init__(self) -> None:
        self.found: set[int] = set()
        self._last: dict[Key, int] = {}

    def take(self, number: int, words: Sequence[str]) -> None:
        """The next line."""
        if words[0] == "test":
            self._last[key_of(words[1:])] = number
        elif words[0] == "wait":
            self._last.pop(key_of(words[1:]), None)
        elif words[0] == "waitall":
            self._last.clear()
        elif self._last and words[0].lower() in ("isend", "irecv", "start", "issend", "ibsend"):
            self._again(words)

    def _again(self, words: Sequence[str]) -> None:
        peer, tag = (int(word) for word in words[1:3])
        for key in [one for one in self._last if one[2] == tag and peer in one[:2]]:
            self.found.add(self._last.pop(key))

    def end(self) -> None:
        """The file has ended."""
        self.found.update(self._last.values())


PLAIN = frozenset({"init", "compute", "sleep", "finalize", "start", "sendrecv", "wait", "waitall", "waitany", "test"})
"""Actions with a rule of their own."""


def is_known(action: str) -> bool:
    """Whether an action's name is one of SimGrid's that are brought in, or passed over on purpose."""
    name = action.lower()
    names = {name, name.removeprefix("i")}
    return any(not names.isdisjoint(known) for known in (PLAIN, MESSAGES, SIMPLE, VECTORS, QUIET))


class Rank:
    """The actions of one rank, one after the other.

    Parameters
    ----------
    ns
        Nanoseconds of one flop.
    tested
        Which tests found something.
    notes
        Where what is not known is counted, as `kind: what`.
    """

    def __init__(self, rank: int, size: int, ns: float, tested: Tested, notes: Counter[str]) -> None:
        self._rank, self._size, self._ns, self._tested, self._notes = rank, size, ns, tested, notes
        self._ids, self._type, self._ended = Ids(), BYTE, False
        self._limits = Limits(size)
        self._open: list[Request] = []
        self._begun_so_far = 0
        self._computed = self._after = 0.0  # since the call before; what a collective's action computes at its end

    def take(self, number: int, words: Sequence[str]) -> Iterator[Record]:
        """The records of an action; its computing stands before the next call."""
        name = words[0].lower()
        if name == "init":
            self._type = DOUBLE if len(words) > 1 else BYTE
        elif name in ("compute", "sleep"):
            self._computed += _amount(words[1]) * (self._ns if name == "compute" else 1e9)
        elif name == "finalize":
            yield from self.end()
        else:
            self._after = 0.0
            for record in self._records(number, name, words[1:]):
                record.gap_ns = self._gap()
                yield self._limits.held(record)
            self._computed += self._after

    def end(self) -> Iterator[Record]:
        """What is under way at the end completes; then MPI_Finalize, once."""
        if self._ended:
            return
        self._ended = True
        if self._open:
            self._notes[f"{GUESSED}: completed at MPI_Finalize"] += len(self._open)
            yield self._limits.held(self._waited("Waitall", *self._open, gap=self._gap()))
        yield self._limits.held(Record("finalize", self._gap()))

    def _gap(self) -> int:
        """Whole nanoseconds computed since the call before; what is left of them counts for the next."""
        whole = round(self._computed)
        self._computed -= whole
        return whole

    def _records(self, number: int, name: str, words: Sequence[str]) -> Iterator[Record]:
        plain = name.removeprefix("i") if name.startswith("i") else name
        if name in MESSAGES:
            yield self._message(name, words)
        elif name == "start":
            yield self._started(words)
        elif name == "sendrecv":
            yield self._exchange(words)
        elif plain in SIMPLE or plain in VECTORS:
            record = self._collective(plain, words)
            if record is not None:
                yield self._begun(record, name) if plain != name else record
        elif name in ("wait", "waitall", "waitany", "test"):
            yield from self._completed(number, name, words)
        elif name not in QUIET:
            self._notes[f"{LEFT}: {' '.join(_words(name, words))}"] += 1

    def _bytes(self, count: str, kind: str | None) -> int:
        """Of so many elements of a type; those of a type that is derived count as a byte each."""
        at = self._type if kind is None else int(kind)
        if not 0 <= at < len(TYPES):
            self._notes[f"{SIZES}: messages of derived types, an element taken for a byte"] += 1
            at = BYTE
        return max(0, int(float(count))) * TYPES[at]

    def _message(self, name: str, words: Sequence[str]) -> Record:
        peer, tag, count = words[:3]
        record = Record(MESSAGES[name], peer=_rank(int(peer)), tag=_tag(int(tag)))
        record.bytes = self._bytes(count, words[3] if len(words) > 3 else None)
        if name.endswith("recv") and ANY in (record.peer, record.tag):
            self._notes[f"{OPEN}: source or tag of a receive from anybody"] += 1
        key = posted_key(self._rank, [name, *words])
        if key is not None:
            record.request = self._new(key)
        return record

    def _started(self, words: Sequence[str]) -> Record:
        """A persistent request: its line names the receiver, and bytes."""
        to, tag, size = (int(word) for word in words[:3])
        into = to == self._rank
        record = Record("Irecv" if into else "Isend", peer=ANY if into else to, tag=tag, bytes=size)
        record.request = self._new((ANY if into else self._rank, to, tag))
        return record

    def _exchange(self, words: Sequence[str]) -> Record:
        count, to, count2, source = words[:4]
        kind, kind2 = (words[at] if len(words) > at else None for at in (4, 5))
        self._notes[f"{OPEN}: tags of sendrecv, taken for 0"] += 1
        return Record("Sendrecv", peer=_rank(int(to)), tag=0, bytes=self._bytes(count, kind),
                      peer2=_rank(int(source)), tag2=0, bytes2=self._bytes(count2, kind2))  # fmt: skip

    def _collective(self, name: str, words: Sequence[str]) -> Record | None:
        record = Record(NAMES.get(name, name.capitalize()))
        told = self._told(name, words)
        if told is None:
            self._notes[f"{LEFT}: {name} of {len(words)} words"] += 1
            return None
        one = {key: values[0] for key, values in told.items() if values}
        kind, kind2 = one.get("type"), one.get("type2")
        if "count" in one:
            record.bytes = self._bytes(one["count"], kind)
        if "count2" in one:
            record.bytes2 = self._bytes(one["count2"], kind2)
        if name in ("gather", "scatter", "gatherv", "scatterv", "bcast", "reduce"):
            record.root = int(one.get("root", 0))
        if "counts" in told and (name not in ("gatherv", "scatterv") or record.root == self._rank):
            of = kind2 if name in ("gatherv", "allgatherv") else kind
            record.counts = [self._bytes(count, of) for count in told["counts"]]
        if name == "alltoallv":  # its sizes are of buffers
            record.counts2 = [self._bytes(count, kind2) for count in told["counts2"]]
            record.bytes, record.bytes2 = sum(record.counts), sum(record.counts2)
        self._after = _amount(one.get("flops", "0")) * self._ns
        return record

    def _told(self, name: str, words: Sequence[str]) -> dict[str, list[str]] | None:
        """Words by what they are; None where a count a rank is missing.

        SimGrid leaves a second count of 0 out, as of a gather at other ranks than the root; all others are there then.
        """
        scheme = (SIMPLE.get(name) or VECTORS.get(name, "")).split()
        if "count2" in scheme and "counts" not in scheme and "type" in scheme and len(words) == len(scheme) - 1:
            scheme.remove("count2")
        found: dict[str, list[str]] = {}
        rest = list(words)
        for part in scheme:
            many = self._size if part.startswith("counts") else 1
            found[part], rest = rest[:many], rest[many:]
            if len(found[part]) < many and part.startswith("count"):
                if name in VECTORS:
                    return None
                raise IndexError("a count is missing")
        return None if rest and name == "reducescatter" else found

    def _begun(self, record: Record, name: str) -> Record:
        """A collective that does not block."""
        record.op = f"I{record.op.lower()}"
        record.request = self._new((self._rank, self._rank, NONBLOCKING))
        return record

    def _completed(self, number: int, name: str, words: Sequence[str]) -> Iterator[Record]:
        if name == "waitall":
            if words and int(float(words[0])) < len(self._open):
                self._notes[f"{GUESSED}: waitall of fewer requests than are open, taken for all"] += 1
            yield self._waited("Waitall", *self._open)
        elif name == "waitany":
            self._notes[f"{GUESSED}: waitAny, taken for the oldest"] += 1
            yield from ([self._waited("Waitany", self._open[0])] if self._open else [])
        elif name == "test" and number not in self._tested.found:
            yield Record("tests", count=1)
        else:
            found = self._named(key_of(words))
            if found is not None:
                yield self._waited(name.capitalize(), found, source=key_of(words)[0])
            elif name == "wait":
                self._notes[f"{LEFT}: wait for what no action began, or a test found"] += 1

    def _named(self, key: Key) -> Request | None:
        """The oldest request of a key: the very one, or one from anybody, or a collective."""
        source, to, tag = key
        if tag < NONBLOCKING:
            return next((one for one in self._open if one.key[2] == NONBLOCKING), None)
        for wanted in (key, (ANY, to, tag), (source, to, ANY), (ANY, to, ANY)):
            found = next((one for one in self._open if one.key == wanted), None)
            if found is not None:
                return found
        return None

    def _waited(self, op: str, *requests: Request, gap: int = 0, source: int = ANY) -> Record:
        """These requests complete; a wait may name the sender of what came for anybody."""
        done = []
        for one in requests:
            self._open.remove(one)
            self._ids.done(one.handle)
            told = one.key[0] == ANY and source >= 0
            done.append(Completion(one.number, source, one.key[2]) if told else Completion(one.number))
        return Record(op, gap, given=len(done), completions=done)

    def _new(self, key: Key) -> int:
        self._begun_so_far += 1
        one = Request(key, self._ids.new(self._begun_so_far), self._begun_so_far)
        self._open.append(one)
        return one.number


def _amount(word: str) -> float:
    """Flops or seconds. ValueError where that is no amount."""
    value = float(word)
    if not 0 <= value < math.inf:
        raise ValueError(f"{word} is no amount of computing")
    return value


def _rank(number: int) -> int:
    """A rank; SimGrid writes anybody as a number below -1 (MPI_UNDEFINED, or its MPI_ANY_SOURCE), nobody by another."""
    if number >= 0:
        return number
    return PROC_NULL if number == -666 else ANY


def _tag(number: int) -> int:
    """A tag; -444 is any."""
    return number if number >= 0 else ANY


def _words(name: str, words: Sequence[str]) -> list[str]:
    """How an action that is not understood is counted: by its name, of files by what is done to them."""
    return [name, *words[:2]] if name == "io" else [name]
