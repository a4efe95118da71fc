"""What a campaign's figures say of each setting, and which of them are kept. Pure functions of stages and values.

Arms are compared within blocks by Wilcoxon's signed ranks (`wulf.stats.comparison`). A setting's effect is its main
effect in each block, by least squares over the block's arms: what it does alone and what it does in company both count.
Claims are corrected for their number (Holm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from wulf.stats.comparison import Comparison, Judgement, PairedRule, holm
from wulf.stats.designs import CONTROL, Kind
from wulf.stats.effects import Analysis, analyse
from wulf.stats.samples import Floats
from wulf.tune.arms import COMBINED, DEFAULT, Stage
from wulf.tune.selecting import Factor
from wulf.tune.values import Level

Values = Sequence[float | None]
"""One for each step of a stage, in its order; None where nothing was measured. Shorter where it was cut short."""

APPLIED, CLAMPED, REFUSED, INERT = "applied", "clamped", "refused", "inert"
"""What became of a write; as the agent answers, but for what is unchanged."""


@dataclass(frozen=True)
class Metric:
    """What is measured: its name, unit, and whether less is better."""

    name: str
    unit: str
    lower_is_better: bool = True


@dataclass(frozen=True)
class Row:
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
class Outcome:
    """What became of writing a factor's value, on the canary and then everywhere."""

    what: str = APPLIED
    reason: str = ""


@dataclass(frozen=True)
class Finding:
    """What is known of one factor.

    Attributes
    ----------
    level
        The value that was tried; None where none could be.
    effect
        Its main effect; `holm` is its p corrected for all factors.
    alone, in_company
        Alone against the default; all against all but this one. None where the design has no such arm.
    interaction
        How much the effect in company differs from the one alone, as a ratio; `interaction_holm` is its p corrected for
        all factors.
    kept, why
        Whether it is worth keeping, and why.
    """

    name: str
    level: Level | None
    outcome: Outcome
    effect: Comparison | None = None
    holm: float | None = None
    alone: Comparison | None = None
    in_company: Comparison | None = None
    interaction: Comparison | None = None
    interaction_holm: float | None = None
    kept: bool = False
    why: str = ""

    def judgement(self, alpha: float) -> str:
        """`faster`, `slower` or `none`."""
        if self.effect is None or not self.effect.changed or self.holm is None or self.holm > alpha:
            return "none"
        return str(self.effect.judgement)


@dataclass(frozen=True)
class Result:
    """What the main stage says."""

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    control: Comparison | None
    analysis: Analysis | None
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[Finding, ...]:
        """What is worth keeping, before it is confirmed."""
        return tuple(finding for finding in self.findings if finding.kept)


def rule_for(stage: Stage, metric: Metric, alpha: float, delta: float) -> PairedRule:
    """One look, after all blocks: nothing ends early, so that every arm has as many."""
    return PairedRule(alpha, delta, (stage.blocks,), metric.lower_is_better)


def blocks_of(stage: Stage, values: Values) -> list[dict[int, float]]:
    """Of each block the arms' mean logarithms; the baseline's with its anchors."""
    gathered: list[dict[int, list[float]]] = [{} for _ in range(stage.blocks)]
    for step, value in zip(stage.steps, values, strict=False):
        if value is not None:
            gathered[step.block].setdefault(step.arm, []).append(log(value))
    return [{arm: float(np.mean(some)) for arm, some in block.items()} for block in gathered]


def rows_of(stage: Stage, values: Values, rule: PairedRule) -> list[Row]:
    """The table: every arm of a stage."""
    blocks = blocks_of(stage, values)
    base = _index(stage, DEFAULT)
    rows = []
    for number, arm in enumerate(stage.arms):
        seen = [v for s, v in zip(stage.steps, values, strict=False) if s.arm == number and v is not None]
        compared = None if number == base or base is None else between(blocks, base, number, rule)
        rows.append(
            Row(
                stage.name, arm.name, arm.kind, len(seen),
                float(np.mean(seen)) if seen else None,
                float(np.std(seen, ddof=1)) if len(seen) > 1 else None, compared,
            )
        )  # fmt: skip
    return rows


def between(blocks: Sequence[Mapping[int, float]], a: int, b: int, rule: PairedRule) -> Comparison:
    """Arm b against arm a, in the blocks that have both."""
    return rule.judge(_differences(blocks, a, b))


def _differences(blocks: Sequence[Mapping[int, float]], a: int, b: int) -> Floats:
    return np.array([block[b] - block[a] for block in blocks if a in block and b in block])


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
        ratio = between(blocks, base, number, rule).ratio if arm.kind == "level" else None
        if ratio is None:
            continue
        name, level = next(iter(arm.changes.items()))
        if level is not None and sign * log(ratio) < reached.get(name, float("inf")):
            reached[name], chosen[name] = sign * log(ratio), level
    return chosen


