"""A cluster over months: which node left its level when, what is open, what measuring cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wulf.core.durations import DAY
from wulf.core.names import natural
from wulf.sentry.incident import Incident, Kind, gravest
from wulf.sentry.state import Measurement, MetricInfo, SentryState, Watched
from wulf.stats.diagnostics import MAD_TO_SIGMA
from wulf.stats.samples import Floats, row_medians

DAYS = 120
"""That are looked at unless somebody asks for others."""

LATELY = 14 * DAY
"""Seconds for which a closed incident is still told."""

UNMEASURED = 14 * DAY
"""Seconds after which a node counts as not measured."""

LEVEL_DAYS, LEAST_DAYS = 7, 3
"""A node's level is what an incident says that it was, else the median of its first days with a figure; with fewer than
so many it has none."""

LEAST_CHANGE, SPREADS = 0.03, 4.0
"""What is drawn as a deviation: more than this share, and than so many robust standard deviations of its metric."""


@dataclass(frozen=True)
class DayGrid:
    """How far each node was from its own level on each day, in the metric that stood out most.

    Attributes
    ----------
    first
        Day of the first column, since 1970 (UTC).
    metrics
        Those whose better direction is known: the others have no worse.
    worse
        Nodes × days: relative change for the worse; negative: for the better; 0: within the metric's usual spread;
        NaN: not measured.
    of
        Nodes × days: the metric's number; -1: none stands out.
    """

    first: int
    nodes: Sequence[str]
    metrics: Sequence[MetricInfo]
    worse: Floats
    of: NDArray[np.int16]

    @property
    def days(self) -> int:
        """Columns."""
        return int(self.worse.shape[1])


@dataclass(frozen=True)
class Cost:
    """What measuring by one measure cost.

    Attributes
    ----------
    outcomes
        State of a measurement → how many ended so.
    by_day
        Node-seconds of each day of the grid.
    """

    measure: str
    outcomes: Mapping[str, int]
    nodes: int
    by_day: Floats


@dataclass(frozen=True)
class Unmeasured:
    """Nodes that were not measured of late, for one reason."""

    reason: str
    nodes: Sequence[str]
    last: float | None


@dataclass(frozen=True)
class Site:
    """A whole cluster.

    Attributes
    ----------
    now
        Unix seconds up to which it is told.
    open, closed
        Incidents that last, the gravest first; and those closed of late, the newest first.
    marked
        All incidents of the grid's days.
    known
        Nodes that were measured within `UNMEASURED`.
    """

    now: float
    nodes: Sequence[Watched]
    grid: DayGrid
    open: Sequence[Incident]
    closed: Sequence[Incident]
    marked: Sequence[Incident]
    costs: Sequence[Cost]
    unmeasured: Sequence[Unmeasured]
    known: Set[str]
    running: int

    @property
    def affected(self) -> set[str]:
        """Nodes with an incident that lasts; changes of whole classes are no node's."""
        names = {node.name for node in self.nodes}
        return {one.what.node for one in self.open if one.what.node in names}

    @property
    def well(self) -> int:
        """How many nodes are known to be as they were."""
        return len(self.known - self.affected)


