"""The layers of a run: what each adds to a round trip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from wulf.core.names import plural, subject_text, uncapitalised
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show, show_in, show_interval
from wulf.measure.net.layers import METRIC, PHASE, layers_of
from wulf.report.kit.charts import Chart, hover, label
from wulf.report.kit.figures import MARKS, record_lines, usable, value_text
from wulf.report.kit.parts import Part
from wulf.report.kit.view import Cell, Columns, Drawing, Note, Section, SideBySide
from wulf.store.run import Run

MICRO = 1e-6
"""All layers stand in one unit, so that their figures can be compared down a column."""

READING = (
    "From the bare measuring loop up. Every block measures each layer once, in random order; what a layer adds to the "
    "one below is the difference within blocks. Brackets: no difference seen."
)


@dataclass(frozen=True)
class LayerRow:
    """One layer, its round trip, and what it adds to the one below; None for the lowest."""

    name: str
    record: Record
    added: Record | None


@dataclass(frozen=True)
class LayerTable:
    """The layers of a run, bottom up, and what else was subtracted: the wire's share above loopback."""

    subject: str
    bytes: float
    rows: tuple[LayerRow, ...]
    others: tuple[Record, ...]


def layer_records(records: Sequence[Record]) -> list[Record]:
    """The records that the table of layers shows."""
    return [record for record in records if record.phase == PHASE]


def layer_table(run: Run) -> LayerTable | None:
    """The layers of a run; None where it measured none."""
    layers = layers_of(run.records)
    if not layers:
        return None
    found = [record for record in layer_records(run.records) if record.metric == METRIC]
    below: dict[str, Record] = {}
    for record in found:
        below.setdefault(record.text("layer"), record)
    top = layers[-1].record
    return LayerTable(
        subject_text(top.subject),
        top.number("bytes", 0),
        tuple(LayerRow(layer.name, layer.record, below.get(layer.name)) for layer in layers),
        tuple(record for record in found if record is not below[record.text("layer")]),
    )


def signed(value: float | None) -> str:
    """`+0.412`, in microseconds."""
    return "–" if value is None else f"{'+' if value > 0 else ''}{show_in(value, MICRO)}"


def interval(low: float | None, high: float | None) -> str:
    """`0.38 to 0.42`, in microseconds: ends may be below zero, where a dash between them would mislead."""
    return "–" if low is None or high is None else f"{show_in(low, MICRO)} to {show_in(high, MICRO)}"


def added_text(record: Record | None) -> str:
    """The difference; in brackets where none was seen."""
    if record is None:
        return ""
    return signed(record.value) if record.value is None or record.seen else f"({signed(record.value)})"


def unseen(table: LayerTable) -> list[str]:
    """A line for each difference that was not seen, with what would have been; then those without an interval."""
    lines = []
    without: dict[str, list[str]] = {}
    for record in [*(row.added for row in table.rows if row.added), *table.others]:
        head = f"{record.text('layer')} over {record.text('over')}"
        if record.value is None:
            without.setdefault(record.reason or "", []).append(head)
        elif not record.seen:
            visible = show(record.least_visible, "s")
            lines.append(f"{head}: no difference found; minimum detectable {visible}")
    return lines + [f"{_together(heads, 'difference')}: {reason}" for reason, heads in without.items()]


