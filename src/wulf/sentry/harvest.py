"""What one measurement's run says of single nodes: figures, what is wrong, passive signs. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import Any

from wulf.core.findings import Severity
from wulf.core.records import Record, Verdict
from wulf.sentry.incident import Kind, Observation
from wulf.sentry.plan import Measure
from wulf.sentry.state import Figure, MetricInfo, Sign
from wulf.store.history import NOT_IN_CELLS
from wulf.store.run import Facts, Run

CHANGING: dict[str, tuple[str, float]] = {
    "kernel.boot_id": ("rebooted", 2.0),
    "kernel.release": ("kernel", 10.0),
    "kernel.parameters": ("boot parameters", 10.0),
    "system.bios_version": ("firmware", 10.0),
    "cpu.microcode": ("microcode", 10.0),
    "cpu.governor": ("governor", 10.0),
    "cpu.model": ("processor", 100.0),
    "cpu.threads": ("processor", 100.0),
    "memory.size": ("memory", 100.0),
    "memory.speed": ("memory", 100.0),
}
"""Fact → the sign that its change is, and how many times likelier that makes another change of the node.

Judgements, not measured: a reboot changes little by itself, another processor nearly all."""

COUNTING: dict[str, tuple[str, float]] = {
    "errors.memory_corrected": ("memory errors", 10.0),
    "errors.memory_uncorrected": ("memory errors", 100.0),
    "errors.pcie_corrected": ("PCI Express errors", 5.0),
    "errors.pcie_uncorrected": ("PCI Express errors", 30.0),
    "errors.cpu_throttled": ("throttling", 10.0),
    "errors.network_crc": ("damaged frames", 10.0),
    "errors.network_carrier": ("lost link", 5.0),
}
"""The same of counts since the last boot, of which growth is the sign. Judgements as well."""

HARDWARE = ("cpu.model", "cpu.threads", "memory.size")
"""What a class of nodes has in common."""

WARNED = 3.0
"""Odds of a warning of `wulf links` or another run that names the node."""

LOST = "not reached"
"""The sign of a node that could not be measured."""

BY_UNIT = {"s": "lower", "B/s": "higher", "Hz": "higher", "flop/s": "higher"}
"""Which way is better, where neither record nor plan says."""

GIB = 2.0**30


@dataclass
class Harvest:
    """What is taken in of a measurement.

    Attributes
    ----------
    at
        When it ended, Unix seconds.
    figures
        At most one of each node and metric.
    mended
        Keys of incidents that this run shows to be over.
    facts
        Node → those of `CHANGING` and `COUNTING`.
    measured
        Nodes that it has something of.
    unreached
        Node → why it could not be measured.
    """

    at: float
    figures: list[Figure] = field(default_factory=list)
    metrics: list[MetricInfo] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    mended: list[tuple[str, str, str]] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    measured: list[str] = field(default_factory=list)
    unreached: dict[str, str] = field(default_factory=dict)


def of_run(run: Run, measure: Measure, nodes: Collection[str], known: Mapping[str, Mapping[str, str]]) -> Harvest:
    """What a run says of the nodes that it was made on.

    Parameters
    ----------
    known
        Node → facts of when it was last measured.
    """
    found = Harvest(seconds_of(str(run.meta.get("ended") or run.meta["started"])))
    found.unreached = {one.subject: one.text for one in run.findings if one.kind == "failed" and one.subject in nodes}
    found.figures, found.metrics = _figures(run, nodes)
    of_figures = {one.node for one in found.figures}
    pairs = {node for record in run.records if record.value is not None for node in record.nodes}
    found.measured = [node for node in nodes if node in of_figures | pairs and node not in found.unreached]
    found.facts = {node: _facts(run.fingerprint[node]) for node in nodes if node in run.fingerprint}
    found.signs = [
        sign for node, own in found.facts.items() for sign in changed(node, known.get(node, {}), own, found.at)
    ]
    _findings(run, measure, found)
    found.mended += [(str(Kind.UNREACHABLE), node, "") for node in found.measured]
    return found


def _figures(run: Run, nodes: Collection[str]) -> tuple[list[Figure], list[MetricInfo]]:
    better = {one["name"]: one.get("better") or "" for cell in run.plan.get("cells", []) for one in cell["metrics"]}
    figures: dict[tuple[str, str], Figure] = {}
    metrics: dict[str, MetricInfo] = {}
    for record in run.records:
        if record.subject not in nodes or not _is_figure(record):
            continue
        assert record.value is not None  # noqa: S101 - said by _is_figure
        name = series(record)
        way = record.better or better.get(record.metric) or BY_UNIT.get(record.unit, "")
        metrics[name] = MetricInfo(name, record.unit, way if way in ("lower", "higher") else "")
        figures[record.subject, name] = Figure(
            record.subject, name, seconds_of(record.at), record.value, record.low, record.high
        )
    return list(figures.values()), list(metrics.values())


def _is_figure(record: Record) -> bool:
    """Whether it is a figure of the node itself; points of curves and entries of matrices are too many to watch."""
    told = record.verdict in (Verdict.OK, Verdict.NOISY) and record.value is not None and isfinite(record.value)
    return told and not record.curve and not record.matrix


def series(record: Record) -> str:
    """The name of what is measured again and again: a row of the node survey, or a metric with its parameters."""
    if record.row:
        return record.row
    left_out = {*NOT_IN_CELLS, "pattern"}
    given = {name: value for name, value in record.params.items() if value is not None and name not in left_out}
    words = ", ".join(f"{name}={_word(value)}" for name, value in sorted(given.items()))
    names = filter(None, (record.probe, record.params.get("pattern"), record.metric))
    return ".".join(map(str, names)) + (f" ({words})" if words else "")


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _findings(run: Run, measure: Measure, found: Harvest) -> None:
    """Nodes that the run blames, and those that it warns of."""
    blamed: dict[str, Observation] = {}
    for one in run.findings:
        if one.subject not in found.measured or one.kind == "failed":
            continue
        if one.severity is Severity.BAD:
            at = found.at
            blamed.setdefault(
                one.subject,
                Observation(Kind.BLAMED, one.subject, measure.name, Severity.BAD, at, at, one.text, one.next_step),
            )
        elif one.severity is Severity.WARN:
            found.signs.append(Sign(one.subject, found.at, f"{measure.name}: {one.kind}", WARNED, one.text))
    found.observations += blamed.values()
    found.mended += [(str(Kind.BLAMED), node, measure.name) for node in found.measured if node not in blamed]


def _facts(facts: Facts) -> dict[str, str]:
    values = {name: facts.get(name, {}).get("value") for name in (*CHANGING, *COUNTING)}
    return {name: str(value) for name, value in values.items() if value is not None}


def changed(node: str, before: Mapping[str, str], now: Mapping[str, str], at: float) -> list[Sign]:
    """Signs of facts that differ from those of last time and of counts that grew, one of each name: the strongest."""
    found: dict[str, Sign] = {}
    for fact, (name, odds) in CHANGING.items():
        if fact in before and fact in now and before[fact] != now[fact]:
            text = f"{node}: {fact} is {now[fact]}, and was {before[fact]}."
            found.setdefault(name, Sign(node, at, name, odds, text))
    for fact, (name, odds) in COUNTING.items():
        more = _grown(before.get(fact), now.get(fact))
        if more > 0 and (name not in found or found[name].odds < odds):
            text = f"{node}: {fact} grew by {more:,} since it was last measured, to {int(now[fact]):,}."
            found[name] = Sign(node, at, name, odds, text)
    return list(found.values())


def _grown(before: str | None, now: str | None) -> int:
    """By how much a count grew; a boot starts it anew."""
    if before is None or now is None or not (before.isdecimal() and now.isdecimal()):
        return 0
    return int(now) - (int(before) if int(now) >= int(before) else 0)


def hardware(facts: Mapping[str, str]) -> str:
    """A node's class in words; empty where its facts are not known."""
    if not any(name in facts for name in HARDWARE):
        return ""
    memory = facts.get("memory.size", "")
    size = f"{float(memory) / GIB:.0f} GiB" if memory.replace(".", "", 1).isdecimal() else ""
    threads = f"{facts['cpu.threads']} threads" if "cpu.threads" in facts else ""
    return ", ".join(filter(None, (facts.get("cpu.model", ""), threads, size)))


