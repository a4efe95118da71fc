"""What the charts of the HTML report show, as plain JSON; templates/report.js draws it in the reader's theme.

Every text that Plotly will show is escaped here: it reads a subset of HTML in labels and hovers.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from typing import Any

from wulf.core.names import printable, shortened
from wulf.core.records import Record, Verdict
from wulf.core.units import show, show_in, show_interval
from wulf.report.kit.figures import MARKS, metric_name, record_lines, usable
from wulf.report.kit.matrices import Matrix, Sweep, arrow, effective_bandwidth
from wulf.stats.estimates import PointEstimate

MAX_HEAT_NODES = 128
"""The largest cluster drawn as a heat map: 16,256 cells. Beyond, each node is one point: the median of its links."""

LOG_SPAN = 8.0
"""Values that span more than this factor are coloured on a log scale, else one slow link hides all the others."""

LEAST_SPAN = 1.5
"""A colour scale spans at least this factor, so that small differences look small."""

Chart = dict[str, Any]


def label(text: str, limit: int = 40) -> str:
    """A name that Plotly shows as it stands, shortened in the middle."""
    return html.escape(shortened(printable(text), limit))


def hover(head: str, lines: list[str]) -> str:
    """The text beside the pointer: a bold head and a line each."""
    return "<br>".join([f"<b>{label(head, 80)}</b>", *(label(line, 90) for line in lines)])


def pair_chart(matrix: Matrix, why_absent: str) -> Chart:
    """The chart of a matrix: a heat map, or a point a node where there are too many pairs."""
    return heat_map(matrix, why_absent) if len(matrix.nodes) <= MAX_HEAT_NODES else node_strip(matrix)


def heat_map(matrix: Matrix, why_absent: str) -> Chart:
    """Every pair as a cell. `rows[i][j]` is from node i to node j; the diagonal is empty.

    Parameters
    ----------
    why_absent
        What a cell without any record says.
    """
    divisor, unit = matrix.scale
    logarithmic = _span(matrix.values) > LOG_SPAN
    z: list[list[float | None]] = []
    text: list[list[str]] = []
    hovers: list[list[str]] = []
    noisy: list[list[int]] = []
    missing: list[list[int]] = []
    for i, a in enumerate(matrix.nodes):
        z.append([])
        text.append([])
        hovers.append([])
        for j, b in enumerate(matrix.nodes):
            record = matrix.get(a, b)
            blank = a == b and record is None
            value = record.value if record is not None and usable(record) else None
            z[i].append(None if value is None else _position(value / divisor, logarithmic))
            text[i].append("" if blank else _cell_text(record, value, divisor))
            hovers[i].append("" if blank else _cell_hover(matrix, a, b, record, why_absent))
            if value is None and not blank:
                missing.append([i, j])
            elif record is not None and record.verdict is Verdict.NOISY:
                noisy.append([i, j])
    return {
        "kind": "heat",
        "nodes": [label(node, 18) for node in matrix.nodes],
        "z": z,
        "text": text,
        "hover": hovers,
        "noisy": noisy,
        "missing": missing,
        "yellowHigh": not matrix.higher_is_better,
        "range": _colour_range(matrix, divisor, logarithmic),
        "unit": f"{unit}{', log scale' if logarithmic else ''}",
        "ticks": _colour_ticks(matrix, divisor, logarithmic),
    }


def node_strip(matrix: Matrix) -> Chart:
    """One point a node: the median over its links."""
    medians = matrix.of_node()
    place = {node: number for number, node in enumerate(matrix.nodes)}
    ticks = decade_ticks(list(medians.values()), matrix.unit)
    return {
        "kind": "strip",
        "x": [place[node] for node in medians],
        "y": list(medians.values()),
        "hover": [hover(node, [f"median of its links: {show(v, matrix.unit)}"]) for node, v in medians.items()],
        "yTicks": ticks,
        "xTitle": f"{len(matrix.nodes):,} nodes, in order of name",
        "yTitle": metric_name(matrix.metric),
    }


def _span(values: list[float]) -> float:
    positive = [value for value in values if value > 0]
    return max(positive) / min(positive) if positive else 1.0


def _position(value: float, logarithmic: bool) -> float | None:
    """Where a value lies on the colour scale; a value of 0 has no place on a log scale."""
    if not logarithmic:
        return float(f"{value:.6g}")
    return round(math.log10(value), 5) if value > 0 else None


def _cell_text(record: Record | None, value: float | None, divisor: float) -> str:
    if record is None:
        return "–"
    if value is None:
        return MARKS[record.verdict] or "–"
    return f"{MARKS[record.verdict]}{show_in(value, divisor)}"


def _cell_hover(matrix: Matrix, a: str, b: str, record: Record | None, why_absent: str) -> str:
    lines = record_lines(record) if record is not None else ["no value", why_absent]
    return hover(arrow(matrix, a, b), [matrix.title, *lines])


def _colour_range(matrix: Matrix, divisor: float, logarithmic: bool) -> list[float | None]:
    """Both ends of the colour scale; at least `LEAST_SPAN` apart, about the middle of the values."""
    positive = [value / divisor for value in matrix.values if value > 0]
    if not positive:
        return [None, None]
    low, high = min(positive), max(positive)
    if high / low < LEAST_SPAN:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(LEAST_SPAN), middle * math.sqrt(LEAST_SPAN)
    return [_position(low, logarithmic), _position(high, logarithmic)]


def _colour_ticks(matrix: Matrix, divisor: float, logarithmic: bool) -> list[list[float | str]]:
    """`[position, text]` of the colour bar's ticks on a log scale; empty where Plotly's own will do."""
    if not logarithmic:
        return []
    values = [value / divisor for value in matrix.values if value > 0]
    return [[math.log10(value), show(value, "")] for value in round_values(min(values), max(values), 5)]


_STEPS = ((1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))


def round_values(low: float, high: float, most: int) -> list[float]:
    """Round values between low and high for a log scale: as many a decade as `most` in all allows."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    inside: list[float] = []
    for steps in _STEPS:
        found = [m * 10.0**e for e in range(first, last + 1) for m in steps]
        inside = [value for value in found if low * 0.999 <= value <= high * 1.001]
        if len(inside) <= most:
            break
    return inside[:: max(1, math.ceil(len(inside) / most))] or [low, high]


