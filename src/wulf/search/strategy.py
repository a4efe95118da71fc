"""The whole search, from the first anchor to what is said at its end.

It is a generator of trials that is sent their outcomes: everything that it does follows from the plan and the outcomes,
so that a journal of them brings it to where it was, and a test or a replay drives it without a node.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from wulf.search.history import CONFIRM, PATH, History
from wulf.search.plan import SearchPlan
from wulf.search.space import Config
from wulf.search.stages.claims import Proofs, blocks_for, prove
from wulf.search.stages.comparing import Blocks, run_blocks
from wulf.search.stages.drifting import AnchorDrift, drift_of
from wulf.search.stages.halving import Pool, first_rung, last_rung, second_rung, tried
from wulf.search.stages.joint import Interaction, interact
from wulf.search.stages.path import Pair, likeliest_pair, way
from wulf.search.trial import Outcome, Trial
from wulf.stats.comparison import Comparison


@dataclass
class SearchOutcome:
    """What a search says.

    Attributes
    ----------
    winner
        None: nothing ran right at the full size.
    against, confirmation, confirmed
        The baseline that was hardest to beat, the comparison on fresh runs, and its runs.
    path, pair, walked
        From the default to the winner; the two knobs that may do something only together; and the runs of both.
    proofs
        What these runs prove; None: there are none.
    joint
        Of every two of the plan's joint knobs, whether one depends on the other; empty: nothing is known.
    """

    history: History
    winner: Config | None = None
    against: str = ""
    confirmation: Comparison | None = None
    confirmed: Blocks | None = None
    path: list[Config] = field(default_factory=list)
    pair: Pair | None = None
    walked: Blocks | None = None
    proofs: Proofs | None = None
    joint: tuple[Interaction, ...] = ()
    drift: AnchorDrift | None = None


Search = Generator[Trial, Outcome, SearchOutcome]


def search(plan: SearchPlan) -> Search:
    """Find the fastest configuration: yields trials, takes outcomes, returns what it found."""
    history = History(plan)
    found = SearchOutcome(history)
    pool = Pool(history)
    yield from first_rung(history, pool)
    yield from second_rung(history, pool)
    yield from last_rung(history, pool)
    history.learn(tune=True)
    found.winner = _winner(history)
    if found.winner is not None:
        yield from _confirm(history, found)
        yield from _walk(history, found)
        if plan.joint:
            found.joint = yield from interact(history, plan.start, found.winner)
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


def _confirm(history: History, found: SearchOutcome) -> Generator[Trial, Outcome, None]:
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


def _walk(history: History, found: SearchOutcome) -> Generator[Trial, Outcome, None]:
    """The way from the default, the pair's corners and the other baselines beside it, at the middle size.

    Where the budget does not reach for it the corners are left out first.
    """
    plan, size = history.plan, history.plan.size_of(1)
    assert found.winner is not None  # noqa: S101
    found.path = way(history, plan.start, found.winner, size)
    if len(found.path) < 2:
        return
    others = [one for one in plan.baselines.values() if not history.failed(one)]
    pair = likeliest_pair(history, plan.start, found.winner, size)
    for tested in dict.fromkeys((pair, None)):
        beside = list(dict.fromkeys([*found.path, *(tested.corners if tested else ()), *others]))
        blocks = blocks_for(len(found.path) - 1 + (tested is not None), plan.blocks)
        if history.affords(len(beside) * blocks * history.predicted_seconds(size)):
            found.pair = tested
            found.walked = yield from run_blocks(history, PATH, beside, size, blocks)
            found.proofs = prove(found.walked, found.path, tested, plan.delta)
            return
    history.notes.append("The budget does not reach for the path's own runs: nothing is claimed of its steps.")


def _note(found: SearchOutcome) -> None:
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
