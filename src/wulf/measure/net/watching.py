"""A watch: what each replicate says beside all of them so far. Pure: no clock and no terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from wulf.measure.engine.plan import Cell
from wulf.stats.estimates import Estimate
from wulf.stats.stopping import WatchRule

PHASE = "watch"

QUANTILES = ("0.5", "0.9", "0.99")

RATE = "throughput"

WINDOW = 60.0
"""Seconds of history that a watch keeps in sight."""

IDLE = frozenset({"idle", "iowait"})
"""CPU times in which nothing was worked on (proc(5), /proc/stat)."""

GUEST = frozenset({"guest", "guest_nice"})
"""Counted under `user` and `nice` already (ibid.)."""

Explain = Callable[[Cell, Mapping[str, Any]], Sequence[str]]
"""A cell and a replicate of it (a line of replicates.jsonl, with its counters) → lines of text, or none."""


def no_verdict(_cell: Cell, _replicate: Mapping[str, Any]) -> Sequence[str]:
    """Where no rules are at hand: nothing is said."""
    return ()


@dataclass(frozen=True)
class Busy:
    """Share of the CPU time of one end that was spent working: all CPUs together, and the busiest one."""

    mean: float
    busiest: float


def busy_of(counters: Mapping[str, Any]) -> Busy | None:
    """How busy one end was, from the deltas of its CPU times; None where none changed.

    One saturated CPU hides under a low mean, therefore both.
    """
    shares = {
        name: share for name, times in (counters.get("cpu") or {}).items() if (share := _share(times)) is not None
    }
    if "all" not in shares:
        return None
    return Busy(shares["all"], max(shares.values()))


def _share(times: Mapping[str, float]) -> float | None:
    total = sum(value for name, value in times.items() if name not in GUEST)
    idle = sum(value for name, value in times.items() if name in IDLE)
    return 1 - idle / total if total > 0 else None


def retransmits_of(cell: Cell, replicate: Mapping[str, Any]) -> int:
    """TCP segments that the hosts of both ends sent again meanwhile; a node measured with itself counts once."""
    ends = ("client",) if cell.client == cell.server else ("client", "server")
    counters = replicate.get("counters") or {}
    return sum(int(counters.get(end, {}).get("snmp", {}).get("Tcp", {}).get("RetransSegs", 0)) for end in ends)


@dataclass(frozen=True)
class Moment:
    """One replicate.

    Attributes
    ----------
    seconds
        Since the watch began.
    quantiles
        Of its single round trips, in seconds; empty for a stream.
    rate
        In bytes per second; None for a ping-pong.
    busy
        "client" and "server", as far as known.
    verdict
        What its counters say, in lines.
    error
        Why it has no value; empty where it has.
    """

    seconds: float
    at: str
    pattern: str
    quantiles: Mapping[str, float]
    rate: float | None
    retransmits: int
    busy: Mapping[str, Busy]
    verdict: tuple[str, ...]
    error: str


def moment_of(cell: Cell, replicate: Mapping[str, Any], seconds: float, explain: Explain = no_verdict) -> Moment:
    """What one replicate says."""
    metrics = replicate.get("metrics") or {}
    primary = metrics.get(cell.metrics[0].name) or {}
    quantiles = primary.get("quantiles") or {}
    error = "" if replicate["ok"] else str(replicate["error"]["message"])
    ends = {end: busy_of((replicate.get("counters") or {}).get(end) or {}) for end in ("client", "server")}
    return Moment(
        seconds=seconds,
        at=str(replicate["at"]),
        pattern=cell.pattern,
        quantiles={name: float(quantiles[name]) for name in QUANTILES if quantiles.get(name) is not None},
        rate=primary.get("value") if cell.metrics[0].name == RATE else None,
        retransmits=retransmits_of(cell, replicate),
        busy={end: busy for end, busy in ends.items() if busy is not None},
        verdict=tuple(explain(cell, replicate)) if replicate["ok"] else (),
        error=error or str(primary.get("reason") or ""),
    )


@dataclass
class Watching:
    """All moments so far, as much as a view needs of them.

    Attributes
    ----------
    subject
        The pair, as records name it.
    latest
        The last moment of each pattern.
    replicates, failed, retransmits
        Counts since it began.
    """

    subject: str
    latest: dict[str, Moment] = field(default_factory=dict)
    replicates: int = 0
    failed: int = 0
    retransmits: int = 0
    seconds: float = 0.0
    _values: dict[str, list[float]] = field(default_factory=dict)
    _recent: deque[tuple[float, float]] = field(default_factory=deque)

    def take(self, moment: Moment) -> None:
        """One more."""
        self.replicates += 1
        self.failed += bool(moment.error)
        self.retransmits += moment.retransmits
        self.seconds = moment.seconds
        self.latest[moment.pattern] = moment
        for name, value in moment.quantiles.items():
            self._values.setdefault(name, []).append(value)
        if moment.rate is not None:
            self._values.setdefault(RATE, []).append(moment.rate)
        if "0.5" in moment.quantiles:
            self._recent.append((moment.seconds, moment.quantiles["0.5"]))
        while self._recent and self._recent[0][0] < moment.seconds - WINDOW:
            self._recent.popleft()

    def overall(self, name: str) -> Estimate:
        """The median over all replicates of one quantile of the round trip, or of the rate.

        The interval is a confidence sequence: it covers at all times at once, so that one may look whenever one likes.
        """
        return WatchRule().estimate(self._values.get(name, []))

    def history(self, columns: int = int(WINDOW)) -> list[float | None]:
        """Median round trips of the last minute in equal steps, the oldest first; None where there was none."""
        step = WINDOW / columns
        steps: list[list[float]] = [[] for _ in range(columns)]
        for at, value in self._recent:
            steps[max(0, columns - 1 - int((self.seconds - at) / step))].append(value)
        return [median(values) if values else None for values in steps]


def moment_json(watching: Watching, moment: Moment) -> dict[str, Any]:
    """One replicate beside all so far, in SI units, for programs."""
    names = QUANTILES if moment.rate is None else (RATE,)
    overall = {name: watching.overall(name) for name in names}
    return {
        "at": moment.at, "seconds": round(moment.seconds, 3), "subject": watching.subject, "pattern": moment.pattern,
        "ok": not moment.error, "error": moment.error or None,
        "rtt": dict(moment.quantiles) or None, "rate": moment.rate,
        "overall": {
            name: {"value": found.value, "low": found.low, "high": found.high, "confidence": found.confidence}
            for name, found in overall.items()
        },
        "replicates": watching.replicates, "failed": watching.failed,
        "retransmits": moment.retransmits, "retransmits_in_all": watching.retransmits,
        "busy": {end: {"mean": busy.mean, "busiest": busy.busiest} for end, busy in moment.busy.items()},
        "verdict": list(moment.verdict),
    }  # fmt: skip
