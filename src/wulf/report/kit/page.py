"""Views as HTML files that work offline: one style, one policy, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from wulf.core.files import replace_file
from wulf.core.units import show, show_interval
from wulf.report.kit.charts import hover, label
from wulf.report.kit.html import (
    drawing_script,
    fill_template,
    json_for_script,
    plotly,
    script_digest,
)
from wulf.report.kit.terminal import ticks
from wulf.report.kit.trends import Trend, trend_chart
from wulf.report.kit.view import Curve, Drawing, Element, Forest, Plot, View, walk
from wulf.stats.estimates import Interval
from wulf.store.reading import StoreError

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")
"""Between two sentences: the first of a headline is the answer, what follows are its figures."""


def write_view(view: View, path: Path, kept: str = "`--html PATH` writes it again") -> None:
    """Write the page, atomically; `kept` tells the user of a full disk what is not lost.

    Raises
    ------
    StoreError
        The disk is full, there is no such directory, or there is no permission.
    """
    content = render_view(view)
    try:
        replace_file(path, content)
    except OSError as error:
        raise StoreError(
            f"can't write the page {path} ({show(len(content), 'B')}): {error.strerror}",
            f"free some space or give another path; {kept}",
        ) from error


def render_view(view: View) -> str:
    """The page as one HTML document."""
    charts, names = _drawings(view)
    answer, *more = _SENTENCE.split(view.headline, maxsplit=1)
    sections = [(one.key or f"section-{number}", one) for number, one in enumerate(view.sections, 1)]
    links = [(one.key, one.link) for one in view.sections if one.link]
    scripts = [plotly(charts)] if charts else []
    scripts += [drawing_script(*names)] if names else []
    return fill_template(
        "page.html.j2",
        view=view,
        answer=answer,
        figures="".join(more),
        sections=sections,
        links=[*links, ("method", "Method")] if links and view.method else links,
        charts=json_for_script(charts) if charts else "",
        scripts=scripts,
        script_digests=[script_digest(script) for script in scripts],
    )


def _drawings(view: View) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The charts of a view, and the scripts that draw them, each once."""
    charts: list[Mapping[str, Any]] = []
    scripts: dict[str, None] = {}
    for one in walk(view.sections):
        if (chart := chart_of(one)) is not None:
            charts.append(chart)
        if not isinstance(one, str):
            scripts |= dict.fromkeys(one.scripts)
    return charts, list(scripts)


def chart_of(one: Element | str) -> dict[str, Any] | None:
    """What the scripts of a page draw of an element, with its `id`; None where that is no chart."""
    match one:
        case Plot() if one.paged:
            return plot_chart(one)
        case Trend():
            return trend_chart(one)
        case Forest():
            return forest_chart(one)
        case Drawing():
            return {**one.make(), "id": one.key}
    return None


def plot_chart(plot: Plot) -> dict[str, Any]:
    """A plot for model.js: both axes logarithmic, with ticks and units of ours."""
    return {
        "kind": "plot",
        "id": plot.key,
        "series": [_series(plot, curve) for curve in plot.curves],
        "xTicks": list(plot.x_ticks) or ticks([curve.x for curve in plot.curves], plot.x_unit, 9),
        "yTicks": ticks([[*curve.y, *curve.low, *curve.high] for curve in plot.curves], plot.y_unit, 8),
        "xTitle": label(plot.x_title, 80),
        "yTitle": label(plot.y_title, 80),
    }


def _series(plot: Plot, curve: Curve) -> dict[str, Any]:
    return {
        "name": label(curve.name),
        "x": [_positive(v) for v in curve.x],
        "y": [_positive(v) for v in curve.y],
        "low": [_positive(v) for v in curve.low],
        "high": [_positive(v) for v in curve.high],
        "points": curve.points,
        "dashed": curve.dashed,
        "hover": [_hover(plot, curve, i) for i in range(len(curve.x))],
    }


def forest_chart(forest: Forest) -> dict[str, Any]:
    """A forest for tune.js: one series, or two; what reaches beyond the axis ends there."""
    inner = {row: one.inner for row, one in enumerate(forest.rows)}
    outer = {row: one.outer for row, one in enumerate(forest.rows) if one.outer is not None}
    series = [_spans(forest, forest.inner, inner)] + ([_spans(forest, forest.outer, outer)] if outer else [])
    return {
        "kind": "effects", "id": forest.key, "names": [label(row.name, 34) for row in forest.rows],
        "series": series if forest.rows else [], "xTitle": label(f"{forest.title} [{forest.unit}]", 80),
    }  # fmt: skip


def _spans(forest: Forest, name: str, intervals: Mapping[int, Interval]) -> dict[str, Any]:
    least, most = forest.axis
    seen = list(intervals.values())
    return {
        "name": label(name), "row": list(intervals), "x": [_within(one.value, least, most) for one in seen],
        "low": [_within(one.low, least, most) for one in seen],
        "high": [_within(one.high, least, most) for one in seen],
        "hover": [
            hover(forest.rows[row].name, [name, f"{one.value:+.1f} ({one.low:+.1f} … {one.high:+.1f}) {forest.unit}"])
            for row, one in intervals.items()
        ],
    }  # fmt: skip


def _within(value: float, least: float, most: float) -> float:
    return round(min(max(value, least), most), 4)


def _positive(value: float) -> float | None:
    """A log axis has no place for others."""
    return float(f"{value:.6g}") if isfinite(value) and value > 0 else None


def _hover(plot: Plot, curve: Curve, i: int) -> str:
    where = plot.x_words.get(curve.x[i]) or show(curve.x[i], plot.x_unit)
    lines = [f"{plot.x_title}: {where}", f"{plot.y_title}: {show(curve.y[i], plot.y_unit)}"]
    if curve.low:
        lines.append(show_interval(curve.low[i], curve.high[i], plot.y_unit))
    return hover(curve.name, lines)
