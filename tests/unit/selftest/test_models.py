"""The models' claims, briefly; `make statistics` tries them a thousand times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wulf.model.speedup.forms import FORMS, Form
from wulf.selftest import loggp
from wulf.selftest.models import PLANTED, chosen, harder, plan, planted, recovered, truths
from wulf.stats.claims import Size, missed


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_known_parameters_are_recovered(form: Form) -> None:
    (claim,) = recovered(np.random.default_rng(1), planted(form), Size(0, 60))
    assert claim.bound == 0.93
    assert missed([claim]) == []


def test_a_claim_can_fail() -> None:
    (claim,) = recovered(np.random.default_rng(1), planted(FORMS[1]), Size(0, 60))
    assert missed([replace(claim, share=0.7)])


@pytest.mark.full
def test_the_true_form_is_not_accused() -> None:
    claim, alone = chosen(np.random.default_rng(1), FORMS[2], Size(0, 40))
    assert missed([claim]) == []
    assert alone.share > 0.7  # launches may differ: means that miss a curve by little are no proof against it


def test_every_form_is_tried_with_and_without_repeated_runs() -> None:
    words = [word for word, _ in plan()]
    for form in FORMS:
        assert sum(form.title in word for word in words) == 3
    assert truths(FORMS[3], PLANTED["usl"])["N*"] == pytest.approx(44.9, abs=0.1)


@pytest.mark.parametrize("number", range(3))
def test_heavy_tails_and_a_parameter_at_its_bound(number: int) -> None:
    (claim,) = harder()[number][1](np.random.default_rng(1), size=Size(0, 30))
    assert missed([claim]) == []


@pytest.mark.full
def test_messages_whose_cost_is_known() -> None:
    claims = loggp.recovered(np.random.default_rng(1), Size(0, 5), 6)
    assert len(claims) == 6
    assert missed(claims) == []


def test_nothing_is_told_of_messages_measured_too_few_times() -> None:
    (claim,) = loggp.refused(np.random.default_rng(1), Size(0, 5))
    assert (claim.share, claim.n) == (0.0, 5)
