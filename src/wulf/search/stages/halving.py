"""Successive halving with the problem's size as fidelity: many small, some larger, a few in full.

Who is promoted is decided by the time that the surrogate extrapolates to the full size, not by rank at the size that
was run: what is fastest at N/4 often is not at N (Jamieson & Talwalkar, AISTATS 2016, promote by rank).
"""

from __future__ import annotations

import numpy as np

from wulf.search.history import COMPARED, EXPLORE, FINAL, FIRST_CUT, PROMOTED, SCREEN, History, Steps
from wulf.search.space import Config
from wulf.search.stages.screening import screening_runs
from wulf.stats.samples import Floats

SPREAD = 2 / 3
"""Share of the first rung that is spread over the space; the rest is chosen by what has been learnt."""

BOLD = 1.0
"""Standard deviations by which a configuration may be thought faster than predicted, while exploring."""


DRAWN = 60
"""Of so many of the most promising ones a draw is made: it takes the cube of their number."""

NEAR = 3
"""Of so many configurations predicted best all neighbours are thought of, too, where a space is too large to list."""


class Pool:
    """The configurations that are thought of."""

    def __init__(self, history: History) -> None:
        self._history = history
        space = history.plan.space
        self._listed = space.some(history.random)
        self._whole = len(self._listed) == space.size
        self.configs: list[Config] = list(dict.fromkeys([*history.plan.baselines.values(), *self._listed]))

    def predict(self) -> tuple[Floats, Floats]:
        """ln cost at full size and its standard deviation, of each of `configs`; neighbours of the best are added.

        Both have shape (configs,).
        """
        history = self._history
        mean, sd = history.surrogate.predict(self.configs, history.plan.full)
        if self._whole:
            return mean, sd
        best = [self.configs[i] for i in np.argsort(mean)[:NEAR]]
        known = set(self.configs)
        near = [one for config in best for one in history.plan.space.neighbours(config)]
        fresh = [one for one in dict.fromkeys(near) if one not in known]
        if not fresh:
            return mean, sd
        self.configs += fresh
        more = history.surrogate.predict(fresh, history.plan.full)
        return np.concatenate([mean, more[0]]), np.concatenate([sd, more[1]])

    def choose(self, bold: float, without: set[Config]) -> Config | None:
        """The one that may be the fastest, of those that never failed; None: there is none left."""
        return next(iter(self._promising(bold, without)), None)

    def draw(self, without: set[Config]) -> Config | None:
        """One that may be the fastest, as often as it may be: by a draw of what is known (Thompson 1933).

        Those that are alike share their chances. Chosen by mean and deviation, one after the other, they would all be
        run before a different one that may be faster at the full size.
        """
        promising = self._promising(2.0, without)[:DRAWN]
        if not promising:
            return None
        history = self._history
        middle, covariance = history.surrogate.joint(promising, history.plan.full)
        random = np.random.default_rng([history.plan.seed, len(history.lines)])
        return promising[int(np.argmin(random.multivariate_normal(middle, covariance, method="eigh")))]

    def _promising(self, bold: float, without: set[Config]) -> list[Config]:
        mean, sd = self.predict()
        order = [self.configs[i] for i in np.argsort(mean - bold * sd, kind="stable").tolist()]
        return [one for one in order if one not in without and not self._history.failed(one)]


def first_rung(history: History, pool: Pool) -> Steps:
    """At the smallest size: screening, baselines, a spread over the space, and then what looks best."""
    plan, size, count = history.plan, history.plan.size_of(0), history.plan.rungs[0]
    for one in screening_runs(plan.space, history.random):
        if not history.affords(0):
            return
        yield from history.ask(SCREEN, one, size, cut=FIRST_CUT if plan.cut else 0.0)
    spread = plan.space.spread(round(count * SPREAD), history.random)
    first = list(dict.fromkeys([*plan.baselines.values(), *spread]))[:count]
    for one in first:
        if not history.affords(0):
            return
        yield from history.ask(EXPLORE, one, size, cut=FIRST_CUT if plan.cut else 0.0)
    yield from _chosen(history, pool, EXPLORE, size, count - len(first), cut=FIRST_CUT if plan.cut else 0.0)


def second_rung(history: History, pool: Pool) -> Steps:
    """At the middle size: those extrapolated best."""
    plan = history.plan
    if plan.size_of(1) != plan.size_of(0):
        yield from _chosen(history, pool, PROMOTED, plan.size_of(1), plan.rungs[1], cut=plan.cut)


def last_rung(history: History, pool: Pool) -> Steps:
    """At the full size: the few best, and again those that may be the fastest; a run that loses is cut."""
    plan = history.plan
    yield from _chosen(history, pool, FINAL, plan.full, plan.rungs[2], cut=plan.cut)
    for _ in range(plan.repeats):
        history.learn(tune=False)
        mean, sd = history.surrogate.predict(finalists := tried(history), plan.full)
        if not finalists or not history.affords(history.predicted_seconds(plan.full)):
            return
        chosen = finalists[int(np.argmin(mean - BOLD * sd))]
        yield from history.ask(FINAL, chosen, plan.full, cut=plan.cut)


def tried(history: History) -> list[Config]:
    """Those that were right at the full size, while the search looked for the best; with one size, in any rung."""
    full = history.plan.full
    found = [t.config for t, o in history.lines if t.size == full and t.stage not in COMPARED and o.cost is not None]
    return [one for one in dict.fromkeys(found) if not history.failed(one)]


def _chosen(history: History, pool: Pool, stage: str, size: float, count: int, *, cut: float) -> Steps:
    """So many configurations, each chosen after the one before was learnt from."""
    done: set[Config] = {t.config for t, _ in history.lines if t.size == size}
    history.learn(tune=True)
    for _ in range(count):
        bold = 0.0 if stage == FINAL else BOLD
        one = pool.draw(done) if stage == PROMOTED else pool.choose(bold, done)
        if one is None or not history.affords(history.predicted_seconds(size)):
            return
        done.add(one)
        yield from history.ask(stage, one, size, cut=cut)
        history.learn(tune=False)
