"""What a trace says at once: calls, seconds and bytes by rank and call, who sends to whom, sizes, and what is wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wulf.trace.calls import EXCHANGES, NOTES, PROBES, RECEIVES, SENDS, STARTS, TEMPLATES
from wulf.trace.reader import RankFile, Trace, timed
from wulf.trace.record import Record, Watch
from wulf.trace.skew import Skews
from wulf.trace.ticks import Ticks

SECOND = 10**9
"""Nanoseconds."""

NOT_GIVEN = RECEIVES | PROBES | TEMPLATES | {"Get", "Rget"}
"""Calls whose bytes are what comes, or what later calls give."""

MOST_PAIRS = 4096
"""Pairs of ranks of which JSON holds bytes; the others are in `pairs_left_out`."""


@dataclass
class Line:
    """One kind of call on one rank, or on all: how often, nanoseconds in it, bytes that it gave."""

    count: int = 0
    ns: int = 0
    bytes: int = 0

    def add(self, other: Line) -> None:
        """These calls, too."""
        self.count += other.count
        self.ns += other.ns
        self.bytes += other.bytes


@dataclass
class RankSummary:
    """One rank.

    Attributes
    ----------
    calls
        Call → its line; failed tests under "tests".
    ns
        From its begin to the end of its last call.
    mpi_ns
        In calls, of all threads together.
    sent
        Peer → messages and bytes sent to it, of calls between two ranks.
    sizes
        Power of two → messages of so many bytes up to that.
    """

    rank: int
    host: str
    mpi: str
    calls: dict[str, Line] = field(default_factory=lambda: defaultdict(Line))
    ns: int = 0
    mpi_ns: int = 0
    sent: dict[int, Line] = field(default_factory=lambda: defaultdict(Line))
    sizes: Counter[int] = field(default_factory=Counter)
    records: int = 0
    lost_calls: int = 0


@dataclass(frozen=True)
class Fault:
    """Something that a reader of the trace must know; `rank` where it is one's."""

    kind: str
    text: str
    rank: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As the manifest holds it."""
        return {"kind": self.kind, "text": self.text, **({} if self.rank is None else {"rank": self.rank})}


@dataclass
class Summary:
    """All ranks of a trace, and its faults."""

    size: int
    ranks: list[RankSummary]
    faults: list[Fault]
    missing: tuple[int, ...] = ()

    def by_call(self) -> dict[str, Line]:
        """Every call over all ranks, the longest time first."""
        lines: dict[str, Line] = defaultdict(Line)
        for rank in self.ranks:
            for name, line in rank.calls.items():
                lines[name].add(line)
        return dict(sorted(lines.items(), key=lambda item: (-item[1].ns, item[0])))

    def by_pair(self) -> dict[tuple[int, int], Line]:
        """(sender, receiver) → messages and bytes, the most bytes first."""
        pairs = {(rank.rank, peer): line for rank in self.ranks for peer, line in rank.sent.items()}
        return dict(sorted(pairs.items(), key=lambda item: (-item[1].bytes, item[0])))

    def sizes(self) -> dict[int, int]:
        """Power of two → messages of up to so many bytes."""
        total: Counter[int] = Counter()
        for rank in self.ranks:
            total.update(rank.sizes)
        return dict(sorted(total.items()))

    def to_json(self) -> dict[str, Any]:
        """All figures in SI units."""
        pairs = self.by_pair()
        return {
            "ranks": [_rank_json(rank) for rank in self.ranks], "size": self.size, "missing": list(self.missing),
            "calls": {name: _line_json(line) for name, line in self.by_call().items()},
            "pairs": [{"from": a, "to": b, "messages": line.count, "bytes": line.bytes}
                      for (a, b), line in list(pairs.items())[:MOST_PAIRS]],
            "pairs_left_out": max(0, len(pairs) - MOST_PAIRS),
            "sizes": [{"up_to": power, "messages": count} for power, count in self.sizes().items()],
            "faults": [fault.to_json() for fault in self.faults],
        }  # fmt: skip


def _line_json(line: Line) -> dict[str, Any]:
    return {"count": line.count, "seconds": line.ns / SECOND, "bytes": line.bytes}


def _rank_json(rank: RankSummary) -> dict[str, Any]:
    calls = {name: _line_json(line) for name, line in sorted(rank.calls.items(), key=lambda item: -item[1].ns)}
    return {"rank": rank.rank, "host": rank.host, "seconds": rank.ns / SECOND, "mpi_seconds": rank.mpi_ns / SECOND,
            "records": rank.records, "calls": calls}  # fmt: skip


def upper_power(size: int) -> int:
    """The smallest power of two that is not below a size; 0 for 0."""
    return 1 << (size - 1).bit_length() if size > 1 else size


def bytes_given(record: Record) -> int:
    """What this rank gave to a call: `bytes`, or the sum of its counts where these are what it gave."""
    if record.op in NOT_GIVEN:
        return 0
    if record.op in ("Scatterv", "Iscatterv", "Reduce_scatter", "Ireduce_scatter"):
        return sum(record.counts)
    return record.bytes


class _Sent:
    """The messages that calls begin to send: of persistent requests, when they are started."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[int, int]] = {}

    def sent(self, record: Record) -> list[tuple[int, int]]:
        """(peer, bytes) of each."""
        if record.op in STARTS:
            begun = [self._made[request] for request in record.requests if request in self._made]
            return [one for one in begun if one[0] >= 0]
        if record.peer is None or record.op not in SENDS | EXCHANGES | TEMPLATES:
            return []
        if record.op in TEMPLATES:
            if record.request is not None:
                peer = -1 if record.op == "Recv_init" else record.peer
                self._made[record.request] = (peer, record.bytes)
            return []
        return [(record.peer, record.bytes)] if record.peer >= 0 else []


