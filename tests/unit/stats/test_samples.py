"""What every estimator asks of its samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.stats.samples import checked, ordered_median

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.lists(FINITE, min_size=1, max_size=25))
def test_the_median_of_sorted_values_is_numpys(values: list[float]) -> None:
    ordered = np.sort(checked(values))
    assert ordered_median(ordered) == float(np.median(ordered))


def test_the_first_sample_that_is_no_number_is_named() -> None:
    assert checked([[1, 2], [3, 4]]).tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="sample 2 is inf"):
        checked([1, 2, float("inf"), float("nan")])
