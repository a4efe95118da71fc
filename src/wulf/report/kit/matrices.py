"""What a run's records say, as data: matrices of pairs and sweeps over size. Pure; no layout, no colour."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wulf.core.names import natural
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show
from wulf.measure.mpi.probes import carrier
from wulf.report.kit.figures import HIGHER_IS_BETTER, MAIN_METRICS, metric_name, usable
from wulf.report.kit.view import Curve
from wulf.stats.estimates import PointEstimate
from wulf.store.run import Run

Pair = tuple[str, str]


def run_nodes(run: Run) -> list[str]:
    """Every node of a run in natural order: the planned, those with facts, those with records."""
    planned = run.meta.get("nodes")
    names = {str(name) for name in planned} if isinstance(planned, list | tuple | dict) else set()
    names |= set(run.fingerprint)
    if not names:
        names = {name for record in run.records for name in record.nodes}
    return sorted(names, key=natural)


def split_pair(subject: str, known: Iterable[str]) -> Pair | None:
    """Both nodes of `n1>n2`, or None where the subject is no pair. A known node's name may itself hold a `>`."""
    parts = subject.split(">")
    if len(parts) == 2:
        return parts[0], parts[1]
    nodes = set(known)
    splits = [(">".join(parts[:i]), ">".join(parts[i:])) for i in range(1, len(parts))]
    matching = [pair for pair in splits if pair[0] in nodes and pair[1] in nodes]
    return matching[0] if len(matching) == 1 else None


@dataclass(frozen=True)
class Matrix:
    """One metric over every pair of nodes.

    `cells` is keyed by (from, to): client and server, or sender and receiver. A matrix that is not `directed`
    has one record a pair, which stands in both of its cells.
    """

    key: str
    title: str
    metric: str
    unit: str
    nodes: tuple[str, ...]
    cells: Mapping[Pair, Record]
    directed: bool

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better, as for bandwidth."""
        return self.metric in HIGHER_IS_BETTER

    @property
    def measured(self) -> list[tuple[Pair, Record]]:
        """Every pair with a record, each record once."""
        return list(self.cells.items())

    @property
    def expected(self) -> int:
        """How many pairs there are to measure."""
        count = len(self.nodes) * (len(self.nodes) - 1)
        loopback = sum(a == b for a, b in self.cells)  # a node alone is paired with itself
        return (count if self.directed else count // 2) + loopback

    @property
    def values(self) -> list[float]:
        """The values that may be compared."""
        return [record.value for record in self.cells.values() if record.value is not None and usable(record)]

    @property
    def scale(self) -> tuple[float, str]:
        """Divisor and name of the one unit in which the whole matrix reads best."""
        return scale_for(statistics.median(self.values), self.unit) if self.values else (1.0, self.unit)

    def get(self, a: str, b: str) -> Record | None:
        """The record of a cell, from either direction where the matrix has no direction."""
        found = self.cells.get((a, b))
        return found if found is not None or self.directed else self.cells.get((b, a))

    def worst(self, count: int = 10) -> list[tuple[Pair, Record]]:
        """The pairs without a usable value, then the slowest: at most `count`."""
        sign = -1.0 if self.higher_is_better else 1.0

        def badness(item: tuple[Pair, Record]) -> tuple[bool, float]:
            return (not usable(item[1]), sign * (item[1].value or 0.0))

        return sorted(self.measured, key=badness, reverse=True)[:count]

    def of_node(self) -> dict[str, float]:
        """For each node the median over its links; nodes without a value are absent."""
        values: dict[str, list[float]] = defaultdict(list)
        for pair, record in self.cells.items():
            if record.value is not None and usable(record):
                for node in set(pair):
                    values[node].append(record.value)
        return {node: statistics.median(values[node]) for node in self.nodes if node in values}


def arrow(matrix: Matrix, a: str, b: str) -> str:
    """A pair as people write it: `n1 → n3` from sender to receiver, `n1 ↔ n3` for a round trip."""
    if a == b:
        return f"{a}, loopback"
    return f"{a} {'→' if matrix.directed else '↔'} {b}"


def _matrix_title(transport: str, metric: str, size: object, several_sizes: bool) -> str:
    title = f"{transport.upper()} {metric_name(metric)}".strip()
    shown = several_sizes or metric == "rtt"
    return f"{title}, {show(size, 'B')}" if shown and isinstance(size, int | float) else title


def pair_matrices(run: Run) -> list[Matrix]:
    """The matrices of a run's all-pairs phase: TCP before UDP, round trip before bandwidth."""
    nodes = run_nodes(run)
    groups: dict[tuple[str, str, str, object], dict[Pair, Record]] = defaultdict(dict)
    for record in run.records:
        if record.phase != "pairs" or record.metric not in MAIN_METRICS:
            continue
        pair = split_pair(record.subject, nodes)
        if pair is not None:
            params = record.params
            transport, pattern = carrier(record), str(params.get("pattern") or "")
            groups[transport, record.metric, pattern, params.get("bytes")][pair] = record
    order = sorted(groups, key=lambda k: (k[0] != "tcp", k[0], k[1] != "rtt", k[1], k[2], str(k[3])))
    matrices = []
    for number, key in enumerate(order):
        transport, metric, pattern, size = key
        cells = groups[key]
        several = sum(other[:3] == key[:3] for other in order) > 1
        seen = {node for pair in cells for node in pair}
        matrices.append(
            Matrix(
                key=f"pairs-{number}",
                title=_matrix_title(transport, metric, size, several),
                metric=metric,
                unit=next(iter(cells.values())).unit,
                nodes=tuple(sorted(seen | set(nodes), key=natural)),
                cells=cells,
                directed=pattern == "stream" or any(a != b and (b, a) in cells for a, b in cells),
            )
        )
    return matrices


