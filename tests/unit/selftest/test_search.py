"""Searches of programs whose truth is known, briefly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running.tiers import first_of
from wulf.selftest import search
from wulf.stats.claims import Size, missed


@pytest.mark.parametrize("number", first_of([0, 4]))
def test_what_is_claimed_holds(number: int) -> None:
    words, step = search.plan()[number]
    claims = step(np.random.default_rng(1), size=Size(0, 1))
    assert words.startswith("search")
    assert missed(claims) == []
    proven = {claim.what: claim.share for claim in claims}
    assert proven["search: a step of 5 % or more is proven"] > 0.8


def test_what_a_program_is_built_with_depends_on_the_rest_where_it_does() -> None:
    words, step = search.plan()[-1]
    claims = step(np.random.default_rng(1), size=Size(0, 1))
    assert words == "search, tools, together, 1%"
    assert missed(claims) == []
    told = {claim.what: claim.share for claim in claims}
    assert told["search: two that depend on each other are told"] == 1.0


def test_an_interaction_that_is_there_is_proven_and_one_that_is_not_is_not() -> None:
    assert search.together((128, "square", 1), 1.0) / search.multiplicative((128, "square", 1), 1.0) == 0.75
    assert search.nothing((128, "square", 1), 1.0) == search.nothing((32, "flat", 0), 1.0)
