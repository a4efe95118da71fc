"""The whole search, from the first anchor to what is said at its end.

It is a generator of trials that is sent their outcomes: everything that it does follows from the plan and the outcomes,
so that a journal of them brings it to where it was, and a test or a replay drives it without a node.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from wulf.search.comparing import Blocks, run_blocks
from wulf.search.drifting import Drift, drift_of
from wulf.search.halving import Pool, first_rung, last_rung, second_rung, tried
from wulf.search.history import CONFIRM, PATH, History
from wulf.search.path import Interaction, KnobEffect, interactions, knob_effects, way
from wulf.search.plan import Plan
from wulf.search.space import Config
from wulf.search.trial import Outcome, Trial
from wulf.stats.comparison import Comparison

DRAWS, DRAWN = 2000, 60
"""Draws of how the most promising configurations may really stand, and how many of them."""


@dataclass
class Found:
    """What a search says.

    Attributes
    ----------
    winner
        None: nothing ran right at the full size.
    against, confirmation, confirmed
        The baseline that was hardest to beat, the comparison on fresh runs, and its runs.
    path, walked
        From the default to the winner, and the runs that compare it.
    sure
        The chance that no other configuration is faster by more than counts as no difference, as modelled.
    """

    history: History
    winner: Config | None = None
    against: str = ""
    confirmation: Comparison | None = None
    confirmed: Blocks | None = None
    path: list[Config] = field(default_factory=list)
    walked: Blocks | None = None
    sure: float | None = None
    effects: list[KnobEffect] = field(default_factory=list)
    interactions: list[Interaction] = field(default_factory=list)
    drift: Drift | None = None


Search = Generator[Trial, Outcome, Found]


def search(plan: Plan) -> Search:
    """Find the fastest configuration: yields trials, takes outcomes, returns what it found."""
    history = History(plan)
    found = Found(history)
    pool = Pool(history)
    yield from first_rung(history, pool)
    yield from second_rung(history, pool)
    yield from last_rung(history, pool)
    history.learn(tune=True)
    found.winner = _winner(history)
    if found.winner is not None:
        found.sure = _sure(history, pool, found.winner)
        yield from _confirm(history, found)
        yield from _walk(history, found)
        found.effects = knob_effects(history, found.winner)
        found.interactions = interactions(history, plan.start, found.winner)
    found.drift = drift_of(history)
    _note(found)
    return found


def _winner(history: History) -> Config | None:
    """The fastest as far as all runs tell; where none ran at the full size, None."""
    finalists = tried(history)
    if not finalists:
        return None
    mean, _ = history.surrogate.predict(finalists, history.plan.full)
    return finalists[int(np.argmin(mean))]


def _sure(history: History, pool: Pool, winner: Config) -> float:
    """By draws of the posterior at the full size."""
    mean, sd = pool.predict()
    best = [pool.configs[i] for i in np.argsort(mean - 2 * sd)[:DRAWN] if not history.failed(pool.configs[i])]
    configs = list(dict.fromkeys([winner, *best]))
    middle, covariance = history.surrogate.joint(configs, history.plan.full)
    random = np.random.default_rng(history.plan.seed)
    draws = random.multivariate_normal(middle, covariance, size=DRAWS, method="eigh")
    return float(np.mean(draws[:, 0] <= draws.min(axis=1) + np.log1p(history.plan.delta)))


def _confirm(history: History, found: Found) -> Generator[Trial, Outcome, None]:
    """Winner and baseline on fresh runs at the full size; at a smaller one where the budget ends before."""
    plan = history.plan
    assert found.winner is not None  # noqa: S101 - asked only where there is one
    baselines = {name: c for name, c in plan.baselines.items() if c != found.winner and not history.failed(c)}
    if not baselines:
        history.notes.append("Nothing was found that is faster than what there is: the search ends where it began.")
        return
    mean, _ = history.surrogate.predict(list(baselines.values()), plan.full)
    found.against = list(baselines)[int(np.argmin(mean))]
    rival = baselines[found.against]
    size = plan.full
    for smaller in reversed(plan.sizes):
        size = smaller
        if history.affords(2 * plan.blocks * history.predicted_seconds(smaller)):
            break
    if size != plan.full:
        history.notes.append(f"The budget does not reach for a confirmation at size {plan.full:g}: it is at {size:g}.")
    found.confirmed = yield from run_blocks(history, CONFIRM, [rival, found.winner], size, plan.blocks)
    found.confirmation = found.confirmed.compare(rival, found.winner, plan.delta)


def _walk(history: History, found: Found) -> Generator[Trial, Outcome, None]:
    """The way from the default, and the other baselines beside it, at the middle size."""
    plan, size = history.plan, history.plan.size_of(1)
    assert found.winner is not None  # noqa: S101
    found.path = way(history, plan.start, found.winner, size)
    beside = [*found.path, *(c for c in plan.baselines.values() if c not in found.path)]
    count = len(beside) * plan.blocks
    if len(beside) < 2:
        return
    if not history.affords(count * history.predicted_seconds(size)):
        history.notes.append("The budget does not reach for the path's own runs: its steps are modelled alone.")
        return
    found.walked = yield from run_blocks(history, PATH, beside, size, plan.blocks)


def _note(found: Found) -> None:
    history, plan = found.history, found.history.plan
    if found.winner is None:
        history.notes.append(f"No configuration gave a right answer at size {plan.full:g}: there is no winner.")
    if plan.budget is not None and history.spent >= plan.budget:
        history.notes.append(f"The budget of {plan.budget:g} s ended the search before it was done.")
    if found.drift is not None and found.drift.found and found.drift.ratio is not None:
        history.notes.append(
            f"The machine drifted: the anchor's cost went × {found.drift.ratio:.3f} from first to last "
            f"(p {found.drift.p:.2g}); what was compared within blocks does not suffer, the search's choices may."
        )
