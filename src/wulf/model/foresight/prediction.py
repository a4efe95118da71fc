"""All that `wulf predict` found of one trace: what was replayed, on which networks, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wulf.model.foresight.forecast import Calibration, Forecast
from wulf.model.foresight.worth import NetworkCandidate, Piecewise, Tolerance
from wulf.model.speedup.study import Study
from wulf.stats.estimates import Interval

MET = 0.15
"""A kind of calls is met where the replay has them within that share of their time: no more than a verdict bears."""

TIMELINE = ("compute", "overhead", "waiting")
"""What a rank does at a time: its own work, messages, or nothing."""


@dataclass(frozen=True)
class LeftOut:
    """Calls of the trace that the model does not have: their time is as good as not there."""

    what: str
    calls: int
    seconds: float
    why: str


@dataclass(frozen=True)
class ReplayProgram:
    """What the replay made of a trace.

    Attributes
    ----------
    number
        By which the replay knows it.
    compute
        Seconds of all ranks together.
    covered
        Share of the trace's time that is modelled: 0 … 1.
    copies, copied
        Messages of ranks to themselves, which are copied and are none of `messages`, and their bytes.
    live
        Receives whose message is known only as the program runs.
    graph
        Whether ranks do several things at a time, which only the engine in the order of time replays as it is.
    connect, connecting
        Seconds that the first messages between two ranks take longer, on any network, and how many those are.
    """

    number: int
    ranks: int
    ops: int
    messages: int
    bytes: int
    compute: float
    covered: float
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    copies: int = 0
    copied: int = 0
    live: int = 0
    graph: bool = False
    connect: float = 0.0
    connecting: int = 0


@dataclass(frozen=True)
class Traced:
    """A trace, as far as a prediction needs it.

    Attributes
    ----------
    path
        Its directory.
    hosts
        Of each rank; empty: not known.
    seconds
        From MPI_Init to the last call's end, on the rank where that took longest; None: not known.
    notes
        What is wrong with it.
    runs
        `seconds` of all traces of this run of the program, repeated: this one's is the middle one of them.
    """

    path: str
    command: str
    mpi: str
    ranks: int
    hosts: tuple[str, ...] = ()
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    runs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Step:
    """A stretch of the critical path.

    Attributes
    ----------
    kind
        One of `wulf.model.foresight.forecast.PARTS`.
    mark
        The record of the rank's trace that it is of, counted from 1; 0: not known.
    source, to, bytes
        Of a message.
    call
        Of the MPI, where the trace says which.
    """

    rank: int
    begin: float
    end: float
    kind: str
    mark: int = 0
    source: int | None = None
    to: int | None = None
    bytes: int | None = None
    call: str = ""

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.end - self.begin


@dataclass(frozen=True)
class Path:
    """The critical path: from the end to the begin no time of it could be left out.

    Attributes
    ----------
    steps
        In time; of a long path its longest ones.
    ranks
        Rank → seconds of the whole path by `wulf.model.foresight.forecast.PARTS`.
    count
        Steps of the whole path.
    """

    steps: tuple[Step, ...] = ()
    ranks: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    count: int = 0

    @property
    def whole(self) -> bool:
        """Whether `steps` are all of it."""
        return len(self.steps) >= self.count

    def by(self, *names: str) -> dict[tuple[object, ...], float]:
        """Seconds of the steps by some of their fields, the most first."""
        sums: dict[tuple[object, ...], float] = {}
        for step in self.steps:
            key = tuple(getattr(step, name) for name in names)
            sums[key] = sums.get(key, 0.0) + step.seconds
        return dict(sorted(sums.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class Timeline:
    """What ranks do over time, aggregated.

    Attributes
    ----------
    bucket
        Seconds of one.
    rows
        First and last rank of each row.
    shares
        Each of `TIMELINE` → for each row its share of every bucket; what is missing to 1 is after the ranks' end.
    """

    bucket: float
    rows: tuple[tuple[int, int], ...]
    shares: Mapping[str, Sequence[Sequence[float]]]

    @property
    def buckets(self) -> int:
        """How many there are."""
        return max((len(row) for rows in self.shares.values() for row in rows), default=0)


@dataclass(frozen=True)
class CallKind:
    """Calls of the trace that are alike, of all ranks: how long they took, and take in the replay of that run.

    Attributes
    ----------
    call
        Of the MPI.
    up_to
        Bytes, to a power of two; of what waits for requests, those of the largest of them.
    peer
        `itself`; `first`, of a rank's first call with another, or its first collective; or "".
    traced, replayed
        Seconds of all of them.
    worst
        The one that differs most: rank, record of its trace counted from 1, and its seconds as traced and replayed.
    """

    call: str
    up_to: int
    peer: str
    calls: int
    traced: float
    replayed: float
    worst: tuple[int, int, float, float]

    @property
    def difference(self) -> float:
        """By how much longer they take in the replay [s]."""
        return self.replayed - self.traced


@dataclass(frozen=True)
class Differences:
    """Where the replay of the traced run differs from it: kinds of calls, the largest differences first.

    Attributes
    ----------
    traced, replayed
        Seconds of all calls of all ranks.
    kinds
        How many there are; `largest` may be fewer.
    """

    largest: tuple[CallKind, ...] = ()
    traced: float = 0.0
    replayed: float = 0.0
    kinds: int = 0

    def missed(self, share: float) -> float:
        """Seconds as traced of the kinds that the replay misses by more than that share of their time."""
        return sum(one.traced for one in self.largest if abs(one.difference) > share * one.traced)


@dataclass(frozen=True)
class TraceFit:
    """The baseline's figures, fitted to one half of the trace's calls and held against the other.

    Attributes
    ----------
    parts
        Figure → as it was measured, and as fitted with a 95 % interval [s, s/B]; None: the calls do not tell it.
    fitted, held_out
        Seconds of either half's calls, as traced and as replayed with the fitted figures.
    """

    parts: Mapping[str, tuple[float, Interval | None]]
    fitted: tuple[float, float]
    held_out: tuple[float, float]
    replays: int

    @property
    def error(self) -> float:
        """By how much longer the calls that were not fitted take in the replay, as a share of their time."""
        traced, replayed = self.held_out
        return replayed / traced - 1 if traced > 0 else 0.0


@dataclass(frozen=True)
class Counterfactual:
    """What the baseline would be with a part of it changed: what tuning it could buy at most."""

    what: str
    forecast: Forecast
    gain: Interval


@dataclass(frozen=True)
class Beside:
    """Jobs that share a network, each on hosts of its own.

    Attributes
    ----------
    jobs
        Their commands, the predicted program's first.
    alone, together
        Seconds of each job's replay by itself, and while all run.
    """

    network: str
    jobs: tuple[str, ...]
    alone: tuple[float, ...]
    together: tuple[float, ...]


@dataclass(frozen=True)
class Scaling:
    """Run time over ranks on one network, from traces of several numbers of them.

    Attributes
    ----------
    at
        Number of ranks → run time; beyond twice the most ranks traced there is none.
    refused
        Why there is nothing, where there is nothing.
    """

    network: str
    study: Study | None = None
    at: Mapping[int, Interval] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True)
class Prediction:
    """All of it. `baseline` is the network that the trace was made on."""

    traced: Traced
    program: ReplayProgram
    baseline: Forecast
    baseline_from: str
    calibration: Calibration
    candidates: tuple[NetworkCandidate, ...]
    changes: tuple[Counterfactual, ...]
    tolerances: Mapping[str, tuple[Tolerance, ...]]
    bytes_times: Mapping[str, float]
    curves: tuple[Piecewise, ...]
    path: Path
    differences: Differences = Differences()
    fit: TraceFit | None = None
    timelines: tuple[Timeline, ...] = ()
    scaling: tuple[Scaling, ...] = ()
    beside: tuple[Beside, ...] = ()
    engine: str = "a"
    currency: str = "$"
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> float | None:
        """Share of the ranks' time that is computing, or calls whose kind takes as long in the replay, to `MET`.

        None: the trace does not say how long calls took.
        """
        whole = (self.calibration.measured or 0.0) * self.program.ranks
        if not whole or not self.differences.kinds:
            return None
        return max(0.0, 1 - self.differences.missed(MET) / whole)
