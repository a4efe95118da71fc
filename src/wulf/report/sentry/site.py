"""The whole cluster over time, as a view: what is open, nodes over days, what was closed, what measuring cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.durations import DAY
from wulf.core.findings import Severity
from wulf.core.names import fold, plural
from wulf.core.units import scale_for, show_in
from wulf.report.kit.view import Cell, Columns, Drawing, Element, Fold, Note, Row, Section, View
from wulf.report.sentry.days import date, days_chart, printed_cost, printed_days, row_name, spent_chart
from wulf.sentry.incident import Incident, Kind, State
from wulf.sentry.messages import incident_json, when
from wulf.sentry.site import LATELY, LEAST_CHANGE, LEVEL_DAYS, SPREADS, UNMEASURED, GridRow, Site, rows_of

MOST_INCIDENTS, MOST_PRINTED = 200, 15
"""Incidents that a table of the page has, and of a terminal."""

MOST_NAMES = 600
"""Characters of folded names of nodes that a cell has."""

READING = (
    "Each cell is a day: how far the node was from its own level, in the metric that stood out most. Triangles: where "
    "a figure changed, upwards for the worse; filled while the incident lasts. Blank: not measured. A row of several "
    "nodes shows the one in the middle."
)

METHOD = (
    f"A node's level is what it was before an incident, else the median of its first {LEVEL_DAYS} days with a figure. "
    f"A day stands out where its mean is off by more than {LEAST_CHANGE:.0%} and {SPREADS:.0f} robust standard "
    "deviations of that metric over all nodes and days. That only chooses what is drawn: incidents are decided by the "
    "sentry's own tests. Days are in UTC."
)

STYLES = {Severity.BAD: "no", Severity.WARN: "noisy", Severity.INFO: "dim"}
"""Severity → the style of its cell."""


def site_view(site: Site) -> View:
    """The whole cluster over time."""
    rows = rows_of(site)
    return View(
        title="wulf report --site",
        headline=headline(site),
        sections=[*_open(site), *_days(site, rows), *_closed(site), *_cost(site), *_unmeasured(site)],
        method=METHOD,
        header=_header(site),
        brief=", ".join(f"{name.lower()} {text}" for name, text in _header(site)[:3]),
    )


def headline(site: Site) -> str:
    """`998 of 1,000 nodes as they were; 2 incidents open, the longest for 4 days.`, and what it rests on."""
    count, well = len(site.nodes), site.well
    if not count:
        return "No node is watched yet."
    of = f"{plural(count, 'node')} as {'it was' if count == 1 else 'they were'}"
    were = of if well == count else f"{well:,} of {of}"
    return f"{were}; {''.join(f'{one}; ' for one in _classes(site))}{_open_text(site)}. {_measured_text(site)}"


def _classes(site: Site) -> list[str]:
    """Which classes changed as a whole: no node of them is to blame, and none is as it was."""
    sizes = Counter(node.hardware for node in site.nodes)
    names = sorted({one.what.node.removeprefix("@") for one in site.open if one.what.kind is Kind.COMMON})
    if len(names) > MOST_CLASSES:
        return [f"{len(names)} hardware classes changed as a whole"]
    return [f"all {sizes[name]:,} of {name} changed together" for name in names if sizes[name]]


MOST_CLASSES = 2
"""That the headline names."""


def _open_text(site: Site) -> str:
    if not site.open:
        return "no incident is open"
    longest = max(site.now - one.opened_at for one in site.open)
    more = f", {'the longest ' if len(site.open) > 1 else ''}for {_for(longest)}"
    taken = sum(one.state is State.ACKNOWLEDGED for one in site.open)
    return f"{plural(len(site.open), 'incident')} open{more}" + (f", {taken} acknowledged" if taken else "")


def _measured_text(site: Site) -> str:
    done = sum(cost.outcomes.get("done", 0) for cost in site.costs)
    minutes = sum(float(cost.by_day.sum()) for cost in site.costs) / 60
    if not done:
        return f"Nothing was measured in {plural(site.grid.days, 'day')}."
    missing = sum(len(one.nodes) for one in site.unmeasured)
    lacking = (
        f"; {plural(missing, 'node')} out of reach or not measured in {UNMEASURED / DAY:.0f} days" if missing else ""
    )
    took = f"{plural(done, 'measurement')} in {plural(site.grid.days, 'day')} took {minutes:,.0f} node-minutes"
    return f"{took}{lacking}."


def _for(seconds: float) -> str:
    """`4 days`, `3 hours`, `20 minutes`."""
    for size, name in ((DAY, "day"), (3600.0, "hour"), (60.0, "minute")):
        if seconds >= size:
            return plural(int(seconds // size), name)
    return "less than a minute"


def _header(site: Site) -> list[tuple[str, str]]:
    first = site.grid.first * DAY
    classes = len({node.hardware for node in site.nodes})
    return [
        ("Days", f"{date(first)} to {date(site.now)}"),
        ("Nodes", f"{len(site.nodes):,}"),
        ("Hardware classes", f"{classes:,}"),
        ("Incidents open", f"{len(site.open):,}"),
        ("Measurements that run now", f"{site.running:,}"),
    ]


def who(one: Incident) -> str:
    """The node, or all of a class."""
    name = one.what.node
    return f"all {name[1:]}" if name.startswith("@") else name


def what(one: Incident) -> str:
    """The metric, or the kind where it is no figure."""
    return one.what.metric or {Kind.UNREACHABLE: "unreachable"}.get(one.what.kind, str(one.what.kind))


def move(one: Incident) -> str:
    """`180 → 126 GB/s`; a dash where it is no figure."""
    before, now = one.what.before, one.what.now
    if before is None or now is None:
        return "–"
    own = one.what.unit
    unit = "byte/s" if own == "B/s" and one.what.metric.startswith(MEMORY) else own
    divisor, name = scale_for(max(abs(before), abs(now)), unit)
    return f"{show_in(before, divisor)} → {show_in(now, divisor)} {name}".rstrip()


MEMORY = ("mem.", "memory.", "stream.")
"""Rates of memory are known in GB/s, those of networks in Gbit/s."""


def change(one: Incident) -> tuple[Cell, str]:
    """The change in percent, and its interval."""
    found = one.what
    said = Cell("–") if found.ratio is None else Cell(f"{_percent(found.ratio)} %", "strong")
    if found.low is None or found.high is None:
        return said, "–"
    return said, f"{_percent(found.low)} to {_percent(found.high)}"


def _percent(value: float) -> str:
    return f"{100 * (value - 1):+.1f}"


def _open(site: Site) -> list[Section]:
    if not site.open:
        return [Section("Open incidents", ["None."], key="open", link="Open")]
    heads = ["", "node", "what", "changed", "before → now", "change", "interval, %", "open for", "acknowledged", "said"]
    rows = [_open_row(site, one) for one in site.open[:MOST_INCIDENTS]]
    table = Columns(heads, rows, words=3, tail=2, most=MOST_PRINTED, unprinted=(7, 8, 9), key="incidents")
    taken = [one for one in site.open if one.state is State.ACKNOWLEDGED]
    said = [f"{who(one)}, {what(one)}: acknowledged by {_by(one)}" for one in taken[:MOST_PRINTED]]
    body = [Fold(f"{plural(len(taken), 'incident')} acknowledged, by whom", [*map(Note, said)])] if taken else []
    return [Section("Open incidents", table=table, small=_left_out(len(site.open)), body=body, key="open", link="Open")]


def _sign(one: Incident) -> Cell:
    severity = one.what.severity
    return Cell(severity.sign, STYLES[severity], title=str(severity))


def _by(one: Incident) -> str:
    return one.by + (f": {one.note}" if one.note else "")


def _open_row(site: Site, one: Incident) -> Row:
    flapping = " (comes and goes)" if one.is_flapping else ""
    by = _by(one) if one.state is State.ACKNOWLEDGED else "–"
    return (
        _sign(one), Cell(who(one), "strong"), what(one) + flapping, _changed(one),
        move(one), *change(one), _for(site.now - one.opened_at), by, one.what.text,
    )  # fmt: skip


def _changed(one: Incident) -> Cell:
    """The first day that it was not as before; on a page also the last that it was."""
    since, until = date(one.what.since), date(one.what.until)
    return Cell(until, small=[f"as before on {since}"] if since != until else [])


def _left_out(count: int) -> list[str]:
    if count <= MOST_INCIDENTS:
        return []
    return [f"The {MOST_INCIDENTS} gravest of {plural(count, 'incident')}; `--json` has all."]


def _days(site: Site, rows: Sequence[GridRow]) -> list[Section]:
    if not rows or not site.grid.metrics:
        return []
    about = (
        f"{plural(len(rows), 'row')} of nodes over {plural(site.grid.days, 'day')}: how far each was from its own "
        "level; changes stand in the tables of incidents"
    )
    drawing = Drawing(
        "nodes-days",
        lambda: days_chart(site, rows),
        about,
        ("site.js",),
        printed=lambda width: printed_days(site, width),
    )
    body: list[Element | str] = [Note(READING, reading=True), drawing]
    several = [row for row in rows if len(row.nodes) > 1]
    if several:
        table = Columns(
            ["row", "nodes"], [(row_name(row), _names(row.nodes)) for row in several], words=2, key="rows",
        )  # fmt: skip
        body.append(Fold("Which nodes the rows of several stand for", [table], printed=False))
    return [Section("Nodes over the days", body=body, key="days", link="Days")]


def _names(nodes: Sequence[str]) -> str:
    text = fold(nodes)
    return text if len(text) <= MOST_NAMES else f"{text[:MOST_NAMES]}… ({plural(len(nodes), 'node')})"


def _closed(site: Site) -> list[Section]:
    if not site.closed:
        return []
    heads = ["", "node", "what", "changed", "closed", "change", "interval, %", "before → now", "said"]
    rows: list[Row] = []
    for one in site.closed[:MOST_INCIDENTS]:
        flapping = " (comes and goes)" if one.is_flapping else ""
        rows.append(
            (_sign(one), who(one), what(one) + flapping, _changed(one),
             date(one.closed_at or 0.0), *change(one), move(one), one.note or "–")
        )  # fmt: skip
    table = Columns(heads, rows, words=3, tail=1, most=MOST_PRINTED, unprinted=(7, 8), key="closed-incidents")
    heading = f"Closed in the last {LATELY / DAY:.0f} days"
    return [Section(heading, table=table, small=_left_out(len(site.closed)), key="closed", link="Closed")]


OUTCOMES = ("done", "preempted", "failed", "lost")


def _cost(site: Site) -> list[Section]:
    if not site.costs:
        return []
    rows: list[Row] = [
        (
            cost.measure, f"{cost.nodes:,}", *(f"{cost.outcomes.get(name, 0):,}" for name in OUTCOMES),
            f"{float(cost.by_day.sum()) / 60:,.0f}", f"{float(cost.by_day.sum()) / 60 / site.grid.days:,.1f}",
        )
        for cost in site.costs
    ]  # fmt: skip
    heads = ["measure", "nodes", *OUTCOMES, "node-minutes", "a day"]
    drawing = Drawing(
        "spent", lambda: spent_chart(site), "Node-minutes of each day, by what was measured", ("site.js",), low=True,
        printed=lambda width: printed_cost(site, width),
    )  # fmt: skip
    table = Columns(heads, rows, key="cost")
    small = ["Preempted: a job wanted the nodes. Lost: the sentry ended meanwhile."]
    return [
        Section(
            "What was measured, and what it cost",
            table=table,
            small=small,
            body=[drawing],
            key="cost-days",
            link="Cost",
        )
    ]


def _unmeasured(site: Site) -> list[Section]:
    if not site.unmeasured:
        return []
    rows: list[Row] = [
        (one.reason, f"{len(one.nodes):,}", date(one.last) if one.last is not None else "never", _names(one.nodes))
        for one in site.unmeasured[:MOST_INCIDENTS]
    ]
    heads = ["why", "count", "last measured", "nodes"]
    heading = f"Not measured for {UNMEASURED / DAY:.0f} days, or out of reach"
    return [
        Section(heading, table=Columns(heads, rows, tail=1, most=MOST_PRINTED), key="unmeasured", link="Not measured")
    ]


def site_object(site: Site) -> Mapping[str, Any]:
    """What --json prints; times are ISO 8601, changes shares."""
    grid = site.grid
    rows = [row for row in rows_of(site) if (row.of >= 0).any()]
    return {
        "at": when(site.now),
        "first_day": date(grid.first * DAY),
        "days": grid.days,
        "nodes": len(site.nodes),
        "as_they_were": site.well,
        "affected": sorted(site.affected),
        "open": [incident_json(one) for one in site.open],
        "closed": [incident_json(one) for one in site.closed],
        "deviations": [
            {"nodes": list(row.nodes), "class": row.hardware, "cells": _cells(site, row)} for row in rows
        ],
        "cost": [
            {"measure": cost.measure, "nodes": cost.nodes, "outcomes": dict(cost.outcomes),
             "node_seconds": [round(float(one), 1) for one in cost.by_day]}
            for cost in site.costs
        ],
        "unmeasured": [
            {"reason": one.reason, "nodes": list(one.nodes), "last": None if one.last is None else when(one.last)}
            for one in site.unmeasured
        ],
    }  # fmt: skip


def _cells(site: Site, row: GridRow) -> list[Mapping[str, Any]]:
    grid = site.grid
    return [
        {"day": date((grid.first + day) * DAY), "metric": grid.metrics[of].name, "worse": round(float(worse), 4)}
        for day, (of, worse) in enumerate(zip(row.of, row.worse, strict=True)) if of >= 0
    ]  # fmt: skip
