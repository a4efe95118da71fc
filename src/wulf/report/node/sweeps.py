"""A node's memory over the working set: latency, Brown's cpu-rate and its deviation, bandwidth by kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_interval
from wulf.measure.node.rows import CURVE
from wulf.report.kit.charts import Chart, decade_ticks, hover, label
from wulf.report.kit.figures import interval_text, record_lines, usable, value_text, verdict_text
from wulf.report.kit.view import Cell, Columns

SCRIPTS = ("report.js", "node.js")
"""What draws the charts of nodes."""

PAGES = {"small": "small pages", "huge": "huge pages", "default": "pages as the system gives them"}
KERNELS = ("read", "write", "copy", "scale", "add", "triad", "memcpy")
SIZE_FACTS = {"L1": "cpu.l1d_size", "L2": "cpu.l2_size", "L3": "cpu.l3_size"}
OTHER = "?"
"""The mark of an edge that is no reported cache's: of a TLB, say, or of a share of a cache."""

LEAST_POINTS = 2
"""Fewer sizes are rows of the table, and no curve."""


@dataclass(frozen=True)
class SweepCurve:
    """One metric over the working set, smallest first."""

    name: str
    points: tuple[tuple[int, Record], ...]


@dataclass(frozen=True)
class Mark:
    """A size to mark on the axis: where a cache was found to end, or what the operating system says of it."""

    name: str
    bytes: float
    low: float | None
    high: float | None
    found: bool
    text: str


def _pattern(record: Record) -> str:
    return str(record.params.get("pattern") or "")


def _curves(records: Iterable[Record], name: Callable[[Record], str | None]) -> list[SweepCurve]:
    """The curves of records that have a size; `name` says of which one, or that a record is of none.

    Of the points of a sweep alone: four rows of the table joined by a line would be no curve.
    """
    points: dict[str, dict[int, Record]] = defaultdict(dict)
    for record in records:
        size, curve = record.params.get("bytes"), name(record)
        if isinstance(size, int) and curve is not None and record.phase == CURVE:
            points[curve][size] = record
    return [SweepCurve(curve, tuple(sorted(own.items()))) for curve, own in points.items() if len(own) >= LEAST_POINTS]


def latency_curves(records: Sequence[Record]) -> list[SweepCurve]:
    """Latency of a random chase over the working set, a curve for each kind of pages."""

    def name(record: Record) -> str | None:
        params = record.params
        plain = not params.get("stride") and params.get("chains", 1) in (1, None)
        chase = _pattern(record) == "chase" and record.metric == "latency" and plain
        return str(params.get("pages") or "default") if chase else None

    order = list(PAGES)
    curves = sorted(_curves(records, name), key=lambda c: order.index(c.name) if c.name in order else len(order))
    return [SweepCurve(PAGES.get(curve.name, curve.name), curve.points) for curve in curves]


def rate_curve(records: Sequence[Record], metric: str) -> list[SweepCurve]:
    """cpu-rate (`rate`) or its deviation over the runs (`deviation`) over the working set."""
    return _curves(records, lambda r: "cpu-rate" if _pattern(r) == "cpu-rate" and r.metric == metric else None)


def bandwidth_curves(records: Sequence[Record]) -> dict[str, list[SweepCurve]]:
    """Threads in words → a curve for each kernel and kind of stores, in the order of `KERNELS`."""

    def name(record: Record) -> str | None:
        params = record.params
        if _pattern(record) != "bandwidth" or record.metric != "throughput":
            return None
        stores = ", non-temporal" if params.get("stores") == "nontemporal" else ""
        return f"{params.get('kernel')}{stores}"

    threads: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if _pattern(record) == "bandwidth":
            threads[threads_text(record.params.get("threads", 1))].append(record)
    order = [f"{kernel}{stores}" for kernel in KERNELS for stores in ("", ", non-temporal")]
    found = {
        words: sorted(_curves(own, name), key=lambda c: order.index(c.name) if c.name in order else len(order))
        for words, own in threads.items()
    }
    return {words: curves for words, curves in found.items() if curves}


