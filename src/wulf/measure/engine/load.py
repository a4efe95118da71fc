"""What a stream costs its two hosts, from what they counted meanwhile: pure, from replicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wulf.core.records import ENDS, Record, Verdict
from wulf.measure.engine.collect import Replicate, params_of
from wulf.measure.engine.plan import Cell
from wulf.stats.estimates import Estimate
from wulf.stats.stopping import StoppingRule

CPUS, INTERRUPTS, RETRANSMITS = "cpus", "interrupts_per_message", "retransmits_per_message"
"""Metrics, behind the end's name where it has one: CPUs busy on the whole host, and counts a message."""

_BUSY = ("user", "nice", "system", "irq", "softirq")


def busy_cpus(replicate: Replicate, end: str) -> float | None:
    """CPU seconds a second that were used on an end's host, by whomever; None where nobody counted.

    A counter that did not move is not told: shorter than a tick of 10 ms, a CPU's time is none.
    """
    counted = _counted(replicate, end)
    if counted is None:
        return None
    times = counted.get("cpu", {}).get("all", {})
    return float(sum(times.get(kind, 0.0) for kind in _BUSY)) / float(replicate["seconds"])


def interrupts(replicate: Replicate, end: str) -> float | None:
    """Interrupts that an end's host served; None where nobody counted."""
    counted = _counted(replicate, end)
    return None if counted is None else float(counted.get("intr", 0))


def retransmits(replicate: Replicate) -> float | None:
    """Segments that both hosts sent again, by whatever connection; None where nobody counted."""
    known = [counted for end in ENDS if (counted := _counted(replicate, end)) is not None]
    return float(sum(one.get("snmp", {}).get("Tcp", {}).get("RetransSegs", 0) for one in known)) if known else None


def messages(replicate: Replicate, size: int) -> float | None:
    """How many messages arrived in the measured time, all ways together."""
    rate = replicate["metrics"].get("throughput", {}).get("value")
    return rate * replicate["seconds"] / size if rate and replicate.get("seconds") else None


def load_records(cell: Cell, replicates: Iterable[Replicate], run: str, at: str, rule: StoppingRule) -> list[Record]:
    """The load of one stream's cell as records, each a median over its replicates with an interval.

    Parameters
    ----------
    at
        When they are complete: ISO 8601, UTC.
    """
    size = int(cell.params["bytes"] or 0)
    figures: dict[str, list[float]] = {}

    def keep(metric: str, value: float | None, each: float | None = 1.0) -> None:
        known = figures.setdefault(metric, [])
        if value is not None and each:
            known.append(value / each)

    for replicate in (replicate for replicate in replicates if replicate["ok"]):
        sent = messages(replicate, size)
        for end in ENDS:
            keep(f"{end}_{CPUS}", busy_cpus(replicate, end))
            keep(f"{end}_{INTERRUPTS}", interrupts(replicate, end), sent)
        keep(RETRANSMITS, retransmits(replicate), sent)
    found = [(metric, samples, rule.estimate(samples)) for metric, samples in figures.items()]
    return [_record(cell, metric, samples, estimate, run=run, at=at) for metric, samples, estimate in found]


def _counted(replicate: Replicate, end: str) -> Mapping[str, Any] | None:
    """What moved on an end's host: empty where nothing did, None where nobody counted."""
    found: Mapping[str, Any] | None = (replicate.get("counters") or {}).get(end)
    return found


def _record(cell: Cell, metric: str, samples: Sequence[float], found: Estimate, *, run: str, at: str) -> Record:
    reason = found.reason if samples else "the host's counters were not read"
    return Record(
        run=run, at=at, subject=cell.subject, probe=cell.program, metric=metric, unit="1", params=params_of(cell),
        value=found.value, low=found.low, high=found.high, confidence=found.confidence,
        statistic="median" if found.value is not None else None, replicates=found.n, reason=reason,
        verdict=Verdict.UNRESOLVED if found.value is None else Verdict.NOISY if reason else Verdict.OK,
        samples=list(samples), better="lower", phase=cell.phase,
    )  # fmt: skip
