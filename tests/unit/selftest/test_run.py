"""What a step of the self-test is: of a fixed seed, judged beside chance, and missed by a rule that errs."""

from __future__ import annotations

import numpy as np

from wulf.selftest import comparisons, nodes
from wulf.selftest.simulated.noise import recording
from wulf.stats.claims import Claim, Size
from wulf.stats.series.streams import SYNTHETIC


def test_the_same_seed_gives_the_same_table() -> None:
    first, second = (nodes.resembling(np.random.default_rng(1), SYNTHETIC[0], Size(5, 5)) for _ in range(2))
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
