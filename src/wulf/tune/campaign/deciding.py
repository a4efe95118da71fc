"""What a campaign's figures say of each setting, and which of them are kept. Pure functions of stages and values.

Arms are compared within blocks by Wilcoxon's signed ranks (`wulf.stats.comparison`). A setting's effect is its main
effect in each block (`contrasts`): the mean of what it does alone and what it does together with all others.
A claim holds for all settings together; where the A/A arm would be claimed to differ from itself, there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Literal

import numpy as np

from wulf.stats.comparison import Comparison, Judgement, PairedRule, holm_of
from wulf.stats.designs import CONTROL, Kind
from wulf.stats.effects import Analysis, analyse
from wulf.tune.campaign.arms import COMBINED, DEFAULT, KEPT, Stage
from wulf.tune.campaign.contrasts import Blocks, Values, blocks_of, compared, difference, in_blocks, main_effects
from wulf.tune.campaign.selecting import Factor
from wulf.tune.values import Level

APPLIED, CLAMPED, REFUSED, INERT = "applied", "clamped", "refused", "inert"
"""What became of a write; as the agent answers, but for what is unchanged."""

Claim = Literal["faster", "slower", "none", "not claimed"]
"""Of a setting; not claimed is whatever was measured beside an A/A arm that differs from itself."""

UNCLAIMED = "the A/A arm differs from itself: nothing is claimed"


@dataclass(frozen=True)
class CampaignMetric:
    """What is measured: its name, unit, and whether less is better."""

    name: str
    unit: str
    lower_is_better: bool = True


@dataclass(frozen=True)
class ArmRow:
    """One arm: a line of the table.

    Attributes
    ----------
    mean, deviation, n
        Of its measurements; None where there are too few.
    against_default
        Compared with the default of the same blocks; None for the default itself.
    """

    stage: str
    name: str
    kind: str
    n: int
    mean: float | None
    deviation: float | None
    against_default: Comparison | None


@dataclass(frozen=True)
class WriteOutcome:
    """What became of writing a factor's value, on the canary and then everywhere."""

    what: str = APPLIED
    reason: str = ""


@dataclass(frozen=True)
class FactorFinding:
    """What is known of one factor.

    Attributes
    ----------
    level
        The value that was tried; None where none could be.
    effect
        Its main effect, as the main stage screened it: of what was claimed because of it, too great on average. `holm`
        is its p corrected for all factors.
    judgement
        What is claimed of it, all factors together.
    alone, in_company
        Alone against the default; all against all but this one. None where the design has no such arm.
    interaction
        How much the effect with the others differs from the one alone, as a ratio; `interaction_holm` is its p
        corrected for all factors.
    kept, why
        Whether it is worth keeping, and why.
    confirmed
        Of what is kept, its effect on fresh data that decided nothing: together with whatever else is kept.
    """

    name: str
    level: Level | None
    outcome: WriteOutcome
    effect: Comparison | None = None
    holm: float | None = None
    judgement: Claim = "none"
    alone: Comparison | None = None
    in_company: Comparison | None = None
    interaction: Comparison | None = None
    interaction_holm: float | None = None
    kept: bool = False
    why: str = ""
    confirmed: Comparison | None = None


@dataclass(frozen=True)
class Result:
    """What the main stage says."""

    findings: tuple[FactorFinding, ...]
    control: Comparison | None
    analysis: Analysis | None
    notes: tuple[str, ...] = ()

    @property
    def alarm(self) -> bool:
        """Whether the A/A arm would be claimed to have an effect."""
        return self.control is not None and self.control.changed

    @property
    def kept(self) -> tuple[FactorFinding, ...]:
        """What is worth keeping, before it is confirmed."""
        return tuple(finding for finding in self.findings if finding.kept)


def rule_for(stage: Stage, metric: CampaignMetric, alpha: float, delta: float) -> PairedRule:
    """One look, after all blocks: nothing ends early, so that every arm has as many."""
    return PairedRule(alpha, delta, (stage.blocks,), metric.lower_is_better)


def rows_of(stage: Stage, values: Values, rule: PairedRule) -> list[ArmRow]:
    """The table: every arm of a stage."""
    blocks, base, claims = blocks_of(stage, values), _index(stage, DEFAULT), len(stage.arms) - 1
    rows = []
    for number, arm in enumerate(stage.arms):
        seen = [v for s, v in zip(stage.steps, values, strict=False) if s.arm == number and v is not None]
        against = None if number == base or base is None else _between(blocks, base, number, rule, claims)
        rows.append(
            ArmRow(
                stage.name, arm.name, arm.kind, len(seen),
                float(np.mean(seen)) if seen else None,
                float(np.std(seen, ddof=1)) if len(seen) > 1 else None, against,
            )
        )  # fmt: skip
    return rows


