"""Who took the CPU: what each culprit took over the replicates of a noise-why cell, as records. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from wulf.core.records import Record, Verdict, info_as
from wulf.measure.engine.collect import Replicate, replicates_of
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import NODE
from wulf.stats.estimates import Estimate
from wulf.stats.intervals import few_mean_interval, ratio_interval

PROBE = "noise-why"
PHASE = "culprit"
ALL = "all"
"""The class of the record that says what all culprits took together."""

OTHERS = "others"
"""The class of those that took too little to be told one by one."""

MOST_TOLD = 24
"""Culprits of a CPU."""

WORST = 5
"""Detours of a CPU that are told in full."""

CLASSES = {
    "interrupt": "interrupt", "softirq": "softirq", "timer": "timer", "nmi": "NMI", "kernel_thread": "kernel thread",
    "task": "task", "idle": "nobody", "entry": "kernel entry", "unexplained": "unexplained", "unknown": "lost records",
    OTHERS: "others",
}  # fmt: skip
"""Classes as the probe names them → as people do."""

EXPLAINED = {
    "idle": "the loop was not allowed to run: a quota",
    "entry": "entering, leaving, scheduling, tracing",
    "unexplained": "hypervisor, firmware (SMI), or no tracepoint",
    "unknown": "the ring was full",
}
"""What the classes stand for that have no names of their own."""

_OF_A_CPU = re.compile(r"(?:/(?:u?\d+(?::[\w-]+)?|[\w]+))+$")


class Key(NamedTuple):
    """A culprit: its class as the probe names it, and its name."""

    kind: str
    name: str

    @property
    def text(self) -> str:
        """For people: `task python3`, `softirq NET_RX`, `unexplained`."""
        kind = CLASSES.get(self.kind, self.kind)
        return f"{kind} {self.name}" if self.name else kind

    @property
    def family(self) -> Key:
        """The same on every CPU and node: a kernel thread without the number of its CPU, `kworker` of `kworker/1:2`."""
        return Key(self.kind, _OF_A_CPU.sub("", self.name)) if self.kind == "kernel_thread" else self


@dataclass
class _Toll:
    """What one culprit took in each replicate [s]."""

    seconds: dict[int, float] = field(default_factory=dict)
    count: int = 0
    longest: float = 0.0
    pids: set[int] = field(default_factory=set)

    def add(self, replicate: int, row: Row) -> None:
        self.seconds[replicate] = self.seconds.get(replicate, 0.0) + row["total"]
        self.count += row["count"]
        self.longest = max(self.longest, row["longest"])
        if "pid" in row:
            self.pids.add(row["pid"])

    def of(self, replicates: int) -> list[float]:
        """A value a replicate: 0 where it took nothing, which was measured."""
        return [self.seconds.get(number, 0.0) for number in range(replicates)]


Piece = TypedDict("Piece", {"class": str, "name": str, "at": float, "length": float, "pid": NotRequired[int]})
"""Who ran from when on within a detour, and how long [s]."""

Row = TypedDict(
    "Row", {"class": str, "name": str, "pid": NotRequired[int], "total": float, "count": int, "longest": float}
)
"""Who took how much of a replicate's traced time [s]."""


class Detour(TypedDict):
    """A time that the loop was away [s], and who had it; of how many more pieces is not told."""

    length: float
    pieces: list[Piece]
    more: NotRequired[int]


class _Share(TypedDict):
    value: float | None


class _Tracing(TypedDict, total=False):
    records: int
    lost_records: int
    missing: list[str]


class _Traced(TypedDict):
    """What the probe says of a replicate."""

    traced_seconds: Annotated[float, Field(gt=0)]
    untraced_seconds: float
    culprits: list[Row]
    longest: list[Detour]
    steal: NotRequired[_Share | None]
    tracing: NotRequired[_Tracing | None]
    stopped_early: NotRequired[bool]


class Taken(TypedDict, total=False):
    """What a culprit's record says besides: its share of the loss, how often and how long it ran, its processes."""

    of_lost: _Share | None
    rate: float
    longest: float
    pids: list[int]


class AllTaken(Taken, total=False):
    """What the record of all culprits of a CPU says besides: the worst detours, and what could not be told."""

    detours: list[Detour]
    trace_records: int
    lost_records: int
    stopped_early: bool
    steal_seconds: float
    all_seconds: float


def share_of_lost(taken: Taken) -> float | None:
    """Of what the CPU loses, how much a culprit took; None where it is not known."""
    share = taken.get("of_lost")
    return share["value"] if share else None


def key_of(record: Record) -> Key:
    """Whom a culprit's record is of."""
    return Key(str(record.params.get("class", "")), str(record.params.get("culprit", "")))


def culprits_in(records: Sequence[Record]) -> dict[tuple[str, int], list[Record]]:
    """(node, CPU) → its culprits' records, who took most first; that of all is not among them."""
    found: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in records:
        if record.phase == PHASE and record.params.get("class") != ALL:
            found[record.subject, int(record.number("cpu", 0))].append(record)
    return {place: sorted(own, key=lambda one: -(one.value or 0.0)) for place, own in found.items()}


def totals_in(records: Sequence[Record]) -> dict[tuple[str, int], Record]:
    """(node, CPU) → the record of what all culprits took together."""
    return {
        (record.subject, int(record.number("cpu", 0))): record
        for record in records
        if record.phase == PHASE and record.params.get("class") == ALL
    }


