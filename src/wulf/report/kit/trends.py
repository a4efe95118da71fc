"""A figure over many runs: what a view holds of it, and its chart for templates/trend.js."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from wulf.core.units import scale_for, show
from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.view import Element
from wulf.stats.samples import Floats

MAX_POINTS = 1500
"""Longer trends are thinned to the first, the least and the greatest of each stretch."""

MAX_DAYS = 60
"""That the axis chooses from."""

REACH = 4.0
"""Of a normal distribution, all but one value in two million lie so near."""


@dataclass(frozen=True)
class LevelChange:
    """Where the level of a trend changes.

    Attributes
    ----------
    mark
        Its number.
    at, earliest, latest
        Index of the first value after it, and of the first and last that may be so.
    style
        As of a callout.
    """

    mark: str
    at: int
    earliest: int
    latest: int
    style: str


@dataclass(frozen=True)
class Trend(Element):
    """A figure over many runs, and where its level changes: bars in a terminal, points on a page.

    Attributes
    ----------
    title
        What the figure is.
    low, high
        Of each value's interval; None where it has none.
    days, names
        Of each value: what stands on the axis, which repeats it no more than once, and the lines beside the pointer.
    first
        Index of the first value that is shown.
    """

    kind: ClassVar[str] = "trend"
    scripts = ("trend.js",)
    key: str
    title: str
    unit: str
    values: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]
    days: Sequence[str]
    names: Sequence[Sequence[str]]
    changes: Sequence[LevelChange] = ()
    first: int = 0


def trend_chart(trend: Trend) -> Chart:
    """Values with their intervals, the medians between changes, and where each change may lie."""
    values, first = trend.values, trend.first
    divisor, unit = scale_for(float(np.median(np.abs(values))), trend.unit)
    scaled = np.asarray(values, dtype=float) / divisor
    ends = [0, *(change.at for change in trend.changes), len(values)]
    segments = [(start, stop) for start, stop in pairwise(ends) if stop > first]
    kept = [first + index for index in _thinned(values[first:])]
    return {
        "kind": "trend",
        "id": trend.key,
        "x": [index + 1 for index in kept],
        "y": scaled[kept].tolist(),
        "low": [_scaled(trend.low[index], divisor) for index in kept],
        "high": [_scaled(trend.high[index], divisor) for index in kept],
        "hover": [_hover(trend, index) for index in kept],
        "range": _range([scaled[max(first, start) : stop] for start, stop in segments]),
        "levels": [[max(first, start) + 1, stop, float(np.median(scaled[start:stop]))] for start, stop in segments],
        "changes": [
            {"mark": label(one.mark), "at": one.at + 0.5, "from": one.earliest + 0.5, "to": one.latest + 0.5,
             "style": one.style}
            for one in trend.changes
            if one.at > first
        ],
        "ticks": _ticks(trend.days, first),
        "yTitle": label(f"{trend.title}{f' ({unit})' if unit else ''}"),
    }  # fmt: skip


def _scaled(value: float | None, divisor: float) -> float | None:
    return None if value is None else value / divisor


def _hover(trend: Trend, index: int) -> str:
    low, high = trend.low[index], trend.high[index]
    interval = f" ({show(low, trend.unit)} to {show(high, trend.unit)})" if low is not None else ""
    return hover(show(trend.values[index], trend.unit) + interval, list(trend.names[index]))


def _thinned(values: Sequence[float]) -> list[int]:
    """Indices of what is drawn: all, or of each stretch the first, the least and the greatest."""
    if len(values) <= MAX_POINTS:
        return list(range(len(values)))
    kept: set[int] = set()
    for part in np.array_split(np.arange(len(values)), MAX_POINTS // 3):
        own = [values[index] for index in part]
        kept |= {int(part[0]), int(part[int(np.argmin(own))]), int(part[int(np.argmax(own))])}
    return sorted(kept)


def _range(segments: Sequence[Floats]) -> list[float]:
    """The axis: every segment within `REACH` interquartile ranges of its quartiles, so that no odd run flattens all."""
    ends: list[float] = []
    for own in segments:
        low, high = np.quantile(own, [0.25, 0.75])
        reach = REACH * (high - low)
        ends += [max(float(own.min()), float(low - reach)), min(float(own.max()), float(high + reach))]
    room = 0.08 * (max(ends) - min(ends)) or abs(max(ends)) * 0.1 or 1.0
    return [min(ends) - room, max(ends) + room]


def _ticks(days: Sequence[str], first: int) -> list[list[Any]]:
    """Numbers of values, and the days that begin there: for the axis."""
    new = [index for index in range(first, len(days)) if index == first or days[index] != days[index - 1]]
    return [[index + 1, label(days[index], 12)] for index in new[:: -(-len(new) // MAX_DAYS)]]