def _between(blocks: Blocks, a: int, b: int, rule: PairedRule, claims: int = 1) -> Comparison:
    """Arm b against arm a, in the blocks that have both."""
    return compared(in_blocks(blocks, difference(a, b)), rule, claims)


def best_levels(
    factors: Sequence[Factor], stage: Stage | None, values: Values, rule: PairedRule | None
) -> dict[str, Level]:
    """Of every factor the value to go on with: of those swept the one that did best, else the only one.

    What does best among several by chance does so in this stage alone: the next one measures it anew.
    """
    chosen = {factor.name: factor.levels[0] for factor in factors}
    if stage is None or rule is None:
        return chosen
    blocks, base, sign = blocks_of(stage, values), _index(stage, DEFAULT), 1 if rule.lower_is_better else -1
    assert base is not None  # noqa: S101 - every stage has a baseline
    reached: dict[str, float] = {}
    for number, arm in enumerate(stage.arms):
        ratio = _between(blocks, base, number, rule).ratio if arm.kind == "level" else None
        if ratio is None:
            continue
        name, level = next(iter(arm.changes.items()))
        if level is not None and sign * log(ratio) < reached.get(name, float("inf")):
            reached[name], chosen[name] = sign * log(ratio), level
    return chosen


def judge(
    stage: Stage, values: Values, times: Sequence[float], *, chosen: Mapping[str, Level],
    outcomes: Mapping[str, WriteOutcome], metric: CampaignMetric, alpha: float, delta: float,
) -> Result:  # fmt: skip
    """All that the main stage says, and what of it is worth keeping."""
    assert stage.levels is not None  # noqa: S101 - a main stage has a design
    rule, blocks = rule_for(stage, metric, alpha, delta), blocks_of(stage, values)
    effects = dict(zip(stage.factors, (in_blocks(blocks, one) for one in main_effects(stage.levels)), strict=True))
    aa = effects.pop(CONTROL, None)
    control = None if aa is None else rule.judge(aa)
    by_name = {name: compared(effect, rule, len(effects)) for name, effect in effects.items()}
    parts = {name: _company(stage, blocks, name, rule) for name in by_name}
    corrected, interacting = _holm(by_name), _holm({name: found[2] for name, found in parts.items()})
    analysis, notes = _analysed(stage, values, times)
    result = Result((), control, analysis)
    if result.alarm:
        notes.append(_alarmed(alpha))
    findings = []
    for name, effect in by_name.items():
        claim: Claim = "not claimed" if result.alarm else _claimed(effect, corrected.get(name), alpha)
        found = FactorFinding(
            name, chosen.get(name), outcomes.get(name, WriteOutcome()), effect, corrected.get(name), claim,
            *parts[name], interaction_holm=interacting.get(name),
        )  # fmt: skip
        kept, why = _worth(found)
        findings.append(replace(found, kept=kept, why=why))
    return replace(result, findings=tuple(findings), notes=tuple(notes))


def _claimed(effect: Comparison, corrected: float | None, alpha: float) -> Claim:
    """What may be claimed of one effect, its p corrected for all."""
    if not effect.changed or corrected is None or corrected > alpha:
        return "none"
    return "faster" if effect.judgement is Judgement.FASTER else "slower"


def _alarmed(alpha: float) -> str:
    return (
        f"T{UNCLAIMED[1:]}. Nothing was changed in it, and it seems to have an effect, as it does once in "
        f"{1 / alpha:.0f} campaigns by chance; or the machine was not at rest. Measure again."
    )


def alarms(rows: Sequence[ArmRow], result: Result | None) -> set[str]:
    """The stages whose A/A arm differs from itself: of them nothing is claimed."""
    found = {row.stage for row in rows if row.kind == "control" and row.stage != "main" and _changed(row)}
    return found | ({"main"} if result is not None and result.alarm else set())


def _changed(row: ArmRow) -> bool:
    return row.against_default is not None and row.against_default.changed


def holm_of_rows(rows: Sequence[ArmRow]) -> dict[tuple[str, str], float]:
    """(stage, arm) → p, corrected for all arms of the stage: one of twenty that change nothing stands out by itself."""
    found: dict[tuple[str, str], float] = {}
    for stage in {row.stage for row in rows}:
        by_name = {row.name: row.against_default for row in rows if row.stage == stage}
        found |= {(stage, name): p for name, p in _holm(by_name).items()}
    return found


