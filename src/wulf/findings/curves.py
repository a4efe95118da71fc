"""What throughput over message size says: from where to where it is best, what is slower beyond, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import capitalised
from wulf.core.records import Param, Record, Verdict, passes_of
from wulf.core.units import show, show_in, show_interval
from wulf.measure.engine.collect import in_common
from wulf.measure.engine.curve import ABOUT, ARM, PROOF, SUSPECT, Shape, Suspect, arms_of, medians, shape_of
from wulf.stats.comparison import Comparison, Judgement, PairedRule

RATIO = "ratio"
"""Metric: throughput against another cell's, block by block."""

AGAINST = "against"
"""What a ratio's record says of the cell that it is held against: its size, or the size without a suspect's change."""

ERROR = 0.05
"""Of all that is claimed of one arm together."""

KIND = "curve"


@dataclass(frozen=True)
class Contrast:
    """One cell of the proof against another.

    Attributes
    ----------
    size, against
        Bytes of both.
    suspect
        What was changed in the first; empty: nothing but the size.
    """

    size: int
    against: int
    suspect: str
    comparison: Comparison

    @property
    def told(self) -> str:
        """The ratio with its interval: `0.66 (0.62–0.70)`."""
        one = self.comparison
        if one.ratio is None or one.low is None or one.high is None:
            return one.reason
        return f"{show_in(one.ratio, 1.0)} ({show_in(one.low, 1.0)}–{show_in(one.high, 1.0)})"


def contrasts(
    records: Sequence[Record], name: str, shape: Shape, suspects: Sequence[Suspect], looks: Sequence[int]
) -> list[Contrast]:
    """What was measured in blocks to prove an arm's shape; nothing where there are too few blocks for any.

    Parameters
    ----------
    looks
        Numbers of blocks at which measuring may have ended.
    """
    cells = _proofs(records, name)
    pairs = [(("", size), ("", shape.best)) for size in shape.claimed]
    if shape.fallen is not None:
        at = [(suspect.name, shape.best if suspect.at_best else shape.fallen) for suspect in suspects]
        pairs += [((suspect, size), ("", size)) for suspect, size in at]
    there = [pair for pair in pairs if pair[0] in cells and pair[1] in cells]
    found = []
    for one, other in there:
        a, b = in_common([cells[other], cells[one]])
        rule = _rule(len(there), looks)
        if rule is not None and a:
            found.append(Contrast(one[1], other[1], one[0], rule.compare(a, b)))
    return found


def _rule(among: int, looks: Sequence[int]) -> PairedRule | None:
    """Of as many contrasts, which all hold together; None where so few blocks never convince."""
    try:
        return PairedRule(ERROR / among, delta=ABOUT, looks=tuple(looks), lower_is_better=False)
    except ValueError:
        return None


def _proofs(records: Sequence[Record], name: str) -> dict[tuple[str, int], dict[int, float]]:
    """(suspect, size) → block → throughput of one arm."""
    found: dict[tuple[str, int], dict[int, float]] = {}
    for record in records:
        if record.phase == PROOF and record.metric == "throughput" and record.params.get(ARM) == name:
            key = str(record.params.get(SUSPECT) or ""), int(record.number("bytes"))
            found[key] = dict(zip(passes_of(record), record.samples, strict=True))
    return found


def judged(
    records: Sequence[Record], suspects: Sequence[Suspect], looks: Sequence[int]
) -> tuple[list[Record], list[Finding]]:
    """The ratios as records, and a curve each in words."""
    more: list[Record] = []
    findings: list[Finding] = []
    for name, points in arms_of(records).items():
        shape = shape_of(medians(points))
        if shape is None:
            continue
        found = contrasts(records, name, shape, suspects, looks)
        base = points[shape.best]
        more += [_record(base, name, contrast) for contrast in found]
        findings.append(_finding(name, shape, base, found, suspects))
    return more, findings


