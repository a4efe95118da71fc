"""Which ranks of a traced program were late for which, and what of that was taken from them, by whom: pure.

Who came last to a call that nobody leaves before all have come, or to a message that the other end waited for, is told
by the ranks' clocks. Those of several hosts are laid beside each other by such calls themselves, which nobody leaves
before the other has come, either way; where there are none, by messages. What was taken from a rank is recorded on its
own host, by the clock that its trace has, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np

from wulf.stats.samples import Floats
from wulf.trace.reader import RankFile, timed
from wulf.trace.record import WORLD
from wulf.trace.waits import LEAST_WAIT, Awaited, RankMessages, awaited, message_shifts

SYNCHRONISING = frozenset(
    {"Barrier", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter",
     "Reduce_scatter_block"}
)  # fmt: skip
"""Calls that no rank leaves before all have come."""

SECOND = 1e9
"""Nanoseconds."""

LEAST_LATE = LEAST_WAIT / SECOND
"""A rank is late that comes so many seconds after the median of the others: below are messages, not noise."""

MOST_TOLD = 10
"""Late arrivals that are told one by one, and culprits of a rank."""

Name = tuple[str, str]
"""A culprit's class and name."""


class Stolen(TypedDict):
    """What a node recorded of one rank, in nanoseconds of the rank's host's monotonic clock: begin, length, whose."""

    begin: Floats
    length: Floats
    culprit: Sequence[Name]
    left_out: int


@dataclass(frozen=True)
class RankTimes:
    """One rank: when it computed, and its collectives of all ranks; nanoseconds of its host's monotonic clock.

    Attributes
    ----------
    ops, begins, ends
        Of each synchronising collective, in order.
    edges, computed
        A piecewise linear function: how long the rank had computed at a time.
    """

    rank: int
    host: str
    ops: list[str]
    begins: Floats
    ends: Floats
    edges: Floats
    computed: Floats

    @property
    def seconds(self) -> float:
        """Computed in all."""
        return float(self.computed[-1]) / SECOND if self.computed.size else 0.0

    def computing(self, begin: Floats, length: Floats) -> Floats:
        """How much of each stretch lies where the rank computed."""
        at = np.interp(np.stack([begin, begin + length]), self.edges, self.computed)
        return np.asarray(at[1] - at[0])


def times_of(file: RankFile) -> RankTimes:
    """One rank's times, by its first thread."""
    zero = int(file.header.get("begin_monotonic_ns", 0))
    ops, spans, edges, computed, total = [], [], [zero], [0], 0
    for record, begin, end in timed(file.records()):
        if record.thread != 0:
            continue
        total += record.gap_ns
        edges += [zero + begin, zero + end]
        computed += [total, total]
        if record.op in SYNCHRONISING and record.comm == WORLD:
            ops.append(record.op)
            spans.append((zero + begin, zero + end))
    at = np.asarray(spans, float).reshape(-1, 2)
    return RankTimes(
        file.rank, file.host, ops, at[:, 0], at[:, 1], np.asarray(edges, float), np.asarray(computed, float)
    )


def offsets(ranks: Sequence[RankTimes], count: int) -> Floats:
    """What is to be added to each rank's times [ns], shape (ranks,), so that they are by the clock of the first.

    Ranks of one host have one clock. Of others the bounds are that nobody left a call before the other had come, either
    way, in the first `count` calls; the middle of them is off by no more than the fastest call lasted, and drift.
    """
    first = ranks[0]
    found = np.zeros(len(ranks))
    for place, rank in enumerate(ranks):
        if rank.host != first.host and count:
            least = float((first.begins[:count] - rank.ends[:count]).max())
            most = float((first.ends[:count] - rank.begins[:count]).min())
            found[place] = (least + most) / 2
    return found


@dataclass
class _Loss:
    """What a rank lost.

    Attributes
    ----------
    by
        Culprit → seconds, while it computed.
    before
        The same for each collective, from when it could have left the one before.
    """

    by: dict[Name, float] = field(default_factory=lambda: defaultdict(float))
    before: list[dict[Name, float]] = field(default_factory=list)

    def seconds_before(self, number: int) -> float:
        return sum(self.before[number].values())


