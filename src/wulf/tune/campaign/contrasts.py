"""What a block's arms say: values by block, the contrasts of a design, comparisons within blocks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from wulf.stats.comparison import Comparison, PairedRule
from wulf.stats.designs import Levels
from wulf.stats.ranks import signed_rank_level
from wulf.stats.samples import Floats
from wulf.tune.campaign.arms import Stage

Values = Sequence[float | None]
"""One for each step of a stage, in its order; None where nothing was measured. Shorter where it was cut short."""

Blocks = Sequence[Mapping[int, float]]
"""Of each block, arm → logarithm of its value."""

Contrast = Mapping[int, float]
"""Arm → the weight with which its logarithm counts."""


def blocks_of(stage: Stage, values: Values) -> list[dict[int, float]]:
    """What was measured, block by block, as logarithms."""
    blocks: list[dict[int, float]] = [{} for _ in range(stage.blocks)]
    for step, value in zip(stage.steps, values, strict=False):
        if value is not None:
            blocks[step.block][step.arm] = log(value)
    return blocks


def difference(a: int, b: int) -> Contrast:
    """Arm b against arm a."""
    return {a: -1.0, b: 1.0}


def main_effects(levels: Levels) -> list[Contrast]:
    """Each factor's main effect.

    The mean over all pairs of arms that differ in this factor alone: whatever the others do, by themselves or any of
    them together, both arms of a pair have it, and a factor that does nothing gets exactly nothing. An ablation has two
    such pairs a factor (alone, and together with all others), a full factorial all of them. A fraction has none, and
    is solved by least squares: at resolution V only interactions of four others and more go into a main effect.

    Parameters
    ----------
    levels
        -1 or +1 of each arm, shape (arms, factors).
    """
    where = {tuple(row): arm for arm, row in enumerate(levels.tolist())}
    pairs = [
        [(arm, where[on]) for off, arm in where.items() if off[i] < 0 and (on := (*off[:i], 1, *off[i + 1 :])) in where]
        for i in range(levels.shape[1])
    ]
    return [_mean_difference(some) for some in pairs] if all(pairs) else _least_squares(levels)


def _mean_difference(pairs: Sequence[tuple[int, int]]) -> Contrast:
    """Over pairs (off, on); an arm is in one pair of a factor at most."""
    return {arm: sign / len(pairs) for off, on in pairs for arm, sign in ((off, -1.0), (on, 1.0))}


def _least_squares(levels: Levels) -> list[Contrast]:
    solved = 2 * np.linalg.pinv(np.column_stack([np.ones(len(levels)), levels.astype(float)]))[1:]
    return [dict(enumerate(row.tolist())) for row in solved]


def in_blocks(blocks: Blocks, contrast: Contrast) -> Floats:
    """A contrast in every block that has all the arms it needs, shape (blocks that do,)."""
    whole = [block for block in blocks if block.keys() >= contrast.keys()]
    return np.array([sum(weight * block[arm] for arm, weight in contrast.items()) for block in whole])


def compared(differences: Floats, rule: PairedRule, claims: int = 1) -> Comparison:
    """A contrast's comparison by its values in all blocks; what would have been seen is for one claim among so many.

    The interval is its own. To claim one of several takes a smaller error (`strict`, which Holm's first step asks for
    as well), and a greater effect.
    """
    level = strict(rule, claims)
    seen = None if level is None else level.judge(differences).least_visible
    return replace(rule.judge(differences), least_visible=seen)


def strict(rule: PairedRule, claims: int) -> PairedRule | None:
    """The rule for each of so many claims that all of them together err with at most its α (Bonferroni).

    None where so few blocks could never convince at it.
    """
    alpha = rule.alpha / max(1, claims)
    return replace(rule, alpha=alpha) if signed_rank_level(rule.most, alpha) > 0 else None
