"""What a measured farm says: its tables, the master's cost, saturation, METG beside its prediction, speedup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wulf.model.draws import Uncertain, mean_of
from wulf.model.farm.costs import MasterCost, Metg, Tables, master_cost, metg, metg_buffered, metg_waiting, saturation
from wulf.model.farm.times import FarmTimes, TimesStudy, times_study
from wulf.model.speedup.study import Study as Speedup
from wulf.model.speedup.study import study as speedup_study

TABLE = "table"
"""The style of a farm of which there are times alone."""


@dataclass(frozen=True)
class Nearby:
    """Workers that are equally near to the master, in one cell.

    Attributes
    ----------
    workers
        How many.
    trips, overheads
        Of each replicate: the round trip of an empty batch, and a worker's time a message that is neither work nor
        waiting [s], each a mean over them.
    """

    workers: int
    trips: list[float]
    overheads: list[float]


@dataclass(frozen=True)
class FarmPoint:
    """One cell, and what its replicates gave.

    Attributes
    ----------
    phase
        'farm' of the designed table, 'metg' of the search.
    workers
        0: the serial run.
    units
        None where there were as many as the time needed.
    spin
        Seconds of a unit of spin; None of sha1.
    values
        Metric → value of each replicate that had one.
    near
        How near to the master ("same core", "other node", …) → what the workers there say.
    network
        Over which of several; empty where there is one.
    """

    phase: str
    workers: int
    batch: int
    units: int | None
    spin: float | None
    style: str
    values: Mapping[str, Sequence[float]]
    near: Mapping[str, Nearby] = field(default_factory=dict)
    network: str = ""

    def has(self, metric: str) -> bool:
        """Whether there are enough replicates for an interval."""
        return len(self.values.get(metric, ())) >= 2


@dataclass(frozen=True)
class FarmStudy:
    """All of it; what could not be had is None, and `lacks` says why.

    Attributes
    ----------
    workers
        The most, of which the figures without a number of workers are.
    serial
        Seconds of the serial run.
    rtt, overhead, unit
        Round trip of an empty batch; a worker's time a message that is neither work nor waiting; a unit's time at the
        workers [s].
    cost
        The master's time a message.
    saturation
        Batch → W*.
    metg
        The search's outcome; None where none was made.
    efficiency
        Seconds a unit → efficiency of each replicate of the search.
    predicted
        Name of the claim → METG(50 %) [s] that it makes.
    speedup
        The models of seconds over workers, with the largest batch.
    times
        What the times alone say; None without units of which they are.
    near
        How near to the master → workers, round trip and a worker's overhead a message.
    """

    workers: int
    style: str
    tables: Tables
    serial: Uncertain | None = None
    rtt: Uncertain | None = None
    overhead: Uncertain | None = None
    unit: Uncertain | None = None
    cost: MasterCost | None = None
    saturation: Mapping[int, Uncertain] = field(default_factory=dict)
    metg: Metg | None = None
    efficiency: Mapping[float, Sequence[float]] = field(default_factory=dict)
    predicted: Mapping[str, Uncertain] = field(default_factory=dict)
    speedup: Speedup | None = None
    speedup_batch: int = 0
    times: TimesStudy | None = None
    lacks: Sequence[str] = ()
    near: Mapping[str, tuple[int, Uncertain, Uncertain]] = field(default_factory=dict)


NEARNESS = ("same CPU", "same core", "same socket", "other socket", "same node", "other node")
"""The nearest first."""

WAITING, BUFFERED = "max(RTT + o_w, W·o/2)", "max(o_w, (o_w + RTT)/3, W·o/2)"


def farm_study(points: Sequence[FarmPoint], seed: int = 0) -> FarmStudy | None:
    """Everything that the points allow; None without a cell of the table that has a worker.

    Parameters
    ----------
    seed
        Of the draws behind the intervals.
    """
    random = np.random.default_rng(seed)
    crowd, alone = _table(points)
    if not crowd:
        return None
    workers = max(point.workers for point in crowd)
    most = [point for point in crowd if point.workers == workers]
    first = min(most, key=lambda point: point.batch)
    lacks: list[str] = []
    rtt, overhead, unit = (
        None if first.style == TABLE else _mean(first, name, random, lacks)
        for name in ("rtt", "worker_overhead", "unit")
    )
    cost = _cost(most, random, lacks)
    found = _metg(points, workers, random)
    largest = max(point.batch for point in crowd)
    return FarmStudy(
        workers, first.style, _tables(crowd), _mean(alone, "seconds", random, lacks) if alone else None,
        rtt, overhead, unit, cost,
        _saturation(most, unit, rtt, overhead, cost), *found,
        _predicted(workers, first.style, rtt, overhead, cost),
        _speedup([point for point in crowd if point.batch == largest], alone, seed, lacks), largest,
        times_study(farm_times(points), seed=seed) if first.units else None, lacks, _near(first, random),
    )  # fmt: skip


def _table(points: Sequence[FarmPoint]) -> tuple[list[FarmPoint], FarmPoint | None]:
    """The cells with workers, and the serial run."""
    timed = [point for point in points if point.phase == "farm" and point.values.get("seconds")]
    alone = next((point for point in timed if point.workers == 0), None)
    return [point for point in timed if point.workers > 0], alone


def farm_times(points: Sequence[FarmPoint]) -> FarmTimes:
    """The table of times; of points that have their units."""
    crowd, alone = _table(points)
    runs = {(one.workers, one.batch): _each_unit(one) for one in crowd if one.units}
    return FarmTimes(runs, crowd[0].units if crowd else None, _each_unit(alone) if alone and alone.units else ())


def _each_unit(point: FarmPoint) -> list[float]:
    return [seconds / (point.units or 1) for seconds in point.values["seconds"]]


def speedups(points: Sequence[FarmPoint], seed: int = 0) -> tuple[dict[int, Speedup], list[str]]:
    """The models of seconds over workers with every batch, and why some have none."""
    crowd, alone = _table(points)
    lacks: list[str] = []
    found = {}
    for batch in sorted({point.batch for point in crowd}):
        one = _speedup([point for point in crowd if point.batch == batch], alone, seed, lacks)
        if one is not None:
            found[batch] = one
    return found, lacks


def _tables(crowd: Sequence[FarmPoint]) -> Tables:
    seconds: dict[int, dict[int, float]] = {}
    for point in sorted(crowd, key=lambda point: (point.workers, point.batch)):
        seconds.setdefault(point.workers, {})[point.batch] = float(np.mean(point.values["seconds"]))
    return Tables(crowd[0].units or 0, seconds)


def _mean(point: FarmPoint, metric: str, random: np.random.Generator, lacks: list[str]) -> Uncertain | None:
    if point.has(metric):
        return mean_of(point.values[metric], random)
    lacks.append(f"{metric}: fewer than two replicates with {point.workers} workers and batches of {point.batch}")
    return None


def _near(point: FarmPoint, random: np.random.Generator) -> dict[str, tuple[int, Uncertain, Uncertain]]:
    """By place, the nearest first; those with a single replicate have no interval, and are left out."""
    return {
        place: (one.workers, mean_of(one.trips, random), mean_of(one.overheads, random))
        for place, one in sorted(point.near.items(), key=lambda item: NEARNESS.index(item[0]))
        if len(one.trips) >= 2
    }


def _cost(most: Sequence[FarmPoint], random: np.random.Generator, lacks: list[str]) -> MasterCost | None:
    if most[0].style == TABLE:
        lacks.append(
            "the master's own clock and round trips: a table of times has none (`wulf mpi farm` measures them)"
        )
        return None
    if most[0].style == "plain":
        lacks.append("the master's own time: a blocking receive does not tell waiting from receiving (--style async)")
        return None
    try:
        return master_cost({point.batch: point.values.get("service", ()) for point in most}, random)
    except ValueError as error:
        lacks.append(f"the master's own time: {error}")
        return None


def _saturation(
    most: Sequence[FarmPoint],
    unit: Uncertain | None,
    rtt: Uncertain | None,
    overhead: Uncertain | None,
    cost: MasterCost | None,
) -> dict[int, Uncertain]:
    if unit is None or rtt is None or overhead is None or cost is None:
        return {}
    return {point.batch: saturation(unit, point.batch, rtt, overhead, cost.at(point.batch)) for point in most}


def _metg(
    points: Sequence[FarmPoint], workers: int, random: np.random.Generator
) -> tuple[Metg | None, dict[float, Sequence[float]]]:
    """Points without a second replicate have no interval, and are left out."""
    sweep = {
        point.spin: point.values["efficiency"]
        for point in points
        if point.phase == "metg" and point.workers == workers and point.spin is not None and point.has("efficiency")
    }
    return (metg(sweep, random) if sweep else None), dict(sorted(sweep.items()))


def _predicted(
    workers: int, style: str, rtt: Uncertain | None, overhead: Uncertain | None, cost: MasterCost | None
) -> dict[str, Uncertain]:
    """The claims; of a master that waits for nobody the second one holds, too."""
    if rtt is None or overhead is None or cost is None:
        return {}
    claims = {WAITING: metg_waiting(workers, rtt, overhead, cost.at(1))}
    if style == "async":
        claims[BUFFERED] = metg_buffered(workers, rtt, overhead, cost.at(1))
    return claims


def _speedup(row: Sequence[FarmPoint], alone: FarmPoint | None, seed: int, lacks: list[str]) -> Speedup | None:
    serial = alone.values["seconds"] if alone else None
    try:
        return speedup_study({point.workers: point.values["seconds"] for point in row}, serial, seed=seed)
    except ValueError as error:
        lacks.append(f"models of speedup: {error}")
        return None
