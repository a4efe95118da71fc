"""The farm's cells of a run, with what every replicate gave: a pure function of plan and replicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from wulf.core.names import plural
from wulf.core.records import info_as
from wulf.model.farm.study import FarmPoint, Nearby
from wulf.model.impact import AFTER, BEFORE, FigureRow, Quantity, Visit, figures_of
from wulf.stats.intervals import least_samples

FARM, METG, KINDS = "farm", "metg", "kinds"
"""Phases: the designed table, the search for the smallest useful unit, and the table with several kinds of unit."""

PROBE = "farm"

NETWORK = "network"
"""The parameter of a cell that says over which of the nodes' networks it is measured."""

CONTRASTED = ("seconds", "service")
"""What is compared between two networks: the whole run, and the master's own time a message."""


@dataclass(frozen=True)
class Design:
    """What the command was asked to measure.

    Attributes
    ----------
    workers, batches
        Of the table, crossed; a serial run is always with them.
    units
        Of every run.
    work
        Parameters of the unit: unit, bytes, spin_seconds.
    style
        async or plain.
    threads
        That do a worker's batches.
    networks
        Of the nodes: over each one has a farm of its own. None: over the one that MPI uses.
    kinds
        Several kinds of unit, as the probe takes them; empty: all are equal.
    seed
        By which units are of which kind.
    """

    workers: Sequence[int]
    batches: Sequence[int]
    units: int
    work: Mapping[str, Any]
    style: str = "async"
    threads: int = 1
    networks: Sequence[str] = ()
    kinds: str = ""
    seed: int = 1

    @property
    def ranks(self) -> int:
        """A master, and the most workers."""
        return 1 + max(self.workers)

    def table(self) -> list[dict[str, Any]]:
        """The parameters of every cell of the table."""
        shared = {**self.work, "units": self.units, "style": self.style}
        crossed = [{**shared, **self._team, "workers": w, "batch": b} for w in self.workers for b in self.batches]
        alone = {**shared, "workers": 0, "batch": 1}
        table = [{**cell, "seconds": expected_seconds(cell)} for cell in (alone, *crossed)]
        return [{**cell, NETWORK: network} for network in self.networks for cell in table] if self.networks else table

    def uneven(self) -> list[dict[str, Any]]:
        """The table's cells with workers again, with units of several kinds; none where all are equal."""
        if not self.kinds:
            return []
        return [{**cell, "kinds": self.kinds, "seed": self.seed} for cell in self.table() if cell["workers"]]

    def metg(self, spin_seconds: float, seconds: float) -> dict[str, Any]:
        """The parameters of one point of the search: the most workers, a unit a message."""
        return {
            "unit": "spin", "spin_seconds": spin_seconds, "workers": max(self.workers), "batch": 1,
            "style": self.style, "seconds": seconds, **self._team,
        }  # fmt: skip

    @property
    def _team(self) -> dict[str, Any]:
        """What only farms of threaded workers have."""
        return {"threads": self.threads} if self.threads > 1 else {}


SLOW_BYTE = 1 / 100e6
"""Seconds a byte that SHA-1 in portable code takes on an old CPU that it shares."""

SLOW_MESSAGE = 2e-4
"""Seconds a message where ranks share CPUs."""

LEAST_PATIENCE, MOST_PATIENCE = 1.0, 600.0


def expected_seconds(params: Mapping[str, Any]) -> float:
    """How long a run can last at most, all of it done by one CPU: nobody waits longer for its answer."""
    each = params["bytes"] * SLOW_BYTE if params["unit"] == "sha1" else 2 * float(params["spin_seconds"])
    messages = -(-params["units"] // params["batch"])
    return float(min(max(params["units"] * each + messages * SLOW_MESSAGE, LEAST_PATIENCE), MOST_PATIENCE))


def points_of(plan: Mapping[str, Any], replicates: Iterable[Mapping[str, Any]]) -> list[FarmPoint]:
    """Every farm cell with its metrics' values, replicate by replicate; those that failed are left out.

    Parameters
    ----------
    plan, replicates
        As plan.json and replicates.jsonl hold them.
    """
    cells = {cell["id"]: cell for cell in plan.get("cells", ()) if cell["pattern"] == PROBE}
    values: dict[int, dict[str, list[float]]] = {number: {} for number in cells}
    near: dict[int, dict[str, Nearby]] = {number: {} for number in cells}
    for replicate in replicates:
        if replicate["ok"] and replicate["cell"] in cells:
            for name, metric in replicate["metrics"].items():
                if metric["value"] is not None:
                    values[replicate["cell"]].setdefault(name, []).append(metric["value"])
            _add_nearness(near[replicate["cell"]], replicate.get("info", {}))
    return [_point(cell, values[number], near[number]) for number, cell in cells.items()]


class _Workers(TypedDict, total=False):
    """What a replicate says of its workers, one after the other."""

    nearness: list[str]
    trip: list[float]
    overhead: list[float]
    batches: list[float]


class _Uneven(TypedDict):
    """What one of several kinds of unit says of its work."""

    length: Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _add_nearness(near: dict[str, Nearby], info: Mapping[str, Any]) -> None:
    """What a replicate says of its workers, by how near they are to the master; nothing in runs of before."""
    told = info_as(_Workers, info, "a farm's replicate")
    each = [told.get(name, ()) for name in ("nearness", "trip", "overhead", "batches")]
    rows = [row for row in zip(*each, strict=False) if row[3]]
    for place in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == place]
        found = near.setdefault(place, Nearby(len(own), [], []))
        found.trips.append(sum(row[1] for row in own) / len(own))
        found.overheads.append(sum(row[2] for row in own) / sum(row[3] for row in own))


