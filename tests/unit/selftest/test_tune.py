"""The self-test's campaigns go through the product, and catch a method that errs."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.selftest import tune
from wulf.selftest.simulated.campaigns import SimulatedCampaign, held
from wulf.stats.claims import ClaimVerdict, Size
from wulf.stats.series.streams import SYNTHETIC
from wulf.tune.campaign import deciding
from wulf.tune.campaign.contrasts import _least_squares

QUIET = SYNTHETIC[0]


def test_a_campaign_finds_and_keeps_what_was_planted() -> None:
    found = held(
        SimulatedCampaign("abc", lambda on: -0.1 * ("a" in on) + 0.1 * ("b" in on), QUIET, 0.01),
        np.random.default_rng(1),
    )
    assert found.claimed == {"a": "faster", "b": "slower"}
    assert list(found.kept) == ["a"]
    assert found.kept["a"]["low"] <= 1 - np.exp(-0.1) <= found.kept["a"]["high"]
    assert found.result["state"] == "complete"
    assert [run.stage.name for run in found.told.runs] == ["main", "confirm", "estimate"]


def test_the_same_seed_gives_the_same_claims() -> None:
    first, second = (tune.inert(np.random.default_rng(1), QUIET, Size(8, 8)) for _ in range(2))
    assert first == second


def test_attribution_by_least_squares_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What three knobs do together goes into the effects of all others; the A/A arm would alarm, and is held back."""
    monkeypatch.setattr(deciding, "main_effects", _least_squares)
    monkeypatch.setattr(deciding.Result, "alarm", False)
    missed = tune.interacting(np.random.default_rng(1), QUIET, Size(40, 40))
    assert missed[0].verdict is ClaimVerdict.MISSED


def test_every_step_of_the_plan_gives_claims() -> None:
    words = [words for words, _ in tune.plan()]
    assert len(set(words)) == len(words)
    _, step = tune.plan()[-1]
    assert [claim.n > 0 for claim in step(np.random.default_rng(1), size=Size(4, 4))] == [True, True, True]
