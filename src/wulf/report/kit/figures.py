"""One record in words: its name, figure, interval, verdict. Shared by the terminal and the HTML report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wulf.core.names import plural
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_interval

MARKS = {Verdict.OK: "", Verdict.NOISY: "~", Verdict.UNRESOLVED: "?", Verdict.FAILED: "×"}
"""One character a verdict, so that it is read without colour."""

MEANINGS = {
    Verdict.OK: "the interval is as narrow as requested",
    Verdict.NOISY: "the interval is wider than requested",
    Verdict.UNRESOLVED: "no answer: too few samples, or the probe could not tell",
    Verdict.FAILED: "the measurement failed",
}

METRICS = {"rtt": "round trip", "throughput": "bandwidth"}
MAIN_METRICS = frozenset(METRICS)
"""What a heat map or curve is drawn of, and what makes a run incomplete; others (lost, …) stand in the table."""

HIGHER_IS_BETTER = frozenset({"throughput", "bandwidth", "rate", "delivery_rate", "sent"})

ODD = frozenset({"modes", "drift", "cold"})
"""Flags of a record that a reader must know of; that replicates depend on each other shows in the interval already."""

_OF_INTEREST = re.compile(
    r"retrans|drop|squeez|(?<!int)err|overflow|timeout|all\.steal|all\.softirq|lost|loss|fail|prune|collapse",
    re.IGNORECASE,
)
"""Not "interrupts", though it has an "err" in it; of the CPUs' times, those that no process is charged with."""


_NOT_IN_NAMES = frozenset({"seconds", "warmup_seconds", "warmup"})
"""Parameters of how long, not of what; they stand in the plan."""


def usable(record: Record) -> bool:
    """Whether the value may be drawn and compared: there is one, and its cell did not fail."""
    return record.value is not None and record.verdict in (Verdict.OK, Verdict.NOISY)


def main_records(records: Sequence[Record]) -> list[Record]:
    """The records that a run is made for; all of them where none is of a main metric.

    A stream's loss over TCP, say, has no answer by right, and makes no run incomplete; nor does what a node lacks.
    """
    supported = [record for record in records if record.supported]
    main = [record for record in supported if record.metric in MAIN_METRICS or record.row]
    return main or supported or list(records)


def metric_name(metric: str) -> str:
    """A metric as people call it; the probe's own name where there is no better one."""
    return METRICS.get(metric, metric.replace("_", " "))


def cell_name(record: Record) -> str:
    """What was run: `tcp pingpong, 1 B, streams 4`."""
    params = dict(record.params)
    words = [str(params.pop(key)) for key in ("transport", "pattern") if params.get(key) is not None]
    parts = [" ".join(words)] if words else []
    size = params.pop("bytes", None)
    if isinstance(size, int | float):
        parts.append(show(size, "B"))
    parts += [
        f"{key} {value}" for key, value in sorted(params.items()) if value is not None and key not in _NOT_IN_NAMES
    ]
    return ", ".join(parts)


def value_text(record: Record) -> str:
    """`18.5 µs`; a dash where there is no value."""
    return show(record.value, record.unit)


def interval_text(record: Record) -> str:
    """`18.3–18.8 µs`; a dash where there is none."""
    return show_interval(record.low, record.high, record.unit)


def confidence_text(record: Record) -> str:
    """`95 %`; empty where the record has no interval."""
    return f"{record.confidence * 100:.3g} %" if record.confidence is not None else ""


def verdict_text(record: Record) -> str:
    """The verdict, with its reason where there is one (`noisy: interval 12 % wide, 5 % asked`), and what is odd."""
    verdict = f"{record.verdict}: {record.reason}" if record.reason else str(record.verdict)
    flags = record.flags
    odd = [text for name, text in flags.items() if name in ODD and text not in (record.reason or "")]
    return "; ".join([verdict, *odd])


def record_lines(record: Record) -> list[str]:
    """What a person wants to know of a record, a line each: value, interval, replicates, verdict."""
    lines = [value_text(record) if record.value is not None else "no value"]
    if record.low is not None and record.high is not None:
        lines.append(f"{interval_text(record)} ({confidence_text(record)} interval)".replace("( ", "("))
    tail = f"{record.statistic} of " if record.statistic and record.replicates else ""
    lines.append(tail + plural(record.replicates, "replicate"))
    lines.append(verdict_text(record))
    return lines


def quantile_name(key: str) -> str:
    """`0.999` → `p99.9`."""
    try:
        return f"p{float(key) * 100:.6g}"
    except ValueError:
        return key


def quantiles(record: Record) -> list[tuple[str, str]]:
    """Quantiles of the single samples inside the replicates, as `(name, figure)`."""
    return [(quantile_name(key), show(value, record.unit)) for key, value in record.quantiles.items()]


def _flat(counters: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for key, value in counters.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value


def counters_of_interest(record: Record, limit: int = 8) -> list[tuple[str, float]]:
    """Counters that changed and speak of trouble: retransmits, drops, errors, time stolen by the hypervisor."""
    found = [(name, value) for name, value in _flat(record.counters) if value and _OF_INTEREST.search(name)]
    return sorted(found, key=lambda item: -abs(item[1]))[:limit]


def limits(record: Record) -> list[tuple[str, str, str]]:
    """What limits the figure, the strongest first, as `(rule, sentence, next step)`."""
    held = record.bottleneck
    return [(str(one["rule"]), str(one["text"]), str(one["next_step"])) for one in held]
