"""Part `osu`: `wulf mpi pingpong --as osu7`, `stream` and `put` beside the OSU micro-benchmarks, size by size.

No distribution packages them: WULF_OSU names the folder `c/mpi` of a build of version 7 with the same MPI. A block is a
launch of each side, which goes through all sizes: what a launch fixes for its length is in the interval.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import mpi, parse
from bench.blocks import Contest, run_blocks
from bench.context import Context
from bench.rows import Row
from bench.session import Session
from bench.several import Runs
from wulf.core.records import Param
from wulf.measure.tools import osu

FOLDER = "WULF_OSU"

SIZES = tuple(4**n for n in range(12))
"""1 B to 4 MiB."""

Figures = Mapping[int, float]
"""Bytes of a message → its figure [s, B/s]."""

Ask = Callable[..., Mapping[str, float]]
"""A probe and its parameters → its metrics' values, by a session that lives for one run through the sizes."""


@dataclass(frozen=True)
class Test:
    """One of OSU's programs, and what does the same here.

    Parameters
    ----------
    name
        Of the figure.
    program
        Below the folder.
    words
        Its options.
    better, unit
        As in `Row`.
    scale
        From its figure to SI.
    params
        From a size to the probe and its parameters.
    read
        From the probe's values and the size to the figure.
    """

    name: str
    program: str
    words: tuple[str, ...]
    unit: str
    better: str
    scale: float
    params: Callable[[int], tuple[str, dict[str, Param]]]
    read: Callable[[Mapping[str, float], int], float]

    def theirs(self, run: Callable[[Sequence[str]], str]) -> Figures:
        """One launch of OSU's through all sizes."""
        words = [str(Path(os.environ[FOLDER]) / self.program), "-m", f"{SIZES[0]}:{SIZES[-1]}", *self.words]
        return {size: value * self.scale for size, value in parse.osu_sizes(run(words)).items()}

    def ours(self, ask: Ask) -> Figures:
        """One launch of wulf-mpi through the same sizes."""
        figures = {}
        for size in SIZES:
            probe, params = self.params(size)
            figures[size] = self.read(ask(probe, bytes=size, seconds=0.0, **params), size)
        return figures


def _put(sync: str) -> Test:
    return Test(
        f"put, {sync}", "one-sided/osu_put_latency", ("-s", sync.replace("-", "_")), "s", "lower", 1e-6,
        lambda size: ("put", {"sync": sync, "window": 1, **osu.latency_repeats(size)}),
        lambda values, _: values["latency"],
    )  # fmt: skip


TESTS = (
    Test(
        "half round trip", "pt2pt/standard/osu_latency", (), "s", "lower", 1e-6,
        lambda size: ("pingpong", osu.latency_repeats(size)), lambda values, _: values["rtt"] / 2,
    ),
    Test(
        "bandwidth, window 64", "pt2pt/standard/osu_bw", (), "B/s", "higher", 1e6,
        lambda size: ("stream", {"window": osu.WINDOW, **osu.bandwidth_repeats(size)}),
        lambda values, size: values["rate"] * size,
    ),
    *(_put(sync) for sync in ("flush", "lock")),
)  # fmt: skip


def measure(context: Context) -> list[Row]:
    """All rows of the part; none, where no OSU is named."""
    if not os.environ.get(FOLDER):
        context.say(f"osu: {FOLDER} does not name its folder c/mpi; left out")
        return []
    found: list[Contest] = []
    for way, words in mpi.WAYS.items():
        found += contests(way, functools.partial(_launched, words), functools.partial(_asked_of_one_launch, words))
    run_blocks(found, context.effort, context.rng, context.say)
    return [contest.row() for contest in found]


def _launched(way: Sequence[str], program_and_words: Sequence[str]) -> str:
    return mpi.output([*mpi.launch(*way), *program_and_words])


def _asked_of_one_launch(way: Sequence[str], work: Callable[[Ask], Figures]) -> Figures:
    with Session(mpi.wulf_ranks(*way)) as session:

        def ask(probe: str, **params: object) -> Mapping[str, float]:
            metrics = session.request("run", probe=probe, params=params)["metrics"]
            return {name: float(metric["value"]) for name, metric in metrics.items() if metric["value"] is not None}

        return work(ask)


def contests(
    way: str, run: Callable[[Sequence[str]], str], session: Callable[[Callable[[Ask], Figures]], Figures]
) -> Iterator[Contest]:
    """A contest for each test and size.

    Parameters
    ----------
    way
        What carries the messages, for the rows' names.
    run
        Launches a program of two ranks: what it prints.
    session
        Launches wulf-mpi, and hands what may be asked of it to a function.
    """
    for test in TESTS:
        ours, theirs = Runs(functools.partial(session, test.ours)), Runs(functools.partial(test.theirs, run))
        for size in SIZES:
            yield Contest(
                f"MPI {test.name}, {size} B, {way}", "OSU", test.unit, test.better,
                functools.partial(ours.figure, size), functools.partial(theirs.figure, size),
            )  # fmt: skip
