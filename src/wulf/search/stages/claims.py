"""What fresh runs prove of the path's steps, and of two knobs together: corrected, so that all of it errs in one of
twenty searches at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from wulf.search.space import Config
from wulf.search.stages.comparing import Blocks
from wulf.search.stages.path import SIGNS, Pair
from wulf.stats.comparison import Comparison, Judgement, enough_pairs, holm

ALPHA = 0.05
"""Of a false claim among all of a search's path."""


@dataclass(frozen=True)
class Proof:
    """A comparison, and what it proves beside the others.

    Attributes
    ----------
    comparison
        With its own interval at 95 %.
    p
        Corrected for all comparisons (Holm); None where there are too few runs.
    proven
        That it does something, and not surely less than what counts as no difference.
    """

    comparison: Comparison
    p: float | None
    proven: bool


@dataclass(frozen=True)
class Proofs:
    """Of every step of the path, in order; and of the pair, as cost of both against the product of each alone."""

    steps: tuple[Proof, ...]
    pair: Proof | None


def blocks_for(claims: int, least: int) -> int:
    """Blocks of which so many claims can all be proven, and at least `least`."""
    return max(least, enough_pairs(claims, ALPHA))


def prove(blocks: Blocks, path: Sequence[Config], pair: Pair | None, delta: float) -> Proofs:
    """Every step against the one before; and the pair."""
    compared = [blocks.compare(before, now, delta) for before, now in pairwise(path)]
    if pair is not None:
        compared.append(blocks.contrast(pair.corners, SIGNS, delta))
    proofs = proofs_of(compared)
    return Proofs(tuple(proofs[: len(path) - 1]), proofs[-1] if pair is not None else None)


def proofs_of(compared: Sequence[Comparison]) -> list[Proof]:
    """What comparisons prove, each beside all others."""
    corrected = holm([1.0 if one.p is None else one.p for one in compared])
    return [
        Proof(one, None if one.p is None else p, _differs(one) and p <= ALPHA)
        for one, p in zip(compared, corrected, strict=True)
    ]


def _differs(one: Comparison) -> bool:
    return one.judgement in (Judgement.FASTER, Judgement.SLOWER)
