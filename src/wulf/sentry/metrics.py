"""The sentry's state as metrics for Prometheus, so many series at most, what matters most first. Pure.

Labels are names and words of ours, never sentences; what is left out is counted, by `wulf_sentry_series_left_out`.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import wulf
from wulf.core.durations import DAY
from wulf.core.findings import Severity
from wulf.core.names import natural
from wulf.scrape.openmetrics import Family, Sample
from wulf.sentry.incident import Incident, State, gravest
from wulf.sentry.rows import Real, Text, Time, Whole
from wulf.sentry.state import Measurement, MetricInfo, SentryState, Watched
from wulf.stats.samples import Floats, row_medians

SERIES = 50_000
"""At most, unless told otherwise: 10,000 nodes with what is known of each, and the figures of those that stand out."""

MOST_INCIDENTS = 1000
MOST_MEDIANS = 2000
MOST_NODES = 10_000
MOST_LINKS = 1000
"""Of one kind, so that none takes the room of all others."""

LONGEST_LABEL = 80
"""Characters: a longer name is cut, and told from others by a digest."""

_TABLE = (
    Family("wulf_sentry", "Which wulf wrote this.", "info"),
    Family("wulf_sentry_readable", "1 if the sentry's state can be read; without it nothing else is shown."),
    Family("wulf_sentry_active_timestamp_seconds", "When a measurement last began or ended, Unix time.",
           unit="seconds"),
    Family("wulf_sentry_running", "Measurements that run now."),
    Family("wulf_sentry_measurements", "Measurements that ended in the last 24 hours, by their outcome."),
    Family("wulf_sentry_spent_seconds", "Node-seconds that measuring took in the last 24 hours.", unit="seconds"),
    Family("wulf_sentry_events", "What happened to incidents, ever.", "counter"),
    Family("wulf_sentry_deliveries_waiting", "Messages that a channel could not be told yet."),
    Family("wulf_incidents", "Incidents that are open or acknowledged."),
    Family("wulf_incident", "An incident that is open or acknowledged.", "info"),
    Family("wulf_incident_since_timestamp_seconds", "When it changed: the first time that it was not as before.",
           unit="seconds"),
    Family("wulf_incident_ratio", "The figure over what it was before.", unit="ratio"),
    Family("wulf_incident_low_ratio", "Lower end of that ratio's interval.", unit="ratio"),
    Family("wulf_incident_high_ratio", "Upper end of that ratio's interval.", unit="ratio"),
    Family("wulf_nodes", "Nodes that are watched, by hardware class."),
    Family("wulf_nodes_affected", "Nodes with an incident that is open or acknowledged, by hardware class."),
    Family("wulf_node_incidents", "Incidents of a node that are open or acknowledged; without any it has no series."),
    Family("wulf_node_measured_timestamp_seconds", "When the node was last measured, by whatever measure.",
           unit="seconds"),
    Family("wulf_node_changed_chance", "Chance that the node has changed since it was last measured, from 0 to 1."),
    Family("wulf_figure", "A node's newest figure, in the SI unit of its label."),
    Family("wulf_figure_median", "The median of the newest figures of a hardware class, in the same unit."),
    Family("wulf_links_timestamp_seconds", "When the newest run of `wulf links` ended.", unit="seconds"),
    Family("wulf_links_pairs", "Pairs of nodes with traffic in it."),
    Family("wulf_links_findings", "What stands out in it."),
    Family("wulf_link_least_rtt_seconds", "The least round trip of a pair: the path.", unit="seconds"),
    Family("wulf_link_smoothed_rtt_seconds", "TCP's own average round trip: path, queues and hosts.", unit="seconds"),
    Family("wulf_link_sent_again_ratio", "Segments sent again for each one sent.", unit="ratio"),
    Family("wulf_link_delivery_bytes_per_second", "The rate at which the network delivered."),
    Family("wulf_link_sent_bytes_per_second", "Bytes acknowledged, over the time."),
    Family("wulf_sentry_series_left_out", "Series that there was no room for, by the metric that they are of."),
)  # fmt: skip

TABLE: Mapping[str, Family] = {family.name: family for family in _TABLE}
"""All that there are, by name: dashboards and rules are held against it."""


@dataclass(frozen=True)
class Snapshot:
    """What a state holds at one moment.

    Attributes
    ----------
    last
        Node → when it was last measured.
    figures
        The newest ones: nodes × metrics, NaN where there is none.
    measurements
        Those that began within the last two days.
    active
        When a measurement last began or ended.
    spent
        Node-seconds of the last day.
    events
        What → how often it happened, ever.
    """

    nodes: Sequence[Watched]
    last: Mapping[str, float]
    metrics: Mapping[str, MetricInfo]
    figures: Floats
    incidents: Sequence[Incident]
    measurements: Sequence[Measurement]
    active: float | None
    spent: float
    events: Mapping[str, int]
    waiting: Mapping[str, int]


_ACTIVE = """SELECT MAX(MAX(began, COALESCE(ended, began)))
FROM (SELECT began, ended FROM measurement ORDER BY began DESC LIMIT 1000)"""

_NEWEST = """SELECT (SELECT value FROM figure WHERE figure.metric = metric.id AND figure.node = node.name
ORDER BY at DESC LIMIT 1) FROM metric CROSS JOIN node WHERE node.gone IS NULL ORDER BY metric.name, node.name"""
"""In the order of metrics, then nodes: 200,000 in a third of the time that an object of each takes."""


def snapshot(state: SentryState, now: float) -> Snapshot:
    """Read what metrics are made of; `now`: Unix seconds."""
    nodes, metrics = state.nodes(), state.metrics()
    rows = state.rows(_NEWEST, (), Real | None)
    newest = np.fromiter((row[0] for row in rows), dtype=np.dtype(object), count=len(nodes) * len(metrics))
    events = state.rows("SELECT what, COUNT(*) FROM event GROUP BY what", (), Text, Whole)
    return Snapshot(
        nodes, state.last_seen(), metrics, newest.astype(float).reshape(len(metrics), len(nodes)).T,
        state.incidents(open_only=True), state.measurements(now - 2 * DAY), state.rows(_ACTIVE, (), Time | None)[0][0],
        state.spent(now - DAY, now), dict(events), state.waiting(),
    )  # fmt: skip


@dataclass
class Room:
    """How many series there may still be, and what was left out."""

    series: int
    left_out: Counter[str] = field(default_factory=Counter)

    def family(self, name: str, samples: Sequence[Sample], most: int | None = None) -> Family:
        """One of the table with as many of its samples as there is room for, those that matter most being first."""
        family = TABLE[name]
        count = min(len(samples), self.series, len(samples) if most is None else most)
        self.series -= count
        if most is not None or count < len(samples):
            self.left_out[family.sample_name] += len(samples) - count
        return family.of(samples[:count])


def families(found: Snapshot, now: float, series: int = SERIES, links: Iterable[Sequence[Sample]] = ()) -> list[Family]:
    """A state as metrics; what matters most gets its room first: incidents, then nodes, links, and figures.

    Parameters
    ----------
    series
        So many at most, but for those that count what was left out, one a metric.
    links
        Samples of the families of links, in the table's order; empty where no run of `wulf links` is known.
    """
    room = Room(series)
    grid = _grid(found) if found.nodes else None
    places = _by_importance(found, grid) if grid else {}
    made = [
        *_sentry(room, found, now), *_incidents(room, found), *_nodes(room, found, places),
        *_links(room, links), *(_figures(room, grid, places) if grid else []),
    ]  # fmt: skip
    counted = [({"family": name}, float(count)) for name, count in room.left_out.items()]
    return [*made, TABLE["wulf_sentry_series_left_out"].of(counted)]


def unreadable() -> list[Family]:
    """What is shown where the state can't be read: that, and no stale figure."""
    return [
        TABLE["wulf_sentry"].of([({"version": wulf.__version__}, 1.0)]),
        TABLE["wulf_sentry_readable"].of([({}, 0.0)]),
    ]