def read_site(state: SentryState, now: float, days: int = DAYS) -> Site:
    """What a state tells of its last days, all of one moment.

    Parameters
    ----------
    now
        Unix seconds.
    days
        Columns of the grid; today is the last one.
    """
    with state.snapshot():
        first = int(now // DAY) - days + 1
        nodes = sorted(state.nodes(), key=lambda one: natural(one.name))
        incidents = state.incidents(since=first * DAY)
        measurements = state.measurements(first * DAY)
        last = state.last_seen()
        return Site(
            now, nodes, _grid(state, nodes, incidents, first, days),
            [one for one in gravest(incidents) if one.is_open],
            sorted(
                (one for one in incidents if one.closed_at is not None and one.closed_at > now - LATELY),
                key=lambda one: -(one.closed_at or 0.0),
            ),
            incidents, _costs(measurements, first, days), _unmeasured(nodes, last, incidents, measurements, now),
            {node.name for node in nodes if last.get(node.name, 0.0) > now - UNMEASURED},
            sum(one.state == "running" for one in measurements),
        )  # fmt: skip


def _grid(
    state: SentryState, nodes: Sequence[Watched], incidents: Sequence[Incident], first: int, days: int
) -> DayGrid:
    metrics = [one for one in state.metrics().values() if one.better]
    rows = {one.name: number for number, one in enumerate(nodes)}
    shape = len(nodes), days
    worse, odd = np.full(shape, np.nan), np.zeros(shape)
    of = np.full(shape, -1, dtype=np.int16)
    before: dict[tuple[str, str], float] = {}
    for one in sorted(incidents, key=lambda one: one.what.since):
        if one.what.before is not None:
            before.setdefault((one.what.metric, one.what.node), one.what.before)
    for number, metric in enumerate(metrics):
        found, level = np.full(shape, np.nan), np.full(len(nodes), np.nan)
        for node, place in rows.items():
            level[place] = before.get((metric.name, node), np.nan)
        for node, day, value in state.by_day(metric.name, first * DAY):
            if (row := rows.get(node)) is not None and 0 <= day - first < days:
                found[row, day - first] = value
        stand_out(worse, odd, of, number, deviations(found, metric.better, level))
    return DayGrid(first, [one.name for one in nodes], metrics, worse, of)


def deviations(values: Floats, better: str, before: Floats) -> Floats:
    """Relative changes for the worse from each row's own level, NaN where there is no value; 0 without a level.

    Parameters
    ----------
    before
        Levels that are known, as an incident says what a figure was before; NaN: the median of the first days.
    """
    logs = np.full(values.shape, np.nan)
    np.log(values, out=logs, where=values > 0)
    there = ~np.isnan(logs)
    early = there & (np.cumsum(there, axis=1) <= LEVEL_DAYS)
    with np.errstate(invalid="ignore"):
        levels = np.where(early.sum(axis=1) >= LEAST_DAYS, row_medians(np.where(early, logs, np.nan)), np.nan)
        levels = np.where(before > 0, np.log(before), levels)
        changes = np.expm1(logs - levels[:, None]) * (1.0 if better == "lower" else -1.0)
    return np.where(there, np.nan_to_num(changes), np.nan)


def stand_out(worse: Floats, odd: Floats, of: NDArray[np.int16], number: int, changes: Floats) -> None:
    """Take a metric into the grid where it stands out more than those before it.

    Parameters
    ----------
    odd
        How many times each cell's change is what counts as one; 1 is what is drawn.
    """
    there = ~np.isnan(changes)
    if not there.any():
        return
    spread = MAD_TO_SIGMA * float(np.median(np.abs(changes[there])))
    times = np.where(there, np.abs(np.nan_to_num(changes)) / max(LEAST_CHANGE, SPREADS * spread), 0.0)
    worse[there & np.isnan(worse)] = 0.0
    more = there & (times > 1.0) & (times > odd)
    worse[more], odd[more], of[more] = changes[more], times[more], number


def _costs(measurements: Sequence[Measurement], first: int, days: int) -> list[Cost]:
    outcomes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    nodes: dict[str, set[str]] = defaultdict(set)
    spent: dict[str, Floats] = defaultdict(lambda: np.zeros(days))
    for one in measurements:
        if one.ended is None or not 0 <= (day := int(one.ended // DAY) - first) < days:
            continue
        outcomes[one.measure][one.state] += 1
        nodes[one.measure].update(one.nodes)
        spent[one.measure][day] += one.seconds or 0.0
    made = [Cost(name, dict(own), len(nodes[name]), spent[name]) for name, own in outcomes.items()]
    return sorted(made, key=lambda one: -float(one.by_day.sum()))


NOT_TRIED = "nothing was tried: not idle, or not its turn"


def _unmeasured(
    nodes: Sequence[Watched], last: Mapping[str, float], incidents: Sequence[Incident],
    measurements: Sequence[Measurement], now: float,
) -> list[Unmeasured]:  # fmt: skip
    """Nodes without a measurement for `UNMEASURED`, by the reason: not reached, or what came of the last try."""
    away = {one.what.node for one in incidents if one.is_open and one.what.kind is Kind.UNREACHABLE}
    tried: dict[str, Measurement] = {}
    for one in measurements:  # the newest first
        if one.state not in ("running", "done"):
            for name in one.nodes:
                tried.setdefault(name, one)
    groups: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if last.get(node.name, node.since) > now - UNMEASURED and node.name not in away:
            continue
        failed = tried.get(node.name)
        why = f"{failed.state}: {failed.reason}" if failed and failed.reason else failed.state if failed else NOT_TRIED
        groups["can't be reached" if node.name in away else why].append(node.name)
    made = [
        Unmeasured(reason, own, min((last[one] for one in own if one in last), default=None))
        for reason, own in groups.items()
    ]
    return sorted(made, key=lambda one: -len(one.nodes))


MOST_ROWS, MOST_GROUPS = 60, 24
"""Nodes that have a row of their own where there are more than both together, and rows of those that have none."""

OWN = 0.1
"""Sum of a node's deviations from the middle of its class, over all days, from which on it has a row of its own."""


@dataclass(frozen=True)
class GridRow:
    """A row as it is drawn: a node, or the median of several of one class."""

    nodes: Sequence[str]
    hardware: str
    worse: Floats
    of: NDArray[np.int16]


def rows_of(site: Site) -> list[GridRow]:
    """All nodes where these are few; else those that matter, and the others in groups of one hardware class."""
    ordered, matter = _by_importance(site)
    alone = ordered if len(ordered) <= MOST_ROWS + MOST_GROUPS else ordered[: min(matter, MOST_ROWS)]
    return _rows(site, alone, MOST_GROUPS)


def brief_rows(site: Site, most: int) -> list[GridRow]:
    """Nodes with an incident of these days, and of each class all others: what a terminal has room for."""
    ordered, _ = _by_importance(site)
    told = {one.what.node for one in site.marked}
    return _rows(site, [i for i in ordered if site.grid.nodes[i] in told][:most], 1)


def _rows(site: Site, alone: Sequence[int], groups: int) -> list[GridRow]:
    grid = site.grid
    classes = {one.name: one.hardware for one in site.nodes}
    made = [GridRow([grid.nodes[i]], classes[grid.nodes[i]], grid.worse[i], grid.of[i]) for i in alone]
    rest = sorted(set(range(len(grid.nodes))) - set(alone), key=lambda i: (classes[grid.nodes[i]], i))
    for group in _groups([classes[grid.nodes[i]] for i in rest], groups):
        own = [rest[i] for i in group]
        worse, of = _middle(grid.worse[own], grid.of[own])
        made.append(GridRow([grid.nodes[i] for i in own], classes[grid.nodes[own[0]]], worse, of))
    return made


def _by_importance(site: Site) -> tuple[list[int], int]:
    """Numbers of nodes, and how many of these matter by themselves.

    First those with an incident that lasts, then with one of these days, then those that deviated most from their
    class: what all of it did is no node's own.
    """
    rank: dict[str, int] = {}
    for one in site.marked:
        rank[one.what.node] = max(rank.get(one.what.node, 0), one.what.severity.weight + (3 if one.is_open else 0))
    grid, own = site.grid, np.zeros(len(site.nodes))
    members: dict[str, list[int]] = defaultdict(list)
    for number, node in enumerate(site.nodes):
        members[node.hardware].append(number)
    for rows in members.values():
        off = np.abs(grid.worse[rows] - _middle(grid.worse[rows], grid.of[rows])[0])
        own[rows] = np.where(off > LEAST_CHANGE, off, 0.0).sum(axis=1)
    ordered = sorted(range(len(site.nodes)), key=lambda i: (-rank.get(grid.nodes[i], 0), -own[i], i))
    return ordered, sum(bool(rank.get(grid.nodes[i], 0)) or own[i] >= OWN for i in ordered)


def _groups(classes: Sequence[str], most: int) -> list[range]:
    """Runs of one class, in parts so that there are `most` of them, or one a class where these are more."""
    size = max(1, -(-len(classes) // most))
    made, start = [], 0
    for end in range(1, len(classes) + 1):
        if end == len(classes) or classes[end] != classes[start] or end - start == size:
            made.append(range(start, end))
            start = end
    return made


def _middle(worse: Floats, of: NDArray[np.int16]) -> tuple[Floats, NDArray[np.int16]]:
    """Of each day the node in the middle, and the metric that it stands out by."""
    ordered = np.argsort(worse, axis=0)  # NaN last
    counts = np.sum(~np.isnan(worse), axis=0)
    columns = np.arange(worse.shape[1])
    chosen = ordered[np.maximum(counts - 1, 0) // 2, columns]
    return worse[chosen, columns], of[chosen, columns]
