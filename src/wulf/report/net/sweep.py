"""Figures over message size: curves, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wulf.core.names import plural
from wulf.core.records import Record
from wulf.core.units import show, show_interval
from wulf.report.kit.charts import sweep_charts
from wulf.report.kit.figures import MARKS, interval_text, metric_name, usable, value_text, verdict_text
from wulf.report.kit.matrices import Point, Sweep, effective_bandwidth, sweeps, without_value
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Curve, Drawing, Element, Fold, Note, Plot, Section, SideBySide
from wulf.stats.estimates import PointEstimate
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


MOST_PRINTED = 8
"""Sizes whose figures a terminal prints unasked."""

CURVE_MARKS = "·o+x*#"


class SizeSweep(Part):
    """Of one pair, over sizes."""

    place = 30

    def answer(self, run: Run) -> str:
        """The shortest round trip as latency, and the best bandwidth, of the first curve."""
        curve = next(iter(sweeps(run)), None)
        seen = [point for point in curve.points if usable(point.record)] if curve else []
        if curve is None or not seen:
            return ""
        rates = [(rate, one.bytes) for one in seen if (rate := _rate(one)) is not None]
        best, size = max(rates, key=lambda one: one[0].value, default=(None, 0))
        first = seen[0].record
        said = [f"round trip {value_text(first)} ({interval_text(first)})"] if curve.metric == "rtt" else []
        if best is not None:
            figure = f"{show(best.value, 'B/s')} ({show_interval(best.low, best.high, 'B/s')})"
            said.append(f"at most {figure}, with messages of {show(size, 'B')}")
        return f"{curve.label}: {', '.join(said)}."

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
        sizes = plural(max(len(curve.points) for curve in curves), "message size")
        body: list[Element | str] = [
            Note(READING, reading=True),
            SideBySide(drawn, "two"),
            *_plot(curves),
            Fold(
                "As a table", tables, asked=sizes if sum(len(curve.points) for curve in curves) > MOST_PRINTED else ""
            ),
            *missing,
        ]
        return [Section(f"Over message size, {labels}", key="sweep", link="Sweep", body=body)]


def _rate(point: Point) -> PointEstimate | None:
    record = point.record
    if record.metric != "throughput":
        return effective_bandwidth(point)
    return PointEstimate(record.value, record.low, record.high) if record.value else None


def _plot(curves: Sequence[Sweep]) -> list[Element | str]:
    """Bandwidth over size for a terminal; the page has charts of its own."""
    drawn = [
        Curve(curve.label, [size for size, _ in seen], [rate.value for _, rate in seen], mark=mark)
        for curve, mark in zip(curves, CURVE_MARKS, strict=False)
        if len(seen := [(one.bytes, rate) for one in curve.points if (rate := _rate(one)) is not None]) > 1
    ]
    return [Plot("sweep-text", drawn, "message size", "bandwidth", "B", "B/s", paged=False)] if drawn else []


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
