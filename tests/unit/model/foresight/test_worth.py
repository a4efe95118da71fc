"""Verdicts on networks: what is sure, what is not, and by which doubt."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.model.foresight.forecast import Forecast
from wulf.model.foresight.worth import (
    USUAL_GAIN,
    Doubts,
    NetworkCandidate,
    Offer,
    Piecewise,
    Tolerance,
    best_of,
    candidate,
    judge,
    required_gain,
    said_gain,
    widened,
)
from wulf.stats.estimates import Interval

NO_DOUBT = Doubts(0.0, 0.0)


def forecast(name: str, seconds: float) -> Forecast:
    return Forecast(name, seconds, np.array([seconds] * 3), {})


@pytest.mark.parametrize(
    ("gain", "doubts", "word", "said"),
    [
        (Interval(0.2, 0.15, 0.25), NO_DOUBT, "buy", "saves 15.0 % to 25.0 %"),
        (Interval(0.2, 0.15, 0.25), Doubts(0.05, 0.04), "buy", "saves 6.0 % to 34.0 %"),
        (Interval(0.02, 0.01, 0.03), NO_DOUBT, "don't", "saves 1.0 % to 3.0 %"),
        (Interval(-0.1, -0.2, -0.05), NO_DOUBT, "don't", "adds 5.0 % to 20.0 %"),
        (
            Interval(0.1, 0.01, 0.3),
            Doubts(0.01, 0.01),
            "not resolvable",
            "the networks' figures alone leave 29.0 %",
        ),
        (
            Interval(0.1, 0.09, 0.11),
            Doubts(0.08, 0.01),
            "not resolvable",
            "8.0 % of the trace's time are not modelled",
        ),
        (Interval(0.1, 0.09, 0.11), Doubts(0.01, 0.08), "not resolvable", "misses the measured run by 8.0 %"),
        (
            Interval(0.9, 0.9, 0.9),
            Doubts(0.0, 0.16),
            "not resolvable",
            "16.0 %: too far for anything to follow",
        ),
        (Interval(0.5, 0.5, 0.5), Doubts(0.0, None), "not resolvable", "nothing measured stands beside"),
    ],
)
def test_verdicts(gain: Interval, doubts: Doubts, word: str, said: str) -> None:
    verdict = judge(gain, doubts, 0.05)
    assert verdict.word == word
    assert said in verdict.why
    assert bool(verdict.next_step) == (word == "not resolvable")


def test_what_lies_on_both_sides_is_said_so() -> None:
    assert said_gain(Interval(0, -0.1, 0.2)) == "adds up to 10.0 % or saves up to 20.0 %"


def test_no_run_takes_less_than_no_time() -> None:
    assert widened(Interval(0.9, 0.9, 0.95), Doubts(0.1, 0.0)) == Interval(0.9, pytest.approx(0.8), 1.0)


def test_what_the_model_misses_may_be_gone_or_there_twice_and_grows_with_the_run() -> None:
    slower = widened(Interval(-1.0, -1.0, -1.0), Doubts(0.0, 0.1))
    assert (slower.low, slower.high) == pytest.approx((-1.2, -0.8))
    faster = widened(Interval(0.5, 0.5, 0.5), Doubts(0.0, 0.1))
    assert (faster.low, faster.high) == pytest.approx((0.4, 0.6))


def test_the_gain_required_is_what_makes_a_network_pay() -> None:
    assert required_gain(Offer(), None) == USUAL_GAIN
    assert required_gain(Offer(1000, None), None) == USUAL_GAIN
    assert required_gain(Offer(1000, 9000), None) == pytest.approx(0.1)
    assert required_gain(Offer(1000, 9000), 0.3) == 0.3
    # at the break-even the faster machine does as much by its price as the old one
    share = required_gain(Offer(1000, 9000), None)
    assert 1 / (1 - share) / 10000 == pytest.approx(1 / 9000)


def of(name: str, seconds: float, price: float | None = None) -> NetworkCandidate:
    return candidate(forecast("this", 10.0), forecast(name, seconds), NO_DOUBT, Offer(price))


def test_the_best_saves_most_for_its_price() -> None:
    some = [of("fast", 5.0, 10000), of("cheap", 7.0, 2000), of("slow", 9.9, 1)]
    assert [one.verdict.word for one in some] == ["buy", "buy", "don't"]
    assert some[1].saved_by_thousand == Interval(*[pytest.approx(0.15)] * 3)
    best = best_of(some)
    assert best is not None and best.forecast.name == "cheap"
    best = best_of([of("fast", 5.0), of("cheap", 7.0, 2000)])
    assert best is not None and best.forecast.name == "fast"
    assert best_of([of("slow", 9.9)]) is None


def test_tolerance_as_a_bandwidth() -> None:
    assert Tolerance(0.01, 1e-6, 1e-9).least_bandwidth(1e-9) == pytest.approx(5e8)
    assert Tolerance(0.01, 1e-6, None).least_bandwidth(1e-9) is None


def test_a_curve_is_straight_between_its_points() -> None:
    curve = Piecewise("latency", (0.0, 1.0, 2.0), (1.0, 2.0, 5.0), (1, 3))
    assert [curve.at(x) for x in (0.5, 1.5, 9.0)] == [1.5, 3.5, 5.0]
