"""A search on a grid that was recorded once: what it would have found, and at what cost, with the noise drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

import numpy as np

from wulf.search.journal import drive
from wulf.search.plan import SearchPlan
from wulf.search.space import Config
from wulf.search.trial import CUT, OK, Outcome, Run, Trial

Grid = Mapping[float, Mapping[Config, Sequence[float]]]
"""Size → configuration → costs of its runs, in seconds."""


@dataclass(frozen=True)
class Replayed:
    """One replay.

    Attributes
    ----------
    regret
        How much slower the configuration found is than the best of the grid: 0.01 is one per cent. Infinite: none.
    cost
        Seconds of all runs, as a share of those of the whole grid at full size once.
    search_cost
        The same without the comparisons at the end.
    """

    regret: float
    cost: float
    search_cost: float
    found: Config | None


class Recorded:
    """A recorded grid: its truth, and runs drawn from it.

    The truth of a configuration is the median of its runs, as it is: smoothed by a model, it would suit whatever search
    has such a model. So the grid's best is the luckiest of many, and is hard to find for every search alike. The noise
    is what all runs of a size deviate from their configuration's median, in logarithms, stretched by what a median of
    so few takes off, taken together and drawn with replacement.

    Parameters
    ----------
    scale
        Of the noise drawn: below 1 as on a machine that is quieter than the one recorded.
    """

    def __init__(self, grid: Grid, scale: float = 1.0) -> None:
        medians = {n: {one: median(map(log, costs)) for one, costs in some.items()} for n, some in grid.items()}
        self._noise = {
            n: np.concatenate([(np.log(c) - medians[n][one]) * _unbiased(len(c)) for one, c in some.items()])
            for n, some in grid.items()
        }
        self.truth = {n: {one: exp(level) for one, level in levels.items()} for n, levels in medians.items()}
        self._noise = {n: scale * noise for n, noise in self._noise.items()}
        self.full = max(grid)
        self.whole = sum(self.truth[self.full].values())
        self.best = min(self.truth[self.full].values())

    def run(self, random: np.random.Generator) -> Run:
        """What runs a trial: a time drawn, and cut at its limit."""

        def once(trial: Trial) -> Outcome:
            seconds = self.draw(trial.config, trial.size, random)
            if trial.limit is not None and seconds > trial.limit:
                return Outcome(CUT, None, trial.limit, reason=f"slower than {trial.limit:.3g} s")
            return Outcome(OK, seconds, seconds, seconds)

        return once

    def draw(self, config: Config, size: float, random: np.random.Generator) -> float:
        """Seconds of one run."""
        return self.truth[size][config] * exp(float(random.choice(self._noise[size])))

    def spread(self, size: float) -> float:
        """Standard deviation of the noise of one run, in logarithms."""
        return float(np.std(self._noise[size]))

    def regret(self, config: Config | None) -> float:
        """Of this choice, at the full size."""
        return float("inf") if config is None else self.truth[self.full][config] / self.best - 1


def _unbiased(runs: int) -> float:
    """Deviations from a median of few runs are too small by about sqrt(1 - 1/n)."""
    return 1.0 if runs < 2 else (runs / (runs - 1)) ** 0.5


def replay(recorded: Recorded, plan: SearchPlan, seed: int) -> Replayed:
    """One search on the grid, its noise from this seed."""
    found = drive(plan, recorded.run(np.random.default_rng(seed)))
    lines = found.history.lines
    looking = sum(o.seconds for t, o in lines if t.block is None)
    return Replayed(
        recorded.regret(found.winner), found.history.spent / recorded.whole, looking / recorded.whole, found.winner
    )
