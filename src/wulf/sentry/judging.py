"""What a run's figures say of nodes: which have changed, and which are as before again.

The arrays of `stats.series.detector` are kept in the state between runs; here they are read, held against the new
figures, and written back, within the transaction that takes the run in.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, isfinite, log
from time import gmtime, strftime
from typing import Any

import numpy as np

from wulf.core.durations import DAY
from wulf.core.findings import Severity
from wulf.core.units import show
from wulf.sentry.belief import of_all
from wulf.sentry.choosing import monthly_tests
from wulf.sentry.incident import Incident, Kind, Observation
from wulf.sentry.plan import SentryPlan
from wulf.sentry.rows import Real, Reals, Text
from wulf.sentry.state import Figure, MetricInfo, SentryState
from wulf.stats.samples import Floats
from wulf.stats.series.detector import (
    LEAST_TESTS,
    Limits,
    Pool,
    Tracks,
    common_shift,
    observe,
    ratio_since,
    shift,
    unshift,
)

RECENT = 15
"""Nodes whose last figures say what a class did together."""

SUSPECT = log(4.0)
"""Evidence from which on a node is measured again soon, unless less would do for a third of an alarm. One test that
stands out is enough: where tests are disturbed now and then, none says more by itself."""

CLASS = "@"
"""Before a class's name: it has a level of its own."""

_LISTS = ("first", "waiting")
_COLUMNS = ("residual", "seen_at", "up", "down", "up_since", "down_since", "shifted", "back")


@dataclass
class Judgement:
    """What came of a run.

    Attributes
    ----------
    observations
        Changes that are told now.
    mended
        Keys of incidents that are over.
    evidence
        Node → the factor by which its figures change the odds that it has changed.
    """

    observations: list[Observation] = field(default_factory=list)
    mended: list[tuple[str, str, str]] = field(default_factory=list)
    evidence: dict[str, float] = field(default_factory=dict)


def judged(state: SentryState, plan: SentryPlan, figures: Sequence[Figure], at: float) -> Judgement:
    """What a run's figures come to, at most one of each metric and node; the state's detectors are moved on.

    The figures are in the state already.
    """
    hardware = {one.name: one.hardware for one in state.nodes()}
    metrics = state.metrics()
    limits = limits_of(state, plan)
    grouped: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for one in figures:
        if one.node in hardware and one.value > 0:
            grouped[one.metric, hardware[one.node]].append(one)
    found, said = Judgement(), defaultdict[str, list[float]](list)
    for (name, own_class), own in sorted(grouped.items()):
        book = _Book(state, metrics[name], own_class)
        for node, evidence in book.take(own, at, limits, found).items():
            said[node].append(evidence)
        book.take_class(at, limits, found)
    found.evidence = {node: of_all(evidence) for node, evidence in said.items()}
    return found


def suspicious(limits: Limits) -> float:
    """Logarithm of the evidence from which on a node is measured again soon."""
    return min(SUSPECT, log(limits.tests) / LEAST_TESTS) - 1e-9


def suspects(state: SentryState, plan: SentryPlan) -> set[str]:
    """Nodes whose figures stand out, and are to be confirmed or not by measuring them again."""
    least = suspicious(limits_of(state, plan))
    rows = state.rows(
        "SELECT DISTINCT node FROM level WHERE shifted IS NULL AND (up >= ? OR down >= ?)", (least, least), Text
    )
    return {node for (node,) in rows if not node.startswith(CLASS)}


def limits_of(state: SentryState, plan: SentryPlan) -> Limits:
    """When a change is told, so that there are no more false alarms than the plan allows."""
    tests = monthly_tests(plan, *state.counts())
    return Limits(max(2.0, tests / plan.alarm.false_alarms), plan.alarm.least)


def accept(state: SentryState, incident: Incident) -> None:
    """What a node's level now is, is as it should be: somebody closed its incident by hand."""
    if incident.what.kind not in (Kind.CHANGED, Kind.COMMON):
        return
    info = state.metrics().get(incident.what.metric)
    if info is None:
        return
    book = _Book(state, info, "")
    tracks = book.tracks([incident.what.node])
    unshift(tracks, 0, accepted=True)
    book.write([incident.what.node], tracks)


