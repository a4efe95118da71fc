"""The farm of 2007 as published; its table on master, saturation and serial fraction (docs/how-to/farm.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from wulf.model.farm.costs import Tables, karp_flatt
from wulf.stats.estimates import Interval

Printed = Mapping[int, Mapping[int, float]]
"""Workers → batch → figure, where it is at hand."""

MICRO = 1e-6

LAST_DIGIT = 0.05
"""Seconds by which a time of one digit behind the point may be off."""


@dataclass(frozen=True)
class Published:
    """What the report printed.

    Attributes
    ----------
    tables
        Of its seconds, all of them; what else these say is arithmetic.
    messages, overhead, speedup
        Of its other tables, as printed: a second; seconds a message; against one worker.
    serial_share
        In the report's words "about 4 % serial".
    """

    source: str
    tables: Tables
    messages: Printed
    overhead: Printed
    speedup: Printed
    serial_share: float


@lru_cache(maxsize=1)
def published() -> Published:
    """The report's figures, from pelikan.toml."""
    content = tomllib.loads((files("wulf.model.farm") / "pelikan.toml").read_text())
    rows = {
        int(workers): dict(zip(content["batches"], seconds, strict=True))
        for workers, seconds in content["seconds"].items()
    }
    tables = Tables(content["units"], rows)
    return Published(
        content["source"], tables, _printed(content["messages"]), _printed(content["overhead"], MICRO),
        _printed(content["speedup"]), content["serial_share"],
    )  # fmt: skip


def _printed(rows: Mapping[str, Mapping[str, Any]], unit: float = 1.0) -> Printed:
    return {int(workers): {int(b): value * unit for b, value in row.items()} for workers, row in rows.items()}


def counted(theirs: Published) -> Interval:
    """Units that the printed rates come to with the printed seconds: those that all entries allow by their last digits.

    Of the middle of what is allowed; a rate is of batches.
    """
    low, high = 0.0, np.inf
    for workers, row in theirs.messages.items():
        for batch, rate in row.items():
            seconds = theirs.tables.seconds[workers][batch]
            low = max(low, (rate - 0.5) * (seconds - LAST_DIGIT) * batch)
            high = min(high, (rate + 0.5) * (seconds + LAST_DIGIT) * batch)
    return Interval((low + high) / 2, low, high)


@dataclass(frozen=True)
class RowFit:
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


def row_of(tables: Tables, workers: int) -> RowFit:
    """Fit one row of the table of seconds."""
    seconds = np.array([tables.seconds[workers][batch] for batch in tables.batches])
    columns = np.stack([np.ones(seconds.size), 1 / np.array(tables.batches)], axis=1)
    theta, *_ = np.linalg.lstsq(columns, seconds, rcond=None)
    worst = float(np.abs(seconds - columns @ theta).max())
    return RowFit(workers, float(theta[0]), float(theta[1]) * workers / tables.units, worst)


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
