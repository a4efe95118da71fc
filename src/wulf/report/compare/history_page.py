"""A metric over many runs as one HTML file that works offline: the report's style, policy and escaping."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wulf.core.names import plural, printable
from wulf.core.units import scale_for, show, show_interval
from wulf.findings.history import JudgedSeries, MetricHistory
from wulf.report.compare.history import amount, fact_texts, headline, method, move, notes, place_text, series_name, when
from wulf.report.kit.charts import hover, label
from wulf.report.kit.figures import metric_name
from wulf.report.kit.html import drawing_script, fill_template, json_for_script, plotly, script_digest, write_page
from wulf.stats.samples import Floats
from wulf.stats.stopping import settled_median
from wulf.store.history import Point

MAX_CHARTS = 40
"""Series that are drawn: those with changes first. All stand in the table."""

MAX_POINTS = 1500
"""Longer series are thinned to the least, the middle and the greatest of each stretch of runs."""

MAX_ROWS = 400

ENDING = 200
"""Runs of a long series' end that are drawn by themselves where the latest change is among them."""

REACH = 4.0
"""Of a normal distribution, all but one value in two million lie so near."""

_WORDS = {
    "worse": "worse", "better": "better", "changed": "changed", "spread": "other spread", "candidate": "candidate",
}  # fmt: skip
_SIGNS = {"worse": "▲", "better": "●", "changed": "◆", "spread": "◆", "candidate": "?"}


def write_history(history: MetricHistory, path: Path) -> None:
    """Write the page, atomically.

    Raises
    ------
    StoreError
        The disk is full, there is no such directory, or there is no permission.
    """
    write_page(path, render_history(history), "the runs are kept, `wulf history METRIC --html PATH` writes it again")


def render_history(history: MetricHistory) -> str:
    """The page as one HTML document."""
    shown = [*history.changed, *(told for told in history.told if not told.steps)]
    drawn = [told for told in shown[:MAX_CHARTS] if told.series.points]
    charts = [one for number, told in enumerate(drawn) for one in charts_of(told, f"series-{number}")]
    library, script = plotly(charts), drawing_script("history.js")
    return fill_template(
        "history.html.j2",
        title=printable(f"wulf history {history.metric}"),
        headline=printable(headline(history)),
        metric=printable(metric_name(history.metric)),
        header=_header(history),
        notes=[printable(note) for note in notes(history)],
        sections=[_section(told, f"series-{number}") for number, told in enumerate(drawn)],
        rows=[_row(told) for told in shown[:MAX_ROWS]],
        more=max(0, len(shown) - MAX_ROWS),
        undrawn=len(shown) - len(drawn),
        thinned=any(len(told.series.points) > MAX_POINTS for told in drawn),
        ending=ENDING,
        method=method(history).replace(" %", "\u00a0%"),
        charts=json_for_script(charts),
        has_charts=bool(charts),
        plotly=library,
        script=script,
        script_digests=[script_digest(library), script_digest(script)],
    )


def _header(history: MetricHistory) -> list[tuple[str, str]]:
    points = [point.run.started for told in history.told for point in told.series.points]
    return [
        ("Runs", f"{history.runs:,}"),
        ("First", when(min(points)) if points else "–"),
        ("Last", when(max(points)) if points else "–"),
        ("Series", f"{len(history.told):,}"),
        ("With changes", f"{len(history.changed):,}"),
        ("Worse now than before", f"{len(history.worse_now):,}"),
    ]


def _section(told: JudgedSeries, key: str) -> dict[str, Any]:
    series = told.series
    left = f", {series.left_out:,} without a value left out" if series.left_out else ""
    changes = plural(len(told.steps), "change") if told.steps else "no change"
    return {
        "id": key,
        "ending": f"{key}-end" if ends_apart(told) else "",
        "name": series_name(series),
        "summary": f"{plural(len(series.points), 'run')}{left}; {changes}",
        "steps": [
            {
                "number": number,
                "verdict": told.verdict(step),
                "word": _WORDS[told.verdict(step)],
                "sign": _SIGNS[told.verdict(step)],
                "move": _unbroken(move(step.change, series.unit)),
                "amount": _unbroken(amount(step.change, series.unit)),
                "p": f"{step.change.p:.2g}",
                "when": when(told.first_run(step).started),
                "run": printable(told.first_run(step).id),
                "place": place_text(step),
                "facts": fact_texts(step.facts),
            }
            for number, step in enumerate(told.steps, 1)
        ],
    }


