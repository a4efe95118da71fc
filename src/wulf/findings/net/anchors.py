"""Anchors of a sweep: a few sizes that every later round measures again, so that a machine that drifts is seen.

The rounds of a sweep lie seconds to minutes apart, and its lines go through all of them. What changed between two
rounds would look like a bend, or like a held-out size that the lines do not predict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.records import Record
from wulf.core.units import show
from wulf.stats.ranks import rank_sum_shift
from wulf.stats.samples import logs

PHASE = "anchor"
"""How the phase of an anchor's cells begins; the round follows, so that each has a name of its own."""

ANCHORS = 3

LEVEL = 0.05
"""Chance that any anchor of a sweep seems to have moved where none has."""


@dataclass(frozen=True)
class Drift:
    """An anchor that moved.

    Attributes
    ----------
    round
        Of the sweep, counted from 1; the first is what it is held against.
    ratio, low, high
        Its time over that of the first round, with the interval that allows for all anchors and rounds.
    """

    round: int
    size: int
    ratio: float
    low: float
    high: float


def anchor_sizes(sizes: Sequence[int]) -> list[int]:
    """The least, the greatest, and those evenly between them, of sizes on a log scale."""
    last = len(sizes) - 1
    return sorted({sizes[round(last * i / (ANCHORS - 1))] for i in range(ANCHORS)}) if sizes else []


def phase_of(number: int) -> str:
    """The phase of a round's anchors."""
    return f"{PHASE} {number}"


def round_of(record: Record) -> int | None:
    """The round of an anchor's record; None where it is none."""
    words = record.phase.split()
    return int(words[1]) if len(words) == 2 and words[0] == PHASE else None


def drifts(
    first: Mapping[int, Sequence[float]], later: Mapping[int, Mapping[int, Sequence[float]]], tolerance: float
) -> list[Drift]:
    """The anchors whose whole interval lies farther from the first round than the tolerance.

    Parameters
    ----------
    first
        Size → times in the first round.
    later
        Round → size → times.
    tolerance
        Relative; what lies within it does not matter to the sweep.

    Returns
    -------
    list of Drift
        In order of round and size. Wilcoxon's rank-sum interval of the logarithms, at a level that Bonferroni's
        inequality divides among all that are looked at.
    """
    pairs = [(number, size) for number in sorted(later) for size in sorted(later[number]) if size in first]
    found = []
    for number, size in pairs:
        shift = rank_sum_shift(logs(first[size]), logs(later[number][size]), LEVEL / len(pairs))
        low, high = exp(shift.low), exp(min(shift.high, 700.0))
        if low > 1 + tolerance or high < 1 - tolerance:
            found.append(Drift(number, size, exp(shift.value), low, high))
    return found


def drift_finding(subject: str, found: Sequence[Drift], tolerance: float) -> Finding | None:
    """What a sweep says of its drift; None where no anchor moved."""
    if not found:
        return None
    worst = max(found, key=lambda drift: abs(drift.ratio - 1))
    rounds = sorted({drift.round for drift in found})
    told = ("rounds " if len(rounds) > 1 else "round ") + ", ".join(map(str, rounds))
    return Finding(
        kind="noise",
        severity=Severity.WARN,
        subject=subject,
        text=(
            f"The machine drifted between the rounds of this sweep: measured again in round {worst.round}, "
            f"{show(worst.size, 'B')} took {worst.ratio:.2f} ({worst.low:.2f}–{worst.high:.2f}) times as long as in "
            f"the first, which is beyond the tolerance of {tolerance:.0%}. The sizes of {told} "
            "belong to another state than the rest: bends and held-out sizes among them may be the drift's."
        ),
        next_step="sweep again when the machine is at rest (see the idle seconds in baseline.json)",
        evidence=[
            Evidence(
                subject=f"{show(drift.size, 'B')} in round {drift.round}", metric="time / first round", unit="1",
                value=drift.ratio, low=drift.low, high=drift.high,
            )
            for drift in found
        ],
    )  # fmt: skip