@dataclass
class _Book:
    """The detectors of one metric on one class of nodes."""

    state: SentryState
    metric: MetricInfo
    hardware: str

    def __post_init__(self) -> None:
        self.number = self.state.metric(self.metric)

    def tracks(self, nodes: Sequence[str]) -> Tracks:
        """What is known of these nodes."""
        own = Tracks.fresh(len(nodes))
        marks = ", ".join("?" * len(nodes))
        rows = self.state.rows(  # put together of our own names of columns and of question marks
            f"SELECT node, {', '.join((*_LISTS, *_COLUMNS))} FROM level WHERE metric = ? AND node IN ({marks})",  # noqa: S608
            (self.number, *nodes), Text, *[Reals] * len(_LISTS), *[Real | None] * len(_COLUMNS),
        )  # fmt: skip
        place = {name: number for number, name in enumerate(nodes)}
        for node, first, waiting, *rest in rows:
            number = place[node]
            own.first[number, : len(first)] = first
            own.waiting[number, own.waiting.shape[1] - len(waiting) :] = waiting  # the newest last
            for name, value in zip(_COLUMNS, rest, strict=True):
                getattr(own, name)[number] = np.nan if value is None else value
        return own

    def write(self, nodes: Sequence[str], own: Tracks) -> None:
        """Keep what is known of these nodes now."""
        columns = ("metric", "node", *_LISTS, *_COLUMNS)
        marks = ", ".join("?" * len(columns))
        self.state.write(  # of the same
            f"INSERT OR REPLACE INTO level ({', '.join(columns)}) VALUES ({marks})",  # noqa: S608
            [
                (
                    self.number, node, *(_listed(getattr(own, name)[number]) for name in _LISTS),
                    *(_or_none(getattr(own, name)[number]) for name in _COLUMNS),
                )
                for number, node in enumerate(nodes)
            ],
        )  # fmt: skip

    def pool(self, hardware: str) -> Pool:
        """The residuals that a class's are held against."""
        query = "SELECT residuals FROM pool WHERE metric = ? AND class = ?"
        rows = self.state.rows(query, (self.number, hardware), Reals)
        return Pool(np.array(rows[0][0], dtype=float)) if rows else Pool()

    def keep(self, hardware: str, pool: Pool) -> None:
        """Write a pool back."""
        self.state.write(
            "INSERT OR REPLACE INTO pool VALUES (?, ?, ?)",
            [(self.number, hardware, json.dumps([float(f"{one:.6g}") for one in pool.residuals]))],
        )

    def recent(self, without: str = "") -> Floats:
        """The last residuals of the class's nodes, without one's own."""
        rows = self.state.rows(
            "SELECT residual FROM level JOIN node ON node.name = level.node WHERE metric = ? AND class = ? "
            "AND level.node <> ? AND shifted IS NULL AND residual IS NOT NULL ORDER BY seen_at DESC LIMIT ?",
            (self.number, self.hardware, without, RECENT), Real,
        )  # fmt: skip
        return np.array([value for (value,) in rows], dtype=float)

    def take(self, figures: Sequence[Figure], at: float, limits: Limits, found: Judgement) -> dict[str, float]:
        """Take the nodes' figures in: the evidence of each."""
        own = list({one.node: one for one in figures}.values())
        nodes = [one.node for one in own]
        tracks, pool = self.tracks(nodes), self.pool(self.hardware)
        common = np.array([common_shift(self.recent(node)) for node in nodes])
        values = np.log([one.value for one in own])
        seen = observe(tracks, pool, values, at, common=common, limits=limits)
        for number, node in enumerate(nodes):
            if seen.mended[number]:
                unshift(tracks, number)
                found.mended.append((str(Kind.CHANGED), node, self.metric.name))
            elif seen.alarm[number]:
                told = self._told(node, _Alarm(tracks, number, common[number], seen.alarm[number]), pool)
                shift(tracks, number, log(told.ratio or 1.0))
                found.observations.append(told)
        self.write(nodes, tracks)
        self.keep(self.hardware, pool)
        return dict(zip(nodes, seen.evidence.tolist(), strict=True))

    def take_class(self, at: float, limits: Limits, found: Judgement) -> None:
        """Take in, once a day, what the class did together."""
        name = f"{CLASS}{self.hardware}"
        tracks, recent = self.tracks([name]), self.recent()
        if len(recent) < RECENT or at - tracks.seen_at[0] < DAY:
            return
        pool = self.pool(name)
        value = common_shift(recent)
        seen = observe(tracks, pool, np.array([value]), at, common=np.zeros(1), limits=limits)
        if seen.mended[0]:
            unshift(tracks, 0)
            found.mended.append((str(Kind.COMMON), name, self.metric.name))
        elif seen.alarm[0]:
            ratio = exp(value - float(tracks.levels()[0][0]))
            found.observations.append(self._common(name, ratio, _Alarm(tracks, 0, 0.0, seen.alarm[0]), at))
            shift(tracks, 0, log(ratio))
        self.write([name], tracks)
        self.keep(name, pool)

    def _told(self, node: str, alarm: _Alarm, pool: Pool) -> Observation:
        """A change in words, with its time and how great it is."""
        known = self.state.figures(self.metric.name, 0.0, [node])
        figures = [one for one in known if one.at > alarm.since] or known[-1:]  # none is later where a clock was set
        level = float(alarm.tracks.levels()[0][alarm.place])
        residuals = [log(one.value) - level - alarm.common for one in figures]
        middle, low, high = ratio_since(residuals, pool, int(alarm.tracks.counts[alarm.place]))
        before, until = exp(level + alarm.common), figures[0].at
        ratio, interval = exp(middle), (_exp(low), _exp(high))
        text = (
            f"{node}: {self.metric.name} {'rose' if alarm.direction > 0 else 'fell'} to {ratio:.3g} times its level"
            f"{_between(interval)}, from {show(before, self.metric.unit)} to "
            f"{show(before * ratio, self.metric.unit)}, between {_when(alarm.since)} and {_when(until)}"
        )
        return Observation(
            Kind.CHANGED, node, self.metric.name, self._severity(alarm.direction), alarm.since, until, f"{text}.",
            f"`wulf node {node}` measures it again; `wulf history {self.metric.name} --subject {node}` shows what "
            "changed with it",
            self.metric.unit, before, before * ratio, ratio, *interval,
        )  # fmt: skip

    def _common(self, name: str, ratio: float, alarm: _Alarm, at: float) -> Observation:
        text = (
            f"All nodes of {name.removeprefix(CLASS)}: {self.metric.name} "
            f"{'rose' if alarm.direction > 0 else 'fell'} together, to {ratio:.3g} times what it was, between "
            f"{_when(alarm.since)} and {_when(at)}."
        )
        return Observation(
            Kind.COMMON, name, self.metric.name, self._severity(alarm.direction), alarm.since, at, text,
            "look at what all of them share: an update, a setting, the room's temperature", "1", 1.0, ratio, ratio,
        )  # fmt: skip

    def _severity(self, direction: int) -> Severity:
        worse = {"lower": 1, "higher": -1}.get(self.metric.better)
        return Severity.BAD if direction == worse else Severity.INFO


@dataclass(frozen=True)
class _Alarm:
    """Whose detector told, of what direction."""

    tracks: Tracks
    place: int
    common: float
    direction: int

    @property
    def since(self) -> float:
        """The last time that all was as before."""
        own = self.tracks.up_since if self.direction > 0 else self.tracks.down_since
        return float(own[self.place])


def _listed(values: Floats) -> str:
    return json.dumps(values[np.isfinite(values)].tolist())


def _or_none(value: Any) -> float | None:
    return float(value) if isfinite(value) else None


def _exp(value: float) -> float | None:
    return exp(value) if isfinite(value) else None


def _between(interval: Iterable[float | None]) -> str:
    low, high = interval
    return "" if low is None or high is None else f" ({low:.3g}–{high:.3g})"


def _when(at: float) -> str:
    """A time, in UTC: a cluster's people may sit anywhere."""
    return strftime("%-d %b %Y %H:%M UTC", gmtime(at))