def _loss(rank: RankTimes, stolen: Stolen | None, free: Floats) -> _Loss:
    """`free`: when the rank could have left the collective before each, by its own clock [ns]."""
    loss = _Loss(before=[defaultdict(float) for _ in free])
    if stolen is None or not stolen["begin"].size:
        return loss
    begin, end = stolen["begin"], stolen["begin"] + stolen["length"]
    seconds = rank.computing(begin, stolen["length"]) / SECOND
    for name, lost in zip(stolen["culprit"], seconds.tolist(), strict=True):
        if lost > 0:
            loss.by[name] += lost
    following = np.searchsorted(rank.begins[: free.size], begin)
    for place in np.flatnonzero(following < free.size).tolist():
        number = int(following[place])
        lost = (min(end[place], rank.begins[number]) - max(begin[place], free[number])) / SECOND
        if lost > 0:
            loss.before[number][stolen["culprit"][place]] += float(lost)
    return loss


def lateness(
    ranks: Sequence[RankTimes], stolen: Mapping[int, Stolen], messages: Sequence[RankMessages] = ()
) -> dict[str, Any]:
    """What was taken from each rank while it computed, and which ranks others waited for, and why.

    Parameters
    ----------
    stolen
        Rank → what was recorded of it; a rank without an entry was not seen.
    messages
        The ranks' messages, where those are to be told, too.

    Returns
    -------
    dict
        `ranks`: of each its computing, what it lost of it, by culprit [s]; `late`: how many collectives over all ranks
        and messages there were, how often a rank was late for one, what others waited, what of it was taken;
        `late_ranks`: the same by rank, with culprits; `worst`: the arrivals that others waited for longest, those of
        messages with the rank that did.
    """
    alike = _alike(ranks)
    shifts = offsets(ranks, alike)
    came = np.stack([rank.begins[:alike] + shift for rank, shift in zip(ranks, shifts, strict=True)])
    losses = {}
    for rank, shift in zip(ranks, shifts, strict=True):
        free = np.concatenate([rank.edges[:1], came.max(axis=0)[:-1] - shift]) if alike else np.empty(0)
        losses[rank.rank] = _loss(rank, stolen.get(rank.rank), free)
    told = [
        {
            "rank": rank.rank, "host": rank.host, "seen": rank.rank in stolen, "computing_seconds": rank.seconds,
            "lost_seconds": sum(losses[rank.rank].by.values()), "by": _ordered(losses[rank.rank].by),
            "left_out": stolen[rank.rank]["left_out"] if rank.rank in stolen else 0,
        }
        for rank in ranks
    ]  # fmt: skip
    arrivals = _late(ranks, came / SECOND, losses)
    by_host = {rank.host: float(shift) for rank, shift in zip(ranks, shifts, strict=True)}
    waits, matched = awaited(messages, by_host if alike else message_shifts(messages))
    arrivals += _late_for(ranks, waits, stolen)
    return {
        "ranks": told,
        "late": {
            "collectives": alike,
            "messages": matched,
            "left_out": sum(one.left_out for one in messages),
            "late": len(arrivals),
            **{f"{name}_seconds": sum(one[name] for one in arrivals) for name in ("waited", "late", "stolen")},
        },
        "late_ranks": _by_rank(arrivals),
        "worst": sorted(arrivals, key=lambda one: -one["late"])[:MOST_TOLD],
    }  # fmt: skip


def _alike(ranks: Sequence[RankTimes]) -> int:
    """Collectives that all ranks have in common, from the first on."""
    same = 0
    for ops in zip(*(rank.ops for rank in ranks), strict=False):
        if len(set(ops)) > 1:
            break
        same += 1
    return same if len(ranks) > 1 else 0


