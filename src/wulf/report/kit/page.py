"""A model's report as one HTML file that works offline: the report's style, policy and escaping."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

from wulf.core.names import printable
from wulf.core.units import show, show_interval
from wulf.report.kit.charts import hover, label
from wulf.report.kit.html import drawing_script, fill_template, json_for_script, plotly, script_digest, write_page
from wulf.report.kit.terminal import ticks
from wulf.report.kit.view import Curve, Plot, Section, View


def write_model(view: View, path: Path) -> None:
    """Write the page, atomically.

    Raises
    ------
    StoreError
        The disk is full, there is no such directory, or there is no permission.
    """
    write_page(path, render_model(view), "`wulf model … --html PATH` writes it again")


def render_model(view: View) -> str:
    """The page as one HTML document."""
    charts = [chart(section.plot) for section in view.sections if section.plot is not None]
    sections = [section_object(section, number) for number, section in enumerate(view.sections, 1)]
    return render_view(view, sections, charts, "model.js")


def render_view(view: View, sections: list[dict[str, Any]], charts: list[dict[str, Any]], *drawing: str) -> str:
    """A view as one HTML document, with its sections as the template has them, and charts that `drawing` draws."""
    library, script = plotly(charts), drawing_script(*drawing)
    return fill_template(
        "model.html.j2",
        title=printable(view.title),
        headline=printable(view.headline),
        notes=[printable(note) for note in view.notes],
        sections=sections,
        method=view.method,
        charts=json_for_script(charts),
        has_charts=bool(charts),
        plotly=library,
        script=script,
        script_digests=[script_digest(library), script_digest(script)],
    )


def section_object(section: Section, number: int) -> dict[str, Any]:
    """A section as the template has it."""
    table, plot = section.table, section.plot
    return {
        "id": f"section-{number}",
        "heading": printable(section.heading),
        "lines": [printable(line) for line in section.lines],
        "heads": [] if table is None else [(printable(h), i >= table.words) for i, h in enumerate(table.heads)],
        "rows": []
        if table is None
        else [[(printable(c), i >= table.words) for i, c in enumerate(r)] for r in table.rows],
        "chart": "" if plot is None else plot.key,
        "about": "" if plot is None else printable(f"{plot.y_title} over {plot.x_title}"),
        "small": [printable(line) for line in section.small],
    }


def chart(plot: Plot) -> dict[str, Any]:
    """A plot for model.js: both axes logarithmic, with ticks and units of ours."""
    return {
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


def _positive(value: float) -> float | None:
    """A log axis has no place for others."""
    return float(f"{value:.6g}") if isfinite(value) and value > 0 else None


def _hover(plot: Plot, curve: Curve, i: int) -> str:
    where = plot.x_words.get(curve.x[i]) or show(curve.x[i], plot.x_unit)
    lines = [f"{plot.x_title}: {where}", f"{plot.y_title}: {show(curve.y[i], plot.y_unit)}"]
    if curve.low:
        lines.append(show_interval(curve.low[i], curve.high[i], plot.y_unit))
    return hover(curve.name, lines)
