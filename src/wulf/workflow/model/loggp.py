"""LogGP of a pair of ranks: measured by PRTT(n, d, s), or from a run that was; from a sweep of wulf-net without o."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from wulf.core.errors import UsageError
from wulf.core.names import fold
from wulf.core.records import Param, Record
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import MPI, NET, Probe
from wulf.measure.mpi.probes import mpi_probe
from wulf.model.network.fitting import LEAST_REPLICATES, Calls, TooFewReplicatesError, fit_loggp
from wulf.model.network.loggp import LogGP
from wulf.model.network.patterns import WINDOW, Patterns, Times
from wulf.report.kit.figures import usable
from wulf.stats.curves.piecewise import Stretch, fit, steepest
from wulf.store.run import Run
from wulf.workflow.engine.study import Conditions
from wulf.workflow.mpi.launching import Launch
from wulf.workflow.mpi.probes import RanksStudy

PROBE, PHASE = "loggp", "loggp"
PRTT, SEND, RECEIVE, RTT = "prtt", "send", "receive", "rtt"

SIZES = (
    *(1, 16, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536),
    *(98304, 131072, 196608, 262144, 393216, 524288, 786432, 1048576),
)
"""Eager limits lie at powers of two from 1 KiB on: each has sizes between it and the next, so that a third can be held
out and lines still be found."""

PAUSED = (1, 256, 2048)
"""Sizes whose overheads are measured: those that every MPI sends at once, also within a host."""

CROSSING, CROSSED, TIME = "pingping", (8, 1024, 8192, 131072, 1048576), "time"
"""The probe of two messages that cross, their sizes, and its metric: a pattern that no parameter is taken from."""

MANY, MANY_SIZES, RATE = "stream", PAUSED[1:], "rate"
"""The same of a window of messages each way: sizes whose overheads are measured, too."""

STAGGERED = "staggered"
"""The parameter of a crossing by which one of its messages begins when the other's request is answered."""

HIDING, HIDDEN = "overlap", "overlap"
"""The probe that tells how much of an exchange hides behind computing as long, and its metric."""

DATA = 2
"""Times as long as the rest of a message take the bytes of one by which turns are told."""

LARGE = 4
"""Times the smallest size that waits for its receiver: what hides of such an exchange is the data, not its begin."""

MESSAGES = 16
_TRAINS = (1, MESSAGES)

HEADER = 128
"""Bytes that an MPI's own header takes of its eager limit, at most: a message of the limit itself is then beyond it."""

CONGESTION = "sysctl.net.ipv4.tcp_congestion_control"
PACED = {"bbr"}
"""Congestion controls that send at a rate of their own, not as the window allows: docs/explanation/foresight.md."""

LONGEST_DELAY = 1.0
"""What the probe allows [s]."""

METRICS = (PRTT, SEND, RECEIVE, TIME, RATE, HIDDEN)
"""What is taken of a run."""

Edge = tuple[Stretch, Stretch]
"""The lines before and behind it."""

BACK: dict[str, Param] = {"a": 1, "b": 0}
"""The pair's second rank sends to the first."""


@dataclass(frozen=True)
class PairTimes:
    """What was measured of one pair, by bytes.

    Attributes
    ----------
    subject
        The pair, and the MPI or transport.
    cautions
        What of its nodes LogGP has no parameter for.
    """

    subject: str
    round_trips: dict[float, list[float]] = field(default_factory=dict)
    trains: dict[float, list[float]] = field(default_factory=dict)
    calls: tuple[Calls, ...] = ()
    patterns: Patterns = field(default_factory=Patterns)
    messages: int = 1
    cautions: tuple[str, ...] = ()

    def fitted(self, seed: int = 0) -> LogGP:
        """LogGP of it.

        Raises
        ------
        UsageError
            Too few sizes, or too few replicates of them.
        """
        try:
            return fit_loggp(
                self.round_trips, self.trains, self.calls, self.patterns, messages=self.messages, seed=seed
            )
        except TooFewReplicatesError as error:
            step = f"measure again, with a longer --budget or none: every size takes {LEAST_REPLICATES} replicates"
            raise UsageError(f"{self.subject}: {error}", step) from error
        except ValueError as error:
            raise UsageError(f"{self.subject}: {error}", "measure more sizes, each several times") from error


