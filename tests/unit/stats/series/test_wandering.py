"""A step is told from what only looks like one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.stats.test_stopping import ar1
from wulf.stats.series.changes import change_points
from wulf.stats.series.wandering import doubt


def said(values: np.ndarray) -> str | None:
    changes = change_points(values)
    assert changes, "the test needs a change"
    return doubt(values, changes)


def test_a_step_is_none_to_doubt() -> None:
    values = np.random.default_rng(1).normal(100, 1, 60)
    values[36:] += 3
    assert said(values) is None
    assert doubt(values, []) is None


def test_a_drift_is_a_candidate() -> None:
    noise = np.random.default_rng(2).normal(100, 1, 60)
    assert said(noise + np.linspace(0, 2.5, 60)) == "a straight line fits about as well as a step"
    assert said(noise + np.linspace(0, 30, 60)) is not None


def test_runs_that_resemble_each_other_are_candidates() -> None:
    random = np.random.default_rng(3)
    series = [100 + ar1(random, 100, 0.9) for _ in range(30)]
    changed = [(values, found) for values in series if (found := change_points(values))]
    doubted = [doubt(values, found) for values, found in changed]
    assert len(changed) > 5
    assert sum(why is not None for why in doubted) >= 0.8 * len(doubted)
    assert any(why and "resemble each other" in why for why in doubted)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_outlier_does_not_decide(seed: int) -> None:
    values = np.random.default_rng(seed).normal(100, 1, 60)
    values[30:] += 5
    clear = said(values)
    values[10] += 500
    assert said(values) == clear
