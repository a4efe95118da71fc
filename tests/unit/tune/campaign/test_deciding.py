"""What figures say of settings, exactly, and over many simulated campaigns."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from tests.unit.tune.campaign.test_arms import factors
from tests.wording import Wording, lacking
from wulf.stats.comparison import Comparison, Judgement, PairedRule
from wulf.tune.campaign.arms import Stage, estimate_stage, main_stage, sweep_stage
from wulf.tune.campaign.contrasts import blocks_of, in_blocks, main_effects, strict
from wulf.tune.campaign.deciding import (
    INERT,
    REFUSED,
    ArmRow,
    CampaignMetric,
    WriteOutcome,
    alarms,
    best_levels,
    estimated,
    holm_of_rows,
    judge,
    rows_of,
    rule_for,
)
from wulf.tune.campaign.selecting import Factor
from wulf.tune.campaign.wording import comparison_object, impact, row_verdict, verdict
from wulf.tune.values import Level

METRIC = CampaignMetric("rtt", "s")
BASE = 50e-6


def made(count: int = 4, blocks: int = 9) -> tuple[Stage, dict[str, Level]]:
    some = factors(count)
    chosen = {factor.name: factor.levels[0] for factor in some}
    texts = {factor.levels[0]: f"{factor.name} = 1" for factor in some}
    return main_stage(some, chosen, texts, blocks=blocks, seed=5), chosen


def values(
    stage: Stage, effects: dict[str, float], noise: float = 0.0, drift: float = 0.0, seed: int = 1
) -> list[float]:
    random = np.random.default_rng(seed)
    known = [sum(effects.get(name, 0.0) for name in stage.arms[step.arm].changes) for step in stage.steps]
    return [BASE * exp(one + drift * i + random.normal(0, noise)) for i, one in enumerate(known)]


def judged(stage: Stage, some: list[float | None], chosen: dict[str, Level], **outcomes: WriteOutcome):  # type: ignore[no-untyped-def]
    times = list(range(len(some)))
    return judge(stage, some, times, chosen=chosen, outcomes=outcomes, metric=METRIC, alpha=0.05, delta=0.01)


def test_without_noise_effects_are_exact() -> None:
    stage, chosen = made()
    result = judged(stage, values(stage, {"a": -0.5, "b": 0.25}), chosen)
    by_name = {one.name: one for one in result.findings}
    for name, planted in {"a": -0.5, "b": 0.25, "c": 0.0}.items():
        for part in (by_name[name].effect, by_name[name].alone, by_name[name].in_company):
            assert part.ratio == pytest.approx(exp(planted))
    assert [by_name[name].judgement for name in "abcd"] == ["faster", "slower", "none", "none"]
    assert [one.name for one in result.kept] == ["a"]
    assert by_name["a"].interaction.ratio == pytest.approx(1.0)


def test_drift_is_told_and_moves_no_effect() -> None:
    stage, chosen = made(blocks=10)
    result = judged(stage, values(stage, {"a": -0.2}, noise=0.005, drift=0.002, seed=2), chosen)
    effect = result.findings[0].effect
    assert effect.low < exp(-0.2) < effect.high
    total = exp(0.002 * (len(stage.steps) - 1))
    assert result.analysis.drift.low < total < result.analysis.drift.high


def test_planted_effects_lie_in_their_intervals_and_the_a_a_arm_is_clean_as_often_as_promised() -> None:
    stage, chosen = made(blocks=9)
    covered = clean = faster = wrong = 0
    runs = 100
    for seed in range(runs):
        result = judged(stage, values(stage, {"a": -0.05}, noise=0.02, drift=0.001, seed=seed), chosen)
        effect = result.findings[0].effect
        covered += effect.low <= exp(-0.05) <= effect.high
        clean += not result.control.changed
        faster += result.findings[0].judgement == "faster"
        wrong += any(one.judgement != "none" for one in result.findings[1:])
    assert covered >= 90
    assert clean >= 95  # beyond the margin of 1 %, too: less than one in twenty
    assert faster >= 90
    assert wrong <= 5


def test_a_missing_measurement_costs_its_block_and_those_that_need_it_alone() -> None:
    stage, chosen = made(blocks=9)
    some: list[float | None] = list(values(stage, {"a": -0.5}, noise=0.01))
    alone = next(i for i, arm in enumerate(stage.arms) if arm.name == "a = 1")
    some[next(i for i, step in enumerate(stage.steps) if step.block == 3 and step.arm == alone)] = None
    assert [one.effect.n for one in judged(stage, some, chosen).findings] == [8, 9, 9, 9]


def test_a_campaign_cut_short_says_what_it_can() -> None:
    stage, chosen = made(blocks=9)
    some = values(stage, {"a": -0.5}, noise=0.01)
    few = judged(stage, some[:20], chosen)
    assert few.findings[0].effect.judgement is Judgement.INCONCLUSIVE
    assert few.findings[0].judgement == "none"
    none = judged(stage, [], chosen)
    assert none.analysis is None and none.findings[0].effect.n == 0
    assert "can't be told" in none.notes[0]


def test_every_arm_has_as_many_measurements_and_the_default_is_one_of_them() -> None:
    stage, _ = made(blocks=9)
    rows = {row.name: row for row in rows_of(stage, values(stage, {}), rule_for(stage, METRIC, 0.05, 0.01))}
    assert rows["default"].n == 9
    assert rows["default"].mean == pytest.approx(BASE)
    assert rows["default"].against_default is None
    assert rows["combined"].n == 9


def test_a_row_is_faster_among_all_of_its_stage_or_by_itself_alone() -> None:
    """With seven blocks the least p is 2/128: proven for one arm, not among five."""
    p_values = (2 / 128, 0.3, 0.4, 0.5, 0.6)
    many = [ArmRow("sweep", f"x = {i}", "level", 7, BASE, 0.1, compared(p)) for i, p in enumerate(p_values)]
    one = ArmRow("confirm", "x = 0", "level", 7, BASE, 0.1, compared(2 / 128))
    corrected = holm_of_rows([*many, one])
    assert corrected["sweep", "x = 0"] == pytest.approx(10 / 128)
    assert corrected["confirm", "x = 0"] == pytest.approx(2 / 128)
    assert row_verdict(many[0], BASE, METRIC, proven=False) == "faster by itself"
    assert row_verdict(one, BASE, METRIC, proven=True) == "faster"


def compared(p: float) -> Comparison:
    """A row's comparison with the default, of so great a p."""
    judgement = Judgement.FASTER if p < 0.05 else Judgement.INCONCLUSIVE
    return replace(PairedRule(0.05, 0.01, (7,), True).judge(np.full(7, -0.3)), p=p, judgement=judgement)


