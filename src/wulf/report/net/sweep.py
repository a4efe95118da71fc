"""Figures over message size: curves, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.records import Record
from wulf.core.units import show
from wulf.report.kit.charts import sweep_charts
from wulf.report.kit.figures import MARKS, interval_text, metric_name, value_text, verdict_text
from wulf.report.kit.matrices import Point, Sweep, effective_bandwidth, sweeps, without_value
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Drawing, Element, Fold, Note, Section, SideBySide
from wulf.store.run import Run

TITLES = {
    "sweep-rtt": "Round trip over size",
    "sweep-bandwidth": "Effective bandwidth over size",
    "sweep-stream": "Bandwidth over size",
}

READING = (
    "Points are medians, bands their intervals, hollow points noisy; the dotted line is the 99th percentile of single "
    "round trips. Effective bandwidth is the size over half the round trip. Both axes are logarithmic."
)


class SizeSweep(Part):
    """Of one pair, over sizes."""

    place = 30

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the sweep, and of what was measured again for drift."""
        return (record for record in run.records if record.phase.split(" ")[0] in ("sweep", "anchor"))

    def view(self, run: Run) -> Sequence[Section]:
        """Curves, and a table of each."""
        curves = sweeps(run)
        if not curves:
            return []
        labels = ", ".join(sorted({curve.label for curve in curves}))
        about = f"{labels}; the figures are in the table below"
        drawn = [
            Section(TITLES[key], body=[Drawing(key, make, f"{TITLES[key]}, {about}")])
            for key, make in sweep_charts(curves)
        ]
        alone = len(curves) == 1
        tables: list[Element | str] = []
        for curve in curves:
            tables += [_table(curve)] if alone else [curve.label, _table(curve)]
        missing = [
            f"{MARKS[verdict]} {'' if alone else f'{curve.label}, '}{sizes}: {reason}"
            for curve in curves
            for sizes, verdict, reason in without_value(curve)
        ]
        body: list[Element | str] = [
            Note(READING, reading=True),
            SideBySide(drawn, "two"),
            Fold("As a table", tables),
            *missing,
        ]
        return [Section(f"Over message size, {labels}", key="sweep", link="Sweep", body=body)]


def _table(curve: Sweep) -> Columns:
    timed = curve.metric == "rtt"
    heads = ["bytes", metric_name(curve.metric), "interval", *(["bandwidth"] if timed else []), "replicates", "verdict"]
    return Columns(heads, [_row(point, timed=timed) for point in curve.points], words=0, tail=1)


def _row(point: Point, *, timed: bool) -> tuple[str | Cell, ...]:
    record, rate = point.record, effective_bandwidth(point)
    return (
        show(point.bytes, "B"), Cell(value_text(record), "strong"), interval_text(record),
        *([show(rate.value if rate else None, "B/s")] if timed else []), str(record.replicates),
        Cell(str(record.verdict), str(record.verdict), title=verdict_text(record)),
    )  # fmt: skip
