"""What changes of the network were worth to many applications, and so what they may be worth to one more.

All gains are logarithms of how much faster the work was done, ln(time before / time after); of a rate ln(after /
before). `less_time` makes of them what people ask for. Pure functions of what runs of `wulf impact` found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, inf, sqrt

import numpy as np

from wulf.stats.estimates import Interval, PointEstimate
from wulf.stats.intervals import weighted_sum
from wulf.stats.pooling import LEAST, LEAST_MODERATED, Moderation, Pooled, moderation, pool

UNKNOWN = "unknown"
"""The domain or network of a run that does not say."""

MOST = 700.0
"""Of a gain's logarithm: a float holds no more."""


@dataclass(frozen=True)
class RunImpact:
    """What one run of `wulf impact` found.

    Attributes
    ----------
    application
        Its command line: runs of the same one are no further program.
    change, network
        The settings that were changed, or `links`; the nodes' links.
    gain, error
        With the interval where there is one; its standard error.
    share
        Of the application's time in MPI before the change; None without a profile.
    why
        Why it does not count; empty: it does.
    """

    run: str
    application: str
    domain: str
    change: str
    network: str
    gain: PointEstimate | None
    error: float | None
    share: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Workload:
    """An application with its input, however many runs it had in a group; shares of time in MPI are averaged."""

    application: str
    gain: float
    error: float
    share: float | None
    runs: int


@dataclass(frozen=True)
class Expectation:
    """What the runs of a group say together.

    Attributes
    ----------
    changes
        Of the group's runs, each once.
    pooled
        The mean gain, and what one more program is expected to gain; None for fewer than `LEAST` programs.
    """

    name: str
    workloads: tuple[Workload, ...]
    changes: tuple[str, ...]
    pooled: Pooled | None

    @property
    def runs(self) -> int:
        """How many count."""
        return sum(one.runs for one in self.workloads)


GROUPINGS: Mapping[str, Callable[[RunImpact], str]] = {
    "domain": lambda one: one.domain, "change": lambda one: one.change, "network": lambda one: one.network,
}  # fmt: skip
"""What runs are grouped by."""


def less_time(gain: float) -> float:
    """The share of the time that a gain saves: .37 is 37 % less; below 0 it takes longer, -inf beyond all bounds."""
    return -expm1(-gain) if gain > -MOST else -inf


def saved(one: Interval) -> Interval:
    """`less_time` of a gain and of its bounds."""
    return Interval(less_time(one.value), less_time(one.low), less_time(one.high))


def workloads(impacts: Iterable[RunImpact]) -> tuple[Workload, ...]:
    """The applications of runs that count, each once: its runs are averaged.

    The mean's error is what the runs' own intervals say, or what the runs differ by, whichever is more.
    """
    found: dict[str, list[RunImpact]] = {}
    for one in impacts:
        if not one.why:
            found.setdefault(one.application, []).append(one)
    return tuple(_workload(name, runs) for name, runs in found.items())


def _workload(name: str, runs: Sequence[RunImpact]) -> Workload:
    gains = np.array([one.gain.value for one in runs if one.gain is not None])
    errors = np.array([one.error for one in runs if one.error is not None])
    shares = [one.share for one in runs if one.share is not None]
    error = sqrt(float((errors**2).sum())) / len(runs)
    if len(runs) > 1:
        error = max(error, float(gains.std(ddof=1)) / sqrt(len(runs)))
    return Workload(name, float(gains.mean()), error, float(np.mean(shares)) if shares else None, len(runs))


def expectation(name: str, impacts: Sequence[RunImpact]) -> Expectation:
    """What these runs say together."""
    programs = workloads(impacts)
    changes = tuple(dict.fromkeys(one.change for one in impacts if not one.why))
    enough = len(programs) >= LEAST
    pooled = pool([one.gain for one in programs], [one.error for one in programs]) if enough else None
    return Expectation(name, programs, changes, pooled)


def expectations(impacts: Sequence[RunImpact], by: Callable[[RunImpact], str]) -> tuple[Expectation, ...]:
    """One a group, the largest first; runs that don't count make none."""
    groups: dict[str, list[RunImpact]] = {}
    for one in impacts:
        if not one.why:
            groups.setdefault(by(one), []).append(one)
    found = [expectation(name, some) for name, some in groups.items()]
    return tuple(sorted(found, key=lambda one: (-len(one.workloads), one.name)))


def moderated(impacts: Sequence[RunImpact]) -> Moderation | None:
    """Whether gains go with the share of time in MPI; None for fewer than `LEAST_MODERATED` programs with profiles."""
    known = [(one.gain, one.error, one.share) for one in workloads(impacts) if one.share is not None]
    if len(known) < LEAST_MODERATED or len({share for *_, share in known}) == 1:
        return None
    gains, errors, shares = zip(*known, strict=True)
    return moderation(gains, errors, shares)


# A mix of programs: what all of a cluster's work would gain.


@dataclass(frozen=True)
class Load:
    """A part of a cluster's work: its share of the core-hours, and how many jobs a month where that is known."""

    name: str
    share: float
    jobs: float | None = None


@dataclass(frozen=True)
class MixPart:
    """A part with what it is expected to gain; None: too few programs say so, and it counts as no gain."""

    load: Load
    expected: Expectation | None

    @property
    def saved(self) -> Interval | None:
        """The share of its time that one of its programs would save."""
        pooled = self.expected.pooled if self.expected else None
        return None if pooled is None else saved(pooled.next)


@dataclass(frozen=True)
class MixGain:
    """What a mix gains.

    Attributes
    ----------
    saved
        Share of all core-hours; None where nothing is known of any part.
    unknown
        Share of the core-hours of which nothing is known: counted as no gain.
    jobs
        A month; None where that is not known.
    """

    parts: tuple[MixPart, ...]
    saved: Interval | None
    unknown: float
    jobs: float | None

    @property
    def more_jobs(self) -> Interval | None:
        """Jobs a month that the saved core-hours would do besides."""
        if self.saved is None or self.jobs is None:
            return None
        return Interval(*(self.jobs * _more(one) for one in (self.saved.value, self.saved.low, self.saved.high)))


def _more(share: float) -> float:
    """How much more is done, as a share, when this share of the time is saved."""
    return 1 / (1 - share) - 1 if share < 1 else inf


def mix_gain(loads: Sequence[Load], known: Mapping[str, Expectation], jobs: float | None) -> MixGain:
    """What all of a cluster's work gains, where each part does what one more program of its kind is expected to.

    The sum's bounds are from those of its parts (`wulf.stats.intervals.weighted_sum`); parts of which the same runs
    tell go together. A part of several programs varies less than one program does: the interval is rather too wide.

    Parameters
    ----------
    loads
        Shares of at most 1 in all; what they leave is unknown.
    known
        Expectations by the names of loads.
    """
    parts = tuple(MixPart(load, known.get(load.name)) for load in loads)
    told: dict[str, tuple[float, Interval]] = {}
    for part in parts:
        if part.expected is not None and part.saved is not None:
            share, _ = told.get(part.expected.name, (0.0, part.saved))
            told[part.expected.name] = share + part.load.share, part.saved
    sure = list(told.values())
    unknown = max(0.0, 1 - sum(share for share, _ in sure))
    if not sure:
        return MixGain(parts, None, unknown, jobs)
    return MixGain(parts, weighted_sum(sure), unknown, jobs)
