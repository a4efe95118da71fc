"""Which algorithm a collective should use where a guideline is violated: from a run's records alone. Pure.

Each algorithm is measured beside the MPI's own choice in every block; a ratio is taken within each block, so that
drift meets both alike. An algorithm is adopted when the lower end of its gain's interval lies above a threshold; the
intervals hold for all algorithms of the collective at once (Bonferroni). What was adopted is measured again, in blocks
of its own, through the file that was written: the best of many is not judged by the figures that it was chosen by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log

import numpy as np

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show
from wulf.measure.engine.collect import in_common
from wulf.measure.mpi.algorithms import DEFAULT, ENVIRONMENT, FILE, Choice
from wulf.measure.mpi.guidelines import ALPHA, Call, times_of, violations
from wulf.measure.mpi.rules_file import Rule, ranges
from wulf.stats.estimates import Interval
from wulf.stats.ranks import signed_rank_shift

LEAST_GAIN = 0.03
"""What an algorithm must gain at the lower end of its interval: less is not worth a file to be looked after."""

TRIED, THROUGH = "algorithms", "through the file"
"""Phases of the cells."""

PARAMETER = "algorithm"
KIND = "tuned"

Times = Mapping[Call, Mapping[int, float]]


@dataclass(frozen=True)
class Gain:
    """How much faster a call is so than by the MPI's own choice: time before / time after - 1, with its interval."""

    call: Call
    algorithm: str
    before: float
    after: float
    gain: Interval
    blocks: int

    @property
    def text(self) -> str:
        """`+12 % (8–16 %)`."""
        if not isfinite(self.gain.low):
            return f"{self.gain.value:+.0%}, no interval from {self.blocks} blocks"
        return f"{self.gain.value:+.1%} ({self.gain.low:+.1%} to {self.gain.high:+.1%})"


def violated_calls(records: Sequence[Record]) -> list[Call]:
    """The calls on the left of a violated guideline."""
    untried = [one for one in records if PARAMETER not in one.params]
    found = [finding.about for finding in violations(untried)]
    return sorted({Call(str(one["op"]), int(one["bytes"])) for one in found})


def _arms(records: Sequence[Record], phase: str) -> dict[str, Times]:
    """Algorithm → call → block → seconds, of a phase."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.phase == phase and PARAMETER in record.params:
            found.setdefault(record.text(PARAMETER), []).append(record)
    return {name: times_of(group) for name, group in found.items()}


def gain_of(
    call: Call, name: str, before: Mapping[int, float], after: Mapping[int, float], level: float
) -> Gain | None:
    """The gain by the blocks that both have; None where they have none."""
    first, second = in_common([before, after])
    if not first:
        return None
    shift = signed_rank_shift(np.array([log(a / b) for a, b in zip(first, second, strict=True)]), level)
    low, high = (exp(edge) - 1 if isfinite(edge) else edge for edge in (shift.low, shift.high))
    middle = (float(np.median(first)), float(np.median(second)))
    return Gain(call, name, *middle, Interval(exp(shift.value) - 1, low, high), len(first))


def gains(records: Sequence[Record], phase: str, alpha: float = ALPHA) -> list[Gain]:
    """Every algorithm's gain at every size; the intervals of one collective hold together."""
    arms = _arms(records, phase)
    own = arms.pop(DEFAULT, {})
    pairs = [(call, name) for name, times in arms.items() for call in times if call in own]
    count = {op: sum(call.op == op for call, _ in pairs) for op in {call.op for call, _ in pairs}}
    found = [gain_of(call, name, own[call], arms[name][call], alpha / count[call.op]) for call, name in pairs]
    return sorted((one for one in found if one is not None), key=lambda one: (one.call, one.algorithm))


def adopted(found: Sequence[Gain], calls: Sequence[Call], choice: Choice, least: float = LEAST_GAIN) -> list[Gain]:
    """The best algorithm for each violated call, where its interval's lower end lies above `least`.

    Where one choice holds for all sizes of a collective, an algorithm that may be slower at another size is none.
    """
    best: dict[Call, Gain] = {}
    for one in found:
        if one.call not in calls or not one.gain.low > least:
            continue
        others = [other for other in found if (other.call.op, other.algorithm) == (one.call.op, one.algorithm)]
        if choice.file == ENVIRONMENT and any(not other.gain.low > -abs(least) for other in others):
            continue
        if one.call not in best or one.gain.low > best[one.call].gain.low:
            best[one.call] = one
    if choice.file == ENVIRONMENT:
        return _one_each(list(best.values()))
    return sorted(best.values(), key=lambda one: one.call)


