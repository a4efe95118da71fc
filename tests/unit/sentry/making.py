"""A sentry's state as months leave it: nodes of two classes, what befell some of them, and what measuring cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wulf.core.findings import Severity
from wulf.sentry.incident import Incident, Kind, Observation, acknowledged, closed, seen
from wulf.sentry.state import Figure, MetricInfo, SentryState

DAY = 86400.0
NOW = 20_780 * DAY + 7.5 * 3600
"""Unix seconds at which all of these states end: 2026-11-23, 07:30 UTC."""

HOLDER = {"boot": "b", "pid": "1", "started": "1"}
METRICS = (
    MetricInfo("mem.triad", "B/s", "higher"), MetricInfo("mem.latency", "s", "lower"),
    MetricInfo("tcp.rtt", "s", "lower"),
)  # fmt: skip
LEVELS = {"mem.triad": 180e9, "mem.latency": 95e-9, "tcp.rtt": 18e-6}
NOISE = 0.008

STEP, DRIFT, FLAPPING, MENDED, GONE = "n17", "n42", "n99", "n7", "n150"
"""Nodes that something befalls, where there are so many."""

STEPPED, DRIFTED, COMMON, UNREACHED = 40, 60, 20, 3
"""Days before the end on which it begins."""


def many(count: int) -> tuple[MetricInfo, ...]:
    """So many metrics, those above first."""
    more = (MetricInfo(f"cpu.kernel{i}", "flop/s", "higher") for i in range(count))
    return tuple([*METRICS, *more][:count])


def name(i: int) -> str:
    return f"n{i + 1}"


def hardware(nodes: int) -> dict[str, str]:
    """Every other node is of the newer class."""
    return {name(i): ("epyc-7763", "epyc-9654")[i % 2] for i in range(nodes)}


def values(metric: MetricInfo, nodes: int, days: int, seed: int) -> np.ndarray:
    """Nodes × days; the last day is the end's. NaN: not measured."""
    drawn = np.random.default_rng(seed)
    own = LEVELS.get(metric.name, 50e9) * np.exp(0.01 * drawn.standard_normal((nodes, 1)))
    found = own * np.exp(NOISE * drawn.standard_normal((nodes, days)))
    newer = np.arange(nodes) % 2 == 1
    sign = 1.0 if metric.better == "higher" else -1.0
    found[newer] *= 1.5**sign
    befallen = {one: int(one[1:]) - 1 for one in (STEP, DRIFT, FLAPPING, MENDED, GONE)}
    befallen = {one: row for one, row in befallen.items() if row < nodes}

    def worse(row: int, since: int, until: int, by: float) -> None:
        found[row, max(0, days - since) : max(0, days - until)] *= (1 - by) ** sign

    if metric.name == "mem.triad":
        if STEP in befallen:
            worse(befallen[STEP], STEPPED, 0, 0.3)
        if MENDED in befallen:
            worse(befallen[MENDED], 30, 5, 0.15)
        if FLAPPING in befallen:
            for since in (24, 16, 8):
                worse(befallen[FLAPPING], since, since - 3, 0.2)
    if metric.name == "mem.latency" and DRIFT in befallen and days > DRIFTED:
        found[befallen[DRIFT], -DRIFTED:] *= 1 + 0.004 * np.arange(DRIFTED)
    if metric.name == "tcp.rtt" and days > COMMON:
        found[np.ix_(newer, np.arange(days - COMMON, days))] *= 1.08
    if GONE in befallen:
        found[befallen[GONE], days - UNREACHED :] = np.nan
    return found


def fill(
    state: SentryState, nodes: int = 200, days: int = 120, every: int = 1, metrics: Sequence[MetricInfo] = METRICS,
    seed: int = 1, end: float = NOW,
) -> None:  # fmt: skip
    """Write months down: each node measured each `every` days, in batches of a day, at a minute a node."""
    first = end - (days - 1) * DAY
    with state.transaction():
        state.watch(hardware(nodes), first, 0.01)
        for metric in metrics:
            state.metric(metric)
        found = {metric.name: values(metric, nodes, days, seed + i) for i, metric in enumerate(metrics)}
        for day in range(days):
            rows = [row for row in range(nodes) if (row + day) % every == 0 or day == days - 1 - row % every]
            _measure(state, first + day * DAY, rows, day, found)
        _other_measurements(state, end)
        for incident in incidents(found, nodes, days, end):
            state.keep(incident, None, end)
        _believe(state, end)


