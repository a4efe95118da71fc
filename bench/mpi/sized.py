"""Parts `osu` and `imb`: wulf-mpi beside another tool's programs, size by size, by the repetitions of that tool.

A block is a launch of each side, which goes through all sizes: what a launch fixes for its length is in the interval.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.engine import programs
from bench.engine.blocks import Contest, run_blocks
from bench.engine.context import Context
from bench.engine.rows import Row
from bench.engine.session import Session
from bench.engine.several import Runs
from bench.mpi import messages
from wulf.core.records import Param

SIZES = tuple(4**n for n in range(11))
"""1 B to 1 MiB: what is longer takes most of a launch, and so of the blocks."""

Figures = Mapping[int, float]
"""Bytes of a message → its figure [s, B/s]."""

Ask = Callable[..., Mapping[str, float]]
"""A probe and its parameters → its metrics' values, by a session that lives for one run through the sizes."""


@dataclass(frozen=True)
class Test:
    """One program of a tool, and what does the same here.

    Parameters
    ----------
    name
        Of the figure.
    words
        The program below the tool's folder, and its options.
    better, unit
        As in `Row`.
    scale
        From its figure to SI.
    probe
        Of wulf-mpi.
    params
        From a size to the probe's parameters.
    read
        From the probe's values and the size to the figure.
    sizes
        Of messages [B].
    """

    name: str
    words: tuple[str, ...]
    unit: str
    better: str
    scale: float
    probe: str
    params: Callable[[int], dict[str, Param]]
    read: Callable[[Mapping[str, float], int], float]
    sizes: tuple[int, ...] = SIZES

    def ours(self, ask: Ask) -> Figures:
        """One launch of wulf-mpi through the sizes."""
        return {
            size: self.read(ask(self.probe, bytes=size, seconds=0.0, **self.params(size)), size) for size in self.sizes
        }


@dataclass(frozen=True)
class Tool:
    """A tool that no distribution packages.

    Parameters
    ----------
    name
        As the table has it.
    folder
        The variable of the environment that names the folder of its programs, built with the same MPI.
    parse
        From what a program prints to its figures, in its own unit.
    """

    name: str
    folder: str
    tests: tuple[Test, ...]
    parse: Callable[[str], Figures]

    def theirs(self, test: Test, run: Callable[[Sequence[str]], str]) -> Figures:
        """One launch of a program through the sizes."""
        program, *options = test.words
        printed = run([f"{os.environ[self.folder]}/{program}", *options])
        return {size: value * test.scale for size, value in self.parse(printed).items()}

    def measure(self, context: Context) -> list[Row]:
        """All rows of the part; none, where nobody names its folder."""
        if not os.environ.get(self.folder):
            context.say(f"{self.name}: {self.folder} does not name the folder of its programs; left out")
            return []
        found: list[Contest] = []
        for way, words in messages.WAYS.items():
            launched, asked = functools.partial(_launched, words), functools.partial(_asked_of_one_launch, words)
            found += self.contests(way, launched, asked)
        run_blocks(found, context.effort, context.rng, context.say)
        return [contest.row() for contest in found]

    def contests(
        self, way: str, run: Callable[[Sequence[str]], str], session: Callable[[Callable[[Ask], Figures]], Figures]
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
        for test in self.tests:
            ours = Runs(functools.partial(session, test.ours))
            theirs = Runs(functools.partial(self.theirs, test, run))
            for size in test.sizes:
                yield Contest(
                    f"MPI {test.name}, {size} B, {way}", self.name, test.unit, test.better,
                    functools.partial(ours.figure, size), functools.partial(theirs.figure, size),
                )  # fmt: skip


def _launched(way: Sequence[str], program_and_words: Sequence[str]) -> str:
    return programs.output([*messages.launch(*way), *program_and_words], messages.PATIENCE)


def _asked_of_one_launch(way: Sequence[str], work: Callable[[Ask], Figures]) -> Figures:
    with Session(messages.wulf_ranks(*way)) as session:

        def ask(probe: str, **params: object) -> Mapping[str, float]:
            metrics = session.request("run", probe=probe, params=params)["metrics"]
            return {name: float(metric["value"]) for name, metric in metrics.items() if metric["value"] is not None}

        return work(ask)
