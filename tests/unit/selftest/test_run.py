"""The self-test in its reduced form: CI runs it here, `wulf stats selftest` runs it whole."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from wulf.report.selftest import markdown, print_claims
from wulf.selftest import comparisons, nodes
from wulf.selftest.clusters import GAUSSIAN
from wulf.selftest.noise import recording
from wulf.selftest.run import claims
from wulf.stats.claims import Claim, Size
from wulf.stats.streams import SYNTHETIC


@pytest.mark.full
@pytest.mark.timeout(3600)  # three minutes of one CPU, of which a busy machine gives a twentieth
def test_every_claim_holds_in_the_reduced_form() -> None:
    found = list(claims(quick=True))
    missed = [f"{claim.what}, {claim.stream}: {claim.share:.1%}" for claim in found if claim.met is False]
    assert missed == []
    streams = {claim.stream for claim in found}
    assert {
        "lognormal",
        "heavy-tailed (t2)",
        "bimodal",
        "AR(1), ρ = 0.5",
        "linear drift",
        "linear drift of 40 σ",
        "recorded ping-pong",
    } <= streams
    naive = {claim.what: claim.share for claim in found if claim.stream == "linear drift" and claim.met is None}
    assert naive["naive: 20 of A, then 20 of B, t-test"] > 0.9, "the naive method fails side by side"
    out = io.StringIO()
    print_claims(found, Console(file=out, width=80))
    assert max(len(line.rstrip()) for line in out.getvalue().splitlines()) <= 80
    assert markdown(found).count("\n") == len(found) + 2


def test_the_same_seed_gives_the_same_table() -> None:
    first, second = (nodes.accusations(np.random.default_rng(1), GAUSSIAN, Size(5, 5)) for _ in range(2))
    assert first == second


def test_a_claim_is_missed_when_chance_does_not_explain_it() -> None:
    assert Claim("", "", 0.06, 300, 0.05).met
    assert Claim("", "", 0.10, 300, 0.05).met is False
    assert Claim("", "", 0.06, 20_000, 0.05).met is False
    assert Claim("", "", 0.94, 300, 0.95, at_most=False).met
    assert Claim("", "", 0.90, 300, 0.95, at_most=False).met is False
    assert Claim("", "", 0.5, 10, None).met is None


def test_a_method_that_fails_is_caught(monkeypatch: object) -> None:
    """A rule that peeks without paying for it misses its bound in this very simulation."""
    from wulf.stats.comparison import PairedRule

    class Peeking(PairedRule):
        def judge(self, differences: np.ndarray):  # type: ignore[no-untyped-def]
            return PairedRule(looks=(len(differences),)).judge(differences)

    monkeypatch.setattr(comparisons, "versus_rule", lambda: Peeking(looks=tuple(range(6, 41, 2))))  # type: ignore[attr-defined]
    monkeypatch.setattr(PairedRule, "__post_init__", lambda self: None)  # type: ignore[attr-defined]
    found = comparisons.comparisons(np.random.default_rng(1), SYNTHETIC[0], Size(400, 1))
    assert found[0].met is False


def test_the_recording_is_of_both_kinds() -> None:
    assert [len(series) for series in recording()] == [2500, 2500]
