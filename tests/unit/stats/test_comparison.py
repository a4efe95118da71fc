"""Four verdicts, and the corrections for many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wulf.stats.comparison import (
    NO_RATIOS,
    Judgement,
    PairedRule,
    benjamini_hochberg,
    compare_samples,
    holm,
    judge,
    versus_rule,
)  # fmt: skip


def pairs(effect: float, n: int = 40, cv: float = 0.01, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    a, b = np.exp(cv * random.normal(size=(2, n)))
    return a, b * (1 + effect)


@pytest.mark.parametrize(
    ("low", "high", "lower_is_better", "verdict"),
    [
        (-0.005, 0.005, True, Judgement.EQUIVALENT),
        (0.001, 0.005, True, Judgement.EQUIVALENT),
        (0.02, 0.03, True, Judgement.SLOWER),
        (-0.03, -0.02, True, Judgement.FASTER),
        (0.02, 0.03, False, Judgement.FASTER),
        (-0.03, -0.002, False, Judgement.SLOWER),
        (-0.02, 0.005, True, Judgement.INCONCLUSIVE),
        (-np.inf, np.inf, True, Judgement.INCONCLUSIVE),
    ],
)
def test_what_an_interval_says(low: float, high: float, lower_is_better: bool, verdict: Judgement) -> None:
    assert judge(low, high, 0.01, lower_is_better=lower_is_better) is verdict


@pytest.mark.parametrize("value", [0.0, -2e-9, 1e308])
def test_figures_that_are_not_above_zero_or_beyond_measure_are_compared_with_nobody(value: float) -> None:
    """Shares that overlap and asymmetries of paths are zero, or below; `--versus` ended by a failure of wulf's own."""
    rule = PairedRule()
    a, b = pairs(0.05)
    a[1] = value
    assert not rule.enough(a[:8], b[:8])
    assert rule.enough(a, b)
    for found in (rule.compare(a, b), compare_samples(a, b), compare_samples(b, a)):
        assert (found.judgement, found.ratio, found.low, found.p) == (Judgement.INCONCLUSIVE, None, None, None)
        assert (found.n, found.reason) == (40, NO_RATIOS)


def test_an_effect_is_found_with_its_size_inside_the_interval() -> None:
    rule = PairedRule()
    a, b = pairs(0.05)
    n = next(look for look in rule.looks if rule.enough(a[:look], b[:look]))
    found = rule.compare(a[:n], b[:n])
    assert (found.judgement, found.n) == (Judgement.SLOWER, 8)
    assert found.low is not None and found.high is not None
    assert found.low < 1.05 < found.high
    assert found.paired
    assert "slower after 8 pairs" in found.reason


def test_the_same_for_a_rate_is_the_other_way_round() -> None:
    a, b = pairs(0.05)
    assert PairedRule(lower_is_better=False).compare(a, b).judgement is Judgement.FASTER
    assert PairedRule(lower_is_better=False).compare(b, a).judgement is Judgement.SLOWER


def test_nothing_is_equivalent_once_the_interval_is_narrow() -> None:
    a, b = pairs(0.0, cv=0.003)
    assert PairedRule().compare(a, b).judgement is Judgement.EQUIVALENT


def test_too_much_noise_is_inconclusive_and_says_what_would_have_been_seen() -> None:
    a, b = pairs(0.0, cv=0.2)
    found = PairedRule().compare(a, b)
    assert found.judgement is Judgement.INCONCLUSIVE
    assert found.least_visible is not None
    assert 0.05 < found.least_visible < 0.4
    assert "still open after all 40 pairs" in found.reason


def test_the_least_visible_effect_is_found_nine_times_in_ten() -> None:
    rule = PairedRule(looks=(20,))
    visible = np.median([rule.compare(*pairs(0.0, 20, seed=i)).least_visible or np.nan for i in range(40)])
    found = [rule.compare(*pairs(float(visible), 20, seed=100 + i)).changed for i in range(300)]
    assert np.mean(found) == pytest.approx(0.9, abs=0.06)


def test_few_pairs_have_no_interval_but_a_reason() -> None:
    found = PairedRule().compare([1.0, 1.1], [1.2, 1.3])
    assert found.judgement is Judgement.INCONCLUSIVE
    assert found.low is None
    assert "2 pairs are too few" in found.reason
    nothing = PairedRule().compare([], [])
    assert (nothing.n, nothing.ratio, nothing.reason) == (0, None, "no pairs")


def test_nothing_is_decided_between_looks() -> None:
    rule = PairedRule()
    a, b = pairs(0.5)
    assert not rule.enough(a[:7], b[:7])
    assert rule.enough(a[:8], b[:8])
    assert not rule.enough(a[:9], b[:9])
    assert rule.enough(*pairs(0.0, cv=0.5))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"sample 1 is"):
        PairedRule().compare([1.0, bad], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"sample 0 is"):
        compare_samples([1.0, 2.0], [bad])


def test_unequal_numbers_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        PairedRule().compare([1.0], [1.0, 2.0])