def test_what_three_others_do_together_is_nobody_elses_effect() -> None:
    """By least squares over all arms d would be 3 % slower, and the A/A arm, too."""
    stage, chosen = made(blocks=9)
    random = np.random.default_rng(3)
    on = [set(stage.arms[step.arm].changes) for step in stage.steps]
    some: list[float | None] = [BASE * exp(0.3 * (one >= set("abc")) + random.normal(0, 1e-4)) for one in on]
    result = judged(stage, some, chosen)
    by_name = {one.name: one for one in result.findings}
    assert [by_name[name].judgement for name in "abcd"] == ["slower", "slower", "slower", "none"]
    assert by_name["d"].effect.ratio == pytest.approx(1.0, abs=2e-4)
    assert not result.alarm and result.control.ratio == pytest.approx(1.0, abs=2e-4)


def test_nothing_is_claimed_where_the_a_a_arm_differs_from_itself(wording: Wording) -> None:
    stage, chosen = made(blocks=9)
    result = judged(stage, values(stage, {"a": -0.5, "b": 0.25, "A/A": 0.02}, noise=1e-4), chosen)
    assert result.alarm and not result.kept
    assert {one.judgement for one in result.findings} == {"not claimed"}
    texts = [verdict(one, BASE, METRIC) for one in result.findings]
    assert lacking(texts[0], "A/A arm differs from itself", "nothing is claimed") == []
    rows = rows_of(stage, values(stage, {"a": -0.5}), rule_for(stage, METRIC, 0.05, 0.01))
    assert alarms(rows, result) == {"main"}
    row = row_verdict(rows[1], BASE, METRIC, proven=True, alarm=True)
    assert row == "not claimed"
    wording("\n".join((*texts, *result.notes)))


def test_a_sweeps_own_a_a_arm_silences_its_rows() -> None:
    levels = tuple(Level((("ring", value),)) for value in (1, 2))
    stage = sweep_stage([Factor("ring", ("ring",), levels)], {one: str(one.writes) for one in levels}, 8, 1)
    assert stage is not None
    for shift, found in ((0.0, set()), (0.02, {"sweep"})):
        some = [exp(shift * (stage.arms[step.arm].kind == "control") + 1e-6 * i) for i, step in enumerate(stage.steps)]
        assert alarms(rows_of(stage, some, rule_for(stage, METRIC, 0.05, 0.01)), None) == found


