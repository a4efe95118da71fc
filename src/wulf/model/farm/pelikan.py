"""The farm of 2007 as published, and what its table says of master, saturation and serial fraction (docs/farm.md)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from wulf.model.farm.costs import Tables, karp_flatt


@dataclass(frozen=True)
class Published:
    """What the report printed."""

    source: str
    tables: Tables
    peak_messages: int
    speedups: dict[int, float]
    serial_share: float


@lru_cache(maxsize=1)
def published() -> Published:
    """The report's figures, from pelikan.toml."""
    content = tomllib.loads((files("wulf.model.farm") / "pelikan.toml").read_text())
    rows = {
        int(workers): dict(zip(content["batches"], seconds, strict=True))
        for workers, seconds in content["seconds"].items()
    }
    speedups = {int(workers): value for workers, value in content["speedups"].items()}
    return Published(
        content["source"], Tables(content["units"], rows), content["peak_messages"], speedups, content["serial_share"]
    )


@dataclass(frozen=True)
class Row:
    """One number of workers: T = A + B/b, least squares.

    Attributes
    ----------
    floor
        A [s]: what is left with batches without end.
    message
        B·W/units [s]: what a message costs a worker, waiting included.
    worst
        The largest residual [s].
    """

    workers: int
    floor: float
    message: float
    worst: float


def row_of(tables: Tables, workers: int) -> Row:
    """Fit one row of the table of seconds."""
    seconds = np.array([tables.seconds[workers][batch] for batch in tables.batches])
    columns = np.stack([np.ones(seconds.size), 1 / np.array(tables.batches)], axis=1)
    theta, *_ = np.linalg.lstsq(columns, seconds, rcond=None)
    worst = float(np.abs(seconds - columns @ theta).max())
    return Row(workers, float(theta[0]), float(theta[1]) * workers / tables.units, worst)


def cycle(tables: Tables, workers: int, batch: int) -> float:
    """Seconds between two messages of one worker: work, its round trip, and what it waited for the master."""
    return workers * tables.message_time(workers, batch)


def least_saturation(tables: Tables, batch: int) -> float:
    """W* is at least this: one worker's cycle by the most that the master can need a message."""
    return cycle(tables, 1, batch) / tables.least_cost_bound(batch)


def serial_fractions(tables: Tables, workers: int) -> dict[int, float]:
    """Karp and Flatt's fraction with so many workers, by batch."""
    found = {}
    for batch in tables.batches:
        speedup = tables.speedup(workers, batch)
        if speedup is not None:
            found[batch] = karp_flatt(speedup, workers)
    return found