def threads_text(threads: object) -> str:
    """`one CPU`, `all CPUs`, `4 CPUs`."""
    return {0: "all CPUs", 1: "one CPU", None: "one CPU"}.get(threads, f"{threads} CPUs")  # type: ignore[call-overload, no-any-return]


def marks(records: Sequence[Record], facts: Mapping[str, Mapping[str, Any]]) -> list[Mark]:
    """Where the caches end: as found (records of the metric `edge`), and as the operating system reports."""
    reported = {name: float(facts[fact]["value"]) for name, fact in SIZE_FACTS.items() if _known(facts.get(fact))}
    found = []
    for record in records:
        if record.metric != "edge":
            continue
        name = edge_name(record)
        said = record.reported
        if said is not None and said > 0:
            reported[name] = said
        if record.value:
            found.append(Mark(name, record.value, record.low, record.high, True, _edge_text(name, record)))
    told = [
        Mark(name, size, None, None, False, f"{name}: the system reports {show(size, 'B')}")
        for name, size in reported.items()
    ]
    return sorted([*found, *told], key=lambda mark: (mark.name == OTHER, mark.name, not mark.found, mark.bytes))


def _edge_text(name: str, record: Record) -> str:
    """`L2 ends at 1.2 MiB (1.06–1.4 MiB), halfway up at 1.5 MiB`."""
    what = "latency rises, by no reported cache," if name == OTHER else f"{name} ends"
    text = f"{what} at {show(record.value, 'B')}"
    if record.low and record.high:
        text += f" ({show_interval(record.low, record.high, 'B')})"
    for beside, words in ((record.half_rise, "halfway up at"), (record.sigma_peak, "σ of cpu-rate peaks at")):
        if beside and beside.get("value"):
            text += f", {words} {show(beside['value'], 'B')}"
    return text if record.verdict is Verdict.OK else f"{text}; {record.verdict}: {record.reason}"


def _known(fact: Mapping[str, Any] | None) -> bool:
    return fact is not None and isinstance(fact.get("value"), int | float) and fact["value"] > 0


