"""Before and after: what is claimed, and when nothing may be."""

from math import exp, log

import numpy as np
import pytest

from wulf.model.impact import AFTER, BEFORE, Quantity, Visit, impact_of

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
