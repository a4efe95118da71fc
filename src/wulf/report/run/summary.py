"""A run in a few sentences: the headline, its state, what its exit code means, how much was measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from wulf.core.errors import FOUND, INCOMPLETE, INTERRUPTED, OK, USAGE
from wulf.core.findings import Evidence, Finding, Severity
from wulf.core.names import fold, natural, plural, subject_text
from wulf.core.records import Record, Verdict
from wulf.core.units import scale_for, show_in
from wulf.report.kit.figures import interval_text, main_records, metric_name, value_text
from wulf.report.kit.matrices import run_nodes, verdict_counts
from wulf.report.kit.parts import parts, whole_part
from wulf.store.run import Run

EXITS = {
    OK: "all well",
    FOUND: "something stands out",
    USAGE: "usage or configuration",
    INCOMPLETE: "incomplete: some measurements failed or gave no answer",
    INTERRUPTED: "interrupted; what was measured is kept",
}


def ordered_findings(run: Run) -> list[Finding]:
    """Findings by severity; the survey's own order within each."""
    return sorted(run.findings, key=lambda finding: -finding.severity.weight)


def exit_code(run: Run) -> int:
    """The exit code of the command that made the run: as recorded, else as the run's content says."""
    for key in ("exit_code", "exit"):
        if isinstance(run.meta.get(key), int):
            return int(run.meta[key])
    counts = verdict_counts(main_records(run.records))
    if run.meta.get("state") == "interrupted":
        return INTERRUPTED
    if run.meta.get("state") != "complete" or counts.get(Verdict.FAILED) or counts.get(Verdict.UNRESOLVED):
        return INCOMPLETE
    return FOUND if any(f.severity is Severity.BAD for f in run.findings) else OK


def times(evidence: Evidence) -> float:
    """By what factor a figure differs from the peers' (at least 1); 0 where it can't be said."""
    value, expected = evidence.value, evidence.expected
    if not isinstance(value, int | float) or not isinstance(expected, int | float) or value <= 0 or expected <= 0:
        return 0.0
    return max(value / expected, expected / value)


def against_peers(evidence: Evidence) -> str:
    """`reach 0.19 Gbit/s where the others reach 21 Gbit/s`; empty where evidence has no two figures."""
    if not times(evidence):
        return ""
    value, expected = float(evidence.value or 0), float(evidence.expected or 0)
    larger, smaller = max(value, expected), min(value, expected)
    divisor, name = scale_for(larger, evidence.unit)
    if larger / smaller > 500:  # one unit for both would need too many zeros
        own_divisor, own_name = scale_for(value, evidence.unit)
        divisor, name = scale_for(expected, evidence.unit)
    else:
        own_divisor, own_name = divisor, name
    verb = "take" if evidence.unit == "s" else "reach"
    own, peers = show_in(value, own_divisor, 2), show_in(expected, divisor, 2)
    return f"{verb} {own} {own_name} where the others {verb} {peers} {name}".replace("  ", " ")


def _stands_out(finding: Finding) -> str:
    best = max(finding.evidence, key=times, default=None)
    figures = against_peers(best) if best is not None else ""
    if not figures or best is None:
        return f"{subject_text(finding.subject)} stands out."
    if best.row and isinstance(best.value, int | float):  # a ratio to its like
        return f"{subject_text(finding.subject)} stands out: its {best.row} is {best.value:.2g} times its like's."
    noun = "round trips" if best.metric == "rtt" else "links" if best.unit == "B/s" else metric_name(best.metric)
    return f"{subject_text(finding.subject)} stands out: its {noun} {figures}."


def headline(run: Run) -> str:
    """The one sentence that a person should take away."""
    alone = whole_part(run)
    if alone is not None:
        return alone.headline(run)
    bad = [f for f in run.findings if f.severity is Severity.BAD]
    slow = [f for f in bad if f.kind in ("node", "link", "deviation")]
    subjects = sorted({f.subject for f in slow}, key=natural)
    dead = {f.subject for f in bad if f.kind == "failed"} & set(run_nodes(run))
    said = []
    if len(subjects) == 1:
        said.append(_stands_out(max(slow, key=lambda f: max(map(times, f.evidence), default=0.0))))
    elif subjects:
        said.append(f"{len(subjects):,} stand out: {fold(map(subject_text, subjects))}.")
    if dead:
        said.append(f"{fold(dead)} failed.")
    if not subjects:
        said.append(_missing(run) or ("" if dead else bad[0].text if bad else _answer(run)))
    return " ".join(said).strip()


def _missing(run: Run) -> str:
    """What was not measured; empty where everything was."""
    main = main_records(run.records)
    counts = verdict_counts(main)
    without = counts.get(Verdict.FAILED, 0) + counts.get(Verdict.UNRESOLVED, 0)
    if not run.records:
        return "Nothing was measured."
    return f"{without:,} of {plural(len(main), 'measurement')} gave no answer." if without else ""


def _answer(run: Run) -> str:
    said = (part.answer(run) for part in parts())
    return next(filter(None, said), None) or _single(main_records(run.records)[0])


def _single(record: Record) -> str:
    """A single measurement in a sentence: `n1 → n2: round trip 18.5 µs (18.3–18.8 µs).`"""
    interval = f" ({interval_text(record)})" if record.low is not None else ", without an interval"
    return f"{subject_text(record.subject)}: {metric_name(record.metric)} {value_text(record)}{interval}."


@dataclass(frozen=True)
class State:
    """How a run ended, in words; `warning` is empty where it is whole."""

    name: str
    warning: str


def state(run: Run) -> State:
    """How the run ended, and what that means for its figures."""
    name = str(run.meta.get("state") or "unknown")
    kept = f"what follows is of the {plural(len(run.records), 'record')} written by then."
    if run.meta.get("cwd"):  # as commands note that can be resumed
        kept += f" `wulf resume {run.path}` goes on with it."
    warnings = {
        "complete": "",
        "interrupted": f"This run was interrupted: {kept}",
        "failed": f"This run ended in an error: {kept}",
        "running": f"This run has not ended, or was killed: {kept}",
    }
    warning = warnings.get(name, f"It is not recorded how this run ended: {kept}")
    if run.torn:
        warning = f"{warning} {plural(run.torn, 'line')} of records.jsonl could not be read.".strip()
    return State(name, warning)


def duration(run: Run) -> str:
    """`41 s`, `3 min 20 s`; empty where the run has no end."""
    started, ended = _moment(run.meta.get("started")), _moment(run.meta.get("ended"))
    if started is None or ended is None:
        return ""
    seconds = (ended - started).total_seconds()
    if seconds < 120:
        return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def started(run: Run) -> str:
    """`2026-11-20 18:44 UTC`; the text as recorded where it is no time."""
    moment = _moment(run.meta.get("started"))
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else str(run.meta.get("started") or "not recorded")


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
