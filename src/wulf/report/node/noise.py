"""What the operating system takes from a program: a panel for each figure of noise, a point for each node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from wulf.core.names import natural, plural
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show
from wulf.report.kit.charts import LOG_SPAN, Chart, decade_ticks, hover, label
from wulf.report.kit.figures import record_lines, usable, verdict_text
from wulf.report.kit.view import Cell, Columns, Drawing, Fold, Note, Section, SideBySide
from wulf.report.node.sweeps import SCRIPTS

PROBES = {"detour": "selfish detour", "ftq": "fixed time quanta", "kernel-noise": "the kernel's account"}
METRICS = {"detours": "interruptions a second", "worst": "longest interruption", "lost": "share of time lost"}
ORDER = ("detours", "worst", "lost")

MOST_NODES = 40
"""Points of a panel; of more nodes the noisiest are shown."""

MOST_ROWS = 200
"""Rows of the table below the panels."""

READING = (
    "What a program on its own CPU loses to the operating system. Points are medians, bars their intervals, hollow "
    "points noisy."
)


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


def panel_chart(metric: str, probe: str, nodes: Mapping[str, Record]) -> Chart:
    """A point a node with its interval; at least one has a value."""
    names = shown_nodes(nodes)
    records = [nodes[name] for name in names]
    values = [record.value or 0.0 for record in records]
    logarithmic = min(values) > 0 and max(values) / min(values) > LOG_SPAN
    divisor, unit = share_scale(max(values), records[0].unit)
    return {
        "kind": "dots",
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


def noise_section(records: Sequence[Record]) -> list[Section]:
    """A panel for each figure, and a table of all; nothing without records."""
    drawn, rows = [], []
    for number, ((metric, probe), nodes) in enumerate(panels(records).items()):
        words = title(metric, probe)
        if shown := shown_nodes(nodes):
            more = sum(map(usable, nodes.values())) - len(shown)
            note = f"The {MOST_NODES} noisiest; {plural(more, 'more node')} in the records."
            about = f"{words}, by node; the figures are in the table below"
            chart = Drawing(f"noise-{number}", partial(panel_chart, metric, probe, nodes), about, SCRIPTS, low=True)
            drawn.append(Section(words, body=[*([Note(note, reading=True)] if more else []), chart]))
        rows += [_row(words, node, nodes[node]) for node in sorted(nodes, key=natural)]
    if not rows:
        return []
    table = Columns(["What", "Node", "Value", "Interval", "Verdict"], rows[:MOST_ROWS], words=2, tail=1)
    rest = [f"{len(rows) - MOST_ROWS} more are in records.jsonl."] if len(rows) > MOST_ROWS else []
    fold = Fold("As a table", [table, *rest], printed=False)
    body = [Note(READING, reading=True), *([SideBySide(drawn)] if drawn else []), fold]
    return [Section("Noise of the system", key="node-noise", link="Noise", body=body)]


def _row(words: str, node: str, record: Record) -> tuple[str | Cell, ...]:
    divisor, unit = share_scale(record.value or 0.0, record.unit)
    interval = "–"
    if record.low is not None and record.high is not None:
        interval = f"{record.low / divisor:.3g}–{record.high / divisor:.3g} {unit}"
    value, verdict = Cell(share_text(record), "strong"), Cell(verdict_text(record), str(record.verdict))
    return words, node, value, interval, verdict