def class_of(facts: Facts) -> str:
    """A node's class, of a run's facts."""
    return hardware(_facts(facts))


def of_checks(lines: Iterable[str], nodes: Collection[str], at: float) -> Harvest:
    """What `wulf check --nodes … --json` has said: one result a line."""
    found = Harvest(at)
    for result in _results(lines):
        node, name, state, text = (str(result.get(key, "")) for key in ("node", "name", "state", "text"))
        if node not in nodes:
            continue
        if state == "not reached":
            found.unreached[node] = text
            continue
        if node not in found.measured:
            found.measured.append(node)
        if state == "ill":
            step = f"look there; `wulf check --nodes {node}` checks it again"
            found.observations.append(
                Observation(Kind.ILL, node, name, Severity.BAD, at, at, f"{node}: {name}: {text}", step)
            )
        elif state == "well":
            found.mended.append((str(Kind.ILL), node, name))
    found.mended += [(str(Kind.UNREACHABLE), node, "") for node in found.measured]
    return found


def _results(lines: Iterable[str]) -> Sequence[dict[str, Any]]:
    """The lines that are objects; a torn one is what a killed child leaves."""
    found = []
    for line in lines:
        try:
            result = json.loads(line)
        except ValueError:
            continue
        if isinstance(result, dict):
            found.append(result)
    return found


def seconds_of(at: str) -> float:
    """Unix seconds of an ISO 8601 time."""
    return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
