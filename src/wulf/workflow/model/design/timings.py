"""How long a program takes on every pair of node and network: of times over workers, a run, a trace, or its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, first_fault, json_of, text_of
from wulf.model.design.frontier import Pair
from wulf.model.design.timing import Timing, of_parts, of_study
from wulf.model.draws import Uncertain, known
from wulf.model.network.figures import Network
from wulf.model.speedup.study import study
from wulf.store.index import find_run
from wulf.workflow.engine.recover import load
from wulf.workflow.foresight.predict import Say
from wulf.workflow.model.cost import Load
from wulf.workflow.model.design.asked import Asked, Timings
from wulf.workflow.model.design.file import Candidates, Parts
from wulf.workflow.model.design.replayed import replayed, traces_of
from wulf.workflow.model.design.speeds import fabric_of, figures_of, message_times, node_of, node_times
from wulf.workflow.model.times import Given, from_csv, from_run


@dataclass(frozen=True)
class Timed:
    """Every pair with its times, where these are from, and what to beware of."""

    pairs: tuple[Pair, ...]
    source: str
    notes: tuple[str, ...] = ()


class _Speedup(BaseModel):
    """What is taken of `wulf model speedup --json`."""

    model_config = ConfigDict(extra="ignore", strict=True)
    source: str = Field(default="", max_length=10_000)
    workers: list[Annotated[float, Field(ge=1, le=1e9)]] = Field(min_length=1)
    seconds: list[Annotated[float, Field(gt=0, le=1e12)]]


def timed_pairs(given: Candidates, asked: Asked, load_run: Load, say: Say = lambda _: None) -> Timed:
    """All pairs of nodes and networks.

    Raises
    ------
    UsageError
        Nothing says how long the program takes, or how fast a candidate is.
    """
    random = np.random.default_rng(asked.seed)
    figures = figures_of(given, asked.path, asked.directory)
    nodes = node_times(given, asked.path, load_run, random)
    found = {row.name: fabric_of(row, figures.get(row.name), asked.path) for row in given.network}
    traces = traces_of(asked)
    if traces:
        timings, source, notes = replayed(given, asked, traces, nodes, figures, say=say)
    else:
        timings, source, notes = _scaled(given, asked, nodes, figures)
    pairs = tuple(
        Pair(node_of(node), found[network.name][0], timings[node.name, network.name])
        for node in given.node
        for network in given.network
    )
    return Timed(pairs, source, (*notes, *(note for _, note in found.values() if note)))


def _scaled(
    given: Candidates, asked: Asked, nodes: Mapping[str, Uncertain], figures: dict[str, Network]
) -> tuple[Timings, str, tuple[str, ...]]:
    """Of one timing on the base, scaled to what else there is; a network with parts has these."""
    messages = message_times(given, asked.path, figures, asked.seed)
    base, source, notes = _base(given, asked)
    one, found = known(1.0), {}
    for node in given.node:
        for network in given.network:
            if network.parts is not None:
                timing, message = _of(network.parts), one
            else:
                timing, message = _needed(base, asked.path), messages[network.name]
            found[node.name, network.name] = timing.scaled(nodes[node.name], message, node.workers)
    return found, source, notes


def _needed(base: Timing | None, path: Path) -> Timing:
    if base is None:
        raise UsageError(
            f"nothing says how long the program takes: neither --for nor [work] of {path}",
            "give --for TIMES.csv, or --for RUN, as `wulf model speedup` and `wulf predict` take them",
        )
    return base


def _of(parts: Parts) -> Timing:
    return of_parts(parts.parallel, parts.serial, parts.overhead, parts.communication, parts.growth)


def _base(given: Candidates, asked: Asked) -> tuple[Timing | None, str, tuple[str, ...]]:
    """The program on the base; None where only networks have its times."""
    if not asked.sources:
        parts = given.work.parts
        return (None if parts is None else _of(parts)), f"parts in {asked.path}", ()
    if len(asked.sources) > 1:
        what = "several --for are traces of one program, and one of them is none"
        raise UsageError(what, "give one table, or one run")
    times_given = _given(asked.sources[0], asked)
    try:
        found = study(times_given.seconds, times_given.serial or None, seed=asked.seed)
        timing = of_study(found)
    except ValueError as error:
        raise UsageError(f"{times_given.source}: {error}", "measure more numbers of workers") from error
    return timing, times_given.source, times_given.notes


def _given(name: str, asked: Asked) -> Given:
    """Times over workers: of a table, a JSON, or a run."""
    path = Path(name)
    if path.is_file():
        if asked.metric is not None or asked.params:
            raise UsageError("--metric and --param choose from a run", "leave them out with a file")
        return _of_json(path) if _is_json(path) else from_csv(path)
    return from_run(load(find_run(name, asked.directory)), asked.metric, asked.params)


def _is_json(path: Path) -> bool:
    try:
        return text_of(path).lstrip().startswith("{")
    except Unreadable as error:
        raise UsageError(f"can't read {path}: {error}", "give a CSV file: workers,seconds") from error


def _of_json(path: Path) -> Given:
    """What `wulf model speedup --json` said: its means. Their runs are not in it: the table tells more."""
    try:
        found = _Speedup.model_validate(json_of(path))
        if len(found.workers) != len(found.seconds) or len(set(found.workers)) < len(found.workers):
            raise Unreadable("workers and seconds are not as many, or a number of workers stands there twice")
    except Unreadable as error:
        raise UsageError(f"{path}: {error}", "give what `wulf model speedup --json` says, or its table") from error
    except ValidationError as error:
        raise UsageError(
            f"{path}: {first_fault(error)}", "give what `wulf model speedup --json` says, or its table"
        ) from error
    seconds = {n: [time] for n, time in zip(found.workers, found.seconds, strict=True)}
    return Given(seconds, [], str(path), (f"{path} holds means alone: the table it was made of tells the runs' noise",))
