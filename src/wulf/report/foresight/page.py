"""A prediction as a page: the tables, the curves, and the timeline with the critical path, all of it offline.

The timeline is aggregated before it comes here; the page holds a coarse level, which is drawn first, and a fine one, of
which a stretch is drawn that somebody zooms to. So a trace of a million events is a page as small as any.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wulf.core.units import scale_for, show
from wulf.model.foresight.prediction import TIMELINE, Prediction, Step, Timeline
from wulf.model.foresight.prediction import Path as CriticalPath
from wulf.report.foresight.predict import predict_view
from wulf.report.kit.charts import hover, label
from wulf.report.kit.view import Drawing, Section, SideBySide, View

KEY = "predict-timeline"
FULL = 200
"""What stands for all of a bucket, in a byte; timeline.js has the same."""

MOST_PATH = 2000
"""Steps of the critical path that are drawn, the longest ones."""

HEADING = "Timeline"


def predict_page(found: Prediction) -> View:
    """What a terminal shows, with curves and the timeline."""
    view = predict_view(found, plots=True)
    return replace(view, sections=[*view.sections, *_timeline(found)]) if found.timelines else view


def _timeline(found: Prediction) -> list[Section]:
    rows = found.timelines[0].rows
    together = f"{len(rows)} rows of up to {max(last - first for first, last in rows) + 1} ranks" if rows else ""
    lines = [
        f"What ranks do on {found.baseline.name} as it is replayed, {together}: the darker, the less they compute. The "
        "line is the critical path. Drag over a stretch to see it finer; a double click goes back."
    ]
    about = "what each rank does over time, with the critical path; the tables hold its sums"
    chart = Drawing(KEY, lambda: timeline_chart(found.timelines, found.path), about, ("model.js", "timeline.js"))
    return [Section(HEADING, lines, body=[SideBySide([Section("", body=[chart])], "large")])]


def timeline_chart(levels: Sequence[Timeline], path: CriticalPath) -> dict[str, Any]:
    """The chart for timeline.js: all levels, the coarsest first, with times in a unit that suits them."""
    first = levels[0]
    end = first.bucket * first.buckets
    divisor, unit = scale_for(end, "s")
    return {
        "kind": "timeline",
        "unit": unit,
        "end": float(f"{end / divisor:.9g}"),
        "rows": [str(low) if low == high else f"{low}–{high}" for low, high in first.rows],
        "parts": list(TIMELINE),
        "levels": [_level(one, divisor) for one in levels],
        "path": _drawn(path, first.rows, divisor),
    }


def _level(one: Timeline, divisor: float) -> dict[str, Any]:
    data = []
    for part in TIMELINE:
        shares = np.clip(np.asarray(one.shares[part], dtype=float), 0, 1)
        data.append(b64encode(np.rint(shares * FULL).astype(np.uint8).tobytes()).decode())
    return {"bucket": one.bucket / divisor, "buckets": one.buckets, "data": data}


def _drawn(path: CriticalPath, rows: Sequence[tuple[int, int]], divisor: float) -> dict[str, list[Any]]:
    """The path as lines: each step on its rank's row, a message from its sender's row to its receiver's."""
    lasts = np.array([last for _, last in rows])
    x: list[float | None] = []
    y: list[int | None] = []
    text: list[str] = []
    longest = sorted(path.steps, key=lambda one: -one.seconds)[:MOST_PATH]
    for step in sorted(longest, key=lambda one: one.begin):
        begin, end = (float(f"{value / divisor:.9g}") for value in (step.begin, step.end))
        crosses = step.kind == "latency" and step.source is not None and step.to is not None
        ends = [step.source, step.to] if crosses else [step.rank, step.rank]
        told = _told(step)
        x += [begin, end, None]
        y += [*(int(np.searchsorted(lasts, rank)) for rank in ends if rank is not None), None]
        text += [told, told, ""]
    return {"x": x, "y": y, "text": text}


def _told(step: Step) -> str:
    lines = [f"{step.kind}, {show(step.seconds, 's')}"]
    if step.source is not None:
        lines.append(f"message of {show(step.bytes, 'B')} from {step.source} to {step.to}")
    if step.mark:
        lines.append(f"record {step.mark} of the rank's trace")
    return hover(f"rank {step.rank}{f': {step.call}' if step.call else ''}", [label(line, 90) for line in lines])
