"""Run times: as measured, changed by what the replay changes, and how far that may be off."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.foresight.forecast import (
    RUNS_DEVIATION,
    Calibration,
    Forecast,
    calibrated,
    gain_of,
    mixed,
    share_of,
    spread,
)
from wulf.stats.estimates import Interval


def forecast(name: str, seconds: float, draws: list[float] | None = None) -> Forecast:
    return Forecast(name, seconds, np.array([seconds] * 3 if draws is None else draws), {})


def test_what_both_networks_share_cancels_draw_by_draw() -> None:
    wide = [8.0, 10.0, 14.0]
    gain = gain_of(forecast("this", 10.0, wide), forecast("half", 5.0, [each / 2 for each in wide]))
    assert gain == Interval(0.5, 0.5, 0.5)


def test_the_interval_holds_the_value() -> None:
    assert spread(1.0, np.array([2.0, 3.0])) == Interval(1.0, 1.0, 3.0)
    assert spread(1.0, np.array([])) == Interval(1.0, 1.0, 1.0)


def test_a_run_without_time_has_no_gain() -> None:
    assert gain_of(forecast("this", 0.0), forecast("other", 0.0)).value == 0


def test_draws_to_one_side_of_their_value_widen_the_interval_to_the_other() -> None:
    found = spread(60.0, np.arange(1.0, 200.0))
    assert found.high == pytest.approx(195)
    assert found.low < 2


@pytest.mark.parametrize(("count", "ranks"), [(39, (1, 39)), (199, (5, 195)), (999, (25, 975))])
def test_the_interval_of_n_draws_ends_at_ranks_of_n_and_one(count: int, ranks: tuple[int, int]) -> None:
    found = spread((count + 1) / 2, np.arange(1.0, count + 1))
    assert (found.low, found.high) == pytest.approx(ranks)


@pytest.mark.parametrize(("seen", "share"), [(9.0, 0.0), (11.0, 0.25), (14.0, 1.0), (99.0, 1.0)])
def test_a_share_is_how_far_a_run_lies_between_two_replays(seen: float, share: float) -> None:
    assert share_of(10.0, 14.0, seen) == share
    assert share_of(14.0, 10.0, seen) == 1 - share
    assert share_of(10.0, 10.0, seen) == 0


def test_what_chance_decides_lies_between_and_may_go_either_way() -> None:
    late, seen = forecast("gbe", 10.0, [8.0, 12.0]), forecast("gbe", 20.0, [18.0, 22.0])
    found = mixed(late, seen, 0.75)
    assert (found.seconds, found.chance) == (17.5, (7.5, 2.5))
    assert mixed(seen, late, 0.25).chance == (7.5, 2.5)
    assert found.draws.tolist() == [15.5, 19.5]
    level = calibrated(found, found, Calibration(found.seconds, 18.5))
    assert (level.seconds, level.doubt) == (18.5, 1.0), "what the replay lacks besides"
    assert level.interval.low <= 18.5 - 7.5 - 1 and level.interval.high >= 18.5 + 2.5 + 1
    parts = mixed(
        Forecast("a", 1.0, late.draws, {"waiting": 1.0}), Forecast("a", 2.0, late.draws, {"waiting": 2.0}), 0.5
    )
    assert parts.parts == {"waiting": 1.5}


def test_calibration() -> None:
    found = Calibration(1.1, 1.0)
    assert (found.error, found.missing) == pytest.approx((0.1, -0.1))
    unknown = Calibration(1.1, None)
    assert (unknown.error, unknown.missing) == (None, 0.0)


def test_what_the_replay_lacks_of_the_measured_run_it_lacks_on_another_network_too() -> None:
    this, fast, slow = forecast("this", 10.0), forecast("fast", 4.0), forecast("slow", 30.0)
    calibration = Calibration(10.0, 11.0)
    assert calibrated(this, this, calibration).seconds == 11.0
    found = calibrated(this, fast, calibration)
    assert (found.seconds, found.replayed, found.lacking, found.doubt) == (5.0, 4.0, 1.0, 1.0)
    assert calibrated(this, slow, calibration).doubt == pytest.approx(3.0)


def test_figures_that_are_off_for_both_networks_leave_the_change_alone_in_doubt() -> None:
    """The level is measured: what the draws do to both cancels."""
    this, other = forecast("this", 10.0, [8.0, 10.0, 12.0]), forecast("other", 5.0, [3.0, 5.0, 7.0])
    assert list(calibrated(this, other, Calibration(10.0, 11.0)).draws) == [6.0, 6.0, 6.0]


def test_other_computing_moves_the_baseline_and_not_what_the_replay_lacks() -> None:
    this = forecast("this", 6.0)  # computing half as long
    found = calibrated(this, this, Calibration(10.0, 11.0))
    assert (found.seconds, found.lacking) == (7.0, 1.0)


def test_no_program_takes_less_than_no_time() -> None:
    this, ideal = forecast("this", 10.0), forecast("ideal", 0.5)
    found = calibrated(this, ideal, Calibration(10.0, 9.0))
    assert (found.seconds, found.replayed, found.interval.low) == (0.0, 0.5, 0.0)


def test_without_a_measured_time_a_run_time_is_the_replays() -> None:
    found = calibrated(forecast("this", 10.0), forecast("other", 5.0), Calibration(10.0, None))
    assert (found.seconds, found.lacking, found.doubt) == (5.0, 0.0, 0.0)


def test_the_interval_is_of_one_run() -> None:
    found = Forecast("x", 10.0, np.array([10.0] * 3), {}, doubt=1.0, between_runs=0.25)
    assert found.interval == Interval(10.0, pytest.approx(9 / 1.25), pytest.approx(11 * 1.25))


def test_how_much_runs_differ_is_assumed_of_one_and_seen_of_many() -> None:
    one = Calibration(1.0, 1.0).between_runs
    assert (
        one
        == Calibration(1.0, 1.0, (1.0,)).between_runs
        == pytest.approx(np.expm1(4.303 * RUNS_DEVIATION * 2**0.5), rel=1e-3)
    )
    alike = Calibration(1.0, 1.0, (1.0,) * 30).between_runs
    wild = Calibration(1.0, 1.0, (0.8, 1.0, 1.25)).between_runs
    assert alike < one / 4
    assert wild > 3 * one


@pytest.mark.parametrize(
    ("deviation", "count", "least"), [(0.018, 1, 0.95), (0.018, 3, 0.95), (0.05, 3, 0.83), (0.05, 20, 0.9)]
)
def test_intervals_of_a_next_run_hold_it(deviation: float, count: int, least: float) -> None:
    """Of programs whose runs differ more than is usual, less often until there are many runs."""
    random, held = np.random.default_rng(1), 0
    for _ in range(1000):
        runs = [float(one) for one in np.exp(deviation * random.standard_normal(count + 1))]
        middle = sorted(runs[:count])[(count - 1) // 2]
        width = 1 + Calibration(1.0, middle, tuple(runs[:count])).between_runs
        held += middle / width <= runs[count] <= middle * width
    assert held / 1000 > least
