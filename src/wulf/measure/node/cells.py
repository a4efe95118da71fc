"""From the node survey's table to the cells of a plan: what each node is asked, and what it lacks and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

from wulf.core.errors import UsageError
from wulf.core.records import Param
from wulf.measure.engine.plan import Cell, SharedSet
from wulf.measure.engine.probes import NET, NODE, Metric, Probe
from wulf.measure.node.rows import CURVE, MATRIX, ROW, Grid, ParameterSweep, Row, Table, table
from wulf.measure.node.sets import set_of
from wulf.measure.node.shape import ARRAYS, NotHereError, Shape

SECONDS, QUICK_SECONDS = 0.02, 0.01
"""Of one replicate: a hundred batches, and half as many."""

POINT_SECONDS, QUICK_POINT_SECONDS = 0.01, 0.005
"""Of a point of a curve or matrix: its neighbours say the same again, and fresh memory matters more than time."""

WARMUP_SECONDS = 0.002
"""Of a connection within the node, or to the next: of 60 blocks, latencies after 2 and 20 ms were the same to 1 %."""

RATE_SECONDS = 0.03
"""Of a point of the operation rate: it takes fewer runs over a long array."""

RATE_RUNS = (5, 100)
"""Brown's number, and the least that has a standard deviation worth the name."""

ELEMENT_SECONDS = 2e-9
"""What an element of his loop takes at most where memory does not limit it: a division, and half a cache line."""

Place = Callable[[str, str, Mapping[str, Param]], dict[str, Param]]
"""Client, server and parameters → the parameters with the CPUs that the two ends are put on."""


@dataclass(frozen=True)
class Lack:
    """A row that a node has no figure for, and why."""

    node: str
    row: Row
    reason: str


@dataclass(frozen=True)
class Draft:
    """A cell of any node of one shape."""

    program: str
    transport: str
    pattern: str
    params: Mapping[str, Param]
    metrics: tuple[Metric, ...]
    phase: str
    name: str
    rows: Mapping[str, str] = field(default_factory=dict)
    remote: bool = False
    shares: SharedSet | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Drafts of one key measure the same."""
        what = frozenset((name, value) for name, value in self.params.items() if name != "seconds")
        return self.program, self.transport, self.pattern, self.remote, what

    def with_other(self, other: Draft) -> Draft:
        """Both in one cell: the longer time, all rows, and the curve's name where one is a curve's point."""
        curve = self if self.phase != ROW else other
        params = max(self.params, other.params, key=lambda params: float(params.get("seconds") or 0.0))
        return replace(curve, params=params, rows={**self.rows, **other.rows})


@dataclass(frozen=True)
class TableRequest:
    """What of the table is wanted.

    Attributes
    ----------
    groups
        Those of `--only`; empty: all.
    names
        These rows alone; empty: all.
    longer
        How many times as long as the least every replicate measures.
    """

    groups: frozenset[str] = frozenset()
    quick: bool = False
    names: frozenset[str] = frozenset()
    longer: float = 1.0

    def wants(self, one: Row | ParameterSweep | Grid) -> bool:
        """Whether a part of the table is to be measured."""
        if self.names:
            return one.name in self.names
        if self.groups and one.group not in self.groups:
            return False
        return not self.quick or (not isinstance(one, Grid) and one.quick)


def drafts_of(
    whole: Table, shape: Shape, probes: Mapping[str, Probe], asked: TableRequest
) -> tuple[list[Draft], dict[str, str]]:
    """The cells of a node of this shape, and the rows it lacks: name → reason.

    Parameters
    ----------
    probes
        Program → what it can do.
    """
    found: dict[tuple[object, ...], Draft] = {}
    lacks: dict[str, str] = {}

    def add(draft: Draft) -> None:
        found[draft.key] = found[draft.key].with_other(draft) if draft.key in found else draft

    for row in filter(asked.wants, whole.rows):
        if row.derived:
            continue
        try:
            add(_row_draft(row, shape, probes, asked))
        except NotHereError as error:
            lacks[row.name] = str(error)
        except UsageError as error:
            lacks[row.name] = error.what
    parts: list[ParameterSweep | Grid] = [*filter(asked.wants, whole.curves), *filter(asked.wants, whole.grids)]
    for part in parts:
        for draft in _series_drafts(part, shape, probes, asked):
            add(draft)
    return _sharing(list(found.values())), lacks


def _sharing(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, those that can share a working set with another told which."""
    sets = [set_of(draft.pattern, draft.params) if draft.program == NODE else None for draft in drafts]
    of_name: dict[str, list[SharedSet]] = {}
    for one in filter(None, sets):
        of_name.setdefault(one.name, []).append(one)
    largest = {name: max(one.bytes for one in ones) for name, ones in of_name.items() if len(ones) > 1}
    return [
        replace(draft, shares=replace(one, bytes=largest[one.name])) if one and one.name in largest else draft
        for draft, one in zip(drafts, sets, strict=True)
    ]