def _record(base: Record, name: str, contrast: Contrast) -> Record:
    one = contrast.comparison
    params: dict[str, Param] = {key: base.params[key] for key in ("transport", "pattern", "mpi") if key in base.params}
    params |= {ARM: name, "bytes": contrast.size, AGAINST: contrast.against}
    params |= {SUSPECT: contrast.suspect} if contrast.suspect else {}
    return Record(
        run=base.run, subject=base.subject, probe=base.probe, metric=RATIO, unit="1",
        params=params, value=one.ratio,
        low=one.low, high=one.high, confidence=one.confidence if one.low is not None else None,
        statistic="Hodges-Lehmann estimate of paired ratios", replicates=one.n,
        verdict=Verdict.UNRESOLVED if one.ratio is None or one.low is None else Verdict.OK,
        reason=one.reason if one.low is None else None, at=base.at, phase=PROOF, better="higher",
        seen=one.changed, least_visible=one.least_visible,
    )  # fmt: skip


def _finding(name: str, shape: Shape, base: Record, found: Sequence[Contrast], suspects: Sequence[Suspect]) -> Finding:
    by = {(contrast.suspect, contrast.size): contrast for contrast in found}
    text = [_range(name, shape, base)]
    if found:
        text += _edges(shape, by)
        text += _fall(shape, by, suspects)
    elif shape.fallen is not None:
        text.append(f"Longer ones seem slower, the most at {show(shape.fallen, 'B')}; too few blocks prove it.")
    return Finding(
        kind=KIND, severity=Severity.INFO, subject=base.subject, text=" ".join(text),
        evidence=[
            Evidence(
                subject=f"{show(one.size, 'B')}{f', {one.suspect}' if one.suspect else ''}", metric=RATIO, unit="1",
                value=one.comparison.ratio, low=one.comparison.low, high=one.comparison.high,
                judgement=one.comparison.judgement, pairs=one.comparison.n, least_visible=one.comparison.least_visible,
            )
            for one in found
        ],
    )  # fmt: skip


def _range(name: str, shape: Shape, base: Record) -> str:
    figure = f"{show(base.value, base.unit)} ({show_interval(base.low, base.high, base.unit)})"
    head = f"{capitalised(name)}: "
    if shape.first == shape.last:
        return f"{head}best at {show(shape.best, 'B')}, {figure}."
    return f"{head}best from {show(shape.first, 'B')} to {show(shape.last, 'B')}, {figure} at {show(shape.best, 'B')}."


def _edges(shape: Shape, by: Mapping[tuple[str, int], Contrast]) -> list[str]:
    """What the ends of the range reach of the best, where it is surely less."""
    ends = [by[key] for size in (shape.first, shape.last) if (key := ("", size)) in by]
    less = [one for one in ends if one.comparison.judgement is Judgement.SLOWER]
    return [f"Measured anew, {show(one.size, 'B')} reaches {one.told} of that." for one in less]


def _fall(shape: Shape, by: Mapping[tuple[str, int], Contrast], suspects: Sequence[Suspect]) -> list[str]:
    """What is lost beyond the range, and why, as far as blocks tell."""
    if shape.fallen is None or ("", shape.fallen) not in by:
        return []
    fall = by["", shape.fallen]
    at = show(shape.fallen, "B")
    if fall.comparison.judgement is not Judgement.SLOWER:
        return [f"Whether it falls beyond is open: {at} against the best size, {fall.told}."]
    guilty = [told for suspect in suspects if (told := _guilty(suspect, shape, by))]
    why = guilty or ["Nothing that was tried explains it."]
    return [f"It falls beyond: {at} reaches {fall.told} of the best size.", *why]


def _guilty(suspect: Suspect, shape: Shape, by: Mapping[tuple[str, int], Contrast]) -> str:
    """What one suspect has to do with the fall; empty where blocks do not show that it has."""
    size = shape.best if suspect.at_best else shape.fallen
    one = by.get((suspect.name, size or 0))
    expected = Judgement.SLOWER if suspect.at_best else Judgement.FASTER
    if one is None or one.comparison.judgement is not expected:
        return ""
    return f"{suspect.cause}, {one.told} times."
