"""Stages: which arms, in which blocks and order."""

from __future__ import annotations

from collections import Counter

import pytest

from wulf.core.errors import UsageError
from wulf.stats.designs import CONTROL, Kind
from wulf.tune.campaign.arms import blocks_for, check_blocks, confirm_stage, estimate_stage, main_stage, sweep_stage
from wulf.tune.campaign.selecting import Factor
from wulf.tune.values import Level


def factors(count: int) -> list[Factor]:
    return [Factor(name, (name,), (Level(((name, 1),)),)) for name in "abcdefghijk"[:count]]


def stage(count: int, design: str = "auto", blocks: int = 8, seed: int = 1):  # type: ignore[no-untyped-def]
    some = factors(count)
    texts = {factor.levels[0]: f"{factor.name} = 1" for factor in some}
    chosen = {factor.name: factor.levels[0] for factor in some}
    return main_stage(some, chosen, texts, blocks=blocks, seed=seed, design=design)  # type: ignore[arg-type]


def test_an_ablation_has_each_alone_all_but_each_all_and_an_a_a_arm() -> None:
    found = stage(5)
    assert found.kind is Kind.ABLATION
    assert Counter(arm.kind for arm in found.arms) == {
        "baseline": 1, "control": 1, "alone": 5, "leave-one-out": 6, "combined": 1,
    }  # fmt: skip
    alone = next(arm for arm in found.arms if arm.name == "c = 1")
    assert alone.writes == (("c", 1),)
    without = next(arm for arm in found.arms if arm.name == "all but c")
    assert {name for name, _ in without.writes} == set("abde")
    assert not next(arm for arm in found.arms if arm.kind == "control").writes


@pytest.mark.parametrize(("count", "design", "kind", "arms"), [
    (1, "auto", Kind.FULL, 4), (2, "auto", Kind.FULL, 8), (3, "auto", Kind.FULL, 16), (4, "auto", Kind.ABLATION, 12),
    (4, "factorial", Kind.FRACTION, 16), (1, "ablation", Kind.ABLATION, 4),
])  # fmt: skip
def test_designs_by_how_many_settings_there_are(count: int, design: str, kind: Kind, arms: int) -> None:
    found = stage(count, design)
    assert (found.kind, len(found.arms)) == (kind, arms)


def test_every_block_has_every_arm_once_the_baseline_anywhere_among_them() -> None:
    found = stage(4, blocks=8)
    places = set()
    for block in range(8):
        arms = [step.arm for step in found.steps if step.block == block]
        assert sorted(arms) == list(range(len(found.arms)))
        places.add(arms.index(0))
    assert found.arms[0].kind == "baseline" and len(places) > 3
    assert found.blocks == 8


def test_blocks_have_orders_of_their_own_and_the_seed_decides_alone() -> None:
    def orders(seed: int) -> list[tuple[int, ...]]:
        steps = stage(4, seed=seed).steps
        return [tuple(s.arm for s in steps if s.block == block) for block in range(8)]

    assert len(set(orders(1))) == 8
    assert orders(1) == orders(1) != orders(2)


def test_a_sweep_tries_every_value_beside_default_and_a_a() -> None:
    levels = tuple(Level((("ring", value),)) for value in (256, 512))
    swept = Factor("ring", ("ring",), levels)
    texts = {level: f"ring = {level.writes[0][1]}" for level in levels}
    found = sweep_stage([swept, *factors(1)], texts, 8, 1)
    assert found is not None
    assert [arm.name for arm in found.arms] == ["default", CONTROL, "ring = 256", "ring = 512"]
    assert sweep_stage(factors(3), {}, 8, 1) is None


def test_the_confirmation_pairs_default_and_kept() -> None:
    found = confirm_stage({"a": Level((("a", 1),))}, 8, 1)
    assert [arm.name for arm in found.arms] == ["default", "kept"]
    assert {tuple(sorted(s.arm for s in found.steps if s.block == block)) for block in range(8)} == {(0, 1)}
    assert {found.steps[2 * block].arm for block in range(8)} == {0, 1}  # AB and BA


def test_what_is_kept_is_estimated_together_and_each_beside_the_others() -> None:
    levels = {name: Level(((name, 1),)) for name in "abc"}
    found = estimate_stage(levels, 8, 1)
    assert [(arm.name, "".join(arm.changes)) for arm in found.arms] == [
        ("default", ""), ("kept", "abc"), ("kept but a", "bc"), ("kept but b", "ac"), ("kept but c", "ab"),
    ]  # fmt: skip
    assert len(found.steps) == 5 * 8
    alone = estimate_stage({"a": levels["a"]}, 8, 1)
    assert [arm.name for arm in alone.arms] == ["default", "kept"]
    assert alone.steps != confirm_stage({"a": levels["a"]}, 8, 1).steps


@pytest.mark.parametrize(("claims", "blocks"), [(1, 8), (5, 10), (40, 13)])
def test_enough_blocks_to_prove_every_claim(claims: int, blocks: int) -> None:
    assert blocks_for(claims, 0.05) == blocks
    assert 2 / 2 ** (blocks - 2) * claims <= 0.05


def test_too_few_blocks_are_refused() -> None:
    check_blocks(8, 5, 0.05)
    with pytest.raises(UsageError, match="7 blocks can never prove") as caught:
        check_blocks(7, 5, 0.05)
    assert "--blocks 8" in caught.value.next_step


def test_too_many_settings_for_a_factorial_design_are_refused() -> None:
    with pytest.raises(UsageError, match="11 settings is too large"):
        stage(11, "factorial")
