"""Predictions whose truth is known, briefly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running.tiers import first_of
from wulf.cli.foresight.predict import command
from wulf.model.foresight.forecast import LEAST_DRAWS, USUAL_DRAWS
from wulf.selftest import predict
from wulf.stats.claims import Size, missed


@pytest.mark.parametrize("number", first_of(range(len(predict.plan()))))
def test_what_is_claimed_holds(number: int) -> None:
    words, step = predict.plan()[number]
    claims = step(np.random.default_rng(1), size=Size(0, 20))
    assert words.startswith("predictions")
    assert claims
    assert missed(claims) == []


def test_the_command_draws_as_many_as_the_claims_do() -> None:
    (draws,) = (option for option in command.params if option.name == "draws")
    assert draws.default == USUAL_DRAWS
    assert draws.type.min == LEAST_DRAWS  # type: ignore[attr-defined]