def doubtful(table: LayerTable) -> list[str]:
    """Why layers are noisy or have no value, a line each reason: `? shm, pipe: 3 replicates are too few`."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        if row.record.verdict is not Verdict.OK:
            reasons.setdefault((MARKS[row.record.verdict], row.record.reason or ""), []).append(row.name)
    return [f"{mark} {_together(names, 'layer')}: {reason}" for (mark, reason), names in reasons.items()]


def _together(names: Sequence[str], noun: str) -> str:
    return ", ".join(names) if len(names) <= 3 else plural(len(names), noun)


def others(table: LayerTable) -> list[str]:
    """The further differences that were seen, a line each: `wire tcp over loopback tcp: +9.3 µs (9.1–9.5 µs)`."""
    return [
        f"{record.text('layer')} over {record.text('over')}: {'+' if record.value > 0 else ''}"
        f"{show(record.value, 's')} ({show_interval(record.low, record.high, 's')})"
        for record in table.others
        if record.value is not None and record.seen
    ]


def row_cells(row: LayerRow) -> tuple[str, Cell, str, Cell, str]:
    """Layer, round trip, its interval, what it adds, and the interval of that, in microseconds."""
    record, plus = row.record, row.added
    value = f"{MARKS[record.verdict]}{show_in(record.value, MICRO) if record.value is not None else ''}"
    return (
        row.name,
        Cell(value, str(record.verdict)),
        interval(record.low, record.high) if record.value is not None else "–",
        Cell(added_text(plus), "strong"),
        interval(plus.low, plus.high) if plus else "",
    )


def layer_chart(table: LayerTable) -> Chart:
    """A bar a layer, the lowest at the bottom: what lies below it in grey, what it adds in colour."""
    drawn = [row for row in table.rows if usable(row.record)]
    values = [row.record.value or 0.0 for row in drawn]
    divisor, unit = scale_for(max(values, default=1.0), "s")
    bars: list[Chart] = []
    below = 0.0
    for row, value in zip(drawn, values, strict=True):
        record = row.record
        bars.append(
            {
                "name": label(row.name),
                "base": min(below, value) / divisor,
                "added": abs(value - below) / divisor,
                "less": value < below,
                "value": value / divisor,
                "low": None if record.low is None else record.low / divisor,
                "high": None if record.high is None else record.high / divisor,
                "noisy": record.verdict is Verdict.NOISY,
                "text": label(added_words(row)),
                "hover": hover(row.name, [*record_lines(record), *(_added_lines(row.added) if row.added else [])]),
            }
        )
        below = value
    return {"kind": "layers", "bars": bars, "xTitle": f"round trip ({unit})"}


def added_words(row: LayerRow) -> str:
    """At the end of a bar: the round trip, and what it adds."""
    if row.added is None or row.added.value is None:
        return value_text(row.record)
    plus = f"{'+' if row.added.value > 0 else '−'}{show(abs(row.added.value), 's')}"
    return plus if row.added.seen else "no difference found"


def _added_lines(record: Record) -> list[str]:
    return [f"over {record.text('over')}: {signed(record.value)} ({interval(record.low, record.high)}) µs"]


class Layers(Part):
    """What each layer adds to a round trip."""

    place = 40
    told = ("layers",)

    def answer(self, run: Run) -> str:
        """Of the top layer, in its finding's first words; and which layer adds most."""
        found = next((finding for finding in run.findings if finding.kind == "layers"), None)
        if found is None:
            return ""
        table = layer_table(run)
        steps = {row.added.value or 0.0: row for row in table.rows if row.added and row.added.seen} if table else {}
        most = steps[max(steps)] if steps and max(steps) > 0 else None
        step = f"; {most.name} adds most, {added_words(most)}" if most else ""
        first = found.text.partition(". ")[0].rstrip(".")
        return f"{subject_text(found.subject)}: {uncapitalised(first)}{step}."

    def shown(self, run: Run) -> Iterable[Record]:
        """Those of the layers, where there is a table of them."""
        return layer_records(run.records) if layer_table(run) else ()

    def view(self, run: Run) -> Sequence[Section]:
        """Bars, the table in microseconds, and what was not seen."""
        table = layer_table(run)
        if table is None:
            return []
        about = f"round trips of the layers, {table.subject}; the figures are in the table below"
        chart = Drawing("layers-chart", partial(layer_chart, table), about)
        drawn = SideBySide([Section("Round trip, and what each layer adds", body=[chart])], "large")
        rows = Columns(["layer", "round trip", "interval", "adds", "interval"], [row_cells(row) for row in table.rows])
        body = [Note(READING, reading=True), *([drawn] if any(usable(row.record) for row in table.rows) else []), rows]
        said = [*others(table), *unseen(table), *doubtful(table)]
        heading = f"Layers, {table.subject}, {show(table.bytes, 'B')}, bottom up (µs)"
        return [Section(heading, key="layers", link="Layers", body=[*body, *said])]
