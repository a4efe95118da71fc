"""The recorded grids that searches are replayed on, and the search of each as `wulf search` has it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bench.search import grid as hpl
from bench.search import tiles
from bench.search.replay import Recorded
from wulf.cli.search.command import REPEATS, THOROUGH
from wulf.search.plan import SearchPlan
from wulf.search.space import Config, Knob, Space

NEAR = 5
"""Anchors that tell how fast the machine was just then."""

Costs = dict[float, dict[Config, list[float]]]


@dataclass(frozen=True)
class Scene:
    """A grid with its space, and the noise times which it is replayed."""

    name: str
    what: str
    space: Space
    read: Callable[[], Costs]
    noise: float = 1.0

    @cached_property
    def recorded(self) -> Recorded:
        """The grid."""
        return Recorded(self.read(), self.noise)

    def plan(self, seed: int, **more: Any) -> SearchPlan:
        """The search as `wulf search` has it without options."""
        sizes, default = tuple(sorted(self.recorded.truth)), {"default": self.space.default}
        return SearchPlan(self.space, sizes, 3.0, default, seed, rungs=THOROUGH, repeats=REPEATS, **more)


def _value(name: str, text: str) -> str | int:
    return int(text) if name in (*HPL_NUMBERS, *tiles.NUMBERS) else text


def _space(knobs: Any, defaults: Any) -> Space:
    return Space(tuple(Knob(n, tuple(_value(n, v) for v in vs), defaults[n]) for n, vs in knobs.items()))


HPL_NUMBERS = ("nb", "depth", "nbmin")
HPL_DEFAULT = {"blas": "openblas", "grid": "1x2", "nb": 128, "depth": 1, "pfact": "right", "nbmin": 8}
"""As HPCC's example has them."""


def hpl_costs() -> Costs:
    """Seconds from HPL's GFLOPS and its own count of operations: the best of each process' solves.

    The machine's drift is taken out: each is divided by what the anchors near it were, against all anchors.
    """
    with hpl.GRID.open() as lines:
        rows = list(csv.DictReader(lines))
    grid: Costs = {float(n): defaultdict(list) for n in hpl.SIZES}
    for n in hpl.SIZES:
        work = 2 / 3 * n**3 + 3 / 2 * n**2
        seconds = np.array([work / max(float(row[f"n{n}.{i}"]) for i in range(hpl.REPEATS)) / 1e9 for row in rows])
        anchors = np.array([i for i, row in enumerate(rows) if row["kind"] == "anchor"])
        usual = np.median(seconds[anchors])
        for i, row in enumerate(rows):
            if row["kind"] == "grid":
                near = anchors[np.argsort(abs(anchors - i), kind="stable")[:NEAR]]
                config = tuple(_value(name, row[name]) for name in hpl.KNOBS)
                grid[n][config].append(float(seconds[i] * usual / np.median(seconds[near])))
    return grid


def tiles_costs() -> Costs:
    """CPU seconds as they were recorded."""
    grid: Costs = {float(n): defaultdict(list) for n in tiles.SIZES}
    with tiles.GRID.open() as lines:
        for row in csv.DictReader(lines):
            for n in tiles.SIZES:
                grid[n][tuple(_value(name, row[name]) for name in tiles.KNOBS)].append(float(row[f"n{n}"]))
    return grid


@lru_cache(maxsize=4)
def scene(name: str, noise: float) -> Scene:
    """`hpl`, on which the search was made, or `tiles`, which it has not seen."""
    if name == "hpl":
        what = f"HPL 2.0, two ranks, N = {hpl.N}"
        return Scene(name, what, _space(hpl.KNOBS, HPL_DEFAULT), hpl_costs, noise)
    what = f"a tiled matrix multiply, N = {tiles.SIZES[-1]}, held out"
    return Scene(name, what, _space(tiles.KNOBS, tiles.DEFAULT), tiles_costs, noise)


GRIDS = ("hpl", "tiles")