def _point(cell: Mapping[str, Any], values: Mapping[str, list[float]], near: Mapping[str, Nearby]) -> FarmPoint:
    params = cell["params"]
    return FarmPoint(
        phase=cell["phase"], workers=params["workers"], batch=params["batch"], units=params.get("units"),
        spin=params["spin_seconds"] if params["unit"] == "spin" else None, style=params["style"], values=values,
        near=near, network=params.get(NETWORK, ""),
    )  # fmt: skip


def networks_of(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """The networks of a run's farms, in the order asked for; none where it has farms over one alone."""
    cells = (cell for cell in plan.get("cells", ()) if cell["pattern"] == PROBE)
    return tuple(dict.fromkeys(cell["params"][NETWORK] for cell in cells if NETWORK in cell["params"]))


def contrasts_of(plan: Mapping[str, Any], replicates: Iterable[Mapping[str, Any]]) -> dict[str, tuple[FigureRow, ...]]:
    """Metric → each cell over the first of two networks against the same over the second, within blocks.

    Claims are corrected for the number of cells (Holm), each metric by itself. Empty without two networks, or with
    fewer blocks than could prove anything; a metric that no cell has is left out.
    """
    arms = dict(zip(networks_of(plan), (BEFORE, AFTER), strict=False))
    cells = {cell["id"]: cell["params"] for cell in plan.get("cells", ()) if NETWORK in cell["params"]}
    told = [one for one in replicates if one["ok"] and one["cell"] in cells and cells[one["cell"]]["workers"]]
    blocks = len({one["block"] for one in told})
    if len(arms) != len((BEFORE, AFTER)) or blocks < least_samples():
        return {}
    names = list(dict.fromkeys(_name(params) for params in cells.values() if params["workers"]))
    found = {}
    for metric in CONTRASTED:
        visits = [
            Visit(block, arm, {
                _name(cells[one["cell"]]): one["metrics"].get(metric, {}).get("value")
                for one in told if one["block"] == block and arms[cells[one["cell"]][NETWORK]] == arm
            }, "ok")
            for block in sorted({one["block"] for one in told}) for arm in arms.values()
        ]  # fmt: skip
        rows = figures_of(visits, [Quantity(name, "s") for name in names], names, blocks=blocks)
        if any(row.row.compared.n for row in rows):
            found[metric] = rows
    return found


def _name(params: Mapping[str, Any]) -> str:
    return f"{plural(params['workers'], 'worker')}, batch {params['batch']}"


@dataclass(frozen=True)
class UnevenCell:
    """A cell with several kinds of unit, beside the one of equal units; block by block.

    Attributes
    ----------
    equal, uneven
        Seconds of as much work.
    efficiency, uneven_efficiency
        Of both.
    unit
        Seconds of a unit at the workers, of each block of equal ones.
    """

    kinds: str
    workers: int
    batch: int
    units: int
    style: str
    threads: int
    equal: list[float]
    uneven: list[float]
    efficiency: list[float]
    uneven_efficiency: list[float]
    unit: list[float]


def uneven_cells(plan: Mapping[str, Any], replicates: Iterable[Mapping[str, Any]]) -> list[UnevenCell]:
    """Every cell with several kinds of unit; blocks that lack it, or its counterpart, are left out."""
    blocks: dict[int, dict[int, Mapping[str, Any]]] = {}
    for one in replicates:
        if one["ok"]:
            blocks.setdefault(one["cell"], {})[one["block"]] = one
    cells = [cell for cell in plan.get("cells", ()) if cell["pattern"] == PROBE]
    equal = {_place(cell["params"]): blocks.get(cell["id"], {}) for cell in cells if cell["phase"] == FARM}
    found = []
    for cell in cells:
        if cell["phase"] == KINDS:
            mine, others = blocks.get(cell["id"], {}), equal.get(_place(cell["params"]), {})
            pairs = [(others[block], mine[block]) for block in sorted(others.keys() & mine.keys())]
            found.append(_uneven(cell["params"], pairs))
    return found


def _place(params: Mapping[str, Any]) -> tuple[int, int]:
    return params["workers"], params["batch"]


def _uneven(params: Mapping[str, Any], pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> UnevenCell:
    def of(metric: str, which: int) -> list[float]:
        return [pair[which]["metrics"][metric]["value"] for pair in pairs]

    lengths = [info_as(_Uneven, uneven.get("info"), "a replicate of uneven units")["length"] for _, uneven in pairs]
    as_much = [seconds / length for seconds, length in zip(of("seconds", 1), lengths, strict=True)]
    return UnevenCell(
        params["kinds"], params["workers"], params["batch"], params["units"], params["style"],
        params.get("threads", 1), of("seconds", 0), as_much, of("efficiency", 0), of("efficiency", 1), of("unit", 0),
    )  # fmt: skip