def summarise_rank(one: RankFile, watches: Sequence[Watch] = ()) -> RankSummary:
    """Read one rank's file to its end; its `fault` and `totals` are known afterwards.

    Parameters
    ----------
    watches
        Told of each record, too.
    """
    found = RankSummary(one.rank, one.host, str(one.header.get("mpi", "")))
    messages = _Sent()
    for record, begin, end in timed(one.records()):
        found.records += 1
        found.ns = max(found.ns, end)
        for watch in watches:
            watch(record, begin, end)
        if record.op in NOTES and record.op not in ("tests", "finalize", "abort"):
            continue
        given = bytes_given(record)
        line = found.calls[record.op]
        line.add(Line(record.count if record.op == "tests" else 1, record.call_ns, given))
        found.mpi_ns += record.call_ns
        for peer, size_sent in messages.sent(record):
            found.sent[peer].add(Line(1, 0, size_sent))
            found.sizes[upper_power(size_sent)] += 1
    found.lost_calls = one.totals.lost_calls if one.totals is not None else 0
    return found


def summarise(trace: Trace, on_rank: Callable[[int], None] = lambda _: None) -> Summary:
    """Read a whole trace once, rank by rank.

    Parameters
    ----------
    on_rank
        Told after each rank how many were read.
    """
    skews, ticks = Skews(), Ticks()
    ranks, faults = [], _faults_of_files(trace)
    for number, one in enumerate(trace.ranks, 1):
        ranks.append(summarise_rank(one, (skews.of(one), ticks.of(one))))
        faults += _faults_of_rank(one)
        on_rank(number)
    mpis = defaultdict(list)
    for rank in ranks:
        mpis[rank.mpi].append(rank.rank)
    if len(mpis) > 1:
        faults.append(Fault("mpis", f"ranks ran with different MPIs: {_groups(mpis)}"))
    faults += [Fault("skew", text) for text in skews.findings()]
    if late := ticks.ranks():
        faults.append(_ticking(late))
    return Summary(trace.size, ranks, faults, trace.missing)


def _faults_of_files(trace: Trace) -> list[Fault]:
    faults = []
    if trace.missing:
        text = f"{len(trace.missing)} of {trace.size} ranks left no trace: {ranges(trace.missing)}"
        faults.append(Fault("missing", text))
    faults += [Fault("unread", error.what) for error in trace.unread]
    sizes = {one.size for one in trace.ranks}
    if len(sizes) > 1:
        told = " and ".join(map(str, sorted(sizes)))
        faults.append(Fault("worlds", f"ranks say that there are {told} of them: these are traces of several runs"))
    return faults


def _faults_of_rank(one: RankFile) -> list[Fault]:
    if one.fault is not None:
        return [Fault("torn", one.fault.what, one.rank)]
    if one.totals is None:
        return []
    faults = [Fault("cut", f"rank {one.rank}: {one.totals.cut}", one.rank)] if one.totals.cut else []
    if one.totals.unknown_requests:
        text = f"rank {one.rank}: {one.totals.unknown_requests} requests were made by calls that are not recorded"
        faults.append(Fault("requests", text, one.rank))
    return faults


def _ticking(ranks: Sequence[int]) -> Fault:
    several = "rank" if len(ranks) == 1 else "ranks"
    text = (
        f"{several} {ranges(ranks)}: waits end every 10 ms, as where Open MPI looks at its "
        "TCP connections only so often. That may happen to any run whose ranks connect to each other at the same time; "
        "OMPI_MCA_mpi_event_tick_rate=1 in the program's environment has it look all the time"
    )
    return Fault("ticks", text, ranks[0] if len(ranks) == 1 else None)


def _groups(by: Mapping[str, list[int]]) -> str:
    return "; ".join(f"{what or 'unknown'} ({ranges(ranks)})" for what, ranks in by.items())


def ranges(numbers: Sequence[int]) -> str:
    """Numbers folded: "0-3,7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
