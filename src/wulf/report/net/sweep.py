"""Figures over message size: a table on the terminal, curves on the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from wulf.core.names import printable
from wulf.core.records import Record
from wulf.core.units import show
from wulf.report.kit.charts import Chart, sweep_charts
from wulf.report.kit.figures import MARKS, interval_text, metric_name, value_text, verdict_text
from wulf.report.kit.matrices import Sweep, effective_bandwidth, sweeps, without_value
from wulf.report.kit.parts import Block, Part
from wulf.report.kit.printing import VERDICT_STYLES, new_table, print_titled, say
from wulf.store.run import Run

Context = dict[str, Any]


class SizeSweep(Part):
    """Of one pair, over sizes."""

    place = 30

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the sweep, and of what was measured again for drift."""
        return (record for record in run.records if record.phase.split(" ")[0] in ("sweep", "anchor"))

    def print(self, run: Run, console: Console) -> None:
        """A table a curve."""
        for curve in sweeps(run):
            _print_sweep(curve, console)

    def block(self, run: Run) -> Block | None:
        """Curves, and their table."""
        curves = sweeps(run)
        charts = sweep_charts(curves)
        content = _sweep(curves, charts)
        return Block("sweep.html.j2", content, [("sweep", "Sweep")], charts, covers_records=True) if curves else None


def _print_sweep(curve: Sweep, console: Console) -> None:
    timed = curve.metric == "rtt"
    heads = ["bytes", metric_name(curve.metric), "interval", *(["bandwidth"] if timed else []), "verdict"]
    table = new_table(*heads, right=range(len(heads) - 1))
    for point in curve.points:
        rate = effective_bandwidth(point)
        row = [show(point.bytes, "B"), value_text(point.record), interval_text(point.record)]
        row += [show(rate.value if rate else None, "B/s")] if timed else []
        table.add_row(*row, Text(str(point.record.verdict), style=VERDICT_STYLES[point.record.verdict]))
    print_titled(f"Over message size, {curve.label}", table, console)
    for sizes, verdict, reason in without_value(curve):
        say(console, f"{MARKS[verdict]} {sizes}: {reason}", indent=2)


def _sweep(curves: list[Sweep], charts: list[Chart]) -> Context:
    rows = []
    for curve in curves:
        for point in curve.points:
            effective = effective_bandwidth(point)
            rows.append(
                {
                    "curve": printable(curve.label),
                    "size": show(point.bytes, "B"),
                    "value": show(point.record.value, curve.unit),
                    "interval": interval_text(point.record),
                    "bandwidth": show(effective.value if effective else None, "B/s"),
                    "replicates": point.record.replicates,
                    "verdict": printable(verdict_text(point.record)),
                }
            )
    names = {
        "sweep-rtt": "Round trip over size",
        "sweep-bandwidth": "Effective bandwidth over size",
        "sweep-stream": "Bandwidth over size",
    }
    return {
        "charts": [{"id": c["id"], "title": names[c["id"]]} for c in charts if c["id"] in names],
        "labels": ", ".join(sorted({printable(curve.label) for curve in curves})),
        "rows": rows,
        "missing": [printable(f"{sizes}: {reason}") for curve in curves for sizes, _, reason in without_value(curve)],
    }
