"""Before and after: what is claimed, and when nothing may be."""

from math import exp, log

import numpy as np
import pytest

from wulf.model.impact import AFTER, BEFORE, Quantity, Visit, figures_of, impact_of
from wulf.stats.comparison import enough_pairs
from wulf.stats.ranks import signed_rank_level

TIME, RTT, RATE = Quantity("application", "s"), Quantity("rtt", "s"), Quantity("stream", "B/s", lower_is_better=False)
BLOCKS = 8


def visits(effect: float, blocks: int = BLOCKS, noise: float = 0.01, **after: object) -> list[Visit]:
    """Application × exp(effect), round trips a tenth, the rate doubled."""
    random = np.random.default_rng(3)
    found = []
    for block in range(blocks):
        drift = exp(0.05 * block)
        for arm, own in ((BEFORE, 0.0), (AFTER, effect)):
            rtt, rate = (2e-4, 1e8) if arm == BEFORE else (2e-5, 2e8)
            values = {"application": 10 * drift * exp(own + random.normal(0, noise)), "rtt": rtt, "stream": rate}
            told = {"verdict": "ok", "answer": "42", **(after if arm == AFTER else {})}
            ok = told["verdict"] == "ok"
            found.append(Visit(block, arm, {**values, "application": values["application"] if ok else None}, **told))
    return found


def found(effect: float = 0.0, **after: object):
    return impact_of(visits(effect, **after), [TIME, RTT, RATE], blocks=BLOCKS)


def test_a_gain_with_its_interval_beside_the_networks_own():
    impact = found(log(0.8))
    assert impact.claim == "faster" and impact.same_answers is True
    application, rtt, rate = impact.rows
    assert application.compared.low < 0.8 < application.compared.high
    assert rtt.compared.ratio == pytest.approx(0.1) and rate.compared.judgement == "faster"
    assert application.n == {BEFORE: 8, AFTER: 8}


def test_a_loss_and_no_difference():
    assert found(log(1.2)).claim == "slower"
    assert found(0.0, noise=0.0005).claim == "equivalent"
    assert found(0.0, noise=0.1).claim == "inconclusive"


def test_other_answers_after_the_change_void_the_gain():
    impact = found(log(0.5), answer="41")
    assert impact.claim == "void" and "answers differ" in impact.why
    assert impact.answers == {BEFORE: ("42",), AFTER: ("41",)} and impact.same_answers is False


def test_answers_that_were_not_compared_are_neither_same_nor_different():
    assert impact_of(
        [Visit(v.block, v.arm, v.values, v.verdict) for v in visits(log(0.5))], [TIME], blocks=BLOCKS
    ).same_answers is None  # fmt: skip


@pytest.mark.parametrize("verdict", ["failed", "timeout", "no-figure"])
def test_failures_in_one_arm_alone_void_it(verdict: str):
    impact = found(log(0.5), verdict=verdict)
    assert impact.claim == "void" and "failed only after" in impact.why
    assert impact.failed == {BEFORE: {}, AFTER: {verdict: 8}}
    assert impact.rows[0].compared.ratio is None and impact.rows[1].compared.ratio is not None


def test_a_wrong_answer_never_counts_as_fast():
    some = visits(log(0.5))
    some[1] = Visit(0, AFTER, {**some[1].values, "application": None}, "wrong", "residual 20")
    impact = impact_of(some, [TIME], blocks=BLOCKS)
    assert impact.claim == "void" and "wrong" in impact.why


def test_failures_in_both_arms_leave_the_blocks_that_are_whole():
    some = visits(log(0.8))
    for at in (0, 3):  # before in block 0, after in block 1
        some[at] = Visit(some[at].block, some[at].arm, {**some[at].values, "application": None}, "timeout", "slow")
    impact = impact_of(some, [TIME, RTT], blocks=BLOCKS)
    assert impact.rows[0].compared.n == 6 and impact.claim == "faster"


def test_nothing_measured_claims_nothing():
    impact = impact_of([], [TIME, RTT], blocks=BLOCKS)
    assert impact.claim == "inconclusive" and impact.rows[0].mean == {BEFORE: None, AFTER: None}


PARTS = [Quantity(name, "B/s", lower_is_better=False) for name in "abcdefgh"]


def parts(blocks: int, seed: int, **effects: float) -> list[Visit]:
    """Visits with eight figures, of which those named change."""
    random = np.random.default_rng(seed)
    return [
        Visit(block, arm, {
            one.name: exp(random.normal(0, 0.01) + (effects.get(one.name, 0.0) if arm == AFTER else 0.0))
            for one in PARTS
        }, "ok")
        for block in range(blocks) for arm in (BEFORE, AFTER)
    ]  # fmt: skip


def proven(seen: list[Visit], blocks: int) -> list[str]:
    rows = figures_of(seen, PARTS, [one.name for one in PARTS], blocks=blocks)
    return [one.row.quantity.name for one in rows if one.holm is not None and one.holm <= 0.05]


def test_each_part_of_a_suite_has_its_own_effect():
    blocks = enough_pairs(len(PARTS))
    rows = figures_of(parts(blocks, 1, b=0.2, e=-0.3), PARTS, [one.name for one in PARTS], blocks=blocks)
    by_name = {one.row.quantity.name: one for one in rows}
    assert by_name["b"].row.compared.low < exp(0.2) < by_name["b"].row.compared.high
    assert by_name["b"].row.compared.judgement == "faster" and by_name["e"].row.compared.judgement == "slower"
    assert proven(parts(blocks, 1, b=0.2, e=-0.3), blocks) == ["b", "e"]


def test_parts_that_do_not_change_are_seldom_said_to_all_together():
    wrong = sum(bool(proven(parts(12, seed), 12)) for seed in range(200))
    assert wrong <= 200 * 0.05 + 3 * (200 * 0.05 * 0.95) ** 0.5


def test_figures_that_are_not_claimed_are_not_corrected_for():
    seen = parts(8, 2, a=0.2)
    few = figures_of(seen, PARTS, ["a", "b"], blocks=8)
    assert [one.leading for one in few] == [True, True, *[False] * 6]
    assert few[0].holm == pytest.approx(2 * few[0].row.compared.p) and few[2].holm is None


def test_a_part_without_figures_is_none_and_makes_the_others_no_harder():
    seen = parts(8, 2, a=0.2)
    missing = [Visit(v.block, v.arm, {**v.values, "b": None}, v.verdict) for v in seen]
    a, b = figures_of(missing, PARTS[:2], ["a", "b"], blocks=8)
    assert b.row.compared.ratio is None and b.holm is None
    assert a.holm == a.row.compared.p


@pytest.mark.parametrize("claims", [1, 2, 4, 8, 36])
def test_enough_blocks_are_the_fewest_that_can_prove_one_of_so_many(claims: int):
    blocks = enough_pairs(claims)
    assert signed_rank_level(blocks, 0.05 / claims) > 0
    assert signed_rank_level(blocks - 1, 0.05 / claims) == 0
