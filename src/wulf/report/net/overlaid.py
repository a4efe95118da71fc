"""Curves of throughput over message size of several runs, one over the other: networks, settings, MPIs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wulf.core.names import capitalised, fold, subject_text
from wulf.core.records import Record
from wulf.core.units import show
from wulf.measure.engine.curve import arms_of, best_size, medians
from wulf.measure.mpi.probes import carrier
from wulf.report.kit.figures import interval_text, usable, value_text
from wulf.report.kit.matrices import record_curve
from wulf.report.kit.view import Cell, Columns, Fold, Plot, Section, View
from wulf.report.net.curve import MARKS
from wulf.store.run import Run


@dataclass(frozen=True)
class RunCurve:
    """One way of one run: throughput over size, of at least one point.

    Attributes
    ----------
    name
        Of the run, as it was asked for.
    arm
        The way.
    """

    name: str
    arm: str
    points: Mapping[int, Record]

    @property
    def about(self) -> str:
        """The pair, and what carried it."""
        first = next(iter(self.points.values()))
        return f"{subject_text(first.subject)}, {carrier(first).upper()}"

    @property
    def best(self) -> Record:
        """The most that went through."""
        return self.points[best_size(medians(self.points))]


def curves_of_runs(runs: Mapping[str, Run]) -> list[RunCurve]:
    """Every way of every run, in their order; a run without a curve has none."""
    return [
        RunCurve(name, arm, points)
        for name, run in runs.items()
        for arm, points in arms_of(run.records).items()
        if medians(points)
    ]


def overlaid_view(curves: Sequence[RunCurve]) -> View:
    """A picture for each way, with all runs that have it, and a table."""
    arms = list(dict.fromkeys(one.arm for one in curves))
    names = list(dict.fromkeys(one.name for one in curves))
    best = max(curves, key=lambda one: one.best.value or 0.0)
    return View(
        title=f"wulf compare --curves {' '.join(names)}",
        headline=f"{best.name} carries the most: {value_text(best.best)} ({interval_text(best.best)}) {best.arm}, with "
        f"messages of {_size(best.best)}.",
        brief=fold(names),
        sections=[_section(arm, [one for one in curves if one.arm == arm]) for arm in arms],
        method="The runs were measured one after the other: what differs may be time. Intervals are of each run alone. "
        "`wulf compare A B` says which sizes surely differ between two of them.",
    )  # fmt: skip


def _section(arm: str, curves: Sequence[RunCurve]) -> Section:
    drawn = [record_curve(one.name, one.points, MARKS[i % len(MARKS)]) for i, one in enumerate(curves)]
    key = arm.replace(" ", "-").replace(",", "")
    sizes = sorted({size for one in curves for size in one.points})
    rows = [(show(size, "B"), *(_cell(one.points.get(size)) for one in curves)) for size in sizes]
    heads = ["bytes", *(one.name for one in curves)]
    return Section(
        capitalised(arm),
        [f"{one.name}: {one.about}; the most, {value_text(one.best)}, at {_size(one.best)}." for one in curves],
        plot=Plot(f"curves-{key}", drawn, "message size", "throughput", "B", "B/s"),
        body=[Fold("As a table", [Columns(heads, rows, words=0)])],
    )


def _size(record: Record) -> str:
    return show(record.number("bytes"), "B")


def _cell(record: Record | None) -> str | Cell:
    if record is None or not usable(record):
        return "–"
    return Cell(value_text(record), title=interval_text(record))


def json_rows(curves: Sequence[RunCurve]) -> Iterator[dict[str, object]]:
    """An object for each run, way and size: throughput in B/s with its interval."""
    for one in curves:
        for size, record in sorted(one.points.items()):
            yield {
                "run": one.name, "arm": one.arm, "bytes": size, "value": record.value, "low": record.low,
                "high": record.high, "verdict": str(record.verdict), "reason": record.reason,
            }  # fmt: skip