def _row_draft(row: Row, shape: Shape, probes: Mapping[str, Probe], asked: TableRequest) -> Draft:
    least = (row.quick_seconds or QUICK_SECONDS) if asked.quick else (row.seconds or SECONDS)
    seconds: dict[str, Param] = {"seconds": least * asked.longer}
    warmup: dict[str, Param] = {"warmup_seconds": WARMUP_SECONDS} if row.program == NET else {}
    params = {name: resolved(name, value, shape) for name, value in row.params.items()}
    probe = _described(probes, row.program)
    checked = probe.check(row.probe, row.transport, {**params, **seconds, **warmup})
    metrics = probe.pattern(row.probe).metrics
    if row.metric not in {metric.name for metric in metrics}:
        raise NotHereError(f"{row.probe} of {probe.program} {probe.version} has no metric {row.metric!r}")
    return Draft(
        row.program, row.transport, row.probe, checked, metrics, ROW, row.name, {row.metric: row.name}, row.remote
    )


def _series_drafts(
    part: ParameterSweep | Grid, shape: Shape, probes: Mapping[str, Probe], asked: TableRequest
) -> Iterator[Draft]:
    """The points of a curve or matrix; none where the node or the program has nothing of the kind: its rows say why."""
    least = QUICK_POINT_SECONDS if asked.quick else POINT_SECONDS
    seconds: dict[str, Param] = {"seconds": least * asked.longer}
    try:
        probe = _described(probes, NODE)
        metrics = probe.pattern(part.probe).metrics
        points = _points(part, shape, asked.quick) if isinstance(part, ParameterSweep) else _pairs(part, shape)
        phase = CURVE if isinstance(part, ParameterSweep) else MATRIX
        for number, params in enumerate(points):
            checked = probe.check(part.probe, "", {**params, **seconds})
            yield Draft(NODE, "", part.probe, checked, metrics, phase, f"{part.name}#{number}")
    except (NotHereError, UsageError):
        return


def _described(probes: Mapping[str, Probe], program: str) -> Probe:
    if program not in probes:
        raise NotHereError(f"wulf-{program} could not be started")
    return probes[program]


def resolved(name: str, value: Param, shape: Shape) -> Param:
    """A parameter's value on a node; what is not relative stays as it is."""
    if not isinstance(value, str):
        return value
    if name == "bytes":
        return shape.size(value)
    if name in ("cpu", "other"):
        return shape.cpu(value)
    return shape.memory_node(value) if name == "memory_node" else value


def runs_over(size: int) -> int:
    """How many runs over an array of so many bytes take `RATE_SECONDS`, within `RATE_RUNS`."""
    least, most = RATE_RUNS
    return max(least, min(most, int(RATE_SECONDS / (size / 8 * ELEMENT_SECONDS))))


def _points(curve: ParameterSweep, shape: Shape, quick: bool) -> Iterator[dict[str, Param]]:
    """Parameters of every point of a curve."""
    if curve.at:
        places = list(dict.fromkeys(_at(curve, shape)))
    else:
        step = curve.quick_step if quick else curve.step
        places = octaves(shape.size(curve.start), shape.size(curve.stop), step) if step else []
    for place in places:
        params = {name: resolved(name, value, shape) for name, value in curve.params.items()} | {curve.over: place}
        if params.get("runs") == "by bytes":
            params["runs"] = runs_over(place)
        yield params


