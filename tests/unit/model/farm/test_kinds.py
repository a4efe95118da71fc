"""Units of several lengths: how they are dealt out, and what their unevenness costs."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.farm.kinds import Kinds, lost, makespan

EQUAL = Kinds((1.0,), (1.0,))


def test_lengths_are_relative_to_their_mean() -> None:
    kinds = Kinds.of("1:1,9:3")
    assert kinds.shares == (0.25, 0.75)
    assert kinds.lengths == pytest.approx((1 / 7, 9 / 7))
    drawn = kinds.drawn(20_000, np.random.default_rng(1))
    assert float(drawn.mean()) == pytest.approx(1.0, abs=0.02)
    assert set(drawn) == set(kinds.lengths)


def test_batches_go_to_whoever_is_ready() -> None:
    assert makespan([3, 1, 1, 1], workers=2, depth=1) == 3
    assert makespan([1, 1, 1, 3], workers=2, depth=1) == 4
    assert makespan([5], workers=3, depth=2) == 5
    assert makespan([], workers=2, depth=1) == 0


def test_a_batch_that_waits_behind_a_long_one_is_not_taken_by_others() -> None:
    # the first worker holds 10 and 1, the second 1 and 1: it is idle from 2 on
    assert makespan([10, 1, 1, 1], workers=2, depth=2) == 11
    assert makespan([10, 1, 1, 1], workers=2, depth=1) == 10


def test_what_unevenness_loses() -> None:
    kinds = Kinds.of("1:0.5,10:0.5")
    alone = lost(kinds, workers=1, batch=1, units=1000, depth=2)
    assert alone.high == pytest.approx(0.0, abs=1e-9)
    none = lost(EQUAL, workers=4, batch=10, units=1000, depth=1)
    assert (none.low, none.high) == (0, 0)
    # list scheduling: at most the longest batch, beyond an even share (Graham 1969)
    crowd = lost(kinds, workers=8, batch=1, units=10_000, depth=1)
    assert 0 < crowd.low < crowd.value < crowd.high <= (1 - 1 / 8) * max(kinds.lengths) + 1e-9
    held = lost(kinds, workers=8, batch=1, units=10_000, depth=2)
    assert held.value > crowd.value


@pytest.mark.parametrize("text", ["", "1", "1:2:3", "1:x", "-1:1", "1:0", "inf:1", "1:1,"])
def test_what_is_no_list_of_kinds_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Kinds.of(text)
