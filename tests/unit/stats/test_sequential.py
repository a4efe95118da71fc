"""Levels of several looks against the literature, and the confidence sequence's promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from tests.unit.stats.walks import crossing_probabilities
from wulf.stats.ranks import signed_rank_level
from wulf.stats.sequential import level_at, levels, pocock, sequence_ranks


@pytest.mark.parametrize(("looks", "error"), [(1, 0.05), (5, 0.142), (10, 0.193), (20, 0.248)])
def test_naive_peeking_errs_as_the_literature_says(looks: int, error: float) -> None:
    found = crossing_probabilities(range(1, looks + 1), [1.959964] * looks)
    assert sum(found) == pytest.approx(error, abs=0.0006)


def bounds(found: tuple[float, ...]) -> list[float]:
    return [-float(ndtri(level / 2)) for level in found]


def test_bounds_of_lan_and_demets() -> None:
    """Their published values for five equal looks at a two-sided 5 %."""
    early = bounds(levels((1, 2, 3, 4, 5), 0.05, pocock))
    assert early == pytest.approx([2.438, 2.427, 2.410, 2.397, 2.386], abs=0.002)


@pytest.mark.parametrize("looks", [(6, 10, 16, 24, 40), (8, 9, 39, 40), (5,)])
def test_all_looks_together_spend_the_error_and_no_more(looks: tuple[int, ...]) -> None:
    spent = sum(crossing_probabilities(looks, bounds(levels(looks))))
    assert spent == pytest.approx(0.05, abs=1e-4)


def test_what_a_small_sample_cannot_spend_is_kept() -> None:
    found = levels((4, 12), 0.05, pocock, signed_rank_level)
    assert found[0] == 0
    assert 0.03 < found[1] <= 0.05


def test_time_over_between_two_looks_spends_what_is_left() -> None:
    looks = (10, 20, 40)
    assert level_at(20, looks, 0.05) < level_at(21, looks, 0.05) < 0.05
    assert level_at(0, looks, 0.05) == 0


@pytest.mark.parametrize("looks", [(), (5, 5), (0, 3)])
def test_looks_that_do_not_ascend_are_refused(looks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="ascend"):
        levels(looks)


def test_a_confidence_sequence_holds_at_all_times_at_once() -> None:
    random = np.random.default_rng(1)
    missed = 0
    for _ in range(500):
        below = np.cumsum(random.random(300) < 0.5)
        for n in range(12, 301):
            ranks = sequence_ranks(n)
            assert ranks is not None
            if not ranks[0] <= below[n - 1] < ranks[1]:
                missed += 1
                break
    assert missed / 500 <= 0.05


def test_a_confidence_sequence_is_wider_than_one_look_and_shrinks() -> None:
    assert sequence_ranks(11) is None
    assert sequence_ranks(40) == (11, 30)  # one look: x14 … x27
    low, high = sequence_ranks(1000) or (0, 0)
    assert (high - low) / 1000 < 0.11