def edge_lines(records: Sequence[Record], facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the marks say, a line a cache: `L2 ends at 1.2 MiB (1.06–1.4 MiB); the system reports 1.25 MiB`."""
    lines: dict[str, str] = {}
    for mark in marks(records, facts):
        key = mark.name if mark.name != OTHER else mark.text
        lines[key] = f"{lines[key]}; {mark.text.partition(': ')[2]}" if key in lines else mark.text
    return list(lines.values())


def edge_name(record: Record) -> str:
    """The cache whose end a record of the metric `edge` tells: `L2`; `OTHER` where it is no cache's."""
    level = record.params.get("level")
    return str(level).upper() if level else OTHER


def unresolved_edges(records: Sequence[Record]) -> list[str]:
    """Caches whose end was not found, with the reason, a line each."""
    return [
        f"{edge_name(record)}: {record.reason}"
        for record in records
        if record.metric == "edge" and record.value is None
    ]


def _series(curve: SweepCurve, style: str, *, dashed: bool = False, colour: int = 0) -> Chart:
    """One curve for the chart: a gap where a size has no value."""
    drawn = [record if usable(record) and record.value else None for _, record in curve.points]
    return {
        "name": label(curve.name),
        "style": style,
        "dashed": dashed,
        "colour": colour,
        "x": [size for size, _ in curve.points],
        "y": [record.value if record else None for record in drawn],
        "low": [record.low if record else None for record in drawn],
        "high": [record.high if record else None for record in drawn],
        "noisy": [record.verdict is Verdict.NOISY for _, record in curve.points],
        "hover": [hover(f"{show(size, 'B')}, {curve.name}", record_lines(record)) for size, record in curve.points],
    }


def _panels(title: str, unit: str, series: Sequence[Chart], share: float = 1.0) -> list[Chart]:
    """One panel, or none where no point has a value."""
    drawn = [value for one in series for key in ("y", "low", "high") for value in one[key] if value]
    panel = {"title": title, "series": list(series), "ticks": decade_ticks(drawn, unit), "share": share}
    return [panel] if drawn else []


def size_ticks(sizes: Iterable[float]) -> list[list[float | str]]:
    """Ticks for an axis of sizes: powers of two, at most nine."""
    positive = [size for size in sizes if size > 0]
    if not positive:
        return []
    first, last = int(min(positive)).bit_length() - 1, int(max(positive)).bit_length()
    step = max(1, -(-(last - first) // 8))
    return [[2**e, show(2**e, "B")] for e in range(first, last + 1) if (e - last) % step == 0]


def _chart(panels: Sequence[Chart], found: Sequence[Mark]) -> Chart:
    sizes = [size for panel in panels for one in panel["series"] for size in one["x"]]
    inside = [mark for mark in found if min(sizes) <= mark.bytes <= max(sizes)]
    return {
        "kind": "panels",
        "panels": list(panels),
        "xTicks": size_ticks(sizes),
        "xTitle": "working set",
        "marks": [
            {
                "name": label(mark.name), "x": mark.bytes, "low": mark.low, "high": mark.high, "found": mark.found,
                "hover": hover(mark.name, [mark.text]),
            }
            for mark in inside
        ],
    }  # fmt: skip


def is_drawn(curves: Iterable[SweepCurve]) -> bool:
    """Whether any of their points has a value."""
    return any(usable(record) and bool(record.value) for curve in curves for _, record in curve.points)


def latency_chart(records: Sequence[Record], facts: Mapping[str, Mapping[str, Any]]) -> Chart | None:
    """Latency over the working set; below it, on the same axis, sigma of cpu-rate and cpu-rate itself."""
    parts: list[tuple[str, str, list[SweepCurve], str, float]] = [
        ("latency of a load", "s", latency_curves(records), "band", 1.6),
        ("σ of cpu-rate, per operation", "s", rate_curve(records, "deviation"), "band", 0.8),
        ("cpu-rate, operations", "Hz", rate_curve(records, "rate"), "bars", 0.8),
    ]
    panels: list[Chart] = []
    colour = 0
    for title, unit, curves, style, share in parts:
        series = [_series(c, style, colour=colour + i) for i, c in enumerate(curves)]
        panels += _panels(title, unit, series, share)
        colour = len(PAGES)  # cpu-rate and its deviation are one thing
    return _chart(panels, marks(records, facts)) if panels else None


def bandwidth_chart(records: Sequence[Record]) -> Chart | None:
    """Bandwidth over the size of each array: a panel for each number of threads, non-temporal stores dashed."""
    panels: list[Chart] = []
    for words, curves in bandwidth_curves(records).items():
        series = []
        for curve in curves:
            kernel = curve.name.partition(",")[0]
            colour = KERNELS.index(kernel) if kernel in KERNELS else len(KERNELS)
            series.append(_series(curve, "line", dashed="," in curve.name, colour=colour))
        panels += _panels(f"bandwidth, {words}", "byte/s", series)
    chart = _chart(panels, ()) if panels else None
    return chart | {"xTitle": "size of each array"} if chart else None


def sweep_table(records: Sequence[Record]) -> Columns:
    """All points of the charts, for the table below them."""
    named: list[tuple[str, SweepCurve]] = [("latency", curve) for curve in latency_curves(records)]
    named += [("σ per operation", curve) for curve in rate_curve(records, "deviation")]
    named += [("rate", curve) for curve in rate_curve(records, "rate")]
    named += [(f"bandwidth, {words}", c) for words, own in bandwidth_curves(records).items() for c in own]
    rows = [
        (f"{what}, {curve.name}", show(size, "B"), Cell(value_text(record), "strong"), interval_text(record),
         Cell(verdict_text(record), str(record.verdict)))
        for what, curve in named
        for size, record in curve.points
    ]  # fmt: skip
    return Columns(["What", "Size", "Value", "Interval", "Verdict"], rows, tail=1)


def of_node(records: Sequence[Record]) -> Mapping[str, list[Record]]:
    """Node → its records of wulf-node."""
    own: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.probe == "node":
            own[record.subject].append(record)
    return own
