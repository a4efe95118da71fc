"""Curves and points as lines of characters, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, log10

import numpy as np

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Marked:
    """A series: the character it is drawn with, and where. Later series are drawn over earlier ones."""

    mark: str
    x: Sequence[float]
    y: Sequence[float]


def text_plot(
    series: Sequence[Marked],
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[tuple[float, str]],
    width: int = 78,
    height: int = 14,
) -> list[str]:
    """Both axes on a log scale; what is not above zero has no place there.

    Parameters
    ----------
    x_ticks, y_ticks
        Values with their texts; those outside the data are left out.
    width
        Of a line, labels included.
    """
    points = [(s.mark, x, y) for s in series for x, y in zip(s.x, s.y, strict=True) if _drawable(x, y)]
    if not points:
        return []
    margin = max((len(text) for _, text in y_ticks), default=0) + 1
    across, up = _Axis([x for _, x, _ in points], width - margin - 1), _Axis([y for _, _, y in points], height)
    rows = [[" "] * (width - margin - 1) for _ in range(height)]
    for mark, x, y in points:
        rows[height - 1 - up(y)][across(x)] = mark
    labels = {height - 1 - up(y): text for y, text in y_ticks if up.holds(y)}
    lines = [f"{labels.get(i, ''):>{margin}}{'┤' if i in labels else '│'}{''.join(row)}" for i, row in enumerate(rows)]
    return [line.rstrip() for line in [*lines, *_under(across, x_ticks, margin, width - margin - 1)]]


@dataclass(frozen=True)
class ForestLine:
    """A row of a forest: its name, the value, an interval, and a wider one or the same again."""

    name: str
    value: float
    inner: tuple[float, float]
    outer: tuple[float, float]


def text_forest(spans: Sequence[ForestLine], axis: tuple[float, float], unit: str, width: int = 78) -> list[str]:
    """Values `●` with intervals `━` and wider ones `─` on a linear axis, where 0 has a line; cut at the axis' ends.

    Parameters
    ----------
    axis
        Its ends, with 0 between them; finite.
    width
        Of a line, names included.
    """
    margin = max(len(span.name) for span in spans) + 1
    cells = max(10, width - margin)
    low, high = axis
    step = (high - low) / (cells - 1) or 1.0

    def at(value: float) -> int:
        return round((min(max(value, low), high) - low) / step)

    lines = []
    for span in spans:
        row = [" "] * cells
        row[at(0.0)] = "│"
        for (start, end), mark in ((span.outer, "─"), (span.inner, "━")):
            row[at(start) : at(end) + 1] = mark * (at(end) - at(start) + 1)
        row[at(span.value)] = "●"
        lines.append(f"{span.name:<{margin}}{''.join(row)}".rstrip())
    labels = [(at(value), f"{value:+.3g} {unit}" if value else "0") for value in (low, 0.0, high)]
    text, free = [" "] * cells, 0
    for place, label in labels:
        start = min(max(0, place - len(label) // 2), cells - len(label))
        if start >= free:
            text[start : start + len(label)] = label
            free = start + len(label) + 1
    return [*lines, " " * margin + "".join(text).rstrip()]


def _drawable(x: float, y: float) -> bool:
    return isfinite(x) and isfinite(y) and x > 0 and y > 0


class _Axis:
    """From a value to a cell, on a log scale."""

    def __init__(self, values: Sequence[float], cells: int) -> None:
        self.low, self.high, self.cells = log10(min(values)), log10(max(values)), cells

    def __call__(self, value: float) -> int:
        span = self.high - self.low
        return round((log10(value) - self.low) / span * (self.cells - 1)) if span > 0 else 0

    def holds(self, value: float) -> bool:
        return value > 0 and self.low - 1e-9 <= log10(value) <= self.high + 1e-9


def _under(across: _Axis, ticks: Sequence[tuple[float, str]], margin: int, width: int) -> list[str]:
    """The axis below, and its labels: those that stand clear of the one before."""
    rule, text = ["─"] * width, [" "] * width
    free = 0
    for value, label in ticks:
        if not across.holds(value):
            continue
        place = across(value)
        start = min(max(0, place - len(label) // 2), width - len(label))
        if start >= free:
            rule[place] = "┬"
            text[start : start + len(label)] = label
            free = start + len(label) + 1
    return [" " * margin + "└" + "".join(rule), " " * (margin + 1) + "".join(text)]


def middle_range(values: Sequence[float]) -> tuple[float, float]:
    """The 2nd and 98th percentile: one odd value does not flatten the others."""
    low, high = np.quantile(values, [0.02, 0.98]).tolist()
    return low, high


def sparkline(values: Sequence[float], width: int, marks: Sequence[tuple[str, int]] = ()) -> tuple[str, str]:
    """Values as bars, the median of so many each, over their `middle_range`, and what is marked below.

    Parameters
    ----------
    marks
        A character, and the index of the value that it stands below.

    Returns
    -------
    tuple
        `(bars, marks)`: of equal length at most; `+` stands where marks meet.
    """
    x = np.asarray(values, dtype=float)
    columns = min(width, x.size)
    edges = np.arange(columns + 1) * x.size // columns
    heights = np.array([np.median(x[start:stop]) for start, stop in pairwise(edges)])
    low, high = middle_range(values)
    scaled = np.clip((heights - low) / (high - low), 0, 1) if high > low else np.full(columns, 0.5)
    bars = "".join(_BARS[min(len(_BARS) - 1, int(height * len(_BARS)))] for height in scaled)
    below = [" "] * columns
    for mark, at in marks:
        column = min(columns - 1, int(np.searchsorted(edges, at, side="right")) - 1)
        below[column] = mark if below[column] == " " and len(mark) == 1 else "+"
    return bars, "".join(below).rstrip()
