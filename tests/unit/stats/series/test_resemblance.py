"""Neighbouring passes that are alike are told over all cells; what all cells have in common is no evidence twice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from wulf.stats.samples import Floats
from wulf.stats.series.resemblance import Resemblance, resemblance
from wulf.stats.series.streams import ar1


def told(
    seed: int, cells: int, passes: int, rho: float = 0.0, common: float = 0.0, runs: int = 100
) -> list[Resemblance]:
    random = np.random.default_rng(seed)

    def run() -> Floats:
        own = np.stack([ar1(random, passes, rho) for _ in range(cells)])
        return np.exp(own + common * random.normal(size=passes))

    found = [resemblance(run(), random) for _ in range(runs)]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("common", [0.0, 3.0], ids=["cells by themselves", "cells that move together"])
def test_independent_passes_are_called_so_once_in_a_hundred(common: float) -> None:
    found = told(1, 30, 8, common=common, runs=300)
    assert sum(one.p < 0.01 for one in found) <= binom.ppf(0.999, 300, 0.01)
    assert sum(one.p < 0.5 for one in found) == pytest.approx(150, abs=30)


def test_dependence_that_no_cell_shows_by_itself_is_told_of_all() -> None:
    found = told(2, 24, 8, rho=0.6, runs=60)
    assert np.mean([one.flagged for one in found]) > 0.8
    assert np.median([one.rho for one in found]) == pytest.approx(0.6, abs=0.1)
    assert np.mean([one.flagged for one in told(2, 1, 8, rho=0.6, runs=60)]) < 0.3


def test_a_little_dependence_is_not_worth_telling() -> None:
    assert not any(one.flagged for one in told(3, 200, 24, rho=0.2, runs=20))


def test_cells_that_ended_early_count_with_the_passes_that_most_have() -> None:
    x = np.random.default_rng(4).normal(size=(20, 24))
    x[:15, 11:] = np.nan
    found = resemblance(x, np.random.default_rng(1))
    assert found is not None and (found.cells, found.passes) == (20, 11)
    x[:15] = np.nan
    found = resemblance(x, np.random.default_rng(1))
    assert found is not None and (found.cells, found.passes) == (5, 24)


@pytest.mark.parametrize("samples", [np.ones((5, 8)), np.full((5, 8), np.nan), np.empty((0, 0)), np.ones((4, 5))])
def test_what_says_nothing(samples: Floats) -> None:
    assert resemblance(samples, np.random.default_rng(1)) is None


def test_to_how_much_the_passes_amount() -> None:
    assert Resemblance(0.6, 0.001, 24, 24).amount == pytest.approx(6.0)
    assert Resemblance(0.6, 0.001, 24, 24).flagged
    assert not Resemblance(0.6, 0.02, 24, 24).flagged


@pytest.mark.parametrize(("rho", "passes"), [(0.0, 8), (0.4, 8), (0.7, 8), (0.4, 24), (0.7, 24)])
def test_the_strength_is_that_of_the_series(rho: float, passes: int) -> None:
    (found,) = told(5, 2000, passes, rho, runs=1)
    assert found.rho == pytest.approx(rho, abs=0.05)