@pytest.mark.parametrize("arguments", [{"delta": 0.0}, {"alpha": 0.0}, {"looks": (3,)}, {"looks": (9, 8)}])
def test_a_rule_that_can_never_convince_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"delta|confidence|convince|ascend"):
        PairedRule(**arguments)  # type: ignore[arg-type]


positive = st.lists(st.floats(0.5, 2.0).map(lambda x: round(x, 6)), min_size=12, max_size=12)


@given(positive, positive, st.sampled_from([1e-9, 1e6]))
def test_the_unit_does_not_matter(a: list[float], b: list[float], unit: float) -> None:
    plain = PairedRule().compare(a, b)
    scaled = PairedRule().compare([x * unit for x in a], [x * unit for x in b])
    assert scaled.ratio == pytest.approx(plain.ratio)
    assert scaled.judgement is plain.judgement or not plain.changed  # a tie at zero may fall on either side


@given(positive, positive, st.permutations(range(12)))
def test_the_order_of_the_pairs_does_not_matter(a: list[float], b: list[float], order: list[int]) -> None:
    plain, other = PairedRule().compare(a, b), PairedRule().compare([a[i] for i in order], [b[i] for i in order])
    assert (plain.ratio, plain.low, plain.high) == pytest.approx((other.ratio, other.low, other.high))


@given(positive, positive)
def test_turning_it_round_turns_the_ratio(a: list[float], b: list[float]) -> None:
    there, back = PairedRule().compare(a, b), PairedRule().compare(b, a)
    assert there.ratio is not None and back.ratio is not None and there.low is not None and back.high is not None
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.low * back.high == pytest.approx(1)


def test_drift_does_not_become_an_effect() -> None:
    """The coin decides which of a pair comes first, so that a drift of ten standard deviations is only noise."""
    random = np.random.default_rng(3)
    claimed = 0
    for _ in range(200):
        noise = 0.01 * (random.normal(size=80) + np.linspace(0, 10, 80)).reshape(40, 2)
        first = random.random(40) < 0.5
        a, b = np.where(first, noise[:, 0], noise[:, 1]), np.where(first, noise[:, 1], noise[:, 0])
        claimed += PairedRule().compare(np.exp(a), np.exp(b)).changed
    assert claimed <= 17  # 5 % of 200, with 1 % to be above by chance


def test_two_samples_that_were_not_paired() -> None:
    a, b = pairs(0.1, 12)
    found = compare_samples(a, b)
    assert (found.judgement, found.paired) == (Judgement.SLOWER, False)
    assert compare_samples(a, []).judgement is Judgement.INCONCLUSIVE


def test_dependent_samples_claim_less() -> None:
    steps = np.repeat([1.0, 1.01, 1.02], 5)
    random = np.random.default_rng(2)
    shuffled = random.permutation(steps), random.permutation(steps * 1.015)
    assert compare_samples(np.sort(steps), np.sort(steps * 1.015)).p > compare_samples(*shuffled).p  # type: ignore[operator]


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_benjamini_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg([]) == []


@pytest.mark.full
@pytest.mark.timeout(1800)  # as in the self-test: a busy machine gives a twentieth of a CPU
def test_ten_million_pairs_have_a_verdict() -> None:
    random = np.random.default_rng(1)
    a, b = np.exp(0.01 * random.normal(size=(2, 10_000_000)))
    assert PairedRule().compare(a, b * 1.02).judgement is Judgement.SLOWER
    assert compare_samples(a, b * 1.02).judgement is Judgement.SLOWER
    assert compare_samples(a, b).judgement is Judgement.EQUIVALENT


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.002, 0.03, Judgement.INCONCLUSIVE),
        (0.011, 0.03, Judgement.SLOWER),
        (-0.03, -0.011, Judgement.FASTER),
        (0.002, 0.008, Judgement.EQUIVALENT),
    ],
)
def test_a_margin_asks_for_more_than_delta(low: float, high: float, verdict: Judgement) -> None:
    assert judge(low, high, 0.01, lower_is_better=True, margin=0.01) is verdict


def test_half_of_delta_is_not_claimed_by_versus() -> None:
    rule = versus_rule()
    claimed = [rule.compare(*pairs(0.005, seed=i)).changed for i in range(150)]
    assert sum(claimed) <= 2
    assert rule.compare(*pairs(0.03)).judgement is Judgement.SLOWER


def test_two_runs_claim_what_is_greater_than_delta() -> None:
    a, b = pairs(0.005, 40, cv=0.002)
    found = compare_samples(a, b)
    assert found.low is not None and found.low > 1
    assert (found.changed, found.p) == (False, 1.0)
    assert compare_samples(*pairs(0.05, 40, cv=0.002)).p < 1e-6  # type: ignore[operator]


def test_among_many_a_greater_difference_is_the_least_visible() -> None:
    a, b = pairs(0.0, 12)
    alone, among = compare_samples(a, b).least_visible, compare_samples(a, b, among=100).least_visible
    assert alone is not None and among is not None
    assert among > 1.3 * alone