def culprit_records(cells: Sequence[Cell], replicates: Sequence[Replicate], run: str, at: str) -> list[Record]:
    """A record a culprit of every cell, and one of all of them together with the worst detours.

    Values are means over the replicates, of shares of the traced time, so that they add up; intervals are Student's.
    """
    found = []
    by_cell = replicates_of(cells, replicates)
    for cell in cells:
        answers = [
            info_as(_Traced, one["info"], f"a replicate of {cell.client} {PROBE}")
            for one in by_cell[cell.id]
            if one["ok"] and "culprits" in (one.get("info") or {})
        ]
        if answers:
            found += _of_cell(cell, answers, run, at)
    return found


def _of_cell(cell: Cell, answers: Sequence[_Traced], run: str, at: str) -> list[Record]:
    seconds = [answer["traced_seconds"] for answer in answers]
    tolls: dict[Key, _Toll] = defaultdict(_Toll)
    whole = _Toll()
    for number, answer in enumerate(answers):
        for row in answer["culprits"]:
            tolls[Key(row["class"], row["name"])].add(number, row)
            whole.add(number, row)
    ordered = sorted(tolls, key=lambda key: -sum(tolls[key].seconds.values()))
    told = {key: tolls[key] for key in ordered[:MOST_TOLD]}
    if rest := [tolls[key] for key in ordered[MOST_TOLD:]]:
        told[Key(OTHERS, f"{len(rest)} more")] = _together(rest)
    own = _Cell(cell, seconds, whole, run, at)
    return [own.record(Key(ALL, ""), whole, _about(answers)), *(own.record(key, toll) for key, toll in told.items())]


def _together(tolls: Sequence[_Toll]) -> _Toll:
    summed = _Toll()
    for toll in tolls:
        for number, seconds in toll.seconds.items():
            summed.seconds[number] = summed.seconds.get(number, 0.0) + seconds
        summed.count += toll.count
        summed.longest = max(summed.longest, toll.longest)
    return summed


def _about(answers: Sequence[_Traced]) -> dict[str, Any]:
    """What is said of a cell once: its worst detours, what the hypervisor and the tracing say of themselves."""
    detours: list[dict[str, Any]] = [
        {**detour, "replicate": number} for number, one in enumerate(answers) for detour in one["longest"]
    ]
    tracing: list[_Tracing] = [one.get("tracing") or {} for one in answers]
    steals = [steal for one in answers if (steal := one.get("steal"))]
    return {
        "detours": sorted(detours, key=lambda detour: -float(detour["length"]))[:WORST],
        "traced_seconds": sum(one["traced_seconds"] for one in answers),
        "all_seconds": sum(one["traced_seconds"] + one["untraced_seconds"] for one in answers),
        "steal_seconds": sum(steal["value"] or 0.0 for steal in steals),
        "trace_records": sum(one.get("records", 0) for one in tracing),
        "lost_records": sum(one.get("lost_records", 0) for one in tracing),
        "stopped_early": any(one.get("stopped_early", False) for one in answers),
        "missing": sorted({name for one in tracing for name in one.get("missing", [])}),
    }


@dataclass(frozen=True)
class _Cell:
    """What the records of a cell have in common."""

    cell: Cell
    seconds: Sequence[float]
    whole: _Toll
    run: str
    at: str

    def record(self, key: Key, toll: _Toll, more: Mapping[str, Any] | None = None) -> Record:
        n = len(self.seconds)
        taken, lost = toll.of(n), self.whole.of(n)
        samples = [part / seconds for part, seconds in zip(taken, self.seconds, strict=True)]
        estimate = few_mean_interval(samples)
        verdict, reason = _verdict(estimate, sum(part > 0 for part in taken), n)
        return Record(
            run=self.run, subject=self.cell.client, probe=NODE, metric="lost", unit="1",
            params={"pattern": PROBE, "cpu": self.cell.params["cpu"], "class": key.kind, "culprit": key.name},
            value=estimate.value, low=_not_below_0(estimate.low), high=estimate.high,
            confidence=estimate.confidence, statistic="mean" if estimate.value is not None else None, replicates=n,
            verdict=verdict, reason=reason, samples=samples, at=self.at, phase=PHASE, better="lower",
            info={
                "of_lost": _told(ratio_interval(taken, lost)), "rate": toll.count / sum(self.seconds),
                "longest": toll.longest, "pids": sorted(toll.pids), **(more or {}),
            },
        )  # fmt: skip


def _verdict(estimate: Estimate, present: int, n: int) -> tuple[Verdict, str | None]:
    if estimate.value is None:
        return Verdict.UNRESOLVED, estimate.reason
    if (estimate.low or 0.0) <= 0 and estimate.high != estimate.low:
        return Verdict.NOISY, f"its interval reaches 0: it was there in {present} of {n} replicates"
    return Verdict.OK, None


def _not_below_0(bound: float | None) -> float | None:
    return None if bound is None else max(bound, 0.0)


def _told(share: Estimate) -> dict[str, float | None]:
    """A share of the lost time, whose bounds are shares, too."""
    low = _not_below_0(share.low)
    return {"value": share.value, "low": low, "high": None if share.high is None else min(share.high, 1.0)}