class LogGPStudy(RanksStudy):
    """Round trips and trains of every size; then sizes about the edge, trains with pauses as long as a trip, each way,
    and patterns that no parameter is taken from.

    Parameters
    ----------
    seconds
        Of each replicate.
    """

    def __init__(self, given: Conditions, launch: Launch, seconds: float) -> None:
        super().__init__(given, launch, PROBE)
        self._seconds = seconds

    def shared(self, probe: Probe) -> Sequence[Cell]:
        """Every size, alone and in trains."""
        wanted = [self._train(size, messages) for size in SIZES for messages in _TRAINS]
        return [self.ranks.cell(i, probe, PROBE, one, PHASE) for i, one in enumerate(wanted)]

    def extend(self, records: Sequence[Record], first: int) -> Sequence[Cell]:
        """About the edge, with pauses, and other patterns: once."""
        if not self.ranks.places or any(one.metric == TIME for one in records):
            return ()
        trips = {_bytes(one): one for one in records if one.metric == PRTT and one.params["messages"] == 1}
        edge = edge_of({size: one.samples for size, one in trips.items() if one.samples})
        wanted = [(PROBE, self._train(size, messages)) for size in near_edge(edge) for messages in _TRAINS]
        wanted += [
            (PROBE, self._paused(size, trip) | ends)
            for size in PAUSED
            if size in trips and (trip := trips[size].value)
            for ends in ({}, BACK)
        ]
        wanted += [(name, {**params, "seconds": self._seconds}) for name, params in _patterns(edge)]
        return [self.ranks.cell(first + i, mpi_probe(), name, one, PHASE) for i, (name, one) in enumerate(wanted)]

    def _train(self, size: int, messages: int) -> dict[str, Param]:
        return {"bytes": size, "messages": messages, "seconds": self._seconds}

    def _paused(self, size: int, trip: float) -> dict[str, Param]:
        return {**self._train(size, MESSAGES), "delay": min(trip, LONGEST_DELAY)}


def edge_of(round_trips: Times) -> Edge | None:
    """Between which lines the MPI goes over to another protocol; None where that is not seen.

    Parameters
    ----------
    round_trips
        Bytes → replicates.
    """
    try:
        return steepest(fit(round_trips))
    except ValueError:  # too few sizes or replicates: the fit to come says so
        return None


def _patterns(edge: Edge | None) -> list[tuple[str, dict[str, Param]]]:
    """What is measured beside the parameters: probes with what they are given.

    What hides behind computing is asked of messages that are sent at once, and of those that wait for their receivers;
    where none do, of the largest.
    """
    large = min(max(SIZES), LARGE * int(edge[1].first)) if edge else max(SIZES)
    posted: dict[str, Param] = {"mode": "nonblocking"}
    return [
        *((CROSSING, {**posted, "bytes": size}) for size in CROSSED),
        *((MANY, {**posted, "bytes": size, "window": WINDOW, "both": True}) for size in MANY_SIZES),
        (CROSSING, {**posted, "bytes": _mostly_data(edge, large), STAGGERED: True}),
        *((HIDING, {**posted, "bytes": size}) for size in (max(PAUSED), large)),
    ]


def _mostly_data(edge: Edge | None, least: int) -> int:
    """A size whose bytes take `DATA` times as long as all that is the same for every large message, if there is one."""
    if edge is None or edge[1].beta.value <= 0:
        return max(SIZES)
    return int(min(max(least, DATA * edge[1].alpha.value / edge[1].beta.value), max(SIZES)))


def near_edge(edge: Edge | None) -> list[int]:
    """Sizes that tell where the MPI goes over to another protocol, between the last before and the first behind.

    Limits are powers of two, less a header perhaps; where it is neither, the middle halves the doubt.
    """
    if edge is None:
        return []
    low, high = int(edge[0].last), int(edge[1].first)
    powers = [1 << k for k in range(low.bit_length(), high.bit_length())]
    wanted = {round((low * high) ** 0.5), *powers, *(power - HEADER for power in powers)}
    return sorted(size for size in wanted if low < size < high)


