"""What a machine drew while an application ran: from a log of a meter (IPMI, PDU, plug) and the times of the runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

import numpy as np

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, text_of
from wulf.measure.engine.probes import MPI
from wulf.model.cost import Sourced
from wulf.model.draws import known, mean_of
from wulf.store.run import Run

PROGRAMS = ("app", MPI)

Reading = tuple[float, float]
"""Seconds since 1970, and watts."""


def read_log(path: Path) -> list[Reading]:
    """A log's readings: a line each, `time,watts[,watts…]`, the watts of several meters added up.

    The time is in seconds since 1970 or in ISO 8601, of UTC where it names no zone. Lines that begin with # are
    comments, and so is a first line of words.

    Raises
    ------
    UsageError
        The file can't be read, or a line is wrong: which, and why.
    """
    try:
        lines = text_of(path).splitlines()
    except Unreadable as error:
        raise UsageError(f"can't read {path}: {error}", "a line of it is, for example: 1764000000,215.5") from error
    found: list[Reading] = []
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.split(",")]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            found.append((_time(cells[0]), _watts(cells[1:])))
        except ValueError as error:
            if found or number > 1:
                raise UsageError(
                    f"{path}, line {number}: {error}", "a line is, for example: 1764000000,215.5"
                ) from error
    if not found:
        raise UsageError(f"{path} holds no reading", "a line of it is, for example: 1764000000,215.5")
    return sorted(found)


def _time(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        when = datetime.fromisoformat(text)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _watts(cells: Sequence[str]) -> float:
    values = [float(cell) for cell in cells]
    if not values or not all(isfinite(value) and value >= 0 for value in values):
        raise ValueError(f"{','.join(cells)!r} are no watts")
    return sum(values)


def runs_of(run: Run) -> list[tuple[float, float]]:
    """Beginning and end of each of an application's runs that was good [seconds since 1970]."""
    own = {cell["id"] for cell in run.plan.get("cells", ()) if cell.get("program") in PROGRAMS}
    good = [one for one in run.replicates if one.get("cell") in own and one.get("ok") and one.get("seconds")]
    ends = [(_time(str(one["at"])), float(one["seconds"])) for one in good]
    return [(end - seconds, end) for end, seconds in ends]


def watts_while(path: Path, run: Run | None, random: np.random.Generator) -> Sourced:
    """The mean power over an application's runs, with its interval; without a run over all readings.

    Raises
    ------
    UsageError
        The log is wrong, or holds no reading of the time in which the application ran.
    """
    readings = read_log(path)
    if run is None:
        values = [watts for _, watts in readings]
        return _mean(values, f"{path.name}, {len(values)} readings", random)
    times = runs_of(run)
    means = [np.mean(inside) for begin, end in times if (inside := [w for at, w in readings if begin <= at <= end])]
    if not means:
        spans = [_span(readings[0][0], readings[-1][0])]
        spans += [_span(min(begin for begin, _ in times), max(end for _, end in times))] if times else []
        ran = f"the application ran {spans[1]}" if times else f"run {run.id} says of no run when it was"
        raise UsageError(
            f"{path} holds readings {spans[0]}, and {ran}: none is of that time",
            "log the power while it runs, at least once a run",
        )
    which = f"{len(means)} of {len(times)} runs of {run.id}"
    return _mean([float(mean) for mean in means], f"{path.name}, {which}", random)


def _mean(values: Sequence[float], words: str, random: np.random.Generator) -> Sourced:
    return Sourced(mean_of(values, random) if len(values) > 1 else known(values[0]), words)


def _span(first: float, last: float) -> str:
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (first, last))
    return f"from {begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC"