def effects_by_block(stage: Stage, values: Values) -> Floats:
    """The factors' main effects in every complete block, as logarithms, shape (blocks, factors)."""
    assert stage.levels is not None  # noqa: S101 - only a main stage has effects
    solved = 2 * np.linalg.pinv(np.column_stack([np.ones(len(stage.arms)), stage.levels.astype(float)]))[1:]
    complete = [block for block in blocks_of(stage, values) if len(block) == len(stage.arms)]
    found: Floats = np.array([solved @ [block[i] for i in range(len(stage.arms))] for block in complete])
    return found.reshape(len(complete), len(stage.factors))


def judge(
    stage: Stage, values: Values, times: Sequence[float], *, chosen: Mapping[str, Level],
    outcomes: Mapping[str, Outcome], metric: Metric, alpha: float, delta: float,
) -> Result:  # fmt: skip
    """All that the main stage says, and what of it is worth keeping."""
    rule = rule_for(stage, metric, alpha, delta)
    blocks, effects = blocks_of(stage, values), effects_by_block(stage, values)
    by_name = {name: rule.judge(effects[:, i]) for i, name in enumerate(stage.factors)}
    control = by_name.pop(CONTROL, None)
    parts = {name: _company(stage, blocks, name, rule) for name in by_name}
    corrected, interacting = _holm(by_name), _holm({name: found[2] for name, found in parts.items()})
    analysis, notes = _analysed(stage, values, times)
    findings = []
    for name, effect in by_name.items():
        found = Finding(
            name, chosen.get(name), outcomes.get(name, Outcome()), effect, corrected.get(name), *parts[name],
            interaction_holm=interacting.get(name),
        )  # fmt: skip
        kept, why = _worth(found, alpha)
        findings.append(replace(found, kept=kept, why=why))
    if control is not None and control.changed:
        notes.append(
            "The A/A arm, in which nothing was changed, seems to have an effect, as it does once in "
            f"{1 / alpha:.0f} campaigns: the machine was not at rest, or it is chance. Measure again."
        )
    return Result(tuple(rows_of(stage, values, rule)), tuple(findings), control, analysis, tuple(notes))


def holm_of_rows(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """(stage, arm) → p, corrected for all arms of the stage: one of twenty that change nothing stands out by itself."""
    found: dict[tuple[str, str], float] = {}
    for stage in {row.stage for row in rows}:
        by_name = {row.name: row.against_default for row in rows if row.stage == stage}
        found |= {(stage, name): p for name, p in _holm(by_name).items()}
    return found


def _holm(compared: Mapping[str, Comparison | None]) -> dict[str, float]:
    """p of each, corrected for all that have one."""
    p = {name: one.p for name, one in compared.items() if one is not None and one.p is not None}
    return dict(zip(p, holm(list(p.values())), strict=True))


def _company(
    stage: Stage, blocks: Sequence[Mapping[int, float]], name: str, rule: PairedRule
) -> tuple[Comparison | None, Comparison | None, Comparison | None]:
    """What a factor does alone, what it does where all others are changed, too, and how the two differ."""
    base, every = _index(stage, DEFAULT), _index(stage, COMBINED)
    alone = _holding(stage, {name})
    without = _holding(stage, set(stage.factors) - {name})
    one = between(blocks, base, alone, rule) if base is not None and alone is not None else None
    two = between(blocks, without, every, rule) if every is not None and without is not None else None
    if base is None or every is None or alone is None or without is None or alone in (every, without):
        return one, two, None
    wanted = (base, alone, without, every)
    rest = [b[every] - b[without] - b[alone] + b[base] for b in blocks if all(i in b for i in wanted)]
    return one, two, rule.judge(np.array(rest))


def _holding(stage: Stage, on: set[str]) -> int | None:
    """The arm in which exactly these factors are changed."""
    return next((i for i, arm in enumerate(stage.arms) if set(arm.changes) == on), None)


def _worth(found: Finding, alpha: float) -> tuple[bool, str]:
    """Whether to keep a factor."""
    judged = found.judgement(alpha)
    if found.outcome.what == INERT:
        return False, "without effect by its nature"
    if found.outcome.what == REFUSED:
        return False, f"refused {found.outcome.reason}"
    if judged == "faster":
        if found.in_company is not None and found.in_company.judgement is Judgement.SLOWER:
            return False, "faster alone, and slower where all others are changed, too"
        return True, "proven faster"
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
    return found, [f"Of interactions and drift: {note}." for note in found.notes]


def _index(stage: Stage, name: str) -> int | None:
    return next((i for i, arm in enumerate(stage.arms) if arm.name == name), None)


def confirmed(stage: Stage, values: Values, metric: Metric, alpha: float, delta: float) -> Comparison:
    """What is to be kept, against the default, on fresh data."""
    return between(blocks_of(stage, values), 0, 1, rule_for(stage, metric, alpha, delta))
