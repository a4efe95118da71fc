"""Figures that should be alike, and which of them are not."""

import numpy as np
import pytest

from wulf.stats.cluster.outliers import _stands_out, odd_ones
from wulf.stats.estimates import Estimate


def estimate(value: float, spread: float = 0.02) -> Estimate:
    return Estimate(value, value * (1 - spread), value * (1 + spread), 0.97, 6)


@pytest.mark.parametrize("n", [5, 6, 40])
def test_what_need_not_be_looked_at_would_not_have_been_blamed(n: int) -> None:
    """The shortcut for large clusters changes no answer: held against asking everybody."""
    random = np.random.default_rng(n)
    for lower in (True, False):
        for _ in range(50):
            figures = {i: estimate(float(v)) for i, v in enumerate(random.lognormal(sigma=0.4, size=n))}
            values = np.array([e.value for e in figures.values()])
            slow = [
                i for i, e in figures.items() if _stands_out(e, np.delete(values, i), lower_is_better=lower) is not None
            ]
            assert [subject for subject, _ in odd_ones(figures, lower_is_better=lower)] == slow
