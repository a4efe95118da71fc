"""Pictures and maps: what a report draws, as SVG, and the figures between nodes as arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from wulf.api import html
from wulf.core.errors import UsageError
from wulf.core.files import replace_file
from wulf.core.records import Record
from wulf.report.kit.charts import pair_chart
from wulf.report.kit.figures import usable
from wulf.report.kit.matrices import Matrix, pair_matrices
from wulf.report.kit.page import chart_of
from wulf.report.kit.svg import as_svg
from wulf.report.kit.view import Section, View, walk
from wulf.stats.samples import Floats
from wulf.store.run import Run

ABSENT = "not measured"
"""Why a pair has no value that no record is of."""


@dataclass(frozen=True)
class Picture:
    """One picture of a report. A notebook shows it.

    Attributes
    ----------
    title
        What it shows.
    svg
        It, as one SVG element that needs nothing else.
    """

    title: str
    svg: str

    def save(self, path: str | Path) -> Path:
        """Write it as a file of its own. UsageError where that can't be."""
        target = Path(path)
        try:
            replace_file(target, self.svg.replace("currentColor", "#222"))
        except OSError as error:
            raise UsageError(f"{target} can't be written: {error.strerror}", "name another file") from error
        return target

    def __repr__(self) -> str:
        return f"<Picture {self.title!r}>"

    def _repr_html_(self) -> str:
        return html.paragraph(self.title, strong=True) + self.svg


@dataclass(frozen=True)
class Map:
    """One metric between all nodes of a run. A notebook shows its picture.

    Attributes
    ----------
    title
        What it is of: "TCP round trip, 1 B".
    metric, unit
        As the records have them: "rtt", "s".
    nodes
        Labels of rows and columns, N of them.
    values, low, high
        Shape (N, N), from the node of the row to that of the column: the figure and its interval, NaN where there is
        none. A round trip stands in both of its cells.
    reasons
        (from, to) → why the pair has no value.
    picture
        The same as a heat map; of more than 128 nodes a point for each, the median over its links.
    """

    title: str
    metric: str
    unit: str
    nodes: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    reasons: Mapping[tuple[str, str], str]
    picture: Picture

    def __repr__(self) -> str:
        return f"<Map {self.title!r}: {len(self.nodes)} nodes, {self.unit}>"

    def _repr_html_(self) -> str:
        return self.picture._repr_html_()


def maps_of(run: Run) -> dict[str, Map]:
    """The maps of a run by their titles, as its report has them."""
    found: dict[str, Map] = {}
    for matrix in pair_matrices(run):
        title = _unused(matrix.title, found)
        found[title] = _map(title, matrix)
    return found


def _map(title: str, matrix: Matrix) -> Map:
    size = len(matrix.nodes)
    values, low, high = (np.full((size, size), np.nan) for _ in range(3))
    reasons = {}
    for i, a in enumerate(matrix.nodes):
        for j, b in enumerate(matrix.nodes):
            record = matrix.get(a, b)
            if record is not None and usable(record):
                values[i, j], low[i, j], high[i, j] = map(_number, (record.value, record.low, record.high))
            elif record is not None or a != b:
                reasons[a, b] = _reason(record)
    picture = Picture(title, as_svg(pair_chart(matrix, ABSENT)) or "")
    return Map(title, matrix.metric, matrix.unit, matrix.nodes, values, low, high, reasons, picture)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _reason(record: Record | None) -> str:
    return ABSENT if record is None else record.reason or str(record.verdict)


def pictures_of(view: View) -> dict[str, Picture]:
    """The pictures of a report by their titles; charts of which pages alone have a drawing are left out."""
    found: dict[str, Picture] = {}
    title = ""
    for one in walk(view.sections):
        if isinstance(one, Section):
            title = one.heading or title
        chart = chart_of(one)
        drawn = as_svg(chart) if chart is not None else None
        if drawn is not None:
            name = _unused(title, found)
            found[name] = Picture(name, drawn)
    return found


def _unused(title: str, found: Collection[str]) -> str:
    """The title, with a number where it is taken."""
    numbered = (title if number == 1 else f"{title} ({number})" for number in count(1))
    return next(name for name in numbered if name not in found)
