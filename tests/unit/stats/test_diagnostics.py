"""What is odd about samples is found, and nothing odd is found in plain noise."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.stats.test_stopping import ar1
from wulf.stats.diagnostics import (
    Dependence,
    autocorrelation,
    cold_start,
    dependence,
    dip,
    drift,
    effective_size,
    modes,
    robust_sigma,
)


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.8])
def test_effective_size_of_a_long_ar1_series(rho: float) -> None:
    n = 20_000
    assert effective_size(ar1(np.random.default_rng(1), n, rho)) == pytest.approx(n * (1 - rho) / (1 + rho), rel=0.15)


def test_effective_size_of_independent_and_alternating_samples_is_their_number() -> None:
    random = np.random.default_rng(1)
    assert np.mean([effective_size(random.normal(size=1000)) for _ in range(50)]) > 900
    assert effective_size([1.0, 2.0] * 10) == 20
    assert effective_size([1.0, 2.0] * 100) == 200
    assert effective_size([3.0] * 10) == 10
    assert effective_size([]) == 0


def test_plain_intervals_of_dependent_samples_cover_as_little_as_the_literature_says() -> None:
    """The 95 % interval of a mean covers about 85 %, 74 %, 49 % at ρ = .3, .5, .8: why the correction is needed."""
    random = np.random.default_rng(7)
    for rho, covered in ((0.3, 0.85), (0.5, 0.74), (0.8, 0.49)):
        series = np.array([ar1(random, 100, rho) for _ in range(600)])
        half = 1.96 * series.std(axis=1, ddof=1) / 10
        assert np.mean(np.abs(series.mean(axis=1)) <= half) == pytest.approx(covered, abs=0.06)


def test_autocorrelation_starts_at_one() -> None:
    assert autocorrelation([1.0, 2.0, 1.0, 2.0])[:2] == pytest.approx([1.0, -0.75])
    assert autocorrelation([5.0]) == pytest.approx([1.0])
    assert list(autocorrelation([5.0, 5.0])) == [1.0, 0.0]


def test_drift_is_flagged_with_its_size() -> None:
    random = np.random.default_rng(1)
    samples = np.linspace(100, 110, 40) + random.normal(0, 1, 40)
    found = drift(samples)
    assert found.flagged
    assert found.change == pytest.approx(10 / 105, rel=0.15)
    assert drift(-samples[::-1]).change == pytest.approx(found.change, rel=1e-6)
    assert not drift([1.0, 2.0, 3.0]).flagged, "three show no trend"
    assert drift([7.0] * 30).p == 1


@pytest.mark.parametrize("n", [8, 16, 40])
def test_drift_is_rarely_flagged_for_nothing(n: int) -> None:
    random = np.random.default_rng(n)
    assert np.mean([drift(random.standard_t(2, n)).flagged for _ in range(1000)]) <= 0.01 + 3 * (0.01 / 1000) ** 0.5


def test_drift_of_a_very_long_series() -> None:
    assert drift(np.random.default_rng(1).normal(100, 1, 300_000) + np.arange(300_000) / 1e5).flagged


def test_cold_start_counts_the_first_ones_on_one_side() -> None:
    warm = [1.0, 1.1, 1.05, 1.02, 1.08, 1.03, 1.07, 1.01, 1.04]
    assert cold_start([9.0, 8.0, *warm]) == 2
    assert cold_start([0.1, *warm]) == 1
    assert cold_start([9.0, 0.1, *warm]) == 1, "the second is off on the other side"
    assert cold_start(warm) == 0
    assert cold_start([5.0] * 12) == 0
    assert cold_start([9.0, 1.0, 1.0]) == 0


def test_dip_of_the_literature() -> None:
    """Two equal heaps far apart have the greatest dip, 1/4; evenly spaced points the least, 1/(2n)."""
    assert dip(np.arange(10)) == pytest.approx(1 / 20)
    heaps = np.r_[np.linspace(0, 1, 500), np.linspace(100, 101, 500)]
    assert dip(heaps) == pytest.approx(0.25, abs=0.01)
    assert dip([]) == 0
    assert dip([4.0] * 8) == pytest.approx(1 / 16)


def test_dip_by_hand() -> None:
    """Four and four points: the fit runs straight through each heap, the function steps over the gap between them."""
    heaps = np.r_[0.0, 1, 2, 3, 100, 101, 102, 103]
    slow = min(_distance(heaps, low, high) for low in range(8) for high in range(low, 8))
    assert dip(heaps) == pytest.approx(slow, abs=1e-9)


def _distance(x: np.ndarray, low: int, high: int) -> float:
    """The dip over fits that are convex before x_low, straight to x_high, concave behind: by linear programming."""
    from scipy.optimize import linprog

    n = x.size
    rows, bounds = [], []
    for i in range(n):  # heights g_i, the distance d last: i/n <= F just left of the step, (i+1)/n on it
        up, down = np.zeros(n + 1), np.zeros(n + 1)
        up[[i, n]], down[[i, n]] = [-1, -1], [1, -1]
        rows += [up, down]
        bounds += [-(i + 1) / n, i / n]
    for i in range(1, n - 1):
        bend = np.zeros(n + 1)
        bend[i - 1], bend[i + 1] = 1 / (x[i] - x[i - 1]), 1 / (x[i + 1] - x[i])
        bend[i] = -bend[i - 1] - bend[i + 1]
        if i <= high:  # convex up to there
            rows.append(-bend)
            bounds.append(0)
        if i >= low:
            rows.append(bend)
            bounds.append(0)
    cost = np.zeros(n + 1)
    cost[n] = 1
    found = linprog(cost, A_ub=np.array(rows), b_ub=bounds, bounds=[(None, None)] * n + [(0, 1)])
    return float(found.fun) if found.success else np.inf


def test_two_modes_are_flagged_and_one_is_not() -> None:
    random = np.random.default_rng(1)
    two = np.where(random.random(60) < 0.4, 10.0, 15.0) + random.normal(0, 0.5, 60)
    assert modes(two).flagged
    rounded = np.round(random.normal(0, 2, 200))
    assert not modes(rounded).flagged, "a clock's step is no mode"
    flagged = [modes(draw).flagged for draw in random.standard_normal((300, 40))]
    assert np.mean(flagged) <= 0.02
    assert not modes(two[:9]).flagged, "nine show nothing"


def test_the_robust_sigma() -> None:
    assert robust_sigma([1.0, 2.0, 3.0, 4.0, 100.0]) == 1.4826
    with pytest.raises(ValueError, match="no samples"):
        robust_sigma([])


def test_a_trend_of_few_is_exact() -> None:
    """Of the 120 orders of five values two are monotone, and eight more have one falling or rising pair."""
    assert drift([1, 2, 3, 4, 5], least=4).p == pytest.approx(2 / 120)
    assert drift([2, 1, 3, 4, 5], least=4).p == pytest.approx(10 / 120)
    assert drift([1, 2, 3, 4, 5]).p == 1, "as few as that show nothing unless asked"


def test_a_trend_over_uneven_times_has_their_slope() -> None:
    found = drift([1.0, 2.0, 4.0, 8.0, 9.0], at=[0, 1, 3, 7, 8], least=4)
    assert found.rise == pytest.approx(8.0)


def test_runs_that_resemble_their_neighbours_are_seldom_said_to_drift() -> None:
    """Mann and Kendall's own variance flags a third of such series (Hamed & Rao 1998)."""
    random = np.random.default_rng(3)
    series = [ar1(random, 60, 0.8) for _ in range(200)]
    flagged = np.mean([drift(x).flagged for x in series])
    assert flagged <= 0.2
    assert np.mean([drift(x + np.linspace(0, 10, 60)).flagged for x in series[:50]]) > 0.5


def test_dependence_by_hand_and_for_nothing() -> None:
    """Of 8 rising ranks the lag-1 correlation is 0.625; its exact mean is -1/8, its standard deviation 0.303."""
    found = dependence(range(8))
    assert found.rho == pytest.approx(0.625)
    assert found.p == pytest.approx(0.0067, abs=0.0002)
    assert dependence([1.0] * 8) == dependence([1.0, 2.0]) == Dependence(0.0, 1.0)
    random = np.random.default_rng(1)
    assert np.mean([dependence(random.standard_t(2, 11)).flagged for _ in range(1000)]) <= 0.07


def test_caution_takes_neighbours_for_more_alike() -> None:
    values = np.random.default_rng(1).normal(size=16)
    assert effective_size(values, caution=1.0) < effective_size(values, caution=0.5) <= effective_size(values)
