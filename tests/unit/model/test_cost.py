"""The cost of a machine's speed: published figures to the digit, intervals carried, jobs and candidates."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.cost import (
    KWH,
    YEAR,
    Candidate,
    MachineSpec,
    Sourced,
    Tariff,
    benefits,
    best_value,
    from_interval,
    interval_of,
    job_cost,
    owned,
)
from wulf.model.draws import known

KRONOS = MachineSpec(Sourced(known(14.53e9)), 2490.0, Sourced(known(900.0)), {"peak": Sourced(known(28.10e9))})
RANDOM = np.random.default_rng(1)
TARIFF = Tariff(0.30 / KWH, 4.0, 0.5)


def uncertain(value: float, low: float, high: float) -> Sourced:
    return Sourced(from_interval(value, low, high, RANDOM))


def test_kronos() -> None:
    assert KRONOS.price_per_rate is not None and KRONOS.rate_per_watt is not None
    assert f"{KRONOS.price_per_rate.value * 1e9:.0f}" == "171"
    assert f"{KRONOS.rate_per_watt.value / 1e6:.2f}" == "16.14"
    assert f"{KRONOS.shares['peak'].value:.0%}" == "52%"
    assert interval_of(KRONOS.price_per_rate) is None


def test_what_nobody_gave_is_not_there() -> None:
    bare = MachineSpec(Sourced(known(1e9)))
    assert (bare.price_per_rate, bare.rate_per_watt, bare.shares) == (None, None, {})
    cost = job_cost(known(3600.0), bare, TARIFF)
    assert (cost.energy, cost.energy_price, cost.capital, cost.total) == (None, None, None, None)
    assert owned(bare, TARIFF) is None


def test_draws_have_the_interval_that_they_were_made_of() -> None:
    one = uncertain(10.0, 9.0, 12.0).figure
    low, high = np.quantile(one.draws, [0.025, 0.975])
    assert one.value == 10.0
    assert low == pytest.approx(9.0, abs=0.06)
    assert high == pytest.approx(12.0, abs=0.12)
    assert interval_of(from_interval(10.0, None, None, np.random.default_rng(1))) is None


def test_intervals_are_carried() -> None:
    machine = MachineSpec(uncertain(10e9, 9.5e9, 10.5e9), 1000.0, uncertain(200.0, 190.0, 210.0))
    assert machine.price_per_rate is not None and machine.rate_per_watt is not None
    price = interval_of(machine.price_per_rate)
    power = interval_of(machine.rate_per_watt)
    assert price is not None and power is not None
    assert price.low * 1e9 == pytest.approx(1000 / 10.5, rel=0.01)
    assert price.high * 1e9 == pytest.approx(1000 / 9.5, rel=0.01)
    # both parts of a quotient are off by 5 %: together by their root of squares
    assert (power.high - power.low) / 2 / power.value == pytest.approx(0.05 * 2**0.5, rel=0.06)


def test_a_job() -> None:
    cost = job_cost(known(7200.0), KRONOS, TARIFF)
    assert cost.energy is not None and cost.energy_price is not None
    assert cost.capital is not None and cost.total is not None
    assert cost.energy.value == pytest.approx(1.8 * KWH)
    assert cost.energy_price.value == pytest.approx(0.54)
    assert cost.capital.value == pytest.approx(2490 * 7200 / (4 * YEAR * 0.5))
    assert cost.total.value == pytest.approx(cost.energy_price.value + cost.capital.value)
    assert job_cost(known(7200.0), KRONOS, Tariff()).energy_price is None


def candidate(name: str, rate: Sourced, price: float, watts: float | None = None) -> Candidate:
    power = None if watts is None else Sourced(known(watts))
    return Candidate(name, MachineSpec(rate, price, power), known(10e9 / rate.figure.value))


def test_candidates_are_held_against_the_first() -> None:
    found = benefits(
        [
            candidate("old", Sourced(known(10e9)), 1000.0, 200.0),
            candidate("new", Sourced(known(40e9)), 2000.0, 800.0),
        ],
        TARIFF,
    )
    assert [one.cost and one.cost.value for one in found] == [1.0, pytest.approx(0.5)]
    energy = 4 * YEAR * 0.5 * 0.30 / KWH
    assert found[1].owned is not None
    assert found[1].owned.value == pytest.approx((2000 + 800 * energy) / 4 / (1000 + 200 * energy))
    best = best_value(found)
    assert best is not None and best.candidate.name == "new"


def test_no_best_where_intervals_do_not_tell() -> None:
    close = Candidate("b", MachineSpec(uncertain(10.1e9, 9e9, 11e9), 1000.0), uncertain(0.99, 0.9, 1.1).figure)
    found = benefits([candidate("a", Sourced(known(10e9)), 1000.0), close], Tariff())
    assert best_value(found) is None
    assert found[1].owned is None


def test_the_best_value_beats_all_others_at_once() -> None:
    """The second is never cheaper, the third is in four draws of ten: nothing is surely the best."""
    sure = Candidate("b", MachineSpec(Sourced(known(10e9)), 1000.0), known(1.2))
    vague = Candidate("c", MachineSpec(Sourced(known(10e9)), 1000.0), uncertain(1.3, 0.3, 3.3).figure)
    first = Candidate("a", MachineSpec(Sourced(known(10e9)), 1000.0), known(1.0))
    found = benefits([first, sure, vague], Tariff())
    assert found[2].cost is not None
    assert 0.2 < np.mean(found[2].cost.draws < 1) < 0.45
    assert best_value(found) is None
    without = best_value(found[:2])
    assert without is not None and without.candidate.name == "a"