def test_what_would_have_been_seen_is_for_one_claim_among_all() -> None:
    """One of many must be further from nothing to be claimed than the interval of each by itself says."""
    stage, chosen = made(8, blocks=12)
    some, rule = values(stage, {}, noise=0.01), rule_for(stage, METRIC, 0.05, 0.01)
    effect = judged(stage, some, chosen).findings[0].effect
    by_itself = rule.judge(in_blocks(blocks_of(stage, some), main_effects(stage.levels)[0]))
    assert (effect.low, effect.high, effect.p) == (by_itself.low, by_itself.high, by_itself.p)
    assert effect.least_visible > 1.2 * by_itself.least_visible
    assert strict(PairedRule(0.05, 0.01, (7,)), 8) is None  # 2/128 is the least p of seven blocks


def test_what_is_kept_is_worth_what_the_last_stage_says() -> None:
    """Each in company of the others kept: b adds less to a than it does alone."""
    levels = {name: Level(((name, 1),)) for name in "ab"}
    effects = {frozenset(): 0.0, frozenset("a"): -0.2, frozenset("b"): -0.1, frozenset("ab"): -0.25}
    stage = estimate_stage(levels, 8, 1)
    some = [BASE * exp(effects[frozenset(stage.arms[step.arm].changes)]) for step in stage.steps]
    found = estimated(stage, some, METRIC, 0.05, 0.01)
    assert found.together.ratio == pytest.approx(exp(-0.25))
    assert {name: one.ratio for name, one in found.each.items()} == {
        "a": pytest.approx(exp(-0.15)), "b": pytest.approx(exp(-0.05)),
    }  # fmt: skip
    alone = estimate_stage({"a": levels["a"]}, 8, 1)
    some = [BASE * exp(-0.2 * bool(alone.arms[step.arm].changes)) for step in alone.steps]
    found = estimated(alone, some, METRIC, 0.05, 0.01)
    assert found.each == {"a": found.together}


def test_what_is_faster_alone_and_slower_in_company_is_not_kept(wording: Wording) -> None:
    stage, chosen = made(2, blocks=9)
    some = []
    for i, step in enumerate(stage.steps):
        on = set(stage.arms[step.arm].changes)
        change = {frozenset(): 0.0, frozenset("a"): -0.6, frozenset("b"): -0.8}.get(frozenset(on - {"A/A"}), -0.65)
        some.append(BASE * exp(change + 0.001 * np.sin(i)))
    result = judged(stage, some, chosen)
    kept = {one.name: (one.kept, one.why) for one in result.findings}
    is_kept, why = kept["a"]
    assert not is_kept
    assert lacking(why, "faster alone", "slower where all others are changed") == []
    wording(why)


def test_inert_and_refused_settings_are_never_kept() -> None:
    stage, chosen = made(blocks=9)
    some = values(stage, {"a": -0.5, "b": -0.5})
    result = judged(
        stage, some, chosen, a=WriteOutcome(INERT, "since Linux 4.14"), b=WriteOutcome(REFUSED, "by n2: no")
    )
    assert not result.kept
    texts = [verdict(one, BASE, METRIC) for one in result.findings]
    assert texts[:2] == ["inert: faster", "refused: by n2: no"]


def test_more_is_better_of_a_rate() -> None:
    stage, chosen = made(blocks=9)
    rate = CampaignMetric("throughput", "B/s", lower_is_better=False)
    result = judge(stage, values(stage, {"a": 0.3, "b": -0.3}), list(range(len(stage.steps))), chosen=chosen,
                   outcomes={}, metric=rate, alpha=0.05, delta=0.01)  # fmt: skip
    assert [one.judgement for one in result.findings][:2] == ["faster", "slower"]
    assert impact(1.3, lower_is_better=False) == pytest.approx(0.3)
    told = comparison_object(result.findings[1].effect, lower_is_better=False)
    assert told is not None and told["improvement"] < 0 and told["improvement_low"] <= told["improvement_high"]


def test_the_best_of_a_sweep_goes_on_also_of_a_rate() -> None:
    levels = tuple(Level((("ring", value),)) for value in (1, 2, 3))
    swept = Factor("ring", ("ring",), levels)
    stage = sweep_stage([swept], {level: str(level.writes) for level in levels}, 8, 1)
    assert stage is not None
    reached = {1: 1.0, 2: 3.0, 3: 2.0}
    some = [exp(sum(reached[w[1]] for w in stage.arms[step.arm].writes)) for step in stage.steps]  # type: ignore[index]
    for lower, best in ((True, 1), (False, 2)):
        rule = rule_for(stage, CampaignMetric("x", "1", lower_is_better=lower), 0.05, 0.01)
        assert best_levels([swept], stage, some, rule) == {"ring": Level((("ring", best),))}
    assert best_levels([swept], None, [], None) == {"ring": levels[0]}


def test_blocks_hold_mean_logarithms() -> None:
    stage, _ = made(1, blocks=8)
    found = blocks_of(stage, [2.0] * len(stage.steps))
    assert len(found) == 8
    assert all(value == pytest.approx(np.log(2.0)) for block in found for value in block.values())
