"""Evidence for changes: none where there is none, whatever the noise; much where a figure left its level."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from wulf.stats.series.detector import (
    LEAST_TESTS,
    LEVEL_FROM,
    LEVEL_OF,
    POOL,
    Limits,
    Pool,
    Seen,
    Tracks,
    common_shift,
    observe,
    ratio_since,
    shift,
    unshift,
)

LIMITS = Limits(1e4)


def test(own: Tracks, pool: Pool, figures: np.ndarray, at: float = 0.0, common: float = 0.0) -> Seen:
    return observe(own, pool, figures, at, common=np.full(len(figures), common), limits=LIMITS)


test.__test__ = False  # type: ignore[attr-defined]


def calm(nodes: int, tests: int, noise: float = 0.01, seed: int = 1) -> tuple[Tracks, Pool, np.random.Generator]:
    random, own, pool = np.random.default_rng(seed), Tracks.fresh(nodes), Pool()
    for day in range(tests):
        test(own, pool, random.normal(0.0, noise, nodes), float(day))
    return own, pool, random


def test_a_small_pool_says_nothing_and_a_large_one_forgets() -> None:
    assert Pool(np.zeros(3)).evidence(np.array([9.0])).tolist() == [0.0]
    pool = Pool(np.arange(10.0))
    pool.add(np.arange(2.0 * POOL))
    assert len(pool.residuals) == POOL
    assert pool.residuals[-1] == 2 * POOL - 1


def test_evidence_is_the_calibrated_rank_and_falls_as_a_power_beyond_the_greatest() -> None:
    pool = Pool(np.arange(1.0, 100.0))  # 99 residuals
    inside, greatest, beyond = pool.evidence(np.array([50.5, 99.0, 990.0]))
    assert inside == pytest.approx(log(0.5 / (50 / 100) ** 0.5))
    assert greatest == pytest.approx(log(0.5 / (2 / 100) ** 0.5))
    assert beyond == pytest.approx(log(0.5 / (1 / 100 / 10**2) ** 0.5))


def test_the_mean_of_evidence_is_at_most_one_where_nothing_changed() -> None:
    random = np.random.default_rng(5)
    for draw in (random.standard_normal, lambda n: random.standard_t(2.5, n), lambda n: random.exponential(1.0, n)):
        gained = np.concatenate([np.exp(Pool(draw(300)).evidence(draw(50))) for _ in range(400)])
        assert gained.mean() < 1.0


def test_there_is_a_level_from_a_few_figures_on_and_it_is_their_median() -> None:
    own, pool = Tracks.fresh(1), Pool()
    for value in (1.0, 2.0, 9.0):
        test(own, pool, np.array([value]))
    assert np.isnan(own.levels()[0][0])
    test(own, pool, np.array([4.0]))
    assert own.counts[0] == LEVEL_FROM
    assert own.levels()[0][0] == 3.0


def test_a_level_is_made_of_so_many_figures_at_most() -> None:
    own, _, _ = calm(5, 3 * LEVEL_OF)
    assert own.counts.tolist() == [LEVEL_OF] * 5


def test_a_step_is_told_with_its_direction_and_the_last_time_that_all_was_well() -> None:
    own, pool, random = calm(20, 20)
    told: dict[int, int] = {}
    for day in range(20, 40):
        figures = random.normal(0.0, 0.01, 20)
        figures[3] -= 0.12
        figures[7] += 0.12
        seen = test(own, pool, figures, float(day))
        for node in np.flatnonzero(seen.alarm):
            told.setdefault(int(node), int(seen.alarm[node]))
            since = own.down_since if seen.alarm[node] < 0 else own.up_since
            assert 17 <= since[node] <= 19
            shift(own, int(node), 0.12 * int(seen.alarm[node]))
    assert told == {3: -1, 7: 1}


def test_one_figure_however_far_off_is_no_alarm() -> None:
    own, pool, random = calm(20, 20)
    for day, off in enumerate((-9.0, -9.0, -9.0), 20):
        figures = random.normal(0.0, 0.01, 20)
        figures[3] += off
        alarm = test(own, pool, figures, float(day)).alarm
        assert not alarm.any() if day < 22 else alarm[3] == -1


def test_less_than_the_least_change_is_none() -> None:
    own, pool, random = calm(20, 20, noise=0.002)
    for day in range(20, 80):
        figures = random.normal(0.0, 0.002, 20)
        figures[3] -= 0.015
        assert not test(own, pool, figures, float(day)).alarm.any()


def test_what_all_did_is_no_change_of_one() -> None:
    own, pool, random = calm(20, 20)
    for day in range(20, 40):
        assert not test(own, pool, random.normal(-0.2, 0.01, 20), float(day), common=-0.2).alarm.any()


def test_common_shift_needs_several() -> None:
    assert common_shift(np.array([-0.1, np.nan, -0.1])) == 0.0
    assert common_shift(np.array([-0.1, -0.2, np.nan, -0.3, -0.1, -0.15])) == pytest.approx(-0.15)


def test_a_change_is_over_when_the_figures_have_returned_and_not_before() -> None:
    own, pool, random = calm(20, 20)
    shift(own, 3, -0.12)
    for day in range(20, 40):
        figures = random.normal(0.0, 0.01, 20)
        figures[3] -= 0.12
        assert not test(own, pool, figures, float(day)).mended.any()
    mended = [test(own, pool, random.normal(0.0, 0.01, 20), float(day)).mended[3] for day in range(40, 60)]
    assert mended.index(True) >= LEAST_TESTS - 1
    unshift(own, 3)
    assert np.isnan(own.shifted[3])


def test_what_is_accepted_is_the_level_from_then_on() -> None:
    own, pool, random = calm(20, 20)
    before = own.levels()[0][3]
    shift(own, 3, -0.12)
    unshift(own, 3, accepted=True)
    assert own.levels()[0][3] == pytest.approx(before - 0.12)
    for day in range(20, 40):
        figures = random.normal(0.0, 0.01, 20)
        figures[3] -= 0.12
        assert not test(own, pool, figures, float(day)).alarm.any()


def test_a_noisy_node_is_held_against_its_own_spread() -> None:
    random, own, pool = np.random.default_rng(3), Tracks.fresh(20), Pool()
    for day in range(200):
        figures = random.normal(0.0, 0.01, 20)
        figures[3] *= 4
        assert not test(own, pool, figures, float(day)).alarm.any()


def test_changed_nodes_stay_out_of_the_pool() -> None:
    own, pool, _ = calm(20, 20)
    shift(own, 3, -0.3)
    figures = np.zeros(20)
    figures[3] = -0.3
    test(own, pool, figures)
    assert pool.residuals.min() > -0.1


def test_a_ratio_holds_the_truth_in_nineteen_of_twenty() -> None:
    random, inside = np.random.default_rng(7), 0
    for _ in range(300):
        pool, level = Pool(random.standard_t(4, 400) * 0.01), float(np.median(random.standard_t(4, 16) * 0.01))
        residuals = random.standard_t(4, 5) * 0.01 - 0.1 - level
        _, low, high = ratio_since(residuals.tolist(), pool, 16)
        inside += low <= -0.1 <= high
    assert inside / 300 >= 0.92


def test_what_disturbed_a_node_joins_the_pool_when_nothing_comes_of_it() -> None:
    own, pool, random = calm(20, 20)
    figures = random.normal(0.0, 0.01, 20)
    figures[3] = -0.3
    test(own, pool, figures, 20.0)
    assert pool.residuals.min() > -0.1
    assert np.isfinite(own.waiting[3]).sum() == 1
    for day in range(21, 30):
        test(own, pool, random.normal(0.0, 0.01, 20), float(day))
    assert pool.residuals.min() < -0.2
    assert not np.isfinite(own.waiting).any()


def test_disturbances_that_are_common_take_more_tests_to_be_a_change() -> None:
    def alarms(share: float) -> int:
        random, own, pool = np.random.default_rng(4), Tracks.fresh(50), Pool()
        told = 0
        for day in range(400):
            disturbed = random.random(50) < share
            figures = random.normal(0.0, 0.01, 50) - np.where(disturbed, random.uniform(0.05, 0.3, 50), 0.0)
            told += int((observe(own, pool, figures, day, common=np.zeros(50), limits=Limits(1e6)).alarm != 0).sum())
        return told

    assert alarms(0.05) == 0
