"""What a pass had in common is taken out, and each subject's error is known, whatever the passes and the noise."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.cluster.levelling import MOST_GROUPS, by_pass, error_of, figures
from wulf.stats.series.streams import ar1

DRIFT = 0.40
"""40 standard deviations of a replicate."""


def noise(seed: int, subjects: int = 16, passes: int = 8) -> np.ndarray:
    return 0.01 * np.random.default_rng(seed).normal(size=(subjects, passes))


def test_a_drift_common_to_all_is_taken_out() -> None:
    own = np.exp(noise(1))
    levelled, alone = figures(own * np.linspace(1, 2, 8)), figures(own)
    assert np.allclose(levelled.values, alone.values * np.median(np.linspace(1, 2, 8)), rtol=0.02)
    assert np.allclose(levelled.errors, alone.errors, rtol=0.02)


def test_those_that_ended_early_are_not_taken_for_faster_ones() -> None:
    """Half of the links had enough after 8 of 24 passes, and the machine grew slower all the time."""
    x = noise(2, 40, 24) + np.linspace(0, DRIFT, 24)
    x[::2, 8:] = np.nan
    found = np.log(figures(np.exp(x)).values)
    assert abs(np.median(found[::2]) - np.median(found[1::2])) < 0.01, "a drift of 26 % between their means"


def test_the_error_is_that_of_the_figures() -> None:
    found = [figures(np.exp(noise(seed) + np.linspace(0, DRIFT, 8))) for seed in range(60)]
    scatter = np.std([np.log(one.values) - np.log(one.values).mean() for one in found])
    told = np.sqrt(np.mean([one.errors**2 for one in found]))
    assert told == pytest.approx(scatter, rel=0.12)
    assert told == pytest.approx(error_of(8, 0.01, 16), rel=0.1)
    assert np.median([one.freedom for one in found]) > 50, "all scatter alike: all say how much"


def test_replicates_that_depend_on_their_predecessors_count_for_fewer() -> None:
    random = np.random.default_rng(9)
    x = 0.01 * np.stack([ar1(random, 8, 0.6) for _ in range(2000)])
    found = figures(np.exp(x))
    scatter = np.std(np.log(found.values))
    assert error_of(8, 0.01, 2000) < 0.6 * scatter, "as if they did not depend"
    assert 0.85 * scatter < np.median(found.errors) < 1.02 * scatter, "only what is beyond chance counts"


def test_who_scatters_more_has_the_greater_error_with_few_degrees_of_freedom() -> None:
    x = noise(3, 64)
    x[:8] *= 10
    found = figures(np.exp(x))
    assert found.errors[:8].min() > 3 * np.median(found.errors[8:])
    assert found.freedom.max() < 20


def test_a_clocks_tick_is_the_resolution_until_noise_dithers_it() -> None:
    ticks = np.full((16, 8), 20.0)
    ticks[3], ticks[7, :4], ticks[9, 2] = 21.0, 19.0, 20.37
    assert figures(ticks).resolution == pytest.approx(np.log(21 / 20), rel=0.1)
    assert figures(np.exp(noise(4))).resolution == 0.0
    assert figures(np.round(2000 * np.exp(noise(5)))).resolution == 0.0, "twenty ticks of noise"
    halves = np.full((16, 8), 2.0)
    halves[3] = 1.0
    assert figures(halves).resolution == 0.0, "half of a cache is no tick"


def test_one_replicate_says_nothing_of_its_error() -> None:
    found = figures(np.exp(noise(6, passes=1)))
    assert np.isnan(found.errors).all()
    assert np.isfinite(found.values).all()


def test_a_long_watch_is_taken_in_groups_of_neighbours() -> None:
    found = figures(np.exp(noise(7, 4, 40 * MOST_GROUPS)))
    assert found.errors.max() < error_of(MOST_GROUPS, 0.01, 4) / 3


def test_the_matrix_of_passes_has_a_row_each_and_no_empty_pass() -> None:
    matrix = by_pass([[1.0, 2.0], [3.0], [0.0, 4.0]], [range(2), [5], [1, 5]])
    assert np.array_equal(matrix, [[1, 2, np.nan], [np.nan, np.nan, 3], [np.nan, np.nan, 4]], equal_nan=True)
    assert by_pass([[]], [[]]).shape == (1, 0)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf])
def test_nonsense_is_named_with_its_place(bad: float) -> None:
    values = np.ones((4, 3))
    values[2, 1] = bad
    with pytest.raises(ValueError, match=r"samples\[2, 1\]"):
        figures(values)