def decade_ticks(values: list[float], unit: str) -> list[list[float | str]]:
    """`[value, text]` of an axis' ticks on a log scale, with units: 10 µs, 100 µs, 1 ms."""
    positive = [value for value in values if value > 0]
    if not positive:
        return []
    bits = 8.0 if unit == "B/s" else 1.0  # rates are shown in bit/s: ticks are round there
    ticks = round_values(min(positive) * bits / 1.1, max(positive) * bits * 1.1, 7)
    return [[value / bits, show(value / bits, unit)] for value in ticks]


def sweep_charts(curves: list[Sweep]) -> list[tuple[str, Callable[[], Chart]]]:
    """Round trip over size, and the bandwidth that it comes to; bandwidth measured as such in a chart of its own."""
    timed = [curve for curve in curves if curve.metric == "rtt"]
    rates = [curve for curve in curves if curve.metric == "throughput"]

    def of(found: list[Sweep], title: str, unit: str, *, effective: bool) -> Callable[[], Chart]:
        return lambda: size_chart(title, unit, [_series(curve, effective=effective) for curve in found])

    charts = []
    if timed:
        charts.append(("sweep-rtt", of(timed, "round trip", "s", effective=False)))
        charts.append(("sweep-bandwidth", of(timed, "bandwidth", "B/s", effective=True)))
    if rates:
        charts.append(("sweep-stream", of(rates, "bandwidth", "B/s", effective=False)))
    return charts


def _interval(record: Record) -> PointEstimate | None:
    return PointEstimate(record.value, record.low, record.high) if record.value is not None and usable(record) else None


def _series(curve: Sweep, *, effective: bool) -> Chart:
    """One curve; a size without a value is a gap."""
    found = [effective_bandwidth(p) if effective else _interval(p.record) for p in curve.points]
    unit = "B/s" if effective else curve.unit
    hovers = []
    for point, figure in zip(curve.points, found, strict=True):
        lines = record_lines(point.record)
        if effective and figure is not None:
            lines[:2] = [show(figure.value, unit), show_interval(figure.low, figure.high, unit)]
        hovers.append(hover(f"{show(point.bytes, 'B')}, {curve.label}", lines))
    tail = [p.record.quantiles.get("0.99") if f is not None else None for p, f in zip(curve.points, found, strict=True)]
    return {
        "name": label(curve.label),
        "x": [point.bytes for point in curve.points],
        "y": [figure.value if figure else None for figure in found],
        "low": [figure.low if figure else None for figure in found],
        "high": [figure.high if figure else None for figure in found],
        "tail": [] if effective or not any(tail) else tail,
        "noisy": [point.record.verdict is Verdict.NOISY for point in curve.points],
        "hover": hovers,
    }


def interval_series(name: str, points: Mapping[int, Record]) -> Chart:
    """One curve of records over size, with their intervals; a size without a value is a gap."""
    sizes = sorted(points)
    found = [_interval(points[size]) for size in sizes]
    return {
        "name": label(name),
        "x": sizes,
        "y": [figure.value if figure else None for figure in found],
        "low": [figure.low if figure else None for figure in found],
        "high": [figure.high if figure else None for figure in found],
        "tail": [],
        "noisy": [points[size].verdict is Verdict.NOISY for size in sizes],
        "hover": [hover(f"{show(size, 'B')}, {name}", record_lines(points[size])) for size in sizes],
    }


def size_chart(title: str, unit: str, series: list[Chart]) -> Chart:
    """Curves over message size, both axes logarithmic."""
    sizes = sorted({size for one in series for size in one["x"]})
    drawn = [v for one in series for name in ("y", "low", "high", "tail") for v in one[name] if v]
    return {
        "kind": "sweep",
        "series": series,
        "xTicks": [[size, show(size, "B")] for size in _thin(sizes, 8)],
        "yTicks": decade_ticks(drawn, unit),
        "xTitle": "message size",
        "yTitle": title,
    }


def _thin(sizes: list[int], most: int) -> list[int]:
    """At most so many sizes, from the smallest in equal steps."""
    step = max(1, math.ceil(len(sizes) / most))
    return sizes[::step]
