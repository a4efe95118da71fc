"""Times over workers, from a table or from a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wulf.core.errors import UsageError
from wulf.core.records import Param, Record
from wulf.report.kit.figures import usable
from wulf.store.run import Run
from wulf.workflow.model.csv_table import CsvTable, read_csv

WORKERS = ("workers", "ranks")
SECONDS = "seconds"
BATCH = "batch"
COLUMNS = (*WORKERS, SECONDS, "replicate")

SERIAL = "serial"
"""Stands in the column `workers` for a run of the serial program."""


@dataclass(frozen=True)
class Given:
    """What was measured.

    Attributes
    ----------
    seconds
        Workers → seconds of each run.
    serial
        Seconds of the serial program.
    source
        File or run, for people.
    """

    seconds: Mapping[float, Sequence[float]]
    serial: Sequence[float]
    source: str
    notes: tuple[str, ...] = field(default=())


def from_csv(path: Path) -> Given:
    """A table with the columns workers (or ranks) and seconds; a column `replicate` is allowed.

    Rows of `serial` in the place of workers are runs of the serial program. Lines that begin with # are comments.

    Raises
    ------
    UsageError
        The file can't be read, a column is missing or unknown, or a line is wrong: which, and why.
    """
    table = read_csv(path, "workers,seconds")
    workers = _columns(table)
    found: dict[float, list[float]] = {}
    serial: list[float] = []
    for line in table.lines:
        time = line.number_of(SECONDS)
        if line.text(workers).lower() == SERIAL:
            serial.append(time)
        else:
            found.setdefault(float(line.count(workers)), []).append(time)
    if not found:
        raise UsageError(f"{path} has no line with a number of workers", "a line is, for example: 4,12.5")
    return Given(found, serial, str(path))


def _columns(table: CsvTable) -> str:
    """What the column of workers is called."""
    if BATCH in table.heads:
        table.refuse(f"column {BATCH!r} is not known", "`wulf model farm` takes a table of workers and batches")
    table.check_known(COLUMNS)
    here = [name for name in table.heads if name in WORKERS]
    if len(here) != 1 or SECONDS not in table.heads:
        table.refuse("the columns workers and seconds are both needed", table.naming(COLUMNS))
    return here[0]


def from_run(run: Run, metric: str | None = None, params: Mapping[str, str] | None = None) -> Given:
    """Records of a run that differ in their workers (or ranks) alone.

    Parameters
    ----------
    metric
        Which one; `seconds` or, where there is none, the only one in seconds.
    params
        Which cells, where several could be meant: name → value, as text.

    Raises
    ------
    UsageError
        No record has workers and seconds, or it is not clear which are meant.
    """
    records = [one for one in run.records if _workers(one) is not None and one.unit == "s"]
    if not records:
        raise UsageError(
            f"run {run.id} has no times with a parameter workers or ranks",
            "`wulf mpi farm` measures such, or give a CSV file",
        )
    records = _of_metric(run, records, metric)
    chosen = [one for one in records if all(str(one.params.get(k)) == v for k, v in (params or {}).items())]
    if not chosen:
        wanted = ", ".join(f"{k}={v}" for k, v in (params or {}).items())
        raise UsageError(f"run {run.id} has no {records[0].metric} with {wanted}", _varying(records))
    _check_one_cell(run, chosen)
    left = [f"{_workers(one):g} workers: {one.reason}" for one in chosen if not usable(one)]
    found = {float(_workers(one) or 0): one.samples or [one.value or 0.0] for one in chosen if usable(one)}
    times = {n: [float(v) for v in values] for n, values in found.items()}
    return Given(times, [], f"run {run.id}", tuple(left))


def _workers(record: Record) -> float | None:
    value = next((record.params[name] for name in WORKERS if record.params.get(name) is not None), None)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _of_metric(run: Run, records: list[Record], metric: str | None) -> list[Record]:
    names = sorted({one.metric for one in records})
    name = metric or (SECONDS if SECONDS in names else names[0] if len(names) == 1 else None)
    if name is None or name not in names:
        what = f"no {metric}" if metric else "several metrics"
        raise UsageError(f"run {run.id} has {what}: {', '.join(names)}", "give one of them with --metric")
    return [one for one in records if one.metric == name]


def _check_one_cell(run: Run, records: Sequence[Record]) -> None:
    """UsageError where two records have the same number of workers."""
    counts = [_workers(one) for one in records]
    if len(set(counts)) < len(counts):
        raise UsageError(f"run {run.id} has several cells with the same number of workers", _varying(records))


def _varying(records: Sequence[Record]) -> str:
    """Which parameters tell the records apart."""
    names = sorted({name for one in records for name in one.params} - set(WORKERS))
    values: dict[str, list[Param]] = {
        name: list(dict.fromkeys(one.params.get(name) for one in records)) for name in names
    }
    told = [f"{name}={'|'.join(map(str, some))}" for name, some in values.items() if len(some) > 1]
    return f"choose with --param: {', '.join(told)}" if told else "give one run with one cell a number of workers"