def label(text: str) -> str:
    """A name as a label: what is too long is cut, and a digest tells it from its like."""
    if len(text) <= LONGEST_LABEL:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    return f"{text[: LONGEST_LABEL - 9]}…{digest}"


def _sentry(room: Room, found: Snapshot, now: float) -> list[Family]:
    ended = Counter(
        (one.measure, one.state) for one in found.measurements if one.ended is not None and one.ended > now - DAY
    )
    outcomes = [({"measure": label(name), "state": state}, float(n)) for (name, state), n in sorted(ended.items())]
    return [
        room.family("wulf_sentry", [({"version": wulf.__version__}, 1.0)]),
        room.family("wulf_sentry_readable", [({}, 1.0)]),
        room.family("wulf_sentry_active_timestamp_seconds", [] if found.active is None else [({}, found.active)]),
        room.family("wulf_sentry_running", [({}, float(sum(one.state == "running" for one in found.measurements)))]),
        room.family("wulf_sentry_measurements", outcomes, MOST_INCIDENTS),
        room.family("wulf_sentry_spent_seconds", [({}, found.spent)]),
        room.family("wulf_sentry_events", [({"what": what}, float(n)) for what, n in sorted(found.events.items())]),
        room.family(
            "wulf_sentry_deliveries_waiting",
            [({"channel": label(name)}, float(n)) for name, n in sorted(found.waiting.items())], MOST_INCIDENTS,
        ),
    ]  # fmt: skip