def _holm(compared: Mapping[str, Comparison | None]) -> dict[str, float]:
    """p of each, corrected for all that have one."""
    return holm_of({name: one.p for name, one in compared.items() if one is not None})


def _company(
    stage: Stage, blocks: Blocks, name: str, rule: PairedRule
) -> tuple[Comparison | None, Comparison | None, Comparison | None]:
    """What a factor does alone, what it does where all others are changed, too, and how the two differ."""
    base, every = _index(stage, DEFAULT), _index(stage, COMBINED)
    alone = _holding(stage, {name})
    without = _holding(stage, set(stage.factors) - {name})
    one = _between(blocks, base, alone, rule) if base is not None and alone is not None else None
    two = _between(blocks, without, every, rule) if every is not None and without is not None else None
    if base is None or every is None or alone is None or without is None or alone in (every, without):
        return one, two, None
    return one, two, rule.judge(in_blocks(blocks, {base: 1.0, alone: -1.0, without: -1.0, every: 1.0}))


def _holding(stage: Stage, on: set[str]) -> int | None:
    """The arm in which exactly these factors are changed."""
    return next((i for i, arm in enumerate(stage.arms) if set(arm.changes) == on), None)


def _worth(found: FactorFinding) -> tuple[bool, str]:
    """Whether to keep a factor."""
    judged = found.judgement
    if found.outcome.what == INERT:
        return False, "without effect by its nature"
    if found.outcome.what == REFUSED:
        return False, f"refused {found.outcome.reason}"
    if judged == "faster":
        if found.in_company is not None and found.in_company.judgement is Judgement.SLOWER:
            return False, "faster alone, and slower where all others are changed, too"
        return True, "proven faster"
    if judged == "not claimed":
        return False, UNCLAIMED
    return False, "proven slower" if judged == "slower" else "no effect is proven"


def _analysed(stage: Stage, values: Values, times: Sequence[float]) -> tuple[Analysis | None, list[str]]:
    """Effects, drift, and interactions of two but in an ablation, by least squares over all steps; or why not."""
    assert stage.levels is not None  # noqa: S101 - only a main stage is analysed
    seen = {i: value for i, value in enumerate(values) if value is not None}
    try:
        found = analyse(
            stage.factors,
            np.array([stage.levels[stage.steps[i].arm] for i in seen]),
            list(seen.values()),
            times=[times[i] for i in seen],
            interactions=stage.kind is not Kind.ABLATION,
        )
    except ValueError as error:
        return None, [f"Interactions and drift can't be told: {error}."]
    notes = [f"Of interactions and drift: {note}." for note in found.notes]
    if stage.kind is Kind.FRACTION:
        notes.append("In a fraction of a factorial an interaction of two can't be told from one of three others.")
    return found, notes


def _place(stage: Stage, name: str) -> int:
    """Where an arm is that every stage of this sort has."""
    return [arm.name for arm in stage.arms].index(name)


def _index(stage: Stage, name: str) -> int | None:
    return next((i for i, arm in enumerate(stage.arms) if arm.name == name), None)


def confirmed(stage: Stage, values: Values, metric: CampaignMetric, alpha: float, delta: float) -> Comparison:
    """What is to be kept, against the default, on fresh data."""
    return _against_default(stage, values, rule_for(stage, metric, alpha, delta))


def _against_default(stage: Stage, values: Values, rule: PairedRule) -> Comparison:
    """All that is kept against the default."""
    return _between(blocks_of(stage, values), _place(stage, DEFAULT), _place(stage, KEPT), rule)


@dataclass(frozen=True)
class WorthEstimate:
    """What the kept settings are worth, by figures that decided nothing: together, and each beside the others."""

    together: Comparison
    each: Mapping[str, Comparison]


def estimated(stage: Stage, values: Values, metric: CampaignMetric, alpha: float, delta: float) -> WorthEstimate:
    """What the stage that follows a confirmation says; one setting alone is all that is kept."""
    rule, blocks, every = rule_for(stage, metric, alpha, delta), blocks_of(stage, values), _place(stage, KEPT)
    together = _against_default(stage, values, rule)
    names = set(stage.arms[every].changes)
    left_out = {name: arm for arm, one in enumerate(stage.arms) for name in names - set(one.changes) if one.changes}
    each = {name: _between(blocks, arm, every, rule) for name, arm in left_out.items()}
    return WorthEstimate(together, each or dict.fromkeys(names, together))
