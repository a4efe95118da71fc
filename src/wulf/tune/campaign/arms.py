"""The configurations that a campaign measures, and in which order: stages of blocks.

A block measures every arm once, in random order, the baseline as one of them: whatever drifts, jumps or remembers, any
two arms of a block have met it alike, and arms are compared within blocks alone. The stages that look for what is
faster have an A/A arm, in which nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from wulf.core.errors import UsageError
from wulf.stats.comparison import enough_pairs
from wulf.stats.designs import (
    CONTROL,
    Design,
    Kind,
    Levels,
    ablation,
    fractional_factorial,
    full_factorial,
    order,
    replicate,
    with_control,
)
from wulf.tune.campaign.selecting import Factor
from wulf.tune.values import Level

DesignName = Literal["auto", "ablation", "factorial"]

MOST_WHOLE = 3
"""Settings of which all combinations are measured unless another design is asked for: with the A/A arm 16 runs."""

MOST_FACTORIAL = 10
"""Settings of a fraction at most: the table of fractions has eleven factors, one of which is the A/A arm."""

LEAST_BLOCKS, SPARE_BLOCKS = 8, 2
"""Blocks at least, and beyond those in which only a setting that won every single block would convince."""

DEFAULT, COMBINED, KEPT = "default", "combined", "kept"


@dataclass(frozen=True)
class Arm:
    """One configuration.

    Attributes
    ----------
    kind
        What it is for; "level" is one value of a setting that is swept, "mixture" a run of a factorial design.
    changes
        Factor → what is written; the A/A arm is named, and writes nothing.
    """

    name: str
    kind: Literal["baseline", "control", "level", "alone", "leave-one-out", "combined", "mixture"]
    changes: Mapping[str, Level | None]

    @property
    def writes(self) -> tuple[tuple[str, object], ...]:
        """(setting, value) of all its changes, in their order."""
        return tuple(write for level in self.changes.values() if level for write in level.writes)


@dataclass(frozen=True)
class Step:
    """One measurement: which arm, in which block."""

    block: int
    arm: int


@dataclass(frozen=True)
class Stage:
    """Arms, and the order in which they are measured.

    Attributes
    ----------
    factors
        Names of the columns of `levels`.
    levels
        Of each arm, -1 or +1, shape (arms, factors); None where arms are the levels of a sweep.
    """

    name: Literal["sweep", "main", "confirm", "estimate"]
    arms: tuple[Arm, ...]
    steps: tuple[Step, ...]
    factors: tuple[str, ...] = ()
    levels: Levels | None = None
    kind: Kind | None = None

    @cached_property
    def blocks(self) -> int:
        """How many blocks there are."""
        return 1 + max(step.block for step in self.steps)


def blocks_for(claims: int, alpha: float) -> int:
    """How many blocks it takes that so many claims, corrected for their number, can be proven with some to spare."""
    return max(LEAST_BLOCKS, enough_pairs(claims, alpha) + SPARE_BLOCKS)


def check_blocks(blocks: int, claims: int, alpha: float) -> None:
    """Refuse a campaign that could never prove anything.

    Raises
    ------
    UsageError
        Says how many blocks it takes.
    """
    least = max(6, enough_pairs(claims, alpha))
    if blocks < least:
        raise UsageError(
            f"{blocks} blocks can never prove the effect of one of {claims} settings", f"--blocks {least} at least"
        )


def sweep_stage(factors: Sequence[Factor], texts: Mapping[Level, str], blocks: int, seed: int) -> Stage | None:
    """Every value of every setting that has several, alone; None where none has."""
    swept = [factor for factor in factors if len(factor.levels) > 1]
    if not swept:
        return None
    arms = [Arm(DEFAULT, "baseline", {}), Arm(CONTROL, "control", {CONTROL: None})]
    arms += [Arm(texts[level], "level", {factor.name: level}) for factor in swept for level in factor.levels]
    return Stage("sweep", tuple(arms), _shuffled(len(arms), blocks, np.random.default_rng([seed, 1])))


def main_stage(
    factors: Sequence[Factor], chosen: Mapping[str, Level], texts: Mapping[Level, str], *, blocks: int, seed: int,
    design: DesignName = "auto",
) -> Stage:  # fmt: skip
    """Each alone, all but each, all, or the combinations of a factorial design; the A/A arm is one of the factors.

    Parameters
    ----------
    chosen
        Factor → its value that is tried.
    """
    made = design_of([factor.name for factor in factors], design)
    arms = tuple(_arm(made, row, chosen, texts) for row in made.runs)
    sequence = order(replicate(made, blocks), np.random.default_rng([seed, 2]))
    steps = tuple(Step(int(run) // len(arms), int(run) % len(arms)) for run in sequence)
    return Stage("main", arms, steps, made.names, made.runs, made.kind)


def design_of(names: Sequence[str], design: DesignName) -> Design:
    """The design of one block, A/A arm included.

    Raises
    ------
    UsageError
        A factorial design of more settings than there is one for.
    """
    factors = with_control(names)
    if design == "auto":
        design = "factorial" if len(names) <= MOST_WHOLE else "ablation"
    if design == "ablation":
        return ablation(factors)
    if len(names) > MOST_FACTORIAL:
        raise UsageError(
            f"a factorial design of {len(names)} settings is too large: {MOST_FACTORIAL} are the most",
            "name fewer with --settings, or take --design ablation",
        )
    return full_factorial(factors) if len(names) <= MOST_WHOLE else fractional_factorial(factors)


def confirm_stage(kept: Mapping[str, Level], blocks: int, seed: int) -> Stage:
    """What is to be kept against the baseline, on fresh data: it decides."""
    arms = (Arm(DEFAULT, "baseline", {}), Arm(KEPT, "combined", dict(kept)))
    return Stage("confirm", arms, _shuffled(2, blocks, np.random.default_rng([seed, 3])))


def estimate_stage(kept: Mapping[str, Level], blocks: int, seed: int) -> Stage:
    """What is kept against the baseline, and each setting of several against all others kept; it decides nothing.

    Whatever passed a test was measured to be large in the figures that it passed by. So what it is worth comes from
    figures on which nothing depends any more.
    """
    arms = [Arm(DEFAULT, "baseline", {}), Arm(KEPT, "combined", dict(kept))]
    if len(kept) > 1:
        arms += [
            Arm(f"kept but {left}", "leave-one-out", {name: level for name, level in kept.items() if name != left})
            for left in kept
        ]
    return Stage("estimate", tuple(arms), _shuffled(len(arms), blocks, np.random.default_rng([seed, 5])))


def _shuffled(arms: int, blocks: int, random: np.random.Generator) -> tuple[Step, ...]:
    return tuple(Step(block, int(arm)) for block in range(blocks) for arm in random.permutation(arms))


def _arm(design: Design, row: Levels, chosen: Mapping[str, Level], texts: Mapping[Level, str]) -> Arm:
    """One run of a design by what it is for."""
    on = [name for name, level in zip(design.names, row, strict=True) if level > 0]
    off = [name for name in design.names if name not in on]
    changes = {name: chosen.get(name) for name in on}
    if not on:
        return Arm(DEFAULT, "baseline", changes)
    if not off:
        return Arm(COMBINED, "combined", changes)
    if on == [CONTROL]:
        return Arm(CONTROL, "control", changes)
    if len(on) == 1:
        return Arm(texts[chosen[on[0]]], "alone", changes)
    if len(off) == 1:
        return Arm(f"all but {off[0]}", "leave-one-out", changes)
    return Arm(" & ".join(on), "mixture", changes)