def _at(curve: ParameterSweep, shape: Shape) -> Iterator[int]:
    for place in curve.at:
        try:
            yield place if isinstance(place, int) else min(shape.size(place), shape.in_memory(ARRAYS))
        except NotHereError:  # a machine without an L3 has a curve all the same
            continue


def octaves(least: int, most: int, step: int) -> list[int]:
    """Sizes from `least` to `most`, `step` of them an octave, each of whole cache lines."""
    sizes = []
    for number in range(64 * step):
        size = round(least * 2 ** (number / step) / 64) * 64
        if size >= most:
            break
        sizes.append(size)
    return [*dict.fromkeys(sizes), most]


def spread(cpus: Sequence[int], most: int) -> list[int]:
    """At most so many CPUs: neighbours in twos, evenly apart, so that siblings, neighbours and far ones are among them.

    Linux numbers the second threads of all cores after the first ones, and the CPUs of one cache beside each other.
    """
    if len(cpus) <= most:
        return list(cpus)
    pairs = most // 2
    return [cpus[number * len(cpus) // pairs + next_] for number in range(pairs) for next_ in (0, 1)]


def _pairs(grid: Grid, shape: Shape) -> Iterator[dict[str, Param]]:
    """Parameters of every point of a matrix: of CPUs each pair once, since half a round trip has no direction."""
    first, second = grid.axes
    others = {name: resolved(name, value, shape) for name, value in grid.params.items()}
    if second == "other":
        for one, other in combinations(spread(shape.cpus, grid.most), 2):
            yield {**others, first: one, second: other}
        return
    nodes = sorted(shape.memory_nodes)[: grid.most]
    cpus = [shape.memory_nodes[node][0] for node in nodes if shape.memory_nodes[node]]
    for cpu, node in product(cpus, nodes if len(nodes) > 1 else ()):
        yield {**others, first: cpu, second: node}


def cells_of(
    nodes: Sequence[str],
    shapes: Mapping[str, Shape],
    probes: Mapping[str, Probe],
    asked: TableRequest,
    *,
    place: Place,
    without: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[tuple[Cell, ...], list[Lack]]:
    """All cells of a node survey, and what is lacking.

    Parameters
    ----------
    nodes
        Those that answered; figures between two nodes are of each with the next one, in a ring.
    without
        Program → node → why it could not be started there, where it could not.
    """
    rows = table().by_name
    cells: list[Cell] = []
    lacks: list[Lack] = []
    known: dict[str, tuple[list[Draft], dict[str, str]]] = {}  # nodes of one shape are asked the same
    for number, node in enumerate(nodes):
        down = {program: reasons[node] for program, reasons in (without or {}).items() if node in reasons}
        has = {name: probe for name, probe in probes.items() if name not in down}
        key = f"{sorted(has)} {shapes[node]}"
        if key not in known:
            known[key] = drafts_of(table(), shapes[node], has, asked)
        drafts, reasons = known[key]
        for name, why in reasons.items():
            lacks.append(Lack(node, rows[name], down.get(rows[name].program, why)))
        following = nodes[(number + 1) % len(nodes)]
        for draft in drafts:
            if draft.remote and following == node:
                lacks += [Lack(node, rows[row], "there is no other node") for row in draft.rows.values()]
                continue
            server = following if draft.remote else node
            cells.append(_cell(len(cells), node, server, draft, place))
    return tuple(cells), lacks


def _cell(number: int, client: str, server: str, draft: Draft, place: Place) -> Cell:
    params = place(client, server, draft.params) if draft.program == NET else dict(draft.params)
    return Cell(
        number, client, server, draft.transport, draft.pattern, params, draft.metrics, draft.phase,
        program=draft.program, name=draft.name, rows=dict(draft.rows), shares=draft.shares,
    )  # fmt: skip
