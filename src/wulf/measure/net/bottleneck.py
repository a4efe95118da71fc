"""What limits one cell: the rule table's types, and how it is asked. The rules themselves: `wulf.measure.net.rules`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wulf.core.findings import Evidence, Severity
from wulf.core.units import show
from wulf.measure.net.situation import Situation

UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Threshold:
    """A limit of a rule, with the reason why it lies where it lies."""

    value: float
    unit: str
    reason: str


@dataclass(frozen=True)
class Diagnosis:
    """That a rule fits.

    Attributes
    ----------
    subject
        Who: the pair, or the node where it is known.
    text
        One sentence for a person, with figures.
    evidence
        The figures; each carries the threshold that it crossed, as `threshold`.
    """

    subject: str
    text: str
    evidence: Sequence[Evidence] = ()
    next_step: str = ""


Limits = Mapping[str, float]
Judge = Callable[[Situation, Limits], Diagnosis | None]


@dataclass(frozen=True)
class Rule:
    """One line of the rule table.

    Attributes
    ----------
    name
        As records and findings carry it: 'cpu-bound'.
    says
        What it means, in one sentence.
    needs
        What must have been counted for it.
    judge
        A pure function: what it finds, or None.
    unless
        Rules that explain the same symptoms better: where one of them fits, this one is not asked.
    """

    name: str
    says: str
    needs: str
    thresholds: Mapping[str, Threshold]
    judge: Judge
    severity: Severity = Severity.INFO
    next_step: str = ""
    unless: Sequence[str] = ()

    @property
    def limits(self) -> Limits:
        """The thresholds' values."""
        return {name: threshold.value for name, threshold in self.thresholds.items()}


@dataclass(frozen=True)
class Bottleneck:
    """A rule that fits a cell."""

    rule: str
    subject: str
    text: str
    next_step: str = ""
    severity: Severity = Severity.INFO
    evidence: Sequence[Evidence] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        """What a record holds under `bottleneck`."""
        return {
            "rule": self.rule,
            "subject": self.subject,
            "text": self.text,
            "next_step": self.next_step,
            "severity": str(self.severity),
            "evidence": [one.model_dump(mode="json", exclude_none=True) for one in self.evidence],
        }


def figure(subject: str, metric: str, value: float | str | None, unit: str, threshold: float | None = None) -> Evidence:
    """One piece of evidence; the threshold is in the figure's unit."""
    return Evidence(subject=subject, metric=metric, value=value, unit=unit, threshold=threshold)


def judge(situation: Situation, rules: Sequence[Rule]) -> list[Bottleneck]:
    """What limits the cell, the strongest first: a table's order, in which a cause stands before its symptoms.

    Where nothing fits: one entry, `undetermined`, that says what was looked at.
    """
    found: list[Bottleneck] = []
    for rule in rules:
        if {one.rule for one in found} & set(rule.unless):
            continue
        fits = rule.judge(situation, rule.limits)
        if fits is not None:
            step = fits.next_step or rule.next_step
            found.append(Bottleneck(rule.name, fits.subject, fits.text, step, rule.severity, tuple(fits.evidence)))
    return found or [_undetermined(situation)]


def _undetermined(s: Situation) -> Bottleneck:
    """What was looked at, and what could not be."""
    seen: list[str] = []
    if not s.samples:
        return Bottleneck(UNDETERMINED, s.subject, "No verdict: no replicate gave a value.")
    busiest = next(iter(s.cpus()), None)
    if busiest is not None:
        end, cpu = busiest
        seen.append(f"the busiest core (CPU {cpu.name} of {end.node}) was {cpu.used:.0%} used")
    else:
        seen.append("too little was measured to judge any core")
    if s.streams and s.transport == "tcp":
        busy, waited = s.client.tcp_count("busy_time"), s.client.tcp_count("rwnd_limited")
        known = busy is not None and waited is not None and busy > 0
        seen.append(f"the window held it up for {(waited or 0) / (busy or 1):.0%} of the time" if known else
                    "the kernel does not count waits for the window")  # fmt: skip
    if s.loss is not None:
        seen.append(f"{s.loss:.2%} was lost")
    if s.streams:
        speed = s.speed
        seen.append(f"the link could carry {show(speed, 'B/s')}" if speed else "the link's speed is not known")
    return Bottleneck(UNDETERMINED, s.subject, f"No rule fits: {'; '.join(seen)}.")


def table(rules: Sequence[Rule]) -> str:
    """The rules as a page for people (docs/reference/verdicts.md)."""
    lines = [
        "# What limits a measurement: the rules",
        "",
        "Every figure that wulf measures over the network is explained where the counters of both ends allow it.",
        "The rules stand in one table, `src/wulf/measure/net/rules.py`, of which this page is made; they are asked in",
        "this order, in which a cause stands before its symptoms, and all that fit are kept. Where none does, the",
        "verdict is `undetermined`, with what was looked at.",
        "",
        "Counters are host-wide, since the kernel charges the work of receiving to nobody's process. What a host",
        "counts at rest before and after the measurement, .25 to 1 s each (`baseline.json`), is taken off;",
        "`--quick` leaves these times out.",
        "",
    ]
    for rule in rules:
        grave = " A finding to look at." if rule.severity is Severity.WARN else ""
        lines += [f"## {rule.name}", "", f"{rule.says}{grave}", "", f"Needs {rule.needs}."]
        if rule.unless:
            lines[-1] += f" Not asked where {' or '.join(rule.unless)} fits."
        if rule.thresholds:
            lines += ["", "| threshold | value | reason |", "| --- | --- | --- |"]
            for name, limit in rule.thresholds.items():
                value = f"{limit.value:.3g}" if limit.unit == "1" else show(limit.value, limit.unit)
                lines.append(f"| {name.replace('_', ' ')} | {value} | {limit.reason} |")
        lines += ["", f"Next step: {rule.next_step}.", ""]
    return "\n".join(lines).rstrip() + "\n"