def _measure(state: SentryState, at: float, rows: Sequence[int], day: int, found: dict[str, np.ndarray]) -> None:
    there = [row for row in rows if any(not np.isnan(of[row, day]) for of in found.values())]
    number = state.claim("node", [name(row) for row in there], "due", at - 60, HOLDER)
    assert number is not None
    state.add(
        number,
        (
            Figure(name(row), metric, at, float(of[row, day]), float(of[row, day]) * 0.99, float(of[row, day]) * 1.01)
            for metric, of in found.items()
            for row in there
        ),
    )
    state.finish(number, "done", at, 60.0 * len(there), measured=[name(row) for row in there])


def _other_measurements(state: SentryState, end: float) -> None:
    """One that runs, one that a job ended, one that failed."""
    nodes = [node.name for node in state.nodes()]
    for at, node, outcome, reason in (
        (end - 3 * 3600, nodes[0], "preempted", "n1 was wanted for a job"),
        (end - 7200, nodes[-1], "failed", "ssh: connect to host: No route to host"),
    ):
        number = state.claim("node", [node], "due", at - 30, HOLDER)
        assert number is not None
        state.finish(number, outcome, at, 30.0, reason=reason)
    state.claim("links", nodes[1:3], "due", end - 60, HOLDER)


def incidents(found: dict[str, np.ndarray], nodes: int, days: int, end: float) -> Iterator[Incident]:
    """What the nodes' days tell, as detectors would."""

    units = {metric.name: metric.unit for metric in METRICS}

    def changed(node: str, metric: str, ago: float, ratio: float) -> Observation:
        since, unit = end - ago * DAY, units[metric]
        rows = slice(1, None, 2) if node.startswith("@") else int(node[1:]) - 1
        before = float(np.median(found[metric][rows, :14]))
        return Observation(
            Kind.CHANGED, node, metric, Severity.BAD, since - DAY, since, f"{metric} of {node} changed.",
            "`wulf check` says what is wrong with it", unit, before, before * ratio, ratio, ratio * 0.985,
            ratio * 1.015,
        )  # fmt: skip

    def opened(what: Observation, ago: float, hours: float = 6.0) -> Incident:
        return seen(None, what, end - ago * DAY + hours * 3600)[0]

    def there(node: str, ago: float) -> bool:
        return int(node[1:]) <= nodes and ago < days

    if there(STEP, STEPPED):
        step = opened(changed(STEP, "mem.triad", STEPPED - 1, 0.7), STEPPED - 1)
        yield acknowledged(step, end - 30 * DAY, "anna", "a DIMM is ordered")
    if there(DRIFT, DRIFTED):
        yield opened(changed(DRIFT, "mem.latency", 45, 1.236), 4)
    if there(FLAPPING, 24):
        one = opened(changed(FLAPPING, "mem.triad", 23, 0.8), 13)
        for ago in (9, 2):
            again = closed(one, end - (ago + 1) * DAY)
            one = seen(again, one.what, end - ago * DAY)[0]
        yield closed(one, end - DAY, "as before")
    if there(MENDED, 30):
        what = changed(MENDED, "mem.triad", 29, 0.85)
        yield closed(opened(what, 29), end - 4 * DAY, "as before again")
    if there(GONE, UNREACHED):
        since = end - UNREACHED * DAY
        what = Observation(
            Kind.UNREACHABLE, GONE, "", Severity.BAD, since, since + 7200, f"{GONE} could not be asked, 3 times.",
            "is it up?",
        )  # fmt: skip
        yield opened(what, UNREACHED - 0.5)
    if days > COMMON:
        what = changed("@epyc-9654", "tcp.rtt", COMMON - 1, 1.08)
        text = "All 100 nodes of epyc-9654 became slower together."
        yield opened(replace(what, kind=Kind.COMMON, severity=Severity.INFO, text=text), COMMON - 1)


def _believe(state: SentryState, end: float) -> None:
    drawn = np.random.default_rng(3)
    chances = {STEP: 0.97, DRIFT: 0.93, GONE: 0.9}
    state.believe(
        replace(one, chance=chances.get(one.name, float(drawn.uniform(0.001, 0.02))), as_of=end)
        for one in state.nodes()
    )


def made(path: Path, **how: Any) -> Path:
    """A state in a file."""
    with SentryState(path) as state:
        fill(state, **how)
    return path
