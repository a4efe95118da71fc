"""Stopping looks only where it declared to, and its intervals allow for every look."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.stats.stopping import LOOKS, FixedRule, WatchRule, WidthRule, flags, settled_median

NARROW = [1.0, 1.003, 1.001, 1.004, 1.002, 1.0, 1.005, 1.001]


def ar1(random: np.random.Generator, n: int, rho: float) -> np.ndarray:
    noise = random.normal(size=n) * (1 - rho**2) ** 0.5
    values = np.empty(n)
    values[0] = random.normal()
    for i in range(1, n):
        values[i] = rho * values[i - 1] + noise[i]
    return values


def test_stops_at_a_look_when_narrow_enough() -> None:
    rule = WidthRule(wish=0.05)
    assert not rule.decide(NARROW[:7]).stop
    assert rule.decide(NARROW).stop
    assert "within the wish" in rule.decide(NARROW).reason
    assert not rule.decide([*NARROW, 1.0]).stop, "nine is not a look"


def test_wide_goes_on_until_the_last_look() -> None:
    rule = WidthRule(wish=0.01, looks=(6, 10))
    wide = [1.0, 2.0] * 5
    assert not rule.decide(wide[:6]).stop
    assert rule.decide(wide).stop
    assert "wished 1.00% after 10 replicates, the most" in rule.decide(wide).reason
    assert (rule.least, rule.most) == (6, 10)


def test_constant_samples_stop_at_the_first_look() -> None:
    assert WidthRule().decide([0.0] * LOOKS[0]).stop


def test_a_narrow_interval_over_a_drift_is_not_enough() -> None:
    random = np.random.default_rng(4)
    rising = [1 + i / 1000 + random.normal(0, 0.003) for i in range(16)]
    decision = WidthRule(wish=0.05).decide(rising)
    assert not decision.stop
    assert "drifts by +" in decision.reason
    last = WidthRule(wish=0.05, looks=(8, 16)).decide(rising)
    assert last.stop
    assert "drifts" in last.reason


def test_a_cold_start_is_waited_out() -> None:
    cold = [9.0, *NARROW, *NARROW[:-1]]
    decision = WidthRule(wish=10.0).decide(cold)
    assert not decision.stop
    assert "not warmed up" in decision.reason


@pytest.mark.parametrize("arguments", [{"wish": 0.0}, {"looks": ()}, {"looks": (10, 6)}, {"looks": (3,)}])
def test_nonsense_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"wish|looks|replicates"):
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
    steps = np.repeat([1.0, 2.0], 6)
    found = settled_median(steps)
    assert "amount to" in str(found.reason)
    assert (found.low, found.high) == (1.0, 2.0), "the extremes, with the confidence that they have"
    assert found.confidence is not None
    assert found.confidence < 0.9


def test_coverage_with_the_rule_over_independent_and_dependent_samples() -> None:
    random = np.random.default_rng(5)
    rule = WidthRule(wish=0.04)
    for rho in (0.0, 0.5):
        hits, resolved = 0, 0
        for _ in range(400):
            samples = np.exp(0.02 * ar1(random, 40, rho))
            n = next(look for look in LOOKS if rule.decide(samples[:look]).stop)
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
    rule = WatchRule(wish=0.05)
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
