"""Nodes over days, and what measuring cost: as data that templates/site.js draws, and as lines of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from textwrap import wrap

import numpy as np

from wulf.core.durations import DAY
from wulf.core.findings import Severity
from wulf.core.names import plural, shortened
from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.textplot import sparkline
from wulf.sentry.incident import Incident
from wulf.sentry.site import GridRow, Site, brief_rows
from wulf.stats.samples import Floats

NAME, PRINTED = 16, 20
"""Of a terminal's rows: characters of a name, and how many there are."""

STEPS = ((0.05, "▁"), (0.08, "▂"), (0.12, "▃"), (0.2, "▅"), (0.35, "▆"), (np.inf, "█"))
"""A change for the worse of less than this → its character."""

SAME, BETTER, ABSENT = "·", "+", " "


def date(at: float) -> str:
    """`2026-11-23`, of Unix seconds, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def row_name(row: GridRow) -> str:
    """A node; of several the first, the last, and how many: `n2 … n58 (29)`."""
    return row.nodes[0] if len(row.nodes) == 1 else f"{row.nodes[0]} … {row.nodes[-1]} ({len(row.nodes):,})"


def class_name(row: GridRow) -> str:
    """A node; of several how many of which class: `98 × epyc-9654`."""
    return row.nodes[0] if len(row.nodes) == 1 else f"{len(row.nodes):,} × {row.hardware}"


def days_chart(site: Site, rows: Sequence[GridRow]) -> Chart:
    """A cell a row and day: percent for the worse, to a tenth; what stands out is named by its metric."""
    grid = site.grid
    percents = [np.round(100 * row.worse, 1) for row in rows]
    return {
        "kind": "days",
        "days": [date((grid.first + i) * DAY) for i in range(grid.days)],
        "rows": [label(row_name(row), 28) for row in rows],
        "classes": [label(row.hardware, 40) for row in rows],
        "short": [label(row.nodes[0], 10) + (" …" if len(row.nodes) > 1 else "") for row in rows],
        "metrics": [label(metric.name, 60) for metric in grid.metrics],
        "z": [[None if np.isnan(one) else _number(float(one)) for one in own] for own in percents],
        "told": [
            [i, int(j), int(row.of[j])]
            for i, row in enumerate(rows) for j in np.flatnonzero((row.of >= 0) & (row.worse != 0))
        ],
        "marks": _marks(site, rows),
    }  # fmt: skip


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def _marks(site: Site, rows: Sequence[GridRow]) -> list[Chart]:
    """Where figures changed: of nodes that have a row of their own."""
    places = {row.nodes[0]: i for i, row in enumerate(rows) if len(row.nodes) == 1}
    return [
        {
            "row": places[one.what.node], "day": date(one.what.until), "open": one.is_open,
            "worse": one.what.severity is not Severity.INFO, "hover": _mark_hover(one),
        }
        for one in site.marked
        if one.what.node in places and one.what.until >= site.grid.first * DAY
    ]  # fmt: skip


def _mark_hover(one: Incident) -> str:
    when = f"{date(one.what.since)} to {date(one.what.until)}"
    return hover(f"{one.what.node}: {one.what.metric or one.what.kind}", [one.what.text, when, str(one.state)])


def spent_chart(site: Site) -> Chart:
    """Node-minutes of each day by what was measured."""
    grid = site.grid
    return {
        "kind": "spent",
        "days": [date((grid.first + i) * DAY) for i in range(grid.days)],
        "series": [
            {"name": label(cost.measure), "y": [_number(round(float(one) / 60, 1)) for one in cost.by_day]}
            for cost in site.costs
        ],
    }


def printed_days(site: Site, width: int) -> list[str]:
    """Nodes with incidents, then the others by class; a character for one day or several, whose worst it shows."""
    grid, rows = site.grid, brief_rows(site, PRINTED)
    room = max(10, width - NAME - 2)
    each = max(1, -(-grid.days // room))
    first, last = date(grid.first * DAY), date(site.now)
    columns = -(-grid.days // each)
    lines = [f"{'':{NAME}}  {first}{last:>{max(0, columns - len(first))}}"]
    lines += [f"{shortened(class_name(row), NAME):{NAME}}  {_strip(row.worse, each)}" for row in rows]
    scale = " ".join(f"{sign} <{step:.0%}" for step, sign in STEPS[:-1])
    said = f"{SAME} as it was, {scale} {STEPS[-1][1]} more worse, {BETTER} better, blank: not measured"
    lines.append(f"A character is {plural(each, 'day')}.")
    return [*lines, *wrap(said, width, break_long_words=False, break_on_hyphens=False)]


def _strip(worse: Floats, each: int) -> str:
    found = []
    for start in range(0, len(worse), each):
        own = worse[start : start + each]
        there = own[~np.isnan(own)]
        if not len(there):
            found.append(ABSENT)
            continue
        most = float(there[np.argmax(np.abs(there))])
        found.append(SAME if most == 0 else BETTER if most < 0 else next(sign for step, sign in STEPS if most < step))
    return "".join(found).rstrip()


def printed_cost(site: Site, width: int) -> list[str]:
    """Node-minutes of each day as bars."""
    total = sum((cost.by_day for cost in site.costs), np.zeros(site.grid.days)) / 60
    scale = f"  {total.min():.0f}–{total.max():.0f} node-minutes a day"
    return [sparkline(list(total), max(10, width - len(scale)), [])[0] + scale] if len(total) else []
