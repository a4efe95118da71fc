"""Throughput over message size: a picture of all ways, what it costs the hosts, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wulf.core.names import capitalised, subject_text
from wulf.core.records import ENDS, Record
from wulf.core.units import show, show_in
from wulf.measure.engine.curve import ARM, PHASE, PROOF, arms_of, best_size, medians
from wulf.measure.engine.load import CPUS, INTERRUPTS, RETRANSMITS
from wulf.measure.mpi.probes import carrier
from wulf.report.kit.figures import MARKS as VERDICTS
from wulf.report.kit.figures import interval_text, usable, value_text, verdict_text
from wulf.report.kit.matrices import record_curve
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Element, Fold, Note, Plot, Section
from wulf.store.run import Run

MARKS = "○●△▲"
"""Of the ways, in a terminal."""

READING = (
    "Points are medians with their intervals; both axes are logarithmic. Both ways: what arrives at both ends. "
    "CPUs and interrupts are the whole host's, whoever used them."
)


class ThroughputCurve(Part):
    """Of one pair, over sizes, in several ways."""

    place = 31

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the curves and of their proof."""
        return (record for record in run.records if record.phase in (PHASE, PROOF))

    def answer(self, run: Run) -> str:
        """The most that goes through."""
        found = [record for points in arms_of(run.records).values() for record in points.values() if usable(record)]
        if not found:
            return ""
        best = max(found, key=lambda record: record.value or 0.0)
        how = f"{best.params[ARM]}, with messages of {show(float(best.params['bytes'] or 0), 'B')}"
        return f"{subject_text(best.subject)}: at most {value_text(best)} ({interval_text(best)}) {how}."

    def view(self, run: Run) -> Sequence[Section]:
        """The curves, the CPUs that they take, and a table each."""
        arms = arms_of(run.records)
        if not arms:
            return []
        some = next(iter(next(iter(arms.values())).values()))
        about = f"{subject_text(some.subject)}, {carrier(some).upper()}"
        loads = _loads(run)
        drawn = [record_curve(name, points, mark) for (name, points), mark in zip(arms.items(), MARKS, strict=False)]
        body: list[Element | str] = [
            Section("", plot=Plot("curve-throughput", drawn, "message size", "throughput", "B", "B/s")),
            Note(READING, reading=True),
            _together(arms),
            *(line for name, points in arms.items() if (line := _cost_line(name, points, loads))),
            *_cpu_plot(arms, loads),
            *(
                Fold(f"{capitalised(name)}, as a table", [_table(name, points, loads)], printed=False)
                for name, points in arms.items()
            ),
        ]
        return [Section(f"Throughput over message size, {about}", key="curve", link="Curve", body=body)]


def _together(arms: Mapping[str, Mapping[int, Record]]) -> Columns:
    """All ways side by side."""
    sizes = sorted({size for points in arms.values() for size in points})
    rows = [(show(size, "B"), *(_brief(points.get(size)) for points in arms.values())) for size in sizes]
    return Columns(["bytes", *arms], rows, words=0)


def _brief(record: Record | None) -> str | Cell:
    """A figure; its interval beside the pointer."""
    if record is None:
        return "–"
    return Cell(
        f"{VERDICTS[record.verdict]}{value_text(record)}", title=f"{interval_text(record)}, {verdict_text(record)}"
    )


Loads = Mapping[tuple[str, str, int], Record]
"""(metric, arm, size) → what it costs."""


def _loads(run: Run) -> Loads:
    metrics = {RETRANSMITS, *(f"{end}_{what}" for end in ENDS for what in (CPUS, INTERRUPTS))}
    return {
        (record.metric, record.text(ARM), int(record.number("bytes"))): record
        for record in run.records
        if record.phase == PHASE and record.metric in metrics
    }


def _cost_line(name: str, points: Mapping[int, Record], loads: Loads) -> str:
    """What the best size of one way costs the hosts; empty where nobody counted."""
    found = medians(points)
    if not found:
        return ""
    best = best_size(found)

    def told(metric: str, form: str) -> str:
        record = loads.get((metric, name, best))
        return "" if record is None or record.value is None else form.format(show_in(record.value, 1.0))

    ends = [told(f"{end}_{CPUS}", f"{{}} CPUs busy at the {end}") for end in ENDS]
    counts = [told(f"{end}_{INTERRUPTS}", f"{{}} interrupts a message at the {end}") for end in ENDS]
    costs = [cost for cost in (*ends, *counts, told(RETRANSMITS, "{} segments a message sent again")) if cost]
    return f"{capitalised(name)}, {show(best, 'B')}: {', '.join(costs)}." if costs else ""


def _cpu_plot(arms: Iterable[str], loads: Loads) -> list[Fold]:
    """CPUs busy at both ends, where they were counted: on the page, where eight curves can be told apart."""
    curves = []
    for name in arms:
        for end in ENDS:
            points = {
                size: record
                for (metric, arm, size), record in loads.items()
                if (metric, arm) == (f"{end}_{CPUS}", name) and record.value
            }
            if points:
                curves.append(record_curve(f"{end}, {name}", points, MARKS[0]))
    plot = Section("", plot=Plot("curve-cpus", curves, "message size", "CPUs busy", "B", "1"))
    return [Fold("What it costs the hosts", [plot], printed=False, open=True)] if curves else []


def _table(name: str, points: Mapping[int, Record], loads: Loads) -> Columns:
    heads = [
        "bytes", "throughput", "interval", "CPUs, client", "CPUs, server", "interrupts a message, client",
        "interrupts a message, server", "resent segments a message", "replicates", "verdict",
    ]  # fmt: skip
    metrics = [f"{end}_{what}" for what in (CPUS, INTERRUPTS) for end in ENDS] + [RETRANSMITS]
    return Columns(heads, [_row(name, size, points[size], loads, metrics) for size in sorted(points)], words=0, tail=1)


def _row(name: str, size: int, record: Record, loads: Loads, metrics: Sequence[str]) -> tuple[str | Cell, ...]:
    return (
        show(size, "B"), Cell(value_text(record), "strong"), interval_text(record),
        *(_load(loads.get((metric, name, size))) for metric in metrics), str(record.replicates),
        Cell(str(record.verdict), str(record.verdict), title=verdict_text(record)),
    )  # fmt: skip


def _load(record: Record | None) -> str | Cell:
    """A cost; its interval beside the pointer."""
    if record is None or record.value is None:
        return "–"
    return Cell(show_in(record.value, 1.0), title=interval_text(record))
