"""One form fitted: exact data give exact parameters, and what noise hides is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wulf.model.speedup.fitting import TooFewPointsError, fit
from wulf.model.speedup.forms import AMDAHL, BROWN, BROWN_SQUARED, FORMS, USL, Form
from wulf.model.speedup.times import gather

N = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


def exact(form: Form, theta: list[float], runs: int = 3) -> dict[float, list[float]]:
    seconds = form.columns(np.array(N)) @ np.array(theta)
    return {n: [float(t)] * runs for n, t in zip(N, seconds, strict=True)}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@settings(max_examples=10)
@given(data=st.data())
def test_exact_times_give_exact_parameters(form: Form, data: st.DataObject) -> None:
    theta = [data.draw(st.floats(1, 1000)) for _ in form.parts]
    found = fit(form, gather(exact(form, theta)))
    assert found.theta == pytest.approx(theta, rel=1e-3)
    assert found.at(64) == pytest.approx(float(form.columns(np.array([64.0]))[0] @ np.array(theta)), rel=1e-3)
    assert sum(found.shares(8).values()) == pytest.approx(1)


def test_browns_peak_is_his_formula() -> None:
    found = fit(BROWN, gather(exact(BROWN, [1000, 11, 1])), serial=[1010.0] * 3)
    assert found.peak.workers.value == pytest.approx(1000**0.5, rel=1e-4)
    assert found.peak.speedup.value == pytest.approx(1010 / (11 + 2 * 1000**0.5), rel=1e-4)
    assert found.parameters["ts"].value == pytest.approx(10, rel=1e-3)
    assert found.parameters["tip"].value == pytest.approx(1, rel=1e-2)


def test_squared_communication_has_a_cubic_peak() -> None:
    found = fit(BROWN_SQUARED, gather(exact(BROWN_SQUARED, [1000, 11, 0.5])))
    assert found.peak.workers.value == pytest.approx(10, rel=1e-3)


def test_ts_and_tip_need_a_serial_run() -> None:
    assert set(fit(BROWN, gather(exact(BROWN, [1000, 11, 1]))).parameters) == {"c", "a", "b"}


def test_usl_is_told_in_ratios() -> None:
    found = fit(USL, gather(exact(USL, [100, 10, 0.5]))).parameters
    assert found["t1"].value == pytest.approx(100, rel=1e-4)
    assert found["sigma"].value == pytest.approx(0.1, rel=1e-3)
    assert found["kappa"].value == pytest.approx(0.005, rel=1e-3)


def test_amdahl_has_a_limit_and_no_peak() -> None:
    found = fit(AMDAHL, gather(exact(AMDAHL, [95, 5])))
    assert found.peak.workers.value == np.inf
    assert found.peak.speedup.value == pytest.approx(20, rel=1e-4)
    assert found.parameters["serial_fraction"].value == pytest.approx(0.05, rel=1e-4)


def test_communication_that_is_not_there_has_an_interval_down_to_zero_and_an_unbounded_peak() -> None:
    random = np.random.default_rng(3)
    noisy = {n: (95 / n + 5) * np.exp(0.02 * random.normal(size=5)) for n in N}
    found = fit(BROWN, gather(noisy))
    assert found.parameters["b"].low == 0
    assert found.peak.workers.high == np.inf


def test_a_form_that_misses_the_data_says_so_and_widens() -> None:
    random = np.random.default_rng(3)
    noisy = {n: (95 / n + 1 + 0.5 * n) * np.exp(0.005 * random.normal(size=5)) for n in N}
    bad, good = fit(AMDAHL, gather(noisy)), fit(BROWN, gather(noisy))
    assert bad.misfit is not None and good.misfit is not None
    assert bad.misfit < 1e-6 < 0.01 < good.misfit
    assert bad.misfits and not good.misfits
    assert bad.beyond > 5
    assert np.median(bad.launches) > 0.1 > 20 * np.median(good.launches)


def test_launches_that_differ_are_in_the_intervals() -> None:
    """All runs of a launch share what it adds: their own spread, however small, is not the mean's error."""
    random, covered = np.random.default_rng(3), 0
    for _ in range(40):
        launched = {n: (95 / n + 5) * np.exp(0.02 * random.normal() + 0.001 * random.normal(size=5)) for n in N}
        time = fit(AMDAHL, gather(launched)).time(1.0)
        covered += time.low <= 100 <= time.high
    assert covered >= 34  # fewer of 40 at 95 % are one chance in a hundred


def test_a_few_points_are_weighted_by_their_runs() -> None:
    heavy = {1.0: [70.0, 95.0, 105.0, 130.0] * 12, 2.0: [42.0, 57.0, 63.0, 78.0] * 12, 4.0: [30.0]}
    light = {1.0: [100.0], 2.0: [60.0], 4.0: [21.0, 28.5, 31.5, 39.0] * 12}
    assert abs(fit(AMDAHL, gather(heavy)).at(2) - 60) < abs(fit(AMDAHL, gather(light)).at(2) - 60)


@pytest.mark.parametrize(("form", "points"), [(AMDAHL, 2), (BROWN, 3)])
def test_too_few_points_are_refused_in_words(form: Form, points: int) -> None:
    few = {n: [1.0 / n] for n in N[:points]}
    with pytest.raises(TooFewPointsError, match=f"needs {points + 1} numbers of workers; there are {points}"):
        fit(form, gather(few))


def test_a_serial_time_must_be_one() -> None:
    with pytest.raises(ValueError, match="above zero"):
        fit(AMDAHL, gather(exact(AMDAHL, [95, 5])), serial=[0.0])


def test_the_same_seed_gives_the_same_intervals() -> None:
    noisy = {n: np.array([1.0, 1.1, 0.9]) * 100 / n for n in N}
    one, again, other = (fit(AMDAHL, gather(noisy), seed=seed).parameters["c"] for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_times_of_another_form_are_no_cause_to_warn(form: Form) -> None:
    """Times that grow with N² drive both of Amdahl's parameters below zero in some draws: no fraction is left there."""
    found = fit(form, gather(exact(BROWN_SQUARED, [1000, 11, 0.5])))
    assert found.peak.workers.value >= 1
    for one in found.parameters.values():
        assert one.low <= one.value <= one.high
    if form is AMDAHL:
        assert found.parameters["serial_fraction"].low >= 0
        assert found.parameters["serial_fraction"].high == 1