def _one_each(found: Sequence[Gain]) -> list[Gain]:
    """Of each collective one algorithm, that of its greatest gain, at the sizes for which that was adopted."""
    leading: dict[str, Gain] = {}
    for one in found:
        if one.call.op not in leading or one.gain.low > leading[one.call.op].gain.low:
            leading[one.call.op] = one
    return sorted((one for one in found if one.algorithm == leading[one.call.op].algorithm), key=lambda one: one.call)


def rules_of(found: Sequence[Gain], measured: Sequence[Call], ranks: int, choice: Choice) -> list[Rule]:
    """What the file is to say."""
    if choice.file == ENVIRONMENT:
        return sorted({Rule(one.call.op, 0, 0, None, one.algorithm) for one in found})
    rules = []
    for op in sorted({one.call.op for one in found}):
        chosen = {one.call.bytes: one.algorithm for one in found if one.call.op == op}
        sizes = [call.bytes for call in measured if call.op == op and call.bytes > 0]
        rules += [Rule(op, ranks, first, end, name) for first, end, name in ranges(chosen, sizes)]
    return sorted(rules)


def tuned_findings(
    subject: str, calls: Sequence[Call], found: Sequence[Gain], chosen: Sequence[Gain], through: Sequence[Gain],
    *, kept: Sequence[Call], path: str = "",
) -> list[Finding]:  # fmt: skip
    """What was tried for each violated call, and what came of it.

    Parameters
    ----------
    kept
        Calls whose rule stayed in the file.
    path
        Of the file; empty where none was written.
    """
    if not calls:
        return [_said("No guideline is violated: no algorithm was tried, and no file was written.")]
    findings = []
    for call in calls:
        tried = [one for one in found if one.call == call]
        mine = next((one for one in chosen if one.call == call), None)
        again = next((one for one in through if one.call == call), None)
        text = _sentence(call, tried, mine, again, kept=call in kept)
        findings.append(_finding(subject, text, again or mine, path if call in kept else ""))
    if not kept:
        findings.append(_said("Nothing was adopted: the MPI's own choices stay, and no file was left."))
    return findings


def _sentence(call: Call, tried: Sequence[Gain], mine: Gain | None, again: Gain | None, *, kept: bool) -> str:
    if not tried:
        return f"{call.text}: there is no other algorithm to try, or none of them ran."
    if mine is None:
        best = max(tried, key=lambda one: one.gain.value)
        return (
            f"{call.text}: none of {len(tried)} algorithms is surely more than {LEAST_GAIN:.0%} faster than the MPI's "
            f"own choice; the best is {best.algorithm}, {best.text}."
        )
    text = f"{call.text}: {mine.algorithm} is {mine.text} faster than the MPI's own choice when screened"
    if again is None:
        return f"{text}; it could not be measured through the file, and was not kept."
    done = f"{show(again.before, 's')} before, {show(again.after, 's')} after"
    if kept:
        return f"{text}; through the file {again.text}: {done}."
    return f"{text}; through the file {again.text}, which does not bear it out: not kept."


def _finding(subject: str, text: str, one: Gain | None, path: str) -> Finding:
    evidence = []
    if one is not None and isfinite(one.gain.low):
        low, high = one.gain.low, one.gain.high if isfinite(one.gain.high) else None
        evidence = [Evidence(subject=subject, metric=f"{one.call.text}, {one.algorithm}: gain", unit="1",
                             value=one.gain.value, low=low, high=high, expected=0.0)]  # fmt: skip
    return Finding(
        kind=KIND, severity=Severity.INFO, subject=subject, text=text, evidence=evidence,
        next_step=f"It stands in {path}." if path else "",
    )  # fmt: skip


def _said(text: str) -> Finding:
    """What became of the tuning that was asked for: no caveat, which a terminal leaves out."""
    return Finding(kind=KIND, severity=Severity.INFO, subject="", text=text)


def confirmed(through: Sequence[Gain]) -> list[Call]:
    """The calls whose gain through the file is surely above zero."""
    return [one.call for one in through if one.gain.low > 0]


def through_gains(records: Sequence[Record], chosen: Sequence[Gain], alpha: float = ALPHA) -> list[Gain]:
    """The adopted calls' gains through the file."""
    calls = {one.call for one in chosen}
    return [one for one in gains(records, THROUGH, alpha) if one.call in calls and one.algorithm == FILE]
