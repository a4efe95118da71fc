"""Programs whose gains are known, measured and pooled as the product does."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.selftest.impacts import GAIN, measured, mixed, plan, unrelated
from wulf.stats.claims import Size


def test_many_programs_lead_to_the_mean_gain_and_to_how_much_they_differ() -> None:
    pooled = measured(np.random.default_rng(1), 60, 0.05).pooled
    assert pooled is not None
    assert pooled.mean.value == pytest.approx(GAIN, abs=0.02) and pooled.tau == pytest.approx(0.05, abs=0.015)
    assert pooled.mean.low < GAIN < pooled.mean.high


def test_a_few_campaigns_of_a_step() -> None:
    (mix,) = mixed(np.random.default_rng(1), Size(1, 15), programs=3, spread=0.05)
    (claimed,) = unrelated(np.random.default_rng(1), Size(1, 10), programs=5, spread=0.05)
    assert (mix.n, claimed.n) == (5, 10) and mix.share > 0.5 and claimed.share < 0.5


def test_each_step_has_its_words() -> None:
    assert len({words for words, _ in plan()}) == len(plan()) == 24
