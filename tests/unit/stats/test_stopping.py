"""Stopping looks only where it declared to, and its intervals allow for every look."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from tests.unit.stats.walks import crossing_probabilities
from wulf.stats.sequential import level_at
from wulf.stats.stopping import LOOKS, FixedRule, WatchRule, WidthRule, flags, further_looks, resolution, settled_median

NARROW = [1.0, 1.003, 1.001, 1.004, 1.002, 1.0, 1.005, 1.001]


def ar1(random: np.random.Generator, n: int, rho: float) -> np.ndarray:
    noise = random.normal(size=n) * (1 - rho**2) ** 0.5
    values = np.empty(n)
    values[0] = random.normal()
    for i in range(1, n):
        values[i] = rho * values[i - 1] + noise[i]
    return values


def test_stops_at_a_look_when_narrow_enough() -> None:
    rule = WidthRule(width=0.05)
    assert not rule.decide(NARROW[:7]).stop
    assert rule.decide(NARROW).stop
    assert "wide, within the" in rule.decide(NARROW).reason
    assert not rule.decide([*NARROW, 1.0]).stop, "nine is not a look"


def test_wide_goes_on_until_the_last_look() -> None:
    rule = WidthRule(width=0.01, looks=(6, 10))
    wide = [1.0, 2.0] * 5
    assert not rule.decide(wide[:6]).stop
    assert rule.decide(wide).stop
    assert "requested 1.00% after 10 replicates, the most" in rule.decide(wide).reason
    assert (rule.least, rule.most) == (6, 10)


def test_constant_samples_stop_at_the_first_look() -> None:
    assert WidthRule().decide([0.0] * LOOKS[0]).stop


def test_a_narrow_interval_over_a_drift_is_not_enough() -> None:
    random = np.random.default_rng(4)
    rising = [1 + i / 1000 + random.normal(0, 0.003) for i in range(16)]
    decision = WidthRule(width=0.05).decide(rising)
    assert not decision.stop
    assert "drifts by +" in decision.reason
    last = WidthRule(width=0.05, looks=(8, 16)).decide(rising)
    assert last.stop
    assert "drifts" in last.reason


def test_a_cold_start_is_waited_out() -> None:
    cold = [9.0, *NARROW, *NARROW[:-1]]
    decision = WidthRule(width=10.0).decide(cold)
    assert not decision.stop
    assert "not warmed up" in decision.reason


@pytest.mark.parametrize("arguments", [{"width": 0.0}, {"looks": ()}, {"looks": (10, 6)}, {"looks": (3,)}])
def test_nonsense_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"width|looks|replicates"):
        WidthRule(**arguments)  # type: ignore[arg-type]


def test_one_look_spends_all_of_the_error() -> None:
    assert WidthRule(looks=(6,)).estimate(range(1, 7)).confidence == pytest.approx(1 - 2 / 64)


def test_many_looks_cost_confidence_at_each() -> None:
    first = WidthRule(looks=LOOKS).estimate([2, 9, 4, 7, 1, 11, 5, 8, 3, 10, 6])
    assert first.confidence is not None
    assert first.confidence > 0.98
    assert (first.low, first.high) == (2, 10)


def test_who_runs_out_of_time_between_looks_may_spend_what_is_left() -> None:
    cut = WidthRule(looks=LOOKS).estimate(range(1, 7))
    assert cut.confidence == pytest.approx(1 - 2 / 64)


def test_five_replicates_have_no_interval_and_say_what_is_needed() -> None:
    found = WidthRule().estimate([1.0] * 5)
    assert found.value is None
    assert "6 are needed" in str(found.reason)


def test_dependent_samples_get_a_wider_interval_or_none() -> None:
    random = np.random.default_rng(2)
    values = 10 + ar1(random, 40, 0.9)
    plain = settled_median(random.permutation(values))
    dependent = settled_median(values)
    assert plain.width is not None
    assert dependent.width is None or dependent.width > 1.2 * plain.width
    assert "dependent" in flags(values)
    steps = np.repeat([1.0, 2.0], 6) + np.linspace(0, 0.1, 12)
    found = settled_median(steps)
    assert "amount to" in str(found.reason)
    assert (found.low, found.high) == (1.0, 2.1), "the extremes, with the confidence that they have"
    assert found.confidence is not None
    assert found.confidence < 0.9


@pytest.mark.full
def test_coverage_with_the_rule_over_independent_and_dependent_samples() -> None:
    random = np.random.default_rng(5)
    rule = WidthRule(width=0.04, looks=(*LOOKS, 40))
    for rho in (0.0, 0.5):
        hits, resolved = 0, 0
        for _ in range(400):
            samples = np.exp(0.02 * ar1(random, 40, rho))
            n = next(look for look in rule.looks if rule.decide(samples[:look]).stop)
            found = rule.estimate(samples[:n])
            if found.low is not None and found.high is not None and found.reason is None:
                resolved += 1
                hits += found.low <= 1 <= found.high
        assert hits / resolved >= 0.93, rho


def test_flags_name_what_is_odd() -> None:
    random = np.random.default_rng(1)
    assert flags(random.normal(10, 1, 40)) == {}
    two = np.where(random.random(40) < 0.5, 10.0, 20.0) + random.normal(0, 0.1, 40)
    assert "two modes" in flags(two)["modes"]
    assert flags([]) == {}


def test_a_watch_looks_at_every_replicate() -> None:
    rule = WatchRule(width=0.05)
    assert rule.most is None
    assert not rule.decide(NARROW).stop, "a confidence sequence needs more than eight"
    assert rule.decide(NARROW * 3).stop
    assert rule.least == 12
    assert str(rule.least) in str(rule.estimate(NARROW).reason)
    assert rule.estimate([]).value is None


def test_a_number_too_small_for_an_interval_gives_the_median_alone() -> None:
    rule = FixedRule(3)
    assert (rule.least, rule.most) == (3, 3)
    assert not rule.decide([1.0, 2.0]).stop
    assert rule.decide([1.0, 2.0, 9.0]).stop
    found = rule.estimate([1.0, 2.0, 9.0])
    assert (found.value, found.low, found.high, found.width, found.n) == (2.0, None, None, None, 3)
    assert found.reason is not None
    assert "6 are needed" in found.reason
    assert rule.estimate([]).value is None


def test_independent_replicates_are_seldom_called_dependent() -> None:
    random = np.random.default_rng(3)
    said = [WidthRule(looks=(8,)).estimate(random.normal(10, 0.01, 8)).reason for _ in range(400)]
    assert sum(reason is not None for reason in said) / 400 <= 0.08  # 5 %, with 1 % to be above by chance


def test_a_hint_of_dependence_keeps_a_cell_from_ending_early() -> None:
    slow = [1.001, 1.003, 1.002, 1.0, 1.0025, 1.004, 1.0035, 1.0015]
    decision = WidthRule().decide(slow)
    assert not decision.stop
    assert "may depend on each other" in decision.reason
    assert WidthRule(looks=(8,)).decide(slow).stop
    assert "wide, within the" in WidthRule(looks=(8,)).decide(slow).reason


def test_the_clocks_step_is_part_of_the_interval() -> None:
    ticks = [20e-6, 21e-6, 20e-6, 20e-6, 21e-6, 20e-6, 20e-6, 20e-6]
    found = WidthRule(looks=(8,)).estimate(ticks)
    assert (found.low, found.high) == (pytest.approx(19e-6), pytest.approx(22e-6))
    assert resolution(ticks) == pytest.approx(1e-6)
    assert resolution([20e-6] * 8) == 0, "equal ones show none"
    told = WidthRule(looks=(8,), step=1e-6).estimate([20e-6] * 8)
    assert (told.low, told.high) == (pytest.approx(19e-6), pytest.approx(21e-6))
    assert resolution(NARROW[:5]) == 0, "no two are equal"


def test_with_time_left_looks_go_on_and_all_together_err_no_more() -> None:
    rule = WidthRule(looks=(8, 11, 16, 24), beyond=further_looks(24))
    assert rule.all_looks[4:8] == (36, 54, 81, 121)
    assert rule.most == rule.all_looks[-1]
    wide = [1.0 + 0.1 * ((i * 7) % 24) for i in range(24)]
    assert not rule.decide(wide).stop, "24 is the last no more"
    assert WidthRule(looks=(8, 11, 16, 24)).decide(wide).stop
    levels = [level_at(n, rule.all_looks, 0.05, planned=24) for n in rule.all_looks]
    crossed = crossing_probabilities(rule.all_looks, [-float(ndtri(level / 2)) for level in levels])
    assert 0.045 < sum(crossed) <= 0.05


def test_a_watch_over_dependent_replicates_is_wider() -> None:
    random = np.random.default_rng(2)
    values = 10 + ar1(random, 200, 0.8)
    plain, dependent = WatchRule().estimate(random.permutation(values)), WatchRule().estimate(values)
    assert plain.width is not None
    assert dependent.width is not None
    assert dependent.width > 1.3 * plain.width
    rising = WatchRule().estimate(list(range(1, 31)))
    assert (rising.value, rising.low, rising.high) == (15.5, 1.0, 30.0)
    assert "amount to 1" in str(rising.reason)