def _late(ranks: Sequence[RankTimes], came: Floats, losses: Mapping[int, _Loss]) -> list[dict[str, Any]]:
    """Arrivals that are late: who, for what, by how much, and what was taken from them beyond what the others lost.

    `came`: when each rank came to each collective by one clock [s], shape (ranks, collectives).
    """
    count = came.shape[1]
    last = came.argmax(axis=0)
    waits = came.max(axis=0) - came
    late = np.asarray([np.median(np.delete(waits[:, number], last[number])) for number in range(count)])
    found = []
    for number in np.flatnonzero(late >= LEAST_LATE).tolist():
        rank = ranks[int(last[number])]
        own = losses[rank.rank]
        others = [losses[one.rank].seconds_before(number) for one in ranks if one is not rank]
        excess = max(own.seconds_before(number) - float(np.median(others)), 0.0)
        share = min(excess, float(late[number])) / (own.seconds_before(number) or 1.0)
        by = {name: seconds * share for name, seconds in own.before[number].items()}
        found.append({
            "rank": rank.rank, "host": rank.host, "call": rank.ops[number], "number": number,
            "at_seconds": float(rank.begins[number] - rank.edges[0]) / SECOND, "late": float(late[number]),
            "waited": float(waits[:, number].sum()), "stolen": sum(by.values()), "by": _ordered(by),
        })  # fmt: skip
    return found


def _late_for(
    ranks: Sequence[RankTimes], waits: Sequence[Awaited], stolen: Mapping[int, Stolen]
) -> list[dict[str, Any]]:
    """Ends of messages that are late: whose, for whom, by how much, and what was taken since a call kept the rank."""
    own = {rank.rank: rank for rank in ranks}
    known = {rank: _in_order(one) for rank, one in stolen.items()}
    found = []
    for one in waits:
        rank, late = own[one.late], one.by / SECOND
        by = _within(rank, known[one.late], one.since, one.posted) if one.late in known else {}
        share = min(1.0, late / (sum(by.values()) or 1.0))
        by = {name: seconds * share for name, seconds in by.items()}
        found.append({
            "rank": one.late, "host": rank.host, "call": one.call, "for": one.waiting,
            "at_seconds": (one.posted - float(rank.edges[0])) / SECOND, "late": late, "waited": late,
            "stolen": sum(by.values()), "by": _ordered(by),
        })  # fmt: skip
    return found


def _in_order(stolen: Stolen) -> Stolen:
    order = np.argsort(stolen["begin"], kind="stable")
    culprits = [stolen["culprit"][place] for place in order.tolist()]
    return {**stolen, "begin": stolen["begin"][order], "length": stolen["length"][order], "culprit": culprits}


def _within(rank: RankTimes, stolen: Stolen, since: float, until: float) -> dict[Name, float]:
    """What was taken from a rank's computing in a stretch of its time [ns], in seconds; `stolen` in order of time.

    A piece that began before is cut, where it is the one before the first: the CPU is taken by one at a time.
    """
    begin, length = stolen["begin"], stolen["length"]
    first = max(int(np.searchsorted(begin, since)) - 1, 0)
    last = int(np.searchsorted(begin, until))
    start = np.maximum(begin[first:last], since)
    seconds = rank.computing(start, np.maximum(np.minimum(begin[first:last] + length[first:last], until) - start, 0.0))
    found: dict[Name, float] = defaultdict(float)
    for name, lost in zip(stolen["culprit"][first:last], (seconds / SECOND).tolist(), strict=True):
        if lost > 0:
            found[name] += lost
    return found


def _by_rank(arrivals: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The ranks that were late, those first that were so for longest."""
    found: dict[int, dict[str, Any]] = {}
    by: dict[int, dict[Name, float]] = defaultdict(lambda: defaultdict(float))
    for one in arrivals:
        start = {"rank": one["rank"], "host": one["host"], "times": 0, "late": 0.0, "waited": 0.0, "stolen": 0.0}
        own = found.setdefault(one["rank"], start)
        own["times"] += 1
        for name in ("late", "waited", "stolen"):
            own[name] += one[name]
        for culprit in one["by"]:
            by[one["rank"]][culprit["class"], culprit["name"]] += culprit["seconds"]
    ordered = sorted(found.values(), key=lambda own: -own["late"])
    return [{**own, "by": _ordered(by[own["rank"]])} for own in ordered]


def _ordered(by: Mapping[Name, float]) -> list[dict[str, Any]]:
    ordered = sorted(by.items(), key=lambda one: -one[1])[:MOST_TOLD]
    return [{"class": kind, "name": name, "seconds": seconds} for (kind, name), seconds in ordered if seconds > 0]
