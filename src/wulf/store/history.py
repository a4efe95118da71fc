"""One metric over many runs: a series for each cell, in the order in which the runs were started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wulf.core.foreign import parse
from wulf.core.records import Param, Record, Verdict
from wulf.store.index import read_metas
from wulf.store.reading import StoreError, contents, lines_of, read_json, record_of
from wulf.store.run import runs_directory

NOT_IN_CELLS = frozenset({"seconds", "warmup_seconds"})
"""How long was measured, not what: runs that differ in it alone measured the same."""

PLANS = 20
"""Plans of the newest runs that are searched for which way is better."""

Cell = tuple[str, str]
"""Subject, and parameters as JSON with sorted keys."""


@dataclass(frozen=True)
class Source:
    """A run that has the metric.

    Attributes
    ----------
    path, id
        Where it lies, and what it is called.
    started
        ISO 8601, UTC.
    version
        Of wulf.
    """

    path: Path
    id: str
    started: str
    version: str


@dataclass(frozen=True)
class Point:
    """One run's figure."""

    run: Source
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """What the runs measured of one cell.

    Attributes
    ----------
    params
        The cell's parameters but for how long was measured.
    points
        Oldest run first.
    left_out
        Runs whose record failed or has no answer.
    better
        'lower' or 'higher' as the probe says; empty where no plan tells.
    """

    subject: str
    metric: str
    unit: str
    params: Mapping[str, Param]
    points: tuple[Point, ...]
    left_out: int = 0
    better: str = ""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node, or both of the pair."""
        return tuple(dict.fromkeys(self.subject.split(">")))


@dataclass(frozen=True)
class Collection:
    """All series of a metric under a directory.

    Attributes
    ----------
    runs
        How many were read, whether they have the metric or not.
    unread
        Runs that could not be read, each with the reason.
    torn
        Lines that could not be read, by run.
    """

    series: tuple[Series, ...]
    runs: int
    unread: tuple[tuple[str, str], ...] = ()
    torn: tuple[tuple[str, int], ...] = ()


def collect(
    metric: str, directory: Path | None = None, subject: str | None = None, params: Mapping[str, str] | None = None
) -> Collection:
    """One metric over the runs under a directory.

    Only complete records count: of a run that was cut short, those that were written. Lines are parsed only where the
    metric's name stands in them, so that ten thousand runs take seconds.

    Parameters
    ----------
    subject
        Of this node or pair only.
    params
        Only cells that have these parameters, as text: {"transport": "tcp", "bytes": "1"}.
    """
    kept: dict[Cell, _Growing] = {}
    sources, unread = _sources(directory)
    torn: list[tuple[str, int]] = []
    read = 0
    for source in sources:
        try:
            records, bad = _records(source.path / "records.jsonl", metric)
        except OSError as error:
            unread.append((source.path.name, error.strerror or str(error)))
            continue
        read += 1
        if bad:
            torn.append((source.path.name, bad))
        for cell, record in _by_cell(records).items():
            if (subject is None or record.subject == subject) and _matches(record.params, params or {}):
                kept.setdefault(cell, _Growing(record.subject, record.unit, _what(record.params))).add(source, record)
    better = _better(metric, {source for grown in kept.values() for source in grown.sources})
    series = [
        Series(one.subject, metric, one.unit, one.params, tuple(one.points), one.left_out, better)
        for _, one in sorted(kept.items())
    ]
    return Collection(tuple(series), read, tuple(unread), tuple(torn))


@dataclass
class _Growing:
    """A series while runs are read: what is kept of a record is little, since there may be a million."""

    subject: str
    unit: str
    params: dict[str, Param]
    points: list[Point] = field(default_factory=list)
    left_out: int = 0

    @property
    def sources(self) -> list[Source]:
        """The newest runs that have it."""
        return [point.run for point in self.points[-PLANS:]]

    def add(self, source: Source, record: Record) -> None:
        """One run's record of the cell."""
        if record.value is None or not usable(record):
            self.left_out += 1
        else:
            self.points.append(Point(source, record.value, record.low, record.high))


def _sources(directory: Path | None) -> tuple[list[Source], list[tuple[str, str]]]:
    """The runs by when they were started, and those whose run.json can't be read."""
    metas, unread = read_metas(directory)
    found = [Source(path, meta["id"], meta.get("started", ""), meta.get("version", "")) for path, meta in metas.items()]
    reasons = [(path.name, why.removeprefix(f"{path}/")) for path, why in unread.items()]
    return found, reasons


def _records(path: Path, metric: str) -> tuple[list[Record], int]:
    """The metric's records in a file, and how many lines could not be read."""
    wanted = json.dumps(metric, ensure_ascii=False).encode()
    found, torn = [], 0
    with lines_of(path) as lines:
        for line in lines:
            if not line.endswith(b"}\n"):
                torn += bool(line.strip())
            elif wanted in line:
                try:
                    record = record_of(line)
                except ValueError:
                    torn += 1
                else:
                    found += [record] if record.metric == metric else []
    return found, torn


def _by_cell(records: list[Record]) -> dict[Cell, Record]:
    """One record a cell: a run that measured a cell in two phases is still one execution; the first with a value."""
    found: dict[Cell, Record] = {}
    for record in records:
        cell = (record.subject, json.dumps(_what(record.params), sort_keys=True))
        if cell not in found or (not usable(found[cell]) and usable(record)):
            found[cell] = record
    return found


def usable(record: Record) -> bool:
    """Whether it has a value that may be compared."""
    return record.value is not None and record.verdict in (Verdict.OK, Verdict.NOISY)


def _what(params: Mapping[str, Param]) -> dict[str, Param]:
    return {name: value for name, value in params.items() if name not in NOT_IN_CELLS and value is not None}


def _matches(params: Mapping[str, Param], wanted: Mapping[str, str]) -> bool:
    """Whether the parameters are the wanted ones, written as a person or as JSON writes them."""
    return all(
        name in params and text in (str(params[name]), json.dumps(params[name])) for name, text in wanted.items()
    )


def _better(metric: str, sources: set[Source]) -> str:
    """Which way is better, from the newest plan that has the metric."""
    for source in sorted(sources, key=lambda source: source.started, reverse=True)[:PLANS]:
        for cell in _read_object(source.path / "plan.json").get("cells", []):
            for planned in cell.get("metrics", []):
                if planned.get("name") == metric and planned.get("better"):
                    return str(planned["better"])
    return ""


def _read_object(path: Path) -> dict[str, Any]:
    """A JSON object; empty where there is none that can be read."""
    try:
        return read_json(path, {})
    except StoreError:
        return {}


def fingerprint(source: Source, nodes: tuple[str, ...]) -> dict[str, Any]:
    """A run's facts of some nodes; empty where it has none that can be read."""
    content = _read_object(source.path / "fingerprint.json")
    return {node: content[node] for node in nodes if isinstance(content.get(node), dict)}


def metrics_of(directory: Path | None = None, newest: int = 100) -> dict[str, int]:
    """Metrics of the newest runs, with the number of records of each."""
    counts: dict[str, int] = {}
    for source in _sources(directory)[0][-newest:]:
        try:
            lines = (contents(source.path / "records.jsonl") or b"").splitlines()
        except StoreError:
            continue
        for line in lines:
            try:
                name = str(parse(line)["metric"])
            except (ValueError, KeyError, TypeError):
                continue
            counts[name] = counts.get(name, 0) + 1
    return counts


def place(directory: Path | None) -> Path:
    """The directory that is meant."""
    return directory if directory is not None else runs_directory()
