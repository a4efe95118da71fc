"""The tables of the report of 2007, of any farm, and what the report itself printed beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wulf.core.units import scale_for, show_in
from wulf.model.farm.costs import Tables
from wulf.model.farm.pelikan import Printed, Published, counted
from wulf.report.kit.view import Cell, Columns, Section

Figure = Callable[[Tables, int, int], float | None]

Values = Mapping[int, Mapping[int, float | None]]
"""Workers → batch → figure."""


@dataclass(frozen=True)
class Kind:
    """One of the report's tables.

    Attributes
    ----------
    whole
        Whether it is of a whole run, of which rates say nothing.
    printed
        What the report printed, where that is not arithmetic on its seconds; shown with `digits`.
    note
        What is to be said of it.
    """

    title: str
    unit: str
    figure: Figure
    whole: bool = False
    printed: Callable[[Published], Printed] = lambda _: {}
    digits: str = "g"
    note: Callable[[Published], str] = lambda _: ""


def _of_rates(theirs: Published) -> str:
    """Why the printed rates are not the units by the seconds."""
    found, units = counted(theirs), theirs.tables.units
    pairs = [
        f"{rate:,.0f} where {units:,} units in {theirs.tables.seconds[workers][batch]:g} s are "
        f"{theirs.tables.rate(workers, batch):,.0f}"
        for workers, row in theirs.messages.items()
        for batch, rate in row.items()
    ]
    return (
        f"The report printed {' and '.join(pairs)}. Both come to {found.low:,.0f} to {found.high:,.0f} messages in its "
        f"seconds, {found.value / units - 1:.1%} more than units: one count for all, which greetings and quit messages "
        "are far too few for. What else it counted is not in it. The rest of this table was not at hand as printed."
    )


def _of_overhead(_: Published) -> str:
    return (
        "The report divides what a run takes longer than with the largest batch by both messages of a cycle, work and "
        "results; its seconds give its printed figures so."
    )


KINDS = (
    Kind("Time", "s", lambda tables, workers, batch: tables.seconds[workers].get(batch), whole=True),
    Kind("Messages a second at the master", "Hz", lambda tables, workers, batch: tables.rate(workers, batch),
         printed=lambda theirs: theirs.messages, note=_of_rates),
    Kind("Time a message at the master", "s", lambda tables, workers, batch: tables.message_time(workers, batch)),
    Kind("Overhead against the largest batch", "s", lambda tables, w, batch: tables.overhead(w, batch), whole=True),
    Kind("Overhead a message, as in 2007: by both messages of a cycle", "s",
         lambda tables, workers, batch: tables.overhead_message(workers, batch),
         printed=lambda theirs: theirs.overhead, note=_of_overhead),
    Kind("Overhead a cycle: a batch and its results", "s",
         lambda tables, workers, batch: tables.overhead_cycle(workers, batch)),
    Kind("Speedup against one worker", "1", lambda tables, workers, batch: tables.speedup(workers, batch),
         printed=lambda theirs: theirs.speedup, digits=".2f"),
)  # fmt: skip


def farm_tables(tables: Tables, theirs: Published | None = None, *, rates: bool = False) -> list[Section]:
    """All of them; with `theirs` below ours where both have the same number of workers.

    Parameters
    ----------
    rates
        Whether rates alone are known: then there is nothing of whole runs.
    """
    return [one for kind in KINDS if not (rates and kind.whole) for one in _table(kind, tables, theirs)]


def _table(kind: Kind, tables: Tables, theirs: Published | None) -> list[Section]:
    ours = _values(kind, tables)
    if not any(value for row in ours.values() for value in row.values()):
        return []
    divisor, unit = _scale(kind, ours)
    rows: list[tuple[str | Cell, ...]] = []
    beside = {} if theirs is None else _beside(kind, theirs, own=theirs.tables == tables)
    for workers, row in ours.items():
        rows.append((str(workers), *(show_in(row.get(batch), divisor) for batch in tables.batches)))
        for label, known in beside.items():
            cells = [label, *(known.get(workers, {}).get(batch, "–") for batch in tables.batches)]
            if set(cells[1:]) != {"–"}:
                rows.append(tuple(Cell(cell, "dim") for cell in cells))
    small = [kind.note(theirs)] if theirs is not None and kind.note(theirs) and len(rows) > len(ours) else []
    table = Columns(["workers", *(f"batch {batch}" for batch in tables.batches)], rows, alike=True)
    return [Section(f"{kind.title}{f' ({unit})' if unit else ''}", table=table, small=small)]


def _beside(kind: Kind, theirs: Published, *, own: bool) -> dict[str, dict[int, dict[int, str]]]:
    """Rows of 2007: what its seconds come to, unless that is the table itself (`own`), and what it printed besides."""
    values, printed = _values(kind, theirs.tables), kind.printed(theirs)
    divisor, unit = _scale(kind, values)
    found = {} if own else {f"2007 {unit}".rstrip(): _texts(values, lambda value: show_in(value, divisor))}
    if printed:
        found[f"printed {unit}".rstrip()] = _texts(printed, lambda value: f"{value / divisor:{kind.digits}}")
    return found


def _texts(values: Mapping[int, Mapping[int, float | None]], text: Callable[[float], str]) -> dict[int, dict[int, str]]:
    return {w: {b: text(value) for b, value in row.items() if value is not None} for w, row in values.items()}


def _values(kind: Kind, tables: Tables) -> dict[int, dict[int, float | None]]:
    return {
        workers: {batch: kind.figure(tables, workers, batch) for batch in row}
        for workers, row in tables.seconds.items()
    }


def _scale(kind: Kind, values: Values) -> tuple[float, str]:
    """One unit for all of a table, in which its largest figure reads well."""
    known: Sequence[float] = [abs(value) for row in values.values() for value in row.values() if value]
    return scale_for(max(known), kind.unit) if known else (1.0, kind.unit)
