"""What a change of the network is worth to an application: before and after in the same blocks, beside the network's
own figures. Pure functions of visits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from statistics import fmean, stdev

import numpy as np

from wulf.stats.comparison import Comparison, Judgement, PairedRule, holm_of

BEFORE, AFTER = "before", "after"
ARMS = (BEFORE, AFTER)


@dataclass(frozen=True)
class Quantity:
    """What is compared: the application's figure, or a figure of the network."""

    name: str
    unit: str
    lower_is_better: bool = True


@dataclass(frozen=True)
class Visit:
    """One arm in one block.

    Attributes
    ----------
    values
        Quantity's name → value; None where there is none.
    verdict, reason
        What became of the application's run: "ok", "wrong", "timeout", "failed", "no-figure"; and why.
    answer
        What its output says that must not depend on the network; None where nothing is compared.
    """

    block: int
    arm: str
    values: Mapping[str, float | None]
    verdict: str
    reason: str = ""
    answer: str | None = None


@dataclass(frozen=True)
class Row:
    """A quantity before and after: means, standard deviations and numbers, and the comparison by blocks."""

    quantity: Quantity
    mean: Mapping[str, float | None]
    deviation: Mapping[str, float | None]
    n: Mapping[str, int]
    compared: Comparison


@dataclass(frozen=True)
class Impact:
    """The outcome.

    Attributes
    ----------
    rows
        The application first.
    failed, reasons
        Arm → verdict → how often, and why it was the first time.
    answers
        Arm → the different answers seen; empty where none is compared.
    same_answers
        Whether both arms gave one and the same answer; None where it was not compared.
    claim
        What may be said of the application: faster, slower, equivalent, inconclusive, or void (and `why`).
    """

    rows: tuple[Row, ...]
    failed: Mapping[str, Mapping[str, int]]
    reasons: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, tuple[str, ...]]
    same_answers: bool | None
    claim: str
    why: str
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class FigureRow:
    """One of an application's figures, where it has several.

    Attributes
    ----------
    leading
        Among those for which a difference is claimed: one for each part of a suite.
    holm
        p corrected over all that are; None of the others, and without an interval.
    """

    row: Row
    leading: bool
    holm: float | None

    def proven(self, alpha: float = 0.05) -> bool:
        """Whether a difference is claimed among all leading ones."""
        return self.row.compared.changed and self.holm is not None and self.holm <= alpha

    def verdict(self, alpha: float = 0.05) -> str:
        """`slower`; `slower by itself` where it is not enough among so many; `not claimed` without a value."""
        if self.row.compared.ratio is None:
            return "not claimed"
        alone = self.row.compared.changed and not self.proven(alpha)
        return f"{self.row.compared.judgement}{' by itself' if alone else ''}"


VOID = "void"
"""No gain or loss is claimed, whatever the times are."""


def impact_of(
    visits: Sequence[Visit], quantities: Sequence[Quantity], *, blocks: int, alpha: float = 0.05, delta: float = 0.01
) -> Impact:
    """Compare both arms in every quantity.

    Parameters
    ----------
    quantities
        The application's first.
    blocks
        How many were planned: all levels are for one look at the end.
    """
    rows = tuple(_row(visits, one, blocks, alpha, delta) for one in quantities)
    failed = {arm: _failures(visits, arm) for arm in ARMS}
    answers = {arm: tuple(dict.fromkeys(v.answer for v in _right(visits, arm) if v.answer is not None)) for arm in ARMS}
    same = _same(answers)
    reasons = {arm: _reasons(visits, arm) for arm in ARMS}
    claim, why = _claim(rows[0], failed, reasons, same)
    return Impact(rows, failed, reasons, answers, same, claim, why)


