"""Launches that differ: intervals over launches hold the median of all, those within one don't."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.measure.mpi.probes import BLOCKS, EACH, SHARED
from wulf.selftest.launches import comparisons, figure, intervals
from wulf.stats.claims import Size, missed

SMALL = Size(60, 25)


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_intervals_over_launches_hold_the_median_of_all(spread: float) -> None:
    (claim,) = intervals(np.random.default_rng(5), size=SMALL, how=BLOCKS, spread=spread)
    assert claim.n == SMALL.campaigns
    assert claim.share >= 0.93


def test_an_interval_within_one_launch_does_not() -> None:
    (claim,) = intervals(np.random.default_rng(5), size=SMALL, how=SHARED, spread=0.02)
    assert claim.share < 0.7


@pytest.mark.parametrize("how", [BLOCKS, SHARED])
def test_two_runs_of_the_same_are_told_apart_in_no_more_than_one_of_twenty(how: str) -> None:
    (claim,) = comparisons(np.random.default_rng(5), size=SMALL, how=how, spread=0.02)
    assert missed([claim]) == []


def test_a_replicate_of_its_own_launch_is_one_run() -> None:
    _, record = figure(np.random.default_rng(5), EACH, 0.01)
    assert record.replicates >= 8
    assert record.info == {}
