"""Whether what an MPI, a compiler and a BLAS do depends on each other: a factorial around the winner, in blocks.

Each at two values, the winner's and another: all their combinations, each once in a block, in random order (Box, Hunter
& Hunter, Statistics for Experimenters, 2nd ed., chapter 5). An interaction of two is averaged over the values of the
others at which all four of its corners can be had.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from wulf.core.records import Param
from wulf.search.history import JOINT, History
from wulf.search.space import Config
from wulf.search.stages.claims import Proof, blocks_for, proofs_of
from wulf.search.stages.comparing import Blocks, run_blocks
from wulf.search.stages.path import SIGNS
from wulf.search.trial import Outcome, Trial
from wulf.stats.comparison import Comparison

Levels = dict[str, tuple[Param, Param]]
"""Knob → the winner's value, and the other one."""


@dataclass(frozen=True)
class Corners:
    """Two knobs at two values each.

    Attributes
    ----------
    slices
        The winner's values of both, the first one's other, the second one's other, both others; once for each setting
        of the other knobs at which all four can be had. None: they can't be told.
    """

    names: tuple[str, str]
    slices: tuple[tuple[Config, Config, Config, Config], ...]


@dataclass(frozen=True)
class Interaction:
    """What the blocks say of two knobs.

    Attributes
    ----------
    values
        Of each, the winner's and the other.
    proof
        Of the cost with both of the winner's against what each does by itself: 1 where neither depends on the other.
        None: their combinations can't all be had.
    alone
        What the second one's other value costs against the winner's, with the first one's winning value and its other.
    """

    names: tuple[str, str]
    values: tuple[tuple[Param, Param], tuple[Param, Param]]
    proof: Proof | None
    alone: tuple[Comparison, Comparison] | None


def interact(history: History, start: Config, winner: Config) -> Generator[Trial, Outcome, tuple[Interaction, ...]]:
    """Run the factorial at the middle size, and say what it proves; nothing where the budget ends before."""
    plan, size = history.plan, history.plan.size_of(1)
    levels = _levels(history, start, winner, size)
    pairs = [_corners(history, winner, levels, names) for names in combinations(levels, 2)]
    there = [one for one in pairs if one.slices]
    configs = list(dict.fromkeys(one for pair in there for corners in pair.slices for one in corners))
    blocks = blocks_for(len(there), plan.blocks)
    if not configs:
        return tuple(Interaction(one.names, _values(levels, one), None, None) for one in pairs)
    if not history.affords(len(configs) * blocks * history.predicted_seconds(size)):
        told = ", ".join(levels)
        history.notes.append(f"The budget does not reach for what {told} do together: nothing is said of it.")
        return ()
    ran = yield from run_blocks(history, JOINT, configs, size, blocks)
    proven = proofs_of([_contrast(ran, one, SIGNS, plan.delta) for one in there])
    proofs = {one.names: proof for one, proof in zip(there, proven, strict=True)}
    return tuple(
        Interaction(one.names, _values(levels, one), proofs.get(one.names), _alone(ran, one, plan.delta))
        for one in pairs
    )


def _levels(history: History, start: Config, winner: Config, size: float) -> Levels:
    """The winner's value of each knob, and the start's; where these are one, the other that is predicted best."""
    space = history.plan.space
    found: Levels = {}
    for at, knob in enumerate(space.knobs):
        if knob.name not in history.plan.joint:
            continue
        changed = [(*winner[:at], value, *winner[at + 1 :]) for value in knob.values if value != winner[at]]
        usual = [one for one in changed if one[at] == start[at]]
        there = [one for one in changed if space.fits(one) and not history.failed(one)]
        if thought := usual or there or changed:
            mean, _ = history.surrogate.predict(thought, size)
            found[knob.name] = (winner[at], thought[int(np.argmin(mean))][at])
    return found


def _values(levels: Levels, pair: Corners) -> tuple[tuple[Param, Param], tuple[Param, Param]]:
    return levels[pair.names[0]], levels[pair.names[1]]


def _corners(history: History, winner: Config, levels: Levels, names: tuple[str, str]) -> Corners:
    space = history.plan.space
    values = space.named(winner)
    others = [name for name in levels if name not in names]
    (a, other_a), (b, other_b) = levels[names[0]], levels[names[1]]
    slices = []
    for chosen in product(*(levels[name] for name in others)):
        beside = {**values, **dict(zip(others, chosen, strict=True))}
        one, two, three, four = (
            space.config({**beside, names[0]: x, names[1]: y})
            for x, y in ((a, b), (other_a, b), (a, other_b), (other_a, other_b))
        )
        if all(space.fits(each) and not history.failed(each) for each in (one, two, three, four)):
            slices.append((one, two, three, four))
    return Corners(names, tuple(slices))


def _contrast(ran: Blocks, pair: Corners, signs: Sequence[float], delta: float) -> Comparison:
    """Σ sign · ln cost over the corners, in the mean of all slices."""
    configs = [one for corners in pair.slices for one in corners]
    return ran.contrast(configs, [sign / len(pair.slices) for _ in pair.slices for sign in signs], delta)


def _alone(ran: Blocks, pair: Corners, delta: float) -> tuple[Comparison, Comparison] | None:
    if not pair.slices:
        return None
    return _contrast(ran, pair, (-1, 0, 1, 0), delta), _contrast(ran, pair, (0, -1, 0, 1), delta)
