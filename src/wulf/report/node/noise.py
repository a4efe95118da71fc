"""What the operating system takes from a program: a panel for each figure of noise, a point for each node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from wulf.core.names import natural, plural, printable
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show
from wulf.report.kit.charts import LOG_SPAN, Chart, decade_ticks, hover, label
from wulf.report.kit.figures import record_lines, usable

PROBES = {"detour": "selfish detour", "ftq": "fixed time quanta", "kernel-noise": "the kernel's account"}
METRICS = {"detours": "interruptions a second", "worst": "longest interruption", "lost": "share of time lost"}
ORDER = ("detours", "worst", "lost")

MOST_NODES = 40
"""Points of a panel; of more nodes the noisiest are shown."""

MOST_ROWS = 200
"""Rows of the table below the panels."""


def panels(records: Sequence[Record]) -> dict[tuple[str, str], dict[str, Record]]:
    """(metric, probe) → node → record, in the order of the page: rate, worst, lost."""
    found: dict[tuple[str, str], dict[str, Record]] = defaultdict(dict)
    for record in records:
        pattern = str(record.params.get("pattern") or "")
        if pattern in PROBES and record.metric in METRICS:
            found[record.metric, pattern][record.subject] = record
    probes = list(PROBES)
    return {key: found[key] for key in sorted(found, key=lambda k: (ORDER.index(k[0]), probes.index(k[1])))}


def title(metric: str, probe: str) -> str:
    """`longest interruption (selfish detour)`."""
    return f"{METRICS[metric]} ({PROBES[probe]})"


def shown_nodes(nodes: Mapping[str, Record]) -> list[str]:
    """The nodes of a panel in natural order: all, or the noisiest."""
    drawn = [node for node, record in nodes.items() if usable(record)]
    noisiest = sorted(drawn, key=lambda node: (-(nodes[node].value or 0.0), natural(node)))[:MOST_NODES]
    return sorted(noisiest, key=natural)


def panel_chart(key: str, metric: str, probe: str, nodes: Mapping[str, Record]) -> Chart | None:
    """A point a node with its interval; None where no node has a value."""
    names = shown_nodes(nodes)
    records = [nodes[name] for name in names]
    values = [record.value or 0.0 for record in records]
    if not values:
        return None
    logarithmic = min(values) > 0 and max(values) / min(values) > LOG_SPAN
    divisor, unit = share_scale(max(values), records[0].unit)
    return {
        "kind": "dots",
        "id": key,
        "names": [label(name, 18) for name in names],
        "short": [label(name, 12) for name in names],
        "log": logarithmic,
        "ticks": [[v / divisor, _tick(v, divisor, unit)] for v, _ in _ticks(values, records[0].unit)]
        if logarithmic
        else [],
        "xTitle": unit or "1",
        "series": [
            {
                "name": "",
                "x": [value / divisor for value in values],
                "low": [None if record.low is None else record.low / divisor for record in records],
                "high": [None if record.high is None else record.high / divisor for record in records],
                "noisy": [record.verdict is Verdict.NOISY for record in records],
                "hover": [
                    hover(name, [title(metric, probe), *record_lines(record)])
                    for name, record in zip(names, records, strict=True)
                ],
            }
        ],
    }


def _ticks(values: Sequence[float], unit: str) -> list[tuple[float, str]]:
    return [(float(value), str(text)) for value, text in decade_ticks(list(values), unit)]


def _tick(value: float, divisor: float, unit: str) -> str:
    return f"{value / divisor:.3g}" if unit in ("%", "ppm") else f"{value / divisor:g}"


def share_scale(value: float, unit: str) -> tuple[float, str]:
    """As `scale_for`; a share is read in per cent, or in millionths where it is below a hundredth of one."""
    if unit != "1":
        return scale_for(value, unit)
    return (0.01, "%") if value >= 1e-4 else (1e-6, "ppm")


def share_text(record: Record) -> str:
    """A figure of noise for people."""
    if record.value is None or record.unit != "1":
        return show(record.value, record.unit)
    divisor, unit = share_scale(record.value, "1")
    return f"{record.value / divisor:.3g} {unit}"


def noise_section(records: Sequence[Record]) -> tuple[dict[str, Any], list[Chart]]:
    """What the section says, and its charts; without records an empty one."""
    charts, rows, figures = [], [], []
    for number, ((metric, probe), nodes) in enumerate(panels(records).items()):
        chart = panel_chart(f"noise-{number}", metric, probe, nodes)
        words = title(metric, probe)
        if chart is not None:
            charts.append(chart)
            more = len([r for r in nodes.values() if usable(r)]) - len(chart["names"])
            note = f"The {MOST_NODES} noisiest; {plural(more, 'more node')} in the records." if more else ""
            figures.append({"id": chart["id"], "title": words, "note": note})
        rows += [_row(words, node, nodes[node]) for node in sorted(nodes, key=natural)]
    return {"figures": figures, "rows": rows[:MOST_ROWS], "more": max(0, len(rows) - MOST_ROWS)}, charts


def _row(words: str, node: str, record: Record) -> dict[str, str]:
    divisor, unit = share_scale(record.value or 0.0, record.unit)
    interval = "–"
    if record.low is not None and record.high is not None:
        interval = f"{record.low / divisor:.3g}–{record.high / divisor:.3g} {unit}"
    return {
        "what": words,
        "node": printable(node),
        "value": share_text(record),
        "interval": interval,
        "verdict": printable(f"{record.verdict}: {record.reason}" if record.reason else str(record.verdict)),
    }
