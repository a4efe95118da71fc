"""What blocks prove of several comparisons at once."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.search.stages.claims import ALPHA, blocks_for, prove
from wulf.search.stages.comparing import Blocks
from wulf.search.stages.path import Pair

A, B, C, D = (0, 0), (1, 0), (1, 1), (0, 1)


def blocks(ratios: dict[tuple[int, int], float], count: int, noise: float = 0.001, seed: int = 1) -> Blocks:
    random = np.random.default_rng(seed)
    costs = tuple(tuple((10 * r * np.exp(noise * random.normal(size=count))).tolist()) for r in ratios.values())
    return Blocks(1.0, tuple(ratios), costs, costs)


@pytest.mark.parametrize(("claims", "count"), [(1, 6), (2, 7), (4, 8), (6, 8), (7, 9), (12, 9)])
def test_blocks_suffice_to_prove_all_claims_at_once(claims: int, count: int) -> None:
    assert blocks_for(claims, 6) == count
    assert claims * 2 * 2.0**-count <= ALPHA
    assert blocks_for(claims, 20) == 20


def test_every_step_that_does_something_is_proven_and_no_other() -> None:
    found = prove(blocks({A: 1.0, B: 0.8, C: 0.8, D: 0.7}, 8), (A, B, C, D), None, 0.01)
    assert [one.proven for one in found.steps] == [True, False, True]
    assert [one.comparison.judgement for one in found.steps] == ["faster", "equivalent", "faster"]
    assert found.pair is None


def test_six_blocks_prove_one_step_but_not_two_of_two() -> None:
    one = prove(blocks({A: 1.0, B: 0.8}, 6), (A, B), None, 0.01)
    two = prove(blocks({A: 1.0, B: 0.8, C: 0.7}, 6), (A, B, C), None, 0.01)
    assert [step.proven for step in one.steps] == [True]
    assert [step.proven for step in two.steps] == [False, False]
    assert two.steps[0].comparison.judgement == "faster"  # by itself


@pytest.mark.parametrize(("both", "proven"), [(0.64, False), (0.5, True)])
def test_a_pair_is_held_against_what_both_do_by_themselves(both: float, proven: bool) -> None:
    found = prove(blocks({A: 1.0, B: 0.8, C: both, D: 0.8}, 8), (A, B, C), Pair(("x", "y"), (C, D, B, A)), 0.01)
    assert found.pair is not None
    assert found.pair.comparison.ratio == pytest.approx(both / 0.64, rel=0.003)
    assert found.pair.proven == proven


def test_blocks_that_failed_prove_nothing() -> None:
    empty = Blocks(1.0, (A, B), ((None,) * 8, (None,) * 8), ((None,) * 8, (None,) * 8))
    (step,) = prove(empty, (A, B), None, 0.01).steps
    assert (step.p, step.proven) == (None, False)
