"""Change points: the statistic against its definition, few false alarms, planted changes at their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom

from wulf.stats.samples import Floats
from wulf.stats.series.changes import LEVELS, Change, change_points, change_points_of, energies, in_levels
from wulf.stats.series.streams import ar1


def direct(values: Floats, at: int) -> float:
    """The energy distance by its definition, over all pairs."""
    x, y = values[:at], values[at:]

    def apart(a: Floats, b: Floats) -> float:
        return float(np.abs(a[:, None] - b[None, :]).mean())

    return x.size * y.size / values.size * (2 * apart(x, y) - apart(x, x) - apart(y, y))


def fast(values: Floats, at: np.ndarray) -> Floats:
    bins, gaps = in_levels(values)
    return energies(bins[None, :], gaps, at)[0]


def series(seed: int, n: int, *steps: tuple[int, float], sigma: float = 0.02) -> Floats:
    """Log-normal values around 1, times a factor from each place on."""
    values = np.random.default_rng(seed).lognormal(sigma=sigma, size=n)
    for at, factor in steps:
        values[at:] *= factor
    return values


def places(changes: list[Change]) -> list[int]:
    return [change.at for change in changes]


@settings(max_examples=40)
@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float), min_size=2, max_size=LEVELS))
def test_the_fast_statistic_is_the_definition(values: list[float]) -> None:
    x = np.array(values)
    expected = [direct(x, at) for at in range(1, x.size)]
    assert_allclose(fast(x, np.arange(1, x.size)), expected, rtol=1e-9, atol=1e-8 * max(1.0, np.ptp(x)))


@pytest.mark.full
def test_rounding_long_series_changes_little() -> None:
    x = series(1, 1000, (400, 1.03))
    chosen = np.arange(50, 951, 50)
    exact = np.array([direct(x, int(at)) for at in chosen])
    assert_allclose(fast(x, chosen), exact, rtol=0.05, atol=0.02 * exact.max())
    assert np.argmax(fast(x, np.arange(1, 1000))) + 1 == np.argmax([direct(x, at) for at in range(1, 1000)]) + 1


NOTHING = {
    "normal": lambda random, n: 100 + random.normal(size=n),
    "heavy tails": lambda random, n: random.standard_cauchy(n),
    "counts": lambda random, n: random.poisson(0.7, n).astype(float),
    "two modes": lambda random, n: random.choice([1.0, 7.0], n) + 0.01 * random.normal(size=n),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_false_alarms_are_no_more_than_the_level(kind: str) -> None:
    random = np.random.default_rng(5)
    alarms = sum(bool(change_points(NOTHING[kind](random, int(n)), seed=random)) for n in random.integers(10, 50, 200))
    assert alarms <= binom.ppf(0.999, 200, 0.05)


@pytest.mark.full
def test_a_clear_change_brings_no_others() -> None:
    found = [len(change_points(series(seed, 60, (25, 1.2)), seed=seed)) for seed in range(100)]
    assert min(found) == 1
    assert sum(count > 1 for count in found) <= binom.ppf(0.999, 100, 0.05)


@pytest.mark.parametrize("seed", range(5))
def test_planted_changes_are_found_where_they_are(seed: int) -> None:
    found = change_points(series(seed, 200, (60, 1.2), (120, 0.75), (180, 1.5)))
    assert places(found) == [60, 120, 180]
    for change, ratio in zip(found, (1.2, 0.75, 1.5), strict=True):
        assert change.ratio == pytest.approx(ratio, rel=0.02)
        assert change.ratio_low is not None
        assert change.ratio_high is not None
        assert change.ratio_low < change.ratio < change.ratio_high
        assert change.earliest == change.at == change.latest
        assert change.p <= 0.05
        assert change.direction == (1 if ratio > 1 else -1)
    assert found[0].after == found[1].before


def test_a_level_that_came_and_went() -> None:
    assert places(change_points(series(3, 150, (60, 1.2), (90, 1 / 1.2)))) == [60, 90]


def test_the_last_runs_of_many() -> None:
    assert places(change_points(series(4, 3000, (2994, 1.2)))) == [2994]


@pytest.mark.full
def test_a_change_that_is_hard_to_place_says_so() -> None:
    covered = []
    for seed in range(60):
        found = change_points(series(seed, 80, (35, 1.04)), seed=seed)
        if len(found) == 1:
            covered.append(found[0].earliest <= 35 <= found[0].latest)
            assert found[0].earliest <= found[0].at <= found[0].latest
    assert len(covered) > 40
    assert np.mean(covered) > 0.85


@pytest.mark.parametrize("seed", range(5))
def test_outliers_and_heavy_tails_hide_no_change(seed: int) -> None:
    x = series(seed, 60, (30, 1.1))
    x[[7, 41]] = 50.0
    assert [at for at in places(change_points(x)) if abs(at - 30) <= 1]
    noise = 0.02 * np.random.default_rng(seed).standard_cauchy(100)
    (found,) = change_points(10 + noise + np.repeat([0.0, 1.0], 50))
    assert found.at == 50


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1.0, 1e3), (-2.0, 5.0), (1e9, -1e9)])
def test_scale_and_shift_move_no_change(scale: float, shift: float) -> None:
    x = series(6, 100, (40, 1.1), (70, 1.1))
    original, moved = change_points(x), change_points(scale * x + shift)
    assert places(moved) == places(original) == [40, 70]
    assert [c.shift for c in moved] == pytest.approx([scale * c.shift for c in original], rel=1e-6)
    assert [c.p for c in moved] == [c.p for c in original]


def test_no_ratio_where_a_value_is_not_above_zero() -> None:
    (found,) = change_points(np.repeat([0.0, 2.0], 10) + np.tile([0.0, 0.5], 10))
    assert (found.at, found.ratio, found.ratio_low) == (10, None, None)
    assert found.shift == 2.0
    assert found.shift_low is not None


def test_a_wider_spread_is_a_change_without_a_direction() -> None:
    random = np.random.default_rng(2)
    x = 100 + np.concatenate([random.normal(scale=0.1, size=80), random.normal(scale=3, size=80)])
    (found,) = change_points(x)
    assert abs(found.at - 80) <= 3
    assert found.direction == 0


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 9, list(range(9)), [2.0] * 50])
def test_too_few_and_constant_values_do_not_change(values: list[float]) -> None:
    assert change_points(values) == []


def test_two_constants_are_a_change() -> None:
    (found,) = change_points([1.0] * 10 + [2.0] * 10)
    assert (found.at, found.before, found.after, found.ratio) == (10, 1.0, 2.0, 2.0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="sample 3 is"):
        change_points([1.0, 2.0, 3.0, bad, 5.0] * 5)


def test_parameters_that_never_find_anything_are_refused() -> None:
    with pytest.raises(ValueError, match="never convince"):
        change_points([1.0], level=0.001, permutations=199)
    with pytest.raises(ValueError, match="at least 2"):
        change_points([1.0], least=1)
    with pytest.raises(ValueError, match="not between"):
        change_points([1.0], level=0.0)


def test_the_same_seed_gives_the_same_answer() -> None:
    x = series(8, 80, (30, 1.03))
    assert change_points(x, seed=3) == change_points(x, seed=3)


def test_of_many_series_few_change_by_chance() -> None:
    random = np.random.default_rng(9)
    many = [random.normal(size=30) for _ in range(60)]
    for one in many[:6]:
        one[15:] += 4
    found = change_points_of(many)
    assert [places(changes) for changes in found[:6]] == [[15]] * 6
    assert sum(bool(changes) for changes in found[6:]) <= 2
    assert change_points_of([]) == []


@pytest.mark.full
def test_runs_that_resemble_their_neighbours_rarely_show_a_change() -> None:
    """In random order, one by one, almost every second such series would."""
    random = np.random.default_rng(3)
    claimed = sum(bool(change_points(ar1(random, 100, 0.5), seed=random)) for _ in range(100))
    assert claimed <= 22  # one in nine; this is three standard deviations more
    found = 0
    for _ in range(30):
        values = ar1(random, 100, 0.5)
        values[50:] += 3
        found += any(abs(change.at - 50) <= 4 for change in change_points(values, seed=random))
    assert found >= 25
