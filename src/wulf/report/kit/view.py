"""What a model's report shows, the same in a terminal and on a page: sections of sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wulf.stats.curves.piecewise import Interval


@dataclass(frozen=True)
class Columns:
    """A table: heads, rows of texts, and how many of the first columns are words."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Curve:
    """A line, or points with intervals.

    Attributes
    ----------
    low, high
        A band, or the points' intervals; empty for none.
    points
        Whether they were measured.
    dashed
        Beyond the data, or a limit.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    points: bool = False
    dashed: bool = False
    mark: str = "·"


@dataclass(frozen=True)
class Plot:
    """Curves over two logarithmic axes, with the units of both.

    Attributes
    ----------
    x_ticks, x_words
        Where the horizontal axis holds what has names rather than round values: its ticks, and each value's name.
    """

    key: str
    curves: Sequence[Curve]
    x_title: str
    y_title: str
    x_unit: str = "1"
    y_unit: str = "1"
    x_ticks: Sequence[tuple[float, str]] = ()
    x_words: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One part of a report."""

    heading: str
    lines: Sequence[str] = ()
    table: Columns | None = None
    plot: Plot | None = None
    small: Sequence[str] = ()


@dataclass(frozen=True)
class View:
    """A whole report of a model."""

    title: str
    headline: str
    sections: Sequence[Section]
    notes: Sequence[str] = field(default=())
    method: str = ""


def interval_object(one: Interval) -> dict[str, float | None]:
    """As JSON holds it: what is unbounded is null."""
    from math import isfinite

    return {name: v if isfinite(v := getattr(one, name)) else None for name in ("value", "low", "high")}
