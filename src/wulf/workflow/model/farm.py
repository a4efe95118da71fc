"""A farm's table: a CSV of workers and batches, a run of `wulf mpi farm`, or the table of 2007."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.measure.mpi.farm import networks_of, points_of
from wulf.model.farm.pelikan import published
from wulf.model.farm.study import TABLE, FarmPoint
from wulf.store.run import Run
from wulf.workflow.model.csv_table import CsvLine, CsvTable, read_csv
from wulf.workflow.model.times import BATCH, SECONDS, SERIAL

WORKERS, UNITS = "workers", "units"
UNIT_RATE, MESSAGE_RATE = "units/s", "messages/s"
FIGURES = (SECONDS, UNIT_RATE, MESSAGE_RATE)
COLUMNS = (WORKERS, BATCH, *FIGURES, UNITS, "replicate")

MOST_COUNT = 10**9
"""Workers, and units a message."""

LEAST_EACH, MOST_EACH = 1e-12, 1e9
"""Seconds a unit that any farm may take: beyond, there is a slip in the table, and no fit has a meaning."""

MOST_CELLS = 1000

NOMINAL = 1_000_000
"""Batches of the largest size in a run of which a rate alone is known: rates say nothing of a run's length."""


@dataclass(frozen=True)
class FarmTable:
    """What was measured.

    Attributes
    ----------
    points
        Its cells; seconds of runs, which are nominal where `rates` were given alone.
    source
        File or run, for people.
    of_2007
        Whether it is the report's.
    """

    points: Sequence[FarmPoint]
    source: str
    rates: bool = False
    of_2007: bool = False


def from_csv(path: Path, units: int | None = None) -> FarmTable:
    """A table with the columns workers, batch, and one of seconds, units/s and messages/s.

    A column `units`, or `units`, says how many units each run had, which seconds need. Several lines with the same
    workers and batch are replicates. `serial` in the place of workers is a run of the serial program, whose batch does
    not count. Lines that begin with # are comments.

    Raises
    ------
    UsageError
        The file can't be read, a column is missing or unknown, or a line is wrong: which, and why.
    """
    table = read_csv(path, "workers,batch,seconds,units")
    figure = _figure(table, units)
    counts = _units(table, units)
    common = counts[0] if len(set(counts)) == 1 else None
    batches = [1 if _serial(line) else _batch(line, count) for line, count in zip(table.lines, counts, strict=True)]
    total = common or NOMINAL * max(batches, default=1)
    found: dict[tuple[int, int], list[float]] = {}
    for line, batch, count in zip(table.lines, batches, counts, strict=True):
        workers = 0 if _serial(line) else _bounded(line, WORKERS)
        found.setdefault((workers, batch), []).append(_each_unit(line, figure, batch, count) * total)
    if not any(workers for workers, _ in found):
        raise UsageError(f"{path} has no line with a number of workers", "a line is, for example: 4,10,12.5,1000000")
    if len(found) > MOST_CELLS:
        raise UsageError(f"{path} has {len(found):,} cells of workers and batches", f"give {MOST_CELLS:,} at most")
    points = [
        FarmPoint("farm", w, b, total, None, TABLE, {SECONDS: seconds}) for (w, b), seconds in sorted(found.items())
    ]
    return FarmTable(points, str(path), rates=common is None)


def _figure(table: CsvTable, units: int | None) -> str:
    """Which of the figures it holds."""
    table.check_known(COLUMNS)
    missing = next((name for name in (WORKERS, BATCH) if name not in table.heads), None)
    if missing is not None:
        table.refuse(f"the column {missing} is missing", table.naming(COLUMNS))
    here = [name for name in FIGURES if name in table.heads]
    if len(here) != 1:
        table.refuse(f"one of the columns {', '.join(FIGURES)} is needed, and there are {len(here)}", "keep one")
    if UNITS in table.heads and units is not None:
        table.refuse("the column units and --units both say how many units a run had", "leave one out")
    if here[0] == SECONDS and UNITS not in table.heads and units is None:
        table.refuse("seconds need the units of their runs", "add a column units, or give --units 1000000")
    return here[0]


def _units(table: CsvTable, units: int | None) -> list[int | None]:
    """Of each line."""
    return [line.count(UNITS) if UNITS in table.heads else units for line in table.lines]


def _serial(line: CsvLine) -> bool:
    return line.text(WORKERS).lower() == SERIAL


def _batch(line: CsvLine, units: int | None) -> int:
    batch = _bounded(line, BATCH)
    if units is not None and batch > units:
        line.refuse(f"batch is {batch}, of {units} units in all")
    return batch


def _bounded(line: CsvLine, name: str) -> int:
    count = line.count(name)
    if count > MOST_COUNT:
        line.refuse(f"{name} is {line.text(name)}, more than {MOST_COUNT:,}")
    return count


def _each_unit(line: CsvLine, figure: str, batch: int, units: int | None) -> float:
    """Seconds a unit."""
    value = line.number_of(figure)
    done = {SECONDS: (units or 1) / value, UNIT_RATE: value, MESSAGE_RATE: value * batch}[figure]
    if not LEAST_EACH <= 1 / done <= MOST_EACH:
        line.refuse(f"{figure} is {line.text(figure)}: {1 / done:.3g} s a unit, not {LEAST_EACH:g} to {MOST_EACH:g} s")
    return 1 / done


def from_run(run: Run) -> FarmTable:
    """The table that `wulf mpi farm` measured, with what its ranks said besides. Raises UsageError without one."""
    points = points_of(run.plan, run.replicates)
    over = ""
    for network in networks_of(run.plan)[:1]:
        points, over = [point for point in points if point.network == network], f" over {network}"
    if not any(one.phase == "farm" and one.workers and one.values.get(SECONDS) for one in points):
        raise UsageError(f"run {run.id} has no farm", "`wulf mpi farm` measures one, or give a CSV file")
    return FarmTable(points, f"run {run.id}{over}")


def of_2007() -> FarmTable:
    """The table of the report."""
    theirs = published()
    points = [
        FarmPoint("farm", workers, batch, theirs.tables.units, None, TABLE, {SECONDS: [seconds]})
        for workers, row in theirs.tables.seconds.items()
        for batch, seconds in row.items()
    ]
    return FarmTable(points, "the table of 2007", of_2007=True)
