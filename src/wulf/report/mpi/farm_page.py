"""The farm in the report's page: speedup over workers, time a message over batches, efficiency over the unit's time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wulf.core.names import printable
from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.measure.mpi.farm import FARM, METG, points_of
from wulf.model.draws import combine, mean_of
from wulf.model.farm.study import Point
from wulf.report.kit.charts import Chart, decade_ticks, hover, label
from wulf.report.kit.figures import interval_text, metric_name, verdict_text
from wulf.stats.intervals import least_samples, median_interval
from wulf.store.run import Run

ROWS = ("seconds", "message_time", "efficiency")
"""Metrics of the page's table."""

Place = tuple[float, str]
"""Where a point lies, and in words."""


def farm_charts(run: Run) -> list[Chart]:
    """The charts; none for a run without a farm. Points without an interval are left out."""
    points = [point for point in points_of(run.plan, run.replicates) if len(_of(point)) >= least_samples()]
    table = [point for point in points if point.phase == FARM]
    crowd = [point for point in table if point.workers > 0]
    alone = next((point.values["seconds"] for point in table if point.workers == 0), None)
    charts = []
    if alone is not None:
        over = _curves(crowd, lambda p: f"batch {p.batch}", lambda p: (p.workers, f"{p.workers} workers"),
                       lambda p: _ratio(alone, p.values["seconds"]))  # fmt: skip
        charts.append(_chart("farm-speedup", "Farm: speedup against the serial run", "1", ("workers", "speedup"), over))
    over = _curves(crowd, lambda p: f"{p.workers} workers", lambda p: (p.batch, f"batch {p.batch}"),
                   lambda p: _median(p.values["message_time"]))  # fmt: skip
    charts.append(_chart("farm-message", "Farm: time a message", "s", ("units a message", "time a message"), over))
    search = [point for point in points if point.phase == METG and point.spin]
    over = _curves(search, lambda p: f"{p.workers} workers", lambda p: (p.spin or 0.0, show(p.spin, "s")),
                   lambda p: _median(p.values["efficiency"]))  # fmt: skip
    charts.append(
        _chart("farm-metg", "Farm: efficiency over a unit's time", "1", ("a unit's time", "efficiency"), over)
    )
    return [chart for chart in charts if chart["series"]]


def farm_rows(run: Run) -> list[dict[str, Any]]:
    """What the charts show, as rows of the page's table of MPI."""
    return [_row(r) for r in run.records if r.phase in (FARM, METG) and r.metric in ROWS]


def _row(record: Record) -> dict[str, Any]:
    workers, batch = record.params["workers"], record.params["batch"]
    spin = f", units of {show(float(record.params['spin_seconds'] or 0), 's')}" if record.phase == METG else ""
    return {
        "name": printable(f"farm, {workers} workers, batch {batch}{spin}"),
        "size": "–",
        "metric": printable(metric_name(record.metric)),
        "value": show(record.value, record.unit),
        "interval": interval_text(record),
        "replicates": record.replicates,
        "verdict": printable(verdict_text(record)),
    }


def _of(point: Point) -> Sequence[float]:
    return point.values.get("efficiency" if point.phase == METG else "seconds", ())


Figures = tuple[float | None, float | None, float | None]
"""A value with its interval."""

Curves = Mapping[str, Sequence[tuple[Place, Figures]]]


def _median(samples: Sequence[float]) -> Figures:
    found = median_interval(samples)
    return found.value, found.low, found.high


def _ratio(above: Sequence[float], below: Sequence[float]) -> Figures:
    """Of two means."""
    random = np.random.default_rng(0)
    found = combine(lambda a, b: a / b, mean_of(above, random), mean_of(below, random)).interval()
    return found.value, found.low, found.high


def _curves(
    points: Sequence[Point],
    name: Callable[[Point], str],
    place: Callable[[Point], Place],
    figures: Callable[[Point], Figures],
) -> Curves:
    found: dict[str, list[tuple[Place, Figures]]] = {}
    for point in points:
        found.setdefault(name(point), []).append((place(point), figures(point)))
    return {one: sorted(members, key=lambda member: member[0]) for one, members in found.items()}


def _chart(key: str, title: str, unit: str, axes: tuple[str, str], curves: Curves) -> Chart:
    x_title, y_title = axes
    drawn = [value for members in curves.values() for _, figures in members for value in figures if value]
    places = sorted({place for members in curves.values() for place, _ in members})
    x_unit = "s" if x_title.endswith("time") else "1"
    return {
        "kind": "sweep", "id": key, "title": title, "xTitle": x_title, "yTitle": y_title,
        "xTicks": [[x, show(x, x_unit)] for x, _ in places], "yTicks": decade_ticks(drawn, unit),
        "series": [_series(name, members, unit) for name, members in curves.items()],
    }  # fmt: skip


def _series(name: str, members: Sequence[tuple[Place, Figures]], unit: str) -> Chart:
    return {
        "name": label(name),
        "x": [place[0] for place, _ in members],
        "y": [figures[0] for _, figures in members],
        "low": [figures[1] for _, figures in members],
        "high": [figures[2] for _, figures in members],
        "tail": [],
        "noisy": [False for _ in members],
        "hover": [
            hover(f"{place[1]}, {name}", [show(value, unit), show_interval(low, high, unit)])
            for place, (value, low, high) in members
        ],
    }
