"""Non-negative least squares of many at once, beside SciPy's of one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from wulf.model.speedup.solving import nonnegative, unbounded


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_agrees_with_lawson_and_hanson(parts: int) -> None:
    random = np.random.default_rng(parts)
    columns = np.abs(random.normal(size=(6, parts)))
    values = random.normal(size=(200, 6))
    found = nonnegative(columns, values)
    expected = np.array([nnls(columns, one)[0] for one in values])
    assert (expected == 0).any()
    assert found == pytest.approx(expected, abs=1e-9)


def test_one_right_hand_side_has_no_leading_axis() -> None:
    columns = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert nonnegative(columns, np.array([2.0, -1.0, 2.0])).tolist() == pytest.approx([2.0, 0.0])
    assert unbounded(columns, np.array([2.0, -1.0, 1.0])).tolist() == pytest.approx([2.0, -1.0])


def test_nothing_positive_fits_a_negative_value() -> None:
    assert nonnegative(np.ones((3, 2)), -np.ones(3)).tolist() == [0.0, 0.0]
