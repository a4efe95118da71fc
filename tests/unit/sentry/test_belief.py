"""Chances that nodes have changed."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.core.durations import DAY
from wulf.sentry.belief import AFTER_A_FAULT, FIRST_RATE, LEAST, MOST, Beliefs, of_all, told_by, weighed


def beliefs(nodes: int = 3) -> Beliefs:
    return Beliefs(np.full(nodes, 0.01), np.zeros(nodes), np.zeros(nodes), np.zeros(nodes))


def test_a_chance_grows_with_time() -> None:
    one = beliefs()
    assert one.at(0.0) == pytest.approx([0.01] * 3)
    assert one.at(-DAY) == pytest.approx([0.01] * 3)  # a clock that was set back
    assert np.all(one.at(30 * DAY) > one.at(DAY))


def test_nothing_known_is_the_first_rate_and_history_tells_nodes_apart() -> None:
    assert beliefs().rates(0.0) == pytest.approx([FIRST_RATE] * 3)
    one = beliefs(100)
    one.faults[7] = 3
    rates = one.rates(365 * DAY)
    assert rates[7] > 5 * rates[8]
    assert rates[8] < FIRST_RATE


def test_signs_multiply_odds_within_bounds() -> None:
    assert weighed(np.array([0.5, 0.1]), np.array([1.0, 9.0])) == pytest.approx([0.5, 0.5])
    assert weighed(np.array([0.5, 0.5]), np.array([1e12, 1e-12])).tolist() == [MOST, LEAST]


def test_a_test_without_a_sign_lowers_and_one_that_stands_out_raises() -> None:
    assert told_by(np.array([0.8, 30.0])) == pytest.approx([0.1, 30.0])
    one = beliefs()
    one.test(np.array([0, 1]), np.array([0.8, 30.0]), np.array([False, False]), DAY)
    assert one.chance[0] < 0.01 < one.chance[1]
    assert one.as_of.tolist() == [DAY, DAY, 0.0]


def test_a_told_change_counts_as_a_fault_and_begins_anew() -> None:
    one = beliefs()
    one.test(np.array([2]), np.array([1e4]), np.array([True]), DAY)
    assert one.faults.tolist() == [0.0, 0.0, 1.0]
    assert one.chance[2] == AFTER_A_FAULT


def test_several_metrics_are_averaged() -> None:
    assert of_all([]) == 1.0
    assert of_all([0.5, 7.5]) == 4.0