def measured_of(run: Run, subject: str | None = None) -> PairTimes:
    """What a run holds: PRTT, or round trips of a sweep.

    Parameters
    ----------
    subject
        Which pair, where there are several.

    Raises
    ------
    UsageError
        It holds neither, or several pairs and none was named.
    """
    usable_ones = [one for one in run.records if usable(one) and one.samples]
    trains = [one for one in usable_ones if one.probe == MPI and one.metric in METRICS]
    if any(one.metric == PRTT for one in trains):
        return replace(_of_trains(_of_one(run, trains, subject)), cautions=_cautions(run))
    trips = [one for one in usable_ones if one.probe in (NET, MPI) and one.metric == RTT and "bytes" in one.params]
    if trips:
        return replace(_of_sweep(_of_one(run, trips, subject)), cautions=_cautions(run))
    raise UsageError(
        f"run {run.id} holds no round trips over sizes",
        "`wulf model loggp n1 n2` measures MPI, `wulf net sweep n1 n2` a transport",
    )


def _cautions(run: Run) -> tuple[str, ...]:
    nodes = run.fingerprint
    paced = [node for node in sorted(nodes) if nodes[node].get(CONGESTION, {}).get("value") in PACED]
    if not paced or len(nodes) == 1:
        return ()
    return (
        f"{fold(paced)}: TCP's congestion control is {' or '.join(sorted(PACED))}, which spreads a message of several "
        "packets over a time that grows with the path's delay and with the pause before it. LogGP has no parameter for "
        "that; where messages go by TCP, predictions hold better with cubic or reno",
    )


def _of_one(run: Run, records: Sequence[Record], subject: str | None) -> list[Record]:
    """The records of one pair over one transport."""
    chosen = [one for one in records if subject in (None, _title(one))]
    titles = list(dict.fromkeys(_title(one) for one in chosen))
    if len(titles) != 1:
        what = "no such pair" if not titles else f"{len(titles)} pairs"
        known = ", ".join(dict.fromkeys(_title(one) for one in records))
        raise UsageError(f"run {run.id} holds {what}", f"choose with --subject: {known}")
    return chosen


def _title(record: Record) -> str:
    """`n1>n2 tcp`, `n1>n2 openmpi 4.1.4`; the pair's name is that of its first rank's way."""
    kind = record.params.get("mpi") or record.params.get("transport") or ""
    return f"{_pair(record)} {kind}".strip()


def _pair(record: Record) -> str:
    return ">".join(reversed(record.subject.split(">"))) if _backwards(record) else record.subject


def _backwards(record: Record) -> bool:
    """Whether the pair's second rank sends."""
    return record.probe == MPI and all(record.params.get(name) == rank for name, rank in BACK.items())


def _of_trains(records: Iterable[Record]) -> PairTimes:
    trips: dict[float, list[float]] = {}
    trains: dict[float, list[float]] = {}
    paused: dict[tuple[float, bool], dict[str, list[float]]] = {}
    crossings: dict[float, list[float]] = {}
    windows: dict[float, list[float]] = {}
    hidden: dict[float, list[float]] = {}
    turns: dict[float, list[float]] = {}
    messages, title = 1, ""
    for one in records:
        title, count = _title(one), int(one.params.get("messages") or 1)
        if one.metric == TIME:
            (turns if one.params.get(STAGGERED) else crossings)[_bytes(one)] = one.samples
        elif one.metric == RATE:
            windows[_bytes(one)] = [2 * WINDOW / rate for rate in one.samples if rate > 0]
        elif one.metric == HIDDEN:
            hidden[_bytes(one)] = one.samples
        elif one.params.get("delay"):
            paused.setdefault((_bytes(one), _backwards(one)), {})[one.metric] = one.samples
        elif one.metric == PRTT:
            (trips if count == 1 else trains)[_bytes(one)] = one.samples
            messages = max(messages, count)
    calls = tuple(
        Calls(size, both[SEND], both[RECEIVE])
        for (size, _), both in sorted(paused.items())
        if {SEND, RECEIVE} <= set(both)
    )
    return PairTimes(title, trips, trains, calls, Patterns(crossings, windows, hidden, turns), messages)


def _of_sweep(records: Sequence[Record]) -> PairTimes:
    trips: dict[float, list[float]] = {}
    for one in records:
        trips.setdefault(_bytes(one), list(one.samples))
    return PairTimes(_title(records[0]), trips)


def _bytes(record: Record) -> float:
    return float(record.params["bytes"] or 0)