def _unbroken(text: str) -> str:
    """Text whose bounds and units stay with their figures."""
    return text.replace(" %", "\u00a0%").replace(" to ", "\u00a0to\u00a0").replace(" → ", "\u00a0→\u00a0")


def _row(told: JudgedSeries) -> dict[str, Any]:
    series = told.series
    values = [point.value for point in series.points]
    last = told.steps[-1] if told.steps else None
    now = settled_median(values[last.change.at if last else 0 :])
    return {
        "name": series_name(series),
        "runs": f"{len(values):,}",
        "now": show(now.value, series.unit),
        "interval": show_interval(now.low, now.high, series.unit),
        "changes": len(told.steps),
        "last": f"{_WORDS[told.verdict(last)]} {amount(last.change, series.unit)}" if last else "–",
        "when": when(told.first_run(last).started) if last else "–",
    }


def ends_apart(told: JudgedSeries) -> bool:
    """Whether the end of the series is too narrow to be seen in the whole."""
    count = len(told.series.points)
    return count > 3 * ENDING and bool(told.steps) and told.steps[-1].change.at > count - ENDING


def charts_of(told: JudgedSeries, key: str) -> list[dict[str, Any]]:
    """The whole series, and its end where that must be seen apart."""
    first = len(told.series.points) - ENDING
    return [chart(told, key), *([chart(told, f"{key}-end", first)] if ends_apart(told) else [])]


def chart(told: JudgedSeries, key: str, first: int = 0) -> dict[str, Any]:
    """A series for history.js: points over the number of the run, the medians of the segments, the changes.

    Parameters
    ----------
    first
        Index of the first run that is drawn.
    """
    series = told.series
    values = [point.value for point in series.points]
    divisor, unit = scale_for(float(np.median(np.abs(values))), series.unit)
    ends = [0, *(step.change.at for step in told.steps), len(values)]
    spans = [(max(first, start), stop) for start, stop in pairwise(ends) if stop > first]
    medians = [float(np.median(values[start:stop])) / divisor for start, stop in pairwise(ends) if stop > first]
    kept = [first + index for index in _thinned(values[first:])]
    return {
        "kind": "series",
        "id": key,
        "x": [index + 1 for index in kept],
        "y": [values[index] / divisor for index in kept],
        "low": [_scaled(series.points[index].low, divisor) for index in kept],
        "high": [_scaled(series.points[index].high, divisor) for index in kept],
        "hover": [_hover(series.points[index], series.unit) for index in kept],
        "range": _range([np.array(values[start:stop]) / divisor for start, stop in spans]),
        "levels": [[start + 1, stop, level] for (start, stop), level in zip(spans, medians, strict=True)],
        "changes": [
            {
                "number": number,
                "at": step.change.at + 0.5,
                "from": step.change.earliest + 0.5,
                "to": step.change.latest + 0.5,
                "verdict": told.verdict(step),
            }
            for number, step in enumerate(told.steps, 1)
            if step.change.at > first
        ],
        "ticks": _ticks([point.run.started for point in series.points], first),
        "yTitle": label(f"{metric_name(series.metric)}{f' ({unit})' if unit else ''}"),
    }


def _scaled(value: float | None, divisor: float) -> float | None:
    return None if value is None else value / divisor


def _hover(point: Point, unit: str) -> str:
    interval = f" ({show(point.low, unit)} to {show(point.high, unit)})" if point.low is not None else ""
    return hover(show(point.value, unit) + interval, [when(point.run.started), point.run.id])


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


def _ticks(started: Sequence[str], first: int) -> list[list[Any]]:
    """Numbers of runs, and the days on which they began: for the axis."""
    days = [when(text)[:10] for text in started]
    new = [index for index in range(first, len(days)) if index == first or days[index] != days[index - 1]]
    return [[index + 1, label(days[index], 12)] for index in new[:: -(-len(new) // 60)]]