def _incidents(room: Room, found: Snapshot) -> list[Family]:
    counted = Counter((one.what.severity, one.state) for one in found.incidents)
    numbers = [
        ({"severity": str(severity), "state": str(state)}, float(counted[severity, state]))
        for severity in Severity for state in (State.OPEN, State.ACKNOWLEDGED)
    ]  # fmt: skip
    ordered = gravest(found.incidents)
    names = {
        one.id: {"kind": str(one.what.kind), "node": label(one.what.node), "metric": label(one.what.metric)}
        for one in ordered
    }
    told = [(names[one.id] | {"severity": str(one.what.severity), "state": str(one.state)}, 1.0) for one in ordered]
    made = [
        room.family("wulf_incidents", numbers),
        room.family("wulf_incident", told, MOST_INCIDENTS),
        room.family(
            "wulf_incident_since_timestamp_seconds",
            [(names[one.id], one.what.until) for one in ordered],
            MOST_INCIDENTS,
        ),
    ]
    for name, attribute in (("", "ratio"), ("_low", "low"), ("_high", "high")):
        ratios = [(names[one.id], value) for one in ordered if (value := getattr(one.what, attribute)) is not None]
        made.append(room.family(f"wulf_incident{name}_ratio", ratios, MOST_INCIDENTS))
    return made


def _nodes(room: Room, found: Snapshot, places: Mapping[str, int]) -> list[Family]:
    classes = Counter(one.hardware for one in found.nodes)
    of = {one.name: one.hardware for one in found.nodes}
    each: dict[str, Counter[Severity]] = defaultdict(Counter)
    for incident in found.incidents:
        each[incident.what.node][incident.what.severity] += 1
    affected = Counter(of[name] for name in each if name in of)
    ordered = sorted(found.nodes, key=lambda one: places[one.name])
    told = [
        ({"node": label(one.name), "severity": str(severity)}, float(count))
        for one in ordered if one.name in each for severity, count in sorted(each[one.name].items())
    ]  # fmt: skip
    last = [({"node": label(one.name)}, found.last[one.name]) for one in ordered if one.name in found.last]
    chances = [({"node": label(one.name)}, one.chance) for one in ordered]
    sizes = [({"class": label(name)}, float(count)) for name, count in classes.most_common()]
    hit = [({"class": label(name)}, float(affected[name])) for name, _ in classes.most_common()]
    return [
        room.family("wulf_nodes", sizes, MOST_MEDIANS),
        room.family("wulf_nodes_affected", hit, MOST_MEDIANS),
        room.family("wulf_node_incidents", told, 3 * MOST_INCIDENTS),
        room.family("wulf_node_measured_timestamp_seconds", last, MOST_NODES),
        room.family("wulf_node_changed_chance", chances, MOST_NODES),
    ]  # fmt: skip


