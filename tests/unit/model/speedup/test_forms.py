"""The forms: their sums, their peaks, and that Brown's and USL are one family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.model.speedup.forms import AMDAHL, BROWN, BROWN_SQUARED, FORMS, USL, Form

N = np.arange(1.0, 2001.0)
seconds = st.floats(0.01, 1e4)


@pytest.mark.parametrize(
    ("form", "theta", "at_four"),
    [
        (AMDAHL, [100, 5], 100 / 4 + 5),
        (BROWN, [100, 5, 0.5], 100 / 4 + 5 + 0.5 * 4),
        (BROWN_SQUARED, [100, 5, 0.5], 100 / 4 + 5 + 0.5 * 16),
        (USL, [100, 10, 2], 100 * (1 + 0.1 * 3 + 0.02 * 4 * 3) / 4),
    ],
)
def test_time_is_what_the_formula_says(form: Form, theta: list[float], at_four: float) -> None:
    assert form.columns(np.array([4.0]))[0] @ np.array(theta) == pytest.approx(at_four)


@given(work=seconds, serial=seconds, communication=seconds)
def test_the_peak_is_where_time_is_least(work: float, serial: float, communication: float) -> None:
    for form in (BROWN, BROWN_SQUARED, USL):
        theta = np.array([work, serial, communication])
        times = form.columns(N) @ theta
        peak = float(form.peak(theta))
        assert abs(min(max(peak, 1.0), N[-1]) - N[np.argmin(times)]) <= 1
        assert form.columns(np.array([peak]))[0] @ theta <= times.min() * (1 + 1e-9)


def test_without_growth_there_is_no_peak() -> None:
    assert AMDAHL.peak(np.array([100.0, 5.0])) == np.inf
    assert BROWN.peak(np.array([100.0, 5.0, 0.0])) == np.inf


@pytest.mark.full
@given(t1=seconds, sigma=st.floats(0, 1), kappa=st.floats(0, 1))
def test_usl_is_browns_form_by_other_names(t1: float, sigma: float, kappa: float) -> None:
    usl = USL.columns(N) @ np.array([t1, sigma * t1, kappa * t1])
    brown = BROWN.columns(N) @ np.array([(1 - sigma) * t1, (sigma - kappa) * t1, kappa * t1])
    assert usl == pytest.approx(brown)


def test_every_form_says_what_each_of_its_parts_is() -> None:
    assert len({form.name for form in FORMS}) == len(FORMS)
    for form in FORMS:
        assert len(form.parts) == len(form.parameters) == len(form.costs) == len(form.divided)
