"""What is known of the noise of runs."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.speedup.times import LEAST_SPREAD, Noise, gather


def test_gathers_by_number_of_workers() -> None:
    times = gather({4: [2.0, 4.0], 1: [10.0]})
    assert times.workers.tolist() == [1, 4]
    assert times.means.tolist() == pytest.approx([10, 3])
    assert times.counts.tolist() == [1, 2]
    assert times.noise is None


def test_one_spread_for_all_where_they_are_alike() -> None:
    random = np.random.default_rng(1)
    times = gather({n: 100 / n * np.exp(0.02 * random.normal(size=50)) for n in (1.0, 2.0, 4.0)})
    assert times.noise is not None
    assert not times.uneven
    assert times.noise.spread == pytest.approx([0.02] * 3, rel=0.15)
    assert times.noise.dof == 147
    assert times.noise.residuals.std() == pytest.approx(1, rel=0.02)


def test_each_its_own_where_they_differ() -> None:
    random = np.random.default_rng(1)
    spreads = {1.0: 0.01, 2.0: 0.01, 4.0: 0.2}
    times = gather({n: np.exp(s * random.normal(size=40)) for n, s in spreads.items()})
    assert times.uneven
    assert times.noise is not None
    assert times.noise.spread[2] > 4 * times.noise.spread[0]


def test_runs_that_are_equal_have_a_least_spread() -> None:
    times = gather({1: [2.0] * 3, 2: [1.0] * 3})
    assert times.noise is not None
    assert times.noise.spread.tolist() == [LEAST_SPREAD] * 2


def test_draws_are_as_wide_as_students_t() -> None:
    noise = Noise(np.array([0.1, 0.1]), 5, np.array([]), "residuals")
    drawn = noise.draw(np.random.default_rng(1), np.array([1.0, 4.0]), 100_000)
    # The variance of t with 5 degrees of freedom is 5/3.
    assert drawn.std(axis=0) == pytest.approx([0.1 * (5 / 3) ** 0.5, 0.05 * (5 / 3) ** 0.5], rel=0.05)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "there is no run"),
        ({0.5: [1.0]}, "0.5 workers: there must be at least 1"),
        ({1.0: []}, "1 workers: no run"),
        ({1.0: [-1.0]}, "above zero"),
        ({1.0: [float("nan")]}, "finite"),
    ],
)
def test_refuses_what_is_no_time(given: dict[float, list[float]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        gather(given)