LINKS = tuple(name for name in TABLE if name.startswith("wulf_link"))
"""The families of links, in the table's order."""


def _links(room: Room, links: Iterable[Sequence[Sample]]) -> list[Family]:
    return [room.family(name, samples, MOST_LINKS) for name, samples in zip(LINKS, links, strict=False)]


@dataclass(frozen=True)
class _Grid:
    """The newest figures as nodes × metrics; NaN: there is none.

    Attributes
    ----------
    of_class
        Of each node the number of its class.
    medians
        Of each class's figures: classes × metrics.
    """

    nodes: Sequence[Watched]
    metrics: Sequence[MetricInfo]
    values: Floats
    classes: Sequence[str]
    of_class: NDArray[np.intp]
    medians: Floats

    @property
    def oddness(self) -> Floats:
        """Of each node how far its oddest figure is from its class's median, in median absolute deviations."""
        with np.errstate(all="ignore"):
            ratios = np.abs(np.log(self.values / self.medians[self.of_class]))
        ratios[~np.isfinite(ratios)] = np.nan
        spreads = _medians(ratios, self.of_class, len(self.classes))
        odd: Floats = np.nan_to_num(ratios / np.maximum(spreads, LEAST_SPREAD)[self.of_class])
        return np.asarray(odd.max(axis=1, initial=0.0))


LEAST_SPREAD = 1e-3
"""Relative: nodes that differ by less are alike, whatever their like do."""


def _medians(values: Floats, of_class: NDArray[np.intp], classes: int) -> Floats:
    """Of each class and column, without what is not there; NaN where nothing is."""
    return np.array([row_medians(values[of_class == number].T) for number in range(classes)])


def _grid(found: Snapshot) -> _Grid:
    values = found.figures
    classes = sorted({one.hardware for one in found.nodes})
    numbers = {name: number for number, name in enumerate(classes)}
    of_class = np.array([numbers[one.hardware] for one in found.nodes], dtype=np.intp)
    medians = _medians(values, of_class, len(classes))
    return _Grid(found.nodes, list(found.metrics.values()), values, classes, of_class, medians)


def _by_importance(found: Snapshot, grid: _Grid) -> dict[str, int]:
    """Node → its place: those with an incident first, the gravest before, then those whose figures are oddest."""
    worst: dict[str, int] = {}
    for incident in found.incidents:
        worst[incident.what.node] = max(incident.what.severity.weight, worst.get(incident.what.node, 0))
    ordered = sorted(
        zip(found.nodes, grid.oddness, strict=True),
        key=lambda one: (-worst.get(one[0].name, 0), -one[1], natural(one[0].name)),
    )
    return {node.name: place for place, (node, _) in enumerate(ordered)}


def _figures(room: Room, grid: _Grid, places: Mapping[str, int]) -> list[Family]:
    metrics = [{"metric": label(one.name), "unit": label(one.unit)} for one in grid.metrics]
    medians = [
        ({"class": label(name), **metrics[column]}, float(value))
        for number, name in enumerate(grid.classes)
        for column, value in enumerate(grid.medians[number]) if not np.isnan(value)
    ]  # fmt: skip
    own: list[Sample] = []
    made = [room.family("wulf_figure_median", medians, MOST_MEDIANS)]
    left_out = 0
    for row in sorted(range(len(grid.nodes)), key=lambda row: places[grid.nodes[row].name]):
        there = np.flatnonzero(~np.isnan(grid.values[row]))
        if len(own) >= room.series:
            left_out += len(there)
            continue
        node = {"node": label(grid.nodes[row].name), "class": label(grid.nodes[row].hardware)}
        own += [({**node, **metrics[column]}, float(grid.values[row, column])) for column in there]
    made.append(room.family("wulf_figure", own))
    room.left_out[TABLE["wulf_figure"].sample_name] += left_out
    return made
