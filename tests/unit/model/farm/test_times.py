"""What the table of 2007 says by its times alone, and ratios of two farms' figures."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.farm.pelikan import published
from wulf.model.farm.times import FarmTimes, ratio, times_study
from wulf.stats.estimates import Interval

TABLES = published().tables


def test_the_table_of_2007() -> None:
    """No form fits it within its digits; that of a master whom all wait for is nearest (docs/how-to/farm.md)."""
    runs = {(w, b): [seconds / TABLES.units] for w, row in TABLES.seconds.items() for b, seconds in row.items()}
    study = times_study(FarmTimes(runs, TABLES.units))
    assert study.alike == ("turn",)
    best = study.fits["turn"]
    assert best.misfit is None, "no run was repeated"
    assert best.spread == pytest.approx(0.068, abs=0.001)
    o, bound = study.service(1), TABLES.least_cost_bound(1)
    assert o.value == pytest.approx(17.4e-6, abs=5e-8)
    assert study.saturation(1).value == pytest.approx(11.2, abs=0.05)
    assert 10e-6 < o.low < o.value < o.high < bound
    assert study.saturation(1).low < 19 < study.saturation(100).low
    assert study.metg(19).low > 200e-6, "the unit of 2007 used less than half of 19 workers' time"


def test_cells_of_few_messages_are_named() -> None:
    times = FarmTimes({(1, 1): [1.0], (7, 100): [0.2], (7, 1): [0.2]}, 1000)
    assert times.uneven() == [(7, 100)]
    assert FarmTimes(times.runs).uneven() == []
    assert (times.workers, times.batches, times.row(1)) == ([1, 7], [1, 100], {1.0: [1.0], 7.0: [0.2]})


def test_the_noise_of_runs_is_pooled_over_cells() -> None:
    cycles = FarmTimes({(1, 1): [0.9, 1.1], (2, 1): [0.5], (2, 10): [0.4, 0.5, 0.6]}).cycles()
    assert cycles.means == pytest.approx([1.0, 1.0, 10.0])
    assert cycles.within == pytest.approx(0.02 + 0.08)
    assert cycles.dof == 3


def test_ratios_have_the_intervals_of_both() -> None:
    exact = Interval(2.0, 2.0, 2.0)
    found = ratio(Interval(4.0, 3.0, 6.0), exact)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 1.5, 3.0))
    both = ratio(Interval(4.0, 2.0, 8.0), Interval(4.0, 2.0, 8.0))
    assert (both.value, both.low, both.high) == pytest.approx((1.0, 2 ** -(2**0.5), 2 ** (2**0.5)))


def test_a_ratio_of_what_may_be_zero_has_no_bound() -> None:
    assert ratio(Interval(1.0, 0.0, 2.0), Interval(1.0, 1.0, 1.0)).low == 0.0
    assert ratio(Interval(1.0, 1.0, 1.0), Interval(1.0, 0.0, 2.0)).high == np.inf
    nothing = ratio(Interval(0.0, 0.0, 2.0), Interval(1.0, 1.0, 1.0))
    assert np.isnan(nothing.value) and (nothing.low, nothing.high) == (0.0, np.inf)
