"""What a step of the self-test is: of a fixed seed, judged beside chance, and missed by a rule that errs."""

from __future__ import annotations

import numpy as np
import pytest

from wulf.selftest import comparisons, nodes
from wulf.selftest.simulated.noise import recording
from wulf.stats.claims import Claim, ClaimVerdict, Size
from wulf.stats.series.streams import SYNTHETIC


def test_the_same_seed_gives_the_same_table() -> None:
    first, second = (nodes.resembling(np.random.default_rng(1), SYNTHETIC[0], Size(5, 5)) for _ in range(2))
    assert first == second


def test_a_claim_is_missed_when_chance_does_not_explain_it() -> None:
    assert Claim("", "", 0.10, 300, 0.05).verdict is ClaimVerdict.MISSED
    assert Claim("", "", 0.06, 20_000, 0.05).verdict is ClaimVerdict.MISSED
    assert Claim("", "", 0.90, 300, 0.95, at_most=False).verdict is ClaimVerdict.MISSED
    assert Claim("", "", 0.5, 10, None).verdict is None


def test_a_claim_is_met_when_its_whole_interval_is_near_enough() -> None:
    """Two points beyond a goal at which a test that errs in just so many stands."""
    assert Claim("", "", 0.05, 2000, 0.05).verdict is ClaimVerdict.MET
    assert Claim("", "", 0.95, 2000, 0.95, at_most=False).verdict is ClaimVerdict.MET
    assert Claim("", "", 0.05, 300, 0.05).verdict is ClaimVerdict.OPEN
    assert Claim("", "", 0.06, 300, 0.05).verdict is ClaimVerdict.OPEN
    assert Claim("", "", 0.94, 300, 0.95, at_most=False).verdict is ClaimVerdict.OPEN


def test_one_goal_of_hundreds_is_not_missed_by_chance() -> None:
    """Of three hundred rules that stand at their goal one would be so far beyond it: 12 of 75 where 5 are expected."""
    assert Claim("", "", 63 / 75, 75, 0.93, at_most=False).verdict is ClaimVerdict.OPEN
    assert Claim("", "", 58 / 75, 75, 0.93, at_most=False).verdict is ClaimVerdict.MISSED


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 26, 0.0, 0.1323), (1, 10, 0.0025, 0.4450), (10, 10, 0.6915, 1.0)]
)
def test_intervals_are_clopper_and_pearsons(hits: int, n: int, low: float, high: float) -> None:
    """By R's binom.test."""
    assert Claim("", "", hits / n, n, None).interval == pytest.approx((low, high), abs=5e-5)


def test_a_method_that_fails_is_caught(monkeypatch: object) -> None:
    """A rule that peeks without paying for it misses its bound in this very simulation."""
    from wulf.stats.comparison import PairedRule

    class Peeking(PairedRule):
        def judge(self, differences: np.ndarray):  # type: ignore[no-untyped-def]
            return PairedRule(looks=(len(differences),)).judge(differences)

    monkeypatch.setattr(comparisons, "versus_rule", lambda: Peeking(looks=tuple(range(6, 41, 2))))  # type: ignore[attr-defined]
    monkeypatch.setattr(PairedRule, "__post_init__", lambda self: None)  # type: ignore[attr-defined]
    found = comparisons.comparisons(np.random.default_rng(1), SYNTHETIC[0], Size(900, 1))
    assert found[0].verdict is ClaimVerdict.MISSED


def test_the_recording_is_of_both_kinds() -> None:
    assert [len(series) for series in recording()] == [2500, 2500]
