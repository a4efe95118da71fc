"""The farm in the report's page: speedup over workers, time a message over batches, efficiency over the unit's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wulf.core.units import show, show_interval
from wulf.measure.mpi.farm import FARM, METG, points_of
from wulf.model.draws import combine, mean_of
from wulf.model.farm.study import FarmPoint
from wulf.report.kit.charts import Chart, decade_ticks, hover, label
from wulf.report.kit.view import Drawing, Section
from wulf.stats.intervals import least_samples, median_interval
from wulf.store.run import Run

Place = tuple[float, str]
"""Where a point lies, and in words."""


Figures = tuple[float | None, float | None, float | None]
"""A value with its interval."""


@dataclass(frozen=True)
class FarmChart:
    """One chart: a curve for each name, over places, with the figures of points."""

    key: str
    title: str
    unit: str
    axes: tuple[str, str]
    points: Sequence[FarmPoint]
    name: Callable[[FarmPoint], str]
    place: Callable[[FarmPoint], Place]
    figures: Callable[[FarmPoint], Figures]

    def section(self) -> Section:
        """On the page."""
        return Section(self.title, body=[Drawing(self.key, self.chart, f"{self.title}; the figures are in the tables")])

    def chart(self) -> Chart:
        """For report.js."""
        curves: dict[str, list[tuple[Place, Figures]]] = {}
        for point in self.points:
            curves.setdefault(self.name(point), []).append((self.place(point), self.figures(point)))
        x_title, y_title = self.axes
        drawn = [value for members in curves.values() for _, figures in members for value in figures if value]
        places = sorted({place for members in curves.values() for place, _ in members})
        x_unit = "s" if x_title.endswith("time") else "1"
        return {
            "kind": "sweep", "xTitle": x_title, "yTitle": y_title,
            "xTicks": [[x, show(x, x_unit)] for x, _ in places], "yTicks": decade_ticks(drawn, self.unit),
            "series": [_series(name, sorted(members), self.unit) for name, members in curves.items()],
        }  # fmt: skip


def _over(point: FarmPoint) -> str:
    return f" over {point.network}" if point.network else ""


def farm_charts(run: Run) -> list[FarmChart]:
    """The charts; none for a run without a farm. Points without an interval are left out."""
    points = [point for point in points_of(run.plan, run.replicates) if len(_of(point)) >= least_samples()]
    table = [point for point in points if point.phase == FARM]
    crowd = [point for point in table if point.workers > 0]
    alone = {point.network: point.values["seconds"] for point in table if point.workers == 0}
    search = [point for point in points if point.phase == METG and point.spin]
    found = [
        FarmChart(
            "farm-speedup", "Speedup against the serial run", "1", ("workers", "speedup"),
            [point for point in crowd if point.network in alone],
            lambda p: f"batch {p.batch}{_over(p)}", lambda p: (p.workers, f"{p.workers} workers"),
            lambda p: _ratio(alone[p.network], p.values["seconds"]),
        ),
        FarmChart(
            "farm-message", "Time a message", "s", ("units a message", "time a message"), crowd,
            lambda p: f"{p.workers} workers{_over(p)}", lambda p: (p.batch, f"batch {p.batch}"),
            lambda p: _median(p.values["message_time"]),
        ),
        FarmChart(
            "farm-metg", "Efficiency over a unit's time", "1", ("a unit's time", "efficiency"), search,
            lambda p: f"{p.workers} workers", lambda p: (p.spin or 0.0, show(p.spin, "s")),
            lambda p: _median(p.values["efficiency"]),
        ),
    ]  # fmt: skip
    return [chart for chart in found if chart.points]


def _of(point: FarmPoint) -> Sequence[float]:
    return point.values.get("efficiency" if point.phase == METG else "seconds", ())


def _median(samples: Sequence[float]) -> Figures:
    found = median_interval(samples)
    return found.value, found.low, found.high


def _ratio(above: Sequence[float], below: Sequence[float]) -> Figures:
    """Of two means."""
    random = np.random.default_rng(0)
    found = combine(lambda a, b: a / b, mean_of(above, random), mean_of(below, random)).interval()
    return found.value, found.low, found.high


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
