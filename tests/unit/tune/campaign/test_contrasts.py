"""Contrasts of designs, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.designs import Levels, ablation, fractional_factorial, full_factorial
from wulf.tune.campaign.contrasts import difference, in_blocks, main_effects

NAMES = ("a", "b", "c", "d", "e", "f")


def effects(levels: Levels, *together: str) -> list[float]:
    """What each main effect is where only factors that act together do anything, 1 each."""
    on = [{name for name, level in zip(NAMES, row, strict=False) if level > 0} for row in levels]
    block = {arm: float(sum(one >= set(some) for some in together)) for arm, one in enumerate(on)}
    return [float(in_blocks([block], contrast)[0]) for contrast in main_effects(levels)]


def test_an_ablation_has_four_arms_a_factor() -> None:
    levels = ablation(NAMES).runs
    first = main_effects(levels)[0]
    assert sorted(first.values()) == [-0.5, -0.5, 0.5, 0.5]
    arms = {arm: {NAMES[i] for i in np.flatnonzero(levels[arm] > 0)} for arm in first}
    assert sorted(map(len, arms.values())) == [0, 1, 5, 6]
    assert all(("a" in on) == (first[arm] > 0) for arm, on in arms.items())


def test_a_full_factorial_averages_all_pairs() -> None:
    levels = full_factorial(NAMES[:3]).runs
    for factor, contrast in enumerate(main_effects(levels)):
        assert [contrast[arm] for arm in range(8)] == pytest.approx(list(levels[:, factor] / 4))


@pytest.mark.parametrize("levels", [ablation(NAMES).runs, full_factorial(NAMES).runs], ids=["ablation", "factorial"])
def test_whatever_others_do_together_is_not_this_factors(levels: Levels) -> None:
    found = effects(levels, "ab", "bc", "abc", "abcd")
    assert found[4:] == pytest.approx([0.0, 0.0])
    assert all(one > 0.1 for one in found[:4])


def test_a_fraction_is_immune_up_to_three_others() -> None:
    levels = fractional_factorial(NAMES).runs
    assert effects(levels, "ab", "bc", "abc")[3:] == pytest.approx([0.0, 0.0, 0.0])
    assert effects(levels, "d")[3] == pytest.approx(1.0)


def test_a_block_without_an_arm_is_left_out_where_it_is_needed() -> None:
    blocks = [{0: 1.0, 1: 3.0, 2: 0.0}, {0: 1.0, 2: 5.0}]
    assert in_blocks(blocks, difference(0, 1)).tolist() == [2.0]
    assert in_blocks(blocks, difference(0, 2)).tolist() == [-1.0, 4.0]
    assert in_blocks([], difference(0, 1)).tolist() == []