def figures_of(
    visits: Sequence[Visit], quantities: Sequence[Quantity], leading: Collection[str], *, blocks: int,
    alpha: float = 0.05, delta: float = 0.01,
) -> tuple[FigureRow, ...]:  # fmt: skip
    """Compare both arms in each of an application's own figures; claims are corrected for their number (Holm).

    Parameters
    ----------
    leading
        Names of those for which a difference is claimed.
    blocks
        As of `impact_of`.
    """
    rows = [_row(visits, one, blocks, alpha, delta) for one in quantities]
    claimed = {row.quantity.name: row.compared.p for row in rows if row.quantity.name in leading}
    corrected = holm_of(claimed)
    return tuple(FigureRow(row, row.quantity.name in claimed, corrected.get(row.quantity.name)) for row in rows)


def _right(visits: Sequence[Visit], arm: str) -> list[Visit]:
    return [visit for visit in visits if visit.arm == arm and visit.verdict == "ok"]


def _row(visits: Sequence[Visit], quantity: Quantity, blocks: int, alpha: float, delta: float) -> Row:
    by_arm = {arm: _values(visits, quantity.name, arm) for arm in ARMS}
    both = sorted(set(by_arm[BEFORE]) & set(by_arm[AFTER]))
    ratios = np.array([log(by_arm[AFTER][block]) - log(by_arm[BEFORE][block]) for block in both])
    rule = PairedRule(alpha, delta, (blocks,), quantity.lower_is_better)
    return Row(
        quantity,
        {arm: fmean(found.values()) if found else None for arm, found in by_arm.items()},
        {arm: stdev(found.values()) if len(found) > 1 else None for arm, found in by_arm.items()},
        {arm: len(found) for arm, found in by_arm.items()},
        rule.judge(ratios),
    )


def _values(visits: Sequence[Visit], name: str, arm: str) -> dict[int, float]:
    """Block → value, of those that have one."""
    found = {visit.block: visit.values.get(name) for visit in visits if visit.arm == arm}
    return {block: value for block, value in found.items() if value is not None and value > 0}


def _bad(visits: Sequence[Visit], arm: str) -> list[Visit]:
    return [visit for visit in visits if visit.arm == arm and visit.verdict != "ok"]


def _failures(visits: Sequence[Visit], arm: str) -> dict[str, int]:
    return dict(Counter(visit.verdict for visit in _bad(visits, arm)))


def _reasons(visits: Sequence[Visit], arm: str) -> dict[str, str]:
    """Verdict → the first reason given for it."""
    return {visit.verdict: visit.reason for visit in reversed(_bad(visits, arm))}


def _same(answers: Mapping[str, tuple[str, ...]]) -> bool | None:
    """Whether all right runs of both arms said the same; None where one arm has said nothing."""
    if not all(answers.values()):
        return None
    return len({*answers[BEFORE], *answers[AFTER]}) == 1


def _claim(
    row: Row, failed: Mapping[str, Mapping[str, int]], reasons: Mapping[str, Mapping[str, str]], same: bool | None
) -> tuple[str, str]:
    """A wrong answer never counts as fast, and neither does an arm in which a run failed and the others did not."""
    if same is False:
        return VOID, "the two arms' answers differ: times of different answers are not compared"
    wrong = {arm: some["wrong"] for arm, some in failed.items() if "wrong" in some}
    if wrong:
        return VOID, f"answers are wrong ({_told(wrong)}): times of wrong answers are not compared"
    if any(failed.values()) and not any(row.n.values()):
        verdict, reason = next(pair for some in reasons.values() for pair in some.items())
        return VOID, f"every run failed: {reason or verdict}"
    alone = {arm: sum(some.values()) for arm, some in failed.items() if some}
    if len(alone) == 1:
        (arm,) = alone
        return VOID, f"runs failed only {arm} the change ({alone[arm]}): what the others took says little"
    if row.compared.judgement is Judgement.INCONCLUSIVE:
        return str(row.compared.judgement), row.compared.reason
    return str(row.compared.judgement), ""


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {arm}" for arm, count in counts.items())
