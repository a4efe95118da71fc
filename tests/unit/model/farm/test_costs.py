"""The farm's models: known costs are recovered within their intervals, METG is bracketed, tables are arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wording import Wording
from wulf.model.draws import combine, known, mean_of
from wulf.model.farm.costs import (
    CLOSE,
    Tables,
    karp_flatt,
    master_cost,
    metg,
    metg_buffered,
    metg_waiting,
    next_spin,
    refuted,
    saturation,
)
from wulf.model.farm.study import BUFFERED, WAITING, FarmPoint, farm_study
from wulf.stats.estimates import Interval

A, C, RTT, OVERHEAD = 2e-6, 3e-7, 2e-5, 1e-6
"""Seconds of the simulated farm."""

BATCHES = (1, 2, 4, 10, 100)


def noisy(value: float, random: np.random.Generator, n: int = 8, spread: float = 0.02) -> list[float]:
    return [float(one) for one in value * (1 + spread * random.standard_normal(n))]


@pytest.mark.full
def test_known_costs_are_recovered_within_their_intervals() -> None:
    held = dict.fromkeys(("a", "c", "o", "rtt"), 0)
    runs = 300
    for seed in range(runs):
        random = np.random.default_rng(seed)
        cost = master_cost({b: noisy(A + C * b, random) for b in BATCHES}, random)
        found = {"a": (cost.a, A), "c": (cost.c, C), "o": (cost.at(10), A + 10 * C)}
        found["rtt"] = (mean_of(noisy(RTT, random), random), RTT)
        for name, (one, truth) in found.items():
            held[name] += one.interval().low <= truth <= one.interval().high
    assert {name: count / runs for name, count in held.items() if count / runs < 0.93} == {}


def test_a_line_that_does_not_fit_has_wider_intervals() -> None:
    random = np.random.default_rng(1)
    straight = master_cost({b: noisy(A + C * b, random) for b in BATCHES}, random)
    bent = master_cost({b: noisy(A + C * b + (3e-6 if b == 4 else 0), random) for b in BATCHES}, random)
    assert bent.misfit is not None and straight.misfit is not None
    assert bent.misfit > 4 > straight.misfit
    assert _width(bent.c.interval()) > 3 * _width(straight.c.interval())


def _width(one: Interval) -> float:
    return one.high - one.low


def test_a_line_needs_two_batches() -> None:
    with pytest.raises(ValueError, match="needs two batches, and got 1"):
        master_cost({1: [1.0, 1.1]}, np.random.default_rng(0))
    with pytest.raises(ValueError, match="batches of 4 took no time"):
        master_cost({1: [1.0, 1.1], 4: [0.0, 0.0]}, np.random.default_rng(0))
    with pytest.raises(ValueError, match="needs two samples, and got 1"):
        master_cost({1: [1.0], 2: [1.0, 1.0]}, np.random.default_rng(0))


def test_saturation_and_predictions_are_their_formulas() -> None:
    rtt, overhead, cost = known(RTT), known(OVERHEAD), known(A)
    assert saturation(known(1e-5), 10, rtt, overhead, cost).value == pytest.approx((1e-4 + RTT + OVERHEAD) / A)
    assert metg_waiting(3, rtt, overhead, cost).value == pytest.approx(RTT + OVERHEAD)
    assert metg_waiting(100, rtt, overhead, cost).value == pytest.approx(50 * A)
    assert metg_buffered(3, rtt, overhead, cost).value == pytest.approx((RTT + OVERHEAD) / 3)
    assert metg_buffered(3, known(0.0), overhead, known(0.0)).value == pytest.approx(OVERHEAD)


def test_draws_follow_what_is_computed() -> None:
    random = np.random.default_rng(0)
    one = mean_of([1.0, 1.2, 0.8, 1.1], random)
    zero = combine(lambda a, b: a - b, one, one)
    assert zero.interval() == Interval(0.0, 0.0, 0.0)
    assert combine(lambda a: 2 * a, one).interval().high == pytest.approx(2 * one.interval().high)


def efficiency(spin: float, metg_at: float = 5e-6) -> float:
    return spin / (spin + metg_at)


def test_metg_is_searched_until_points_on_both_sides_are_close() -> None:
    random = np.random.default_rng(2)
    points = {spin: noisy(efficiency(spin), random) for spin in (1e-4, 1e-3)}
    asked = []
    while (spin := next_spin(points)) is not None:
        asked.append(spin)
        points[spin] = noisy(efficiency(spin), random)
    assert asked[0] == pytest.approx(2.5e-5)
    assert len(asked) < 12
    found = metg(points, random)
    assert found.below is not None and found.above is not None and found.value is not None
    assert found.below < 5e-6 < found.above <= CLOSE * found.below
    assert found.value.interval().low <= 5e-6 <= found.value.interval().high


def test_metg_says_which_side_is_missing() -> None:
    random = np.random.default_rng(2)
    above = metg({1e-4: [0.9, 0.91], 1e-3: [0.99, 0.99]}, random)
    assert (above.value, above.below, above.above) == (None, None, 1e-4)
    below = metg({1e-6: [0.1, 0.1]}, random)
    assert (below.value, below.below, below.above) == (None, 1e-6, None)
    assert next_spin({1e-2: [0.1, 0.1]}) is None


def test_a_master_whose_time_may_be_none_has_no_upper_bound() -> None:
    random = np.random.default_rng(3)
    cost = master_cost({1: [1e-8, 9e-6, 1e-8], 2: [9e-6, 1e-8, 1e-8]}, random)
    assert cost.at(1).interval().low == 0.0
    nothing = saturation(known(0.0), 1, known(0.0), known(0.0), cost.at(1)).interval()
    assert nothing.low == 0.0 and nothing.high == np.inf, "and none of a worker's, either"
    assert saturation(known(1e-5), 1, known(RTT), known(OVERHEAD), cost.at(1)).interval().high == np.inf


def test_claims_are_refuted_only_without_a_value_in_common() -> None:
    assert refuted(Interval(2, 1.5, 2.5), Interval(1, 0.5, 1.4))
    assert refuted(Interval(1, 0.5, 1.4), Interval(2, 1.5, 2.5))
    assert not refuted(Interval(2, 1.5, 2.5), Interval(1, 0.5, 1.5))


TABLES = Tables(10, {1: {1: 8.0, 3: 6.0}, 2: {1: 5.0, 3: 3.0}})


def test_tables_are_arithmetic() -> None:
    assert TABLES.messages(3) == 4
    assert TABLES.rate(2, 1) == 2.0
    assert TABLES.message_time(2, 3) == 0.75
    assert TABLES.overhead(1, 1) == 2.0
    assert TABLES.overhead_cycle(1, 1) == 0.2
    assert TABLES.overhead_message(1, 1) == 0.1
    assert TABLES.speedup(2, 3) == 2.0
    assert TABLES.speedup(2, 3, base=9.0) == 3.0
    assert TABLES.least_cost_bound(1) == 0.5
    assert Tables(10, {2: {1: 5.0}}).speedup(2, 1) is None


def test_karp_flatt() -> None:
    assert karp_flatt(4.0, 4) == 0.0
    assert karp_flatt(1 / (0.1 + 0.9 / 8), 8) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="one worker"):
        karp_flatt(1.0, 1)


def simulated(style: str = "async") -> list[FarmPoint]:
    """A farm of which all is known: W* is far off, METG(50 %) where the model says."""
    random = np.random.default_rng(5)
    unit, units = 2e-5, 1000
    points = [FarmPoint("farm", 0, 1, units, None, style, {"seconds": noisy(units * unit, random)})]
    for workers in (1, 3, 7, 15):
        for batch in BATCHES:
            seconds = units * unit / workers + units / batch * (RTT + OVERHEAD) / workers
            values = {
                "seconds": noisy(seconds, random), "service": noisy(A + C * batch, random),
                "rtt": noisy(RTT, random), "worker_overhead": noisy(OVERHEAD, random), "unit": noisy(unit, random),
            }  # fmt: skip
            if style == "plain":
                del values["service"]
            points.append(FarmPoint("farm", workers, batch, units, None, style, values))
    for spin in (1e-5, 1.6e-5, 2e-5, 4e-5):
        values = {"efficiency": noisy(efficiency(spin, max(RTT + OVERHEAD, 15 * (A + C) / 2)), random)}
        points.append(FarmPoint("metg", 15, 1, None, spin, style, values))
    return points


def test_a_simulated_farm_is_studied_whole() -> None:
    study = farm_study(simulated())
    assert study is not None and study.cost is not None and study.metg is not None and study.speedup is not None
    assert (study.workers, study.speedup_batch, study.lacks) == (15, 100, [])
    assert study.tables.seconds[3][1] == pytest.approx((0.02 + 0.021) / 3, rel=0.05)
    truths = [(study.rtt, RTT), (study.overhead, OVERHEAD), (study.serial, 0.02), (study.cost.at(1), A + C)]
    for one, truth in [*truths, (study.saturation[1], (2e-5 + RTT + OVERHEAD) / (A + C))]:
        assert one is not None
        assert one.interval(0.999).low <= truth <= one.interval(0.999).high
    assert study.metg.value is not None
    assert not refuted(study.metg.value.interval(), study.predicted[WAITING].interval())
    assert refuted(Interval(1e-4, 9e-5, 1.1e-4), study.predicted[BUFFERED].interval())
    assert [one.workers for one in study.speedup.karp_flatt] == [3, 7, 15]
    assert "usl" in study.speedup.fits


def test_what_is_not_there_is_said(wording: Wording) -> None:
    plain = farm_study(simulated("plain"))
    assert plain is not None
    assert plain.cost is None and plain.saturation == {} and plain.predicted == {}
    assert "blocking receive" in plain.lacks[0]
    wording(plain.lacks[0])
    single = farm_study([FarmPoint("farm", 1, 1, 10, None, "async", {"seconds": [1.0]})])
    assert single is not None
    assert any("fewer than two replicates" in lack for lack in single.lacks)
    assert farm_study([]) is None
    assert farm_study([FarmPoint("farm", 0, 1, 10, None, "async", {"seconds": [1.0, 1.0]})]) is None
