"""What the profiles of an application's ranks (native/profile) say of its time: what MPI had of it, and how much of
that the network could explain at most.

These are bounds and no truth: a rank that waits for another one's computing is in MPI, too. The bound from above rests
on one thing alone: what a rank computes between its calls takes its time on any network, so that a run is never shorter
than the computing of its busiest rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

PLACES = ("same", "other", "open")
"""Of a call's partner: on the same host, on another one, or not told."""

WAITING = ("receive", "wait", "probe")
"""Kinds of calls that mostly wait: for a message, or for requests. So does MPI_Barrier."""

BARRIERS = ("MPI_Barrier", "MPI_Ibarrier")


@dataclass(frozen=True)
class CallShare:
    """One of MPI's calls, all ranks together.

    Attributes
    ----------
    seconds
        Sum over the ranks; `share` is that over all ranks' time.
    bytes
        Those that its ranks passed, where the parameters tell.
    """

    name: str
    kind: str
    calls: int
    seconds: float
    share: float
    bytes: int


@dataclass(frozen=True)
class SizeShare:
    """Messages from `least` to `most` bytes, to ranks of the same host, of others, and to whom is not told."""

    least: int
    most: int
    messages: Mapping[str, int]
    bytes: Mapping[str, int]


@dataclass(frozen=True)
class MpiShare:
    """What one run's profiles say. Shares are of the time from the end of MPI_Init to MPI_Finalize.

    Attributes
    ----------
    ranks, hosts
        How many.
    missing
        Ranks without a profile: they died, or never called MPI_Finalize. The shares are then of the others.
    seconds
        The longest rank's.
    mpi
        In MPI, mean over the ranks.
    waiting
        In calls that mostly wait, likewise.
    certain
        In calls whose partner was on another host, or one of whose partners was, likewise.
    most
        What the network could explain at most: 1 less the computing of the busiest rank over the longest rank's time.
    busiest
        That rank.
    outside
        Seconds in MPI_Init and MPI_Finalize, of the rank with the most.
    counting
        What the counting itself cost, as a share of the busiest rank's time.
    """

    ranks: int
    hosts: int
    missing: tuple[int, ...]
    seconds: float
    mpi: float
    waiting: float
    certain: float
    most: float
    busiest: int
    outside: float
    counting: float
    calls: tuple[CallShare, ...]
    sizes: tuple[SizeShare, ...]
    library: str
    several_threads: bool

    def least_time(self, ratio: float) -> float:
        """New time over old at best, where all that the network could explain shrinks by `ratio`."""
        return 1 - self.most * (1 - min(1.0, ratio))

    def most_of(self, wall: float) -> float:
        """What the network could explain at most of a whole command that took `wall` seconds, launch included."""
        return 1 - (1 - self.most) * self.seconds / wall if wall >= self.seconds else self.most


class NoProfileError(ValueError):
    """The profiles say nothing: there is none, or they contradict each other."""


def mpi_share(profiles: Sequence[Mapping[str, Any]]) -> MpiShare:
    """What the profiles of one run say.

    Parameters
    ----------
    profiles
        The ranks' files, in any order.

    Raises
    ------
    NoProfileError
        No rank left one; two runs are mixed; a rank took no time.
    """
    ranks = _checked(profiles)
    hosts = len({one["host"] for one in profiles})
    away = [_away(one) if hosts > 1 else 0.0 for one in profiles]
    spans = [float(one["seconds"]) for one in profiles]
    computing = [span - out for span, out in zip(spans, away, strict=True)]
    busiest = max(range(len(profiles)), key=lambda i: computing[i])
    longest = max(spans)
    known = {int(one["rank"]) for one in profiles}
    return MpiShare(
        ranks, hosts, tuple(sorted(set(range(ranks)) - known)), longest,
        mpi=fmean(_sum(one) / span for one, span in zip(profiles, spans, strict=True)),
        waiting=fmean(_waiting(one) / span for one, span in zip(profiles, spans, strict=True)),
        certain=fmean(_sum(one, ("other",)) / span for one, span in zip(profiles, spans, strict=True)),
        most=max(0.0, 1 - computing[busiest] / longest) if hosts > 1 else 0.0,
        busiest=int(profiles[busiest]["rank"]),
        outside=max(float(one["init"]) + float(one["finalize"]) for one in profiles),
        counting=_counting(profiles[busiest]) / spans[busiest],
        calls=_calls(profiles, sum(spans)), sizes=_sizes(profiles),
        library=str(profiles[0]["library"]), several_threads=any(one["several_threads"] for one in profiles),
    )  # fmt: skip


def _checked(profiles: Sequence[Mapping[str, Any]]) -> int:
    """How many ranks there were."""
    if not profiles:
        raise NoProfileError("no rank left a profile: it uses no MPI, or did not reach MPI_Finalize")
    counts = {int(one["ranks"]) for one in profiles}
    numbers = [int(one["rank"]) for one in profiles]
    if len(counts) > 1 or len(set(numbers)) < len(numbers):
        raise NoProfileError("the profiles are of several runs: a command that starts MPI more than once can't be told")
    if min(float(one["seconds"]) for one in profiles) <= 0:
        raise NoProfileError("a rank took no time between MPI_Init and MPI_Finalize")
    return counts.pop()


def _sum(profile: Mapping[str, Any], places: Sequence[str] = PLACES) -> float:
    return sum(float(call[place]) for call in profile["calls"].values() for place in places)


def _away(profile: Mapping[str, Any]) -> float:
    """Seconds that may be the network's."""
    return min(_sum(profile, ("other", "open")), float(profile["seconds"]))


def _waiting(profile: Mapping[str, Any]) -> float:
    return sum(
        float(call[place])
        for name, call in profile["calls"].items()
        for place in PLACES
        if call["kind"] in WAITING or name in BARRIERS
    )


def _counting(profile: Mapping[str, Any]) -> float:
    return float(profile["cost"]) * sum(int(call["calls"]) for call in profile["calls"].values())


def _calls(profiles: Sequence[Mapping[str, Any]], whole: float) -> tuple[CallShare, ...]:
    """Those with the most time first."""
    kinds = {name: str(call["kind"]) for one in profiles for name, call in one["calls"].items()}
    found = []
    for name, kind in kinds.items():
        rows = [one["calls"][name] for one in profiles if name in one["calls"]]
        seconds = sum(float(row[place]) for row in rows for place in PLACES)
        calls, sent = (sum(int(row[key]) for row in rows) for key in ("calls", "bytes"))
        found.append(CallShare(name, kind, calls, seconds, seconds / whole, sent))
    return tuple(sorted(found, key=lambda call: -call.seconds))


def _sizes(profiles: Sequence[Mapping[str, Any]]) -> tuple[SizeShare, ...]:
    """Classes by powers of two: class i holds messages of 2^(i-1) to 2^i - 1 bytes, class 0 empty ones."""
    counts: dict[int, dict[str, int]] = {}
    sums: dict[int, dict[str, int]] = {}
    for one in profiles:
        for place in PLACES:
            for number, messages, sent in one["sent"][place]:
                at = counts.setdefault(number, dict.fromkeys(PLACES, 0))
                at[place] += messages
                sums.setdefault(number, dict.fromkeys(PLACES, 0))[place] += sent
    return tuple(
        SizeShare(1 << (i - 1) if i else 0, (1 << i) - 1 if i else 0, counts[i], sums[i]) for i in sorted(counts)
    )