@dataclass(frozen=True)
class Point:
    """One size of a sweep."""

    bytes: int
    record: Record


@dataclass(frozen=True)
class Sweep:
    """One metric of one pair over message size, smallest first."""

    subject: str
    pair: Pair | None
    transport: str
    metric: str
    unit: str
    points: tuple[Point, ...]

    @property
    def label(self) -> str:
        """`n1 ↔ n2, TCP`."""
        subject = " ↔ ".join(self.pair) if self.pair else self.subject
        return f"{subject}, {self.transport.upper()}" if self.transport else subject


def record_curve(
    name: str, points: Mapping[int, Record] | Mapping[float, Record], mark: str, *, dotted: bool = False
) -> Curve:
    """Records over a size, smallest first, as a line with their intervals; those without a usable value are gaps.

    A dotted one shows each point.
    """
    seen = [(size, one, one.value) for size, one in sorted(points.items()) if usable(one) and one.value]
    return Curve(
        name,
        [size for size, _, _ in seen],
        [value for _, _, value in seen],
        [value if one.low is None else one.low for _, one, value in seen],
        [value if one.high is None else one.high for _, one, value in seen],
        points=dotted,
        mark=mark,
    )


def sweeps(run: Run) -> list[Sweep]:
    """The sweeps over message size of a run, one for each pair, transport and metric."""
    nodes = run_nodes(run)
    groups: dict[tuple[str, str, str], dict[int, Record]] = defaultdict(dict)
    for record in run.records:
        size = record.params.get("bytes")
        if record.phase == "sweep" and record.metric in MAIN_METRICS and isinstance(size, int):
            groups[record.subject, carrier(record), record.metric][size] = record
    return [
        Sweep(subject, split_pair(subject, nodes), transport, metric, next(iter(points.values())).unit,
              tuple(Point(size, points[size]) for size in sorted(points)))
        for (subject, transport, metric), points in groups.items()
    ]  # fmt: skip


def effective_bandwidth(point: Point) -> PointEstimate | None:
    """Bytes per second of a ping-pong: the message's bytes over half the round trip, as NetPIPE computes it."""
    record = point.record
    if record.metric != "rtt" or not record.value or not usable(record):
        return None
    return PointEstimate(record.value, record.low, record.high).inverse(2.0 * point.bytes)


def without_value(curve: Sweep) -> list[tuple[str, Verdict, str]]:
    """Sizes of a sweep without a usable value, as `(sizes, verdict, reason)`; sizes with one reason stand together."""
    sizes: dict[tuple[Verdict, str], list[int]] = defaultdict(list)
    for point in curve.points:
        if not usable(point.record):
            sizes[point.record.verdict, point.record.reason or ""].append(point.bytes)
    return [(_sizes_text(group), verdict, reason) for (verdict, reason), group in sizes.items()]


def _sizes_text(sizes: list[int]) -> str:
    """`64 B, 128 B`, or `23 sizes from 1 B to 4 MiB`."""
    if len(sizes) <= 3:
        return ", ".join(show(size, "B") for size in sizes)
    return f"{len(sizes)} sizes from {show(sizes[0], 'B')} to {show(sizes[-1], 'B')}"


def verdict_counts(records: Iterable[Record]) -> dict[Verdict, int]:
    """How many records have each verdict; verdicts that none has are absent."""
    counts = dict.fromkeys(Verdict, 0)
    for record in records:
        counts[record.verdict] += 1
    return {verdict: count for verdict, count in counts.items() if count}
