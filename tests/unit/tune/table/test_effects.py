"""What settings of a table do, where the truth is known."""

from __future__ import annotations

from math import exp

import pytest

from tests.unit.tune.table.make_table import PAPER, arm, means, measured
from wulf.tune.table.effects import TableEffect, analysed

FULL = ("none", "a", "b", "a + b")
TRUTH = {"a": -0.20, "b": -0.10, "a × b": 0.15}


def covers(one: TableEffect | None, truth: float) -> bool:
    assert one is not None and one.compared.low is not None and one.compared.high is not None
    return one.compared.low <= exp(truth) <= one.compared.high


def test_the_paper_s_table() -> None:
    found = analysed(means(PAPER))
    by_name = {one.name: one for one in found.settings}
    coalescing = by_name["coalescing"].effect
    assert coalescing is not None and coalescing.compared.ratio == pytest.approx(31.63 / 50.03)
    assert coalescing.proven and coalescing.compared.judgement == "faster"
    irqbalance = by_name["irqbalance"].effect
    assert irqbalance is not None and not irqbalance.proven and not irqbalance.compared.changed
    assert found.unseen == (("coalescing", "firewall"), ("coalescing", "irqbalance"), ("firewall", "irqbalance"))
    assert (found.together, found.pairs) == ((), ())


def test_each_effect_alone_is_its_effect_where_nothing_else_was_measured() -> None:
    for one in analysed(means(PAPER)).settings:
        assert one.effect is not None and one.effect == one.alone


def test_a_factorial_tells_effects_and_interaction() -> None:
    found = analysed(measured(FULL, TRUTH))
    a, b = found.settings
    assert covers(a.alone, -0.20) and covers(b.alone, -0.10)
    assert covers(a.effect, -0.20 + 0.15 / 2) and covers(b.effect, -0.10 + 0.15 / 2)
    (pair,), (together,) = found.pairs, found.together
    assert covers(pair, 0.15) and pair.proven and pair.name == "a × b"
    assert together.product == pytest.approx(exp(-0.30), rel=0.02)
    assert together.sum == pytest.approx(exp(-0.20) + exp(-0.10) - 1, rel=0.02)
    assert together.low is not None and together.high is not None
    assert together.low <= exp(-0.15) - (exp(-0.20) + exp(-0.10) - 1) <= together.high
    assert found.unseen == () and found.aliased == ()


def test_without_interaction_none_is_shown() -> None:
    shown = [analysed(measured(FULL, {"a": -0.2, "b": -0.1}, seed=seed)).pairs[0].proven for seed in range(100)]
    assert sum(shown) <= 12, "5 % are promised"


def test_blocks_take_out_what_drifts_from_one_to_the_next() -> None:
    drifting = measured(FULL, TRUTH, drift=2.0, named=True)
    in_blocks, loose = analysed(drifting), analysed(measured(FULL, TRUTH, drift=2.0))
    a = in_blocks.settings[0].alone
    assert covers(a, -0.20)

    def width(one: TableEffect | None) -> float:
        assert one is not None and one.compared.low is not None and one.compared.high is not None
        return one.compared.high / one.compared.low

    assert width(a) < width(loose.settings[0].alone)


def test_claims_are_corrected_for_their_number() -> None:
    found = [one.effect for one in analysed(means(PAPER)).settings]
    p = [one.compared.p for one in found if one is not None]
    assert [one.holm for one in found if one is not None] == pytest.approx(
        [3 * (p[0] or 0), 2 * (p[1] or 0), p[2] or 0]
    )


def test_settings_that_were_never_apart_are_aliased() -> None:
    found = analysed(means({"none": (10.0, 0.1), "a + b": (8.0, 0.1)}))
    assert found.aliased == (("a", "b"),)
    assert [one.effect for one in found.settings] == [None, None]


def test_a_half_fraction_aliases_settings_with_pairs() -> None:
    arms = ("none", "a + b", "a + c", "b + c")
    found = analysed(measured(arms, {"a": -0.2, "b": -0.1}))
    assert found.aliased == (("a", "−b × c"), ("b", "−a × c"), ("c", "−a × b"))
    a, b, c = found.settings
    assert covers(a.effect, -0.2) and covers(b.effect, -0.1) and covers(c.effect, 0.0)
    assert (a.alone, b.alone, c.alone) == (None, None, None)


def test_what_was_measured_once_has_a_figure_and_no_interval() -> None:
    found = analysed(means({"none": 10.0, "a": 8.0, "b": 9.0, "a + b": 7.0}))
    (together,) = found.together
    assert together.product == pytest.approx(7.2) and together.sum == pytest.approx(7.0)
    assert (together.low, together.over_product.compared.low, together.over_product.holm) == (None, None, None)


def test_three_together_against_the_product_of_each() -> None:
    found = analysed(means({"none": 10.0, "a": 8.0, "b": 5.0, "c": 10.0, "a + b + c": 3.0}))
    (together,) = found.together
    assert together.arm == arm("a + b + c")
    assert together.product == pytest.approx(4.0) and together.sum == pytest.approx(3.0)
    assert len(found.unseen) == 3
