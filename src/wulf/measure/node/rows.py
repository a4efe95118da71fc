"""The node survey's table, read from rows.toml: rows, curves and matrices; and records by row.

A row's name is the name under which programs read the figure as a rate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from wulf.core.records import Param, Record
from wulf.measure.engine.probes import NODE

GROUPS = ("cpu", "memory", "os", "net", "noise", "power")
"""What `--only` takes."""

ROW, CURVE, MATRIX = "row", "curve", "matrix"
"""Phases of the cells of a node survey."""

_UNITS = {
    "latency": "s", "excess": "s", "interval": "s", "rtt": "s", "connect": "s", "throughput": "B/s", "traffic": "B/s",
    "rate": "Hz",
}  # fmt: skip
"""Metric → its unit, where a row names no other."""

_WORSE = {"s": 1, "B/s": -1, "Hz": -1, "flop/s": -1}
_BETTER = {"higher": -1, "lower": 1, "neither": 0}


@dataclass(frozen=True)
class Row:
    """One figure of the table; see rows.toml for what each field means."""

    name: str
    title: str
    group: str
    block: str
    metric: str
    unit: str
    probe: str = ""
    lmbench: str = ""
    near: str = ""
    differs: str = ""
    program: str = NODE
    transport: str = ""
    params: Mapping[str, Param] = field(default_factory=dict)
    better: str = ""
    quick: bool = True
    remote: bool = False
    derived: bool = False
    key: str = ""
    seconds: float | None = None
    quick_seconds: float | None = None

    @property
    def beside(self) -> str:
        """lmbench's figure of the same kind, in words: its label, or its nearest one with what is not the same."""
        if self.near:
            return f"not lmbench's {self.near}, which is {self.differs}"
        return f"lmbench: {self.lmbench}" if self.lmbench else ""

    @property
    def worse(self) -> int:
        """+1 where higher is worse, -1 where lower is, 0 where both are only odd."""
        return _BETTER[self.better] if self.better else _WORSE.get(self.unit, 0)


@dataclass(frozen=True)
class ParameterSweep:
    """One probe over one of its parameters."""

    name: str
    title: str
    group: str
    probe: str
    metric: str
    params: Mapping[str, Param] = field(default_factory=dict)
    over: str = "bytes"
    at: Sequence[str | int] = ()
    start: str = ""
    stop: str = ""
    step: int = 1
    quick_step: int = 1
    quick: bool = True


@dataclass(frozen=True)
class Grid:
    """One probe over every pair of CPUs or memory nodes."""

    name: str
    title: str
    group: str
    probe: str
    metric: str
    axes: tuple[str, str]
    most: int
    params: Mapping[str, Param] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """All that a node survey measures."""

    rows: tuple[Row, ...]
    curves: tuple[ParameterSweep, ...]
    grids: tuple[Grid, ...]

    @property
    def by_name(self) -> dict[str, Row]:
        """The rows."""
        return {row.name: row for row in self.rows}

    @property
    def blocks(self) -> dict[str, list[Row]]:
        """Title of a block → its rows, both in the table's order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.block, []).append(row)
        return found


@cache
def table() -> Table:
    """The table that comes with wulf."""
    return read_table(tomllib.loads((files("wulf.measure.node") / "rows.toml").read_text(encoding="utf-8")))


def read_table(content: Mapping[str, Any]) -> Table:
    """The table from what the file holds.

    Raises
    ------
    ValueError
        A name twice, or a group that is none.
    """
    rows = tuple(row for block in content["block"] for row in _rows(block))
    curves = tuple(curve for entry in content["curve"] for curve in _curves(entry))
    grids = tuple(Grid(**{**entry, "axes": tuple(entry["axes"])}) for entry in content["matrix"])
    everything: list[Row | ParameterSweep | Grid] = [*rows, *curves, *grids]
    names = [one.name for one in everything]
    twice = sorted({name for name in names if names.count(name) > 1})
    groups = sorted({one.group for one in everything} - set(GROUPS))
    if twice or groups:
        raise ValueError(f"rows.toml: names twice: {twice}; groups that are none: {groups}")
    return Table(rows, curves, grids)


def _rows(block: Mapping[str, Any]) -> Iterator[Row]:
    shared = {key: value for key, value in block.items() if key not in ("title", "rows")}
    for entry in block["rows"]:
        given = {**shared, **entry, "block": block["title"]}
        yield Row(**{**given, "unit": given.get("unit") or _UNITS[given["metric"]]})


def _curves(entry: Mapping[str, Any]) -> Iterator[ParameterSweep]:
    """One curve of every combination of `each`."""
    each = entry.get("each", {})
    words = {"from": "start", "to": "stop"}
    own = {words.get(key, key): value for key, value in entry.items() if key != "each"}
    for values in product(*each.values()):
        chosen = dict(zip(each, values, strict=True))
        named = {key: own[key].format(**_shown(chosen)) for key in ("name", "title")}
        yield ParameterSweep(**{**own, **named, "params": {**own.get("params", {}), **chosen}})


def _shown(chosen: Mapping[str, Param]) -> dict[str, Param]:
    """As a name has it: of threads "one" or "all"."""
    if "threads" not in chosen:
        return dict(chosen)
    return {**chosen, "threads": "all" if chosen["threads"] == 0 else "one"}


def display_unit(record: Record) -> str:
    """The unit that people read it in: what a node does alone is counted in bytes, not in bits."""
    return "byte/s" if record.unit == "B/s" and record.probe == NODE else record.unit


def rows_of(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    """Node → name of the row → record. Of a figure between two nodes, the node that measured it."""
    found: dict[str, dict[str, Record]] = {}
    for record in records:
        if record.row:
            found.setdefault(record.nodes[0], {})[record.row] = record
    return found


def curves_of(records: Sequence[Record]) -> dict[str, dict[str, list[Record]]]:
    """Node → name of the curve → its points' records of the curve's metric, in ascending order."""
    curves = {curve.name: curve for curve in table().curves}
    found: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        curve = curves.get(record.curve)
        if curve is not None and record.metric == curve.metric:
            found.setdefault(record.nodes[0], {}).setdefault(curve.name, []).append(record)
    for each in found.values():
        for name, points in each.items():
            points.sort(key=lambda point, over=curves[name].over: float(point.params.get(over) or 0))  # type: ignore[misc]
    return found
