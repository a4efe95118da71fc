"""What many changes were worth to many applications, what one more may expect, and what a mix of them would gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

from wulf.core.names import plural, shortened
from wulf.model.impacts import (
    GROUPINGS,
    UNKNOWN,
    Expectation,
    MixGain,
    MixPart,
    RunImpact,
    expectation,
    expectations,
    less_time,
    moderated,
    saved,
)
from wulf.report.kit.view import Cell, Columns, Forest, ForestRow, Row, Section, View, interval_object
from wulf.stats.estimates import Interval
from wulf.stats.pooling import LEAST, LEAST_MODERATED, Moderation, Pooled

HEADINGS = {"domain": "By domain of application", "change": "By what was changed", "network": "By network"}
TOO_FEW = "too few to say"
SAVED = "less time"
LEAST_SHARE = 5e-4
"""Of the core-hours: less is none, as it is shown."""

MOST_ROWS, LONGEST_NAME = 30, 20
"""Runs in a terminal's table; characters of a command line."""

DRAWN_NAME = 24
"""Characters of one in a picture."""

METHOD = (
    "n is the number of programs, each command line once: its runs are averaged. A gain is less time for the same "
    "work, as a share of before; of a rate, the time that its work takes. A group is pooled as logarithms, by random "
    "effects: τ, by how much programs differ, by Paule & Mandel; the mean's 95 % interval by Hartung & Knapp; I², the "
    "share of the differences that is no noise. One more program's 95 % interval holds what a program that was not "
    "measured gains, if it is like those of the group (Nagashima, Noma & Furukawa); of fewer than "
    f"{LEAST} programs nothing is told. The network is the fastest link of the nodes."
)


@dataclass(frozen=True)
class ImpactsReport:
    """All that is shown.

    Attributes
    ----------
    impacts
        Of all runs that could be read.
    bad
        Those that could not → why.
    mix
        What a mix gains; `source` and `core_hours`, a month, are of where the mix is from.
    """

    impacts: Sequence[RunImpact]
    bad: Mapping[str, str] = field(default_factory=dict)
    mix: MixGain | None = None
    source: str = ""
    core_hours: float | None = None

    @property
    def counted(self) -> list[RunImpact]:
        """Those of which something is claimed."""
        return [one for one in self.impacts if not one.why]

    @cached_property
    def all(self) -> Expectation:
        """What all runs say together."""
        return expectation("all runs", self.impacts)

    @cached_property
    def groups(self) -> Mapping[str, Sequence[Expectation]]:
        """What they are grouped by → the groups."""
        return {key: expectations(self.impacts, by) for key, by in GROUPINGS.items()}

    @cached_property
    def moderation(self) -> Moderation | None:
        """Whether gains go with the share of time in MPI."""
        return moderated(self.impacts)


def impacts_view(report: ImpactsReport) -> View:
    """The mix, the groups, what explains their differences, and every run."""
    sections = [] if report.mix is None else [_mix(report, report.mix)]
    sections += [_group(key, heading, report) for key, heading in HEADINGS.items()]
    sections += [_moderation(report), _runs(report), _left_out(report)]
    return View(
        f"What changes of the network were worth: {plural(len(report.impacts), 'run')}", _headline(report),
        [one for one in sections if one.elements], notes=list(_notes(report)), method=METHOD,
    )  # fmt: skip


def _percents(one: Interval) -> str:
    """`+4.1 % (+1.2 … +7.0)`."""
    return f"{_number(one.value)} % ({_bounds(one)})"


def _bounds(one: Interval) -> str:
    return f"{_number(one.low)} … {_number(one.high)}"


def _number(share: float) -> str:
    """In percent; what takes more than ten times as long is no matter by how much."""
    return f"{100 * share:+.1f}" if share > -10 else "< -1000"


def _headline(report: ImpactsReport) -> str:
    if report.mix is not None:
        return _mix_headline(report.mix)
    whole = report.all
    of = f"{plural(whole.runs, 'run')} of {plural(len(whole.workloads), 'program')}"
    if whole.pooled is None:
        return f"{of}: {TOO_FEW} what one more program would gain ({LEAST} programs are needed)."
    mean, ahead = saved(whole.pooled.mean), saved(whole.pooled.next)
    return f"{of} saved {_percents(mean)} of the time on average; one more program: {_bounds(ahead)} %."


def _mix_headline(mix: MixGain) -> str:
    if mix.saved is None:
        return f"What this mix would gain is not known: no part of it has {LEAST} programs that were measured."
    jobs = mix.more_jobs
    more = "" if jobs is None else f", {_count(jobs.value)} jobs a month ({_count(jobs.low)} … {_count(jobs.high)})"
    return f"This mix would save {_percents(mix.saved)} of its core-hours{more}."


def _count(jobs: float) -> str:
    return f"{jobs:+,.0f}" if isfinite(jobs) else "no bound"


def _notes(report: ImpactsReport) -> Iterator[str]:
    for name, why in report.bad.items():
        yield f"{name} could not be read: {why}"
    changes = report.all.changes
    if len(changes) > 1:
        yield (
            f"These runs are of {len(changes)} different changes, which groups by domain and by network mix: "
            "--change NAME keeps to one."
        )
    if any(one.domain == UNKNOWN for one in report.counted):
        yield "Runs that don't say their domain are `unknown`: --domains FILE says it, or `wulf impact --domain NAME`."


# The mix.


def _mix(report: ImpactsReport, mix: MixGain) -> Section:
    lines = [f"Shares of the core-hours are from {report.source}; each part gains what one more of its programs may."]
    if report.core_hours is not None:
        lines.append(f"{report.core_hours:,.0f} core-hours and {mix.jobs or 0:,.0f} completed jobs a month of 30 days.")
    if mix.unknown > LEAST_SHARE:
        lines.append(
            f"Not known: {100 * mix.unknown:.3g} % of the core-hours ({', '.join(_unknown(mix))}). They count as no "
            "gain, and the interval does not hold what they may gain or lose."
        )
    heads = ["part", "of all, %", "n", "a program\nsaves, %", "95 %", "of the\nwhole, %"]
    table = Columns(heads, [_mix_row(part) for part in mix.parts], 1)
    rows = [ForestRow(part.load.name, _scaled(part.saved)) for part in mix.parts if part.saved is not None]
    rows += [ForestRow("the whole", _scaled(mix.saved))] if mix.saved is not None else []
    return Section("What all of the cluster's work would gain", lines, table, body=_forest("mix", rows, "expected"))


def _unknown(mix: MixGain) -> list[str]:
    """Whose core-hours nothing is known of."""
    left = 1 - sum(part.load.share for part in mix.parts) > LEAST_SHARE
    return [part.load.name for part in mix.parts if part.saved is None] + ["what the mix leaves out"] * left


def _mix_row(part: MixPart) -> Row:
    share = f"{100 * part.load.share:.1f}"
    kind = "" if part.expected is None else part.expected.name
    name = part.load.name if kind in ("", part.load.name) else f"{part.load.name} (as {kind})"
    programs = str(len(part.expected.workloads)) if part.expected else "0"
    if part.saved is None:
        return [name, share, programs, "–", Cell(TOO_FEW, "dim"), "–"]
    own = part.saved
    return [name, share, programs, _number(own.value), _bounds(own), _number(part.load.share * own.value)]


# The groups.


def _group(key: str, heading: str, report: ImpactsReport) -> Section:
    found = report.groups[key]
    heads = [key, "n", "mean, %", "95 %", "one more\nprogram", "τ, %", "I², %"]
    rows = [
        ForestRow(one.name, _scaled(saved(one.pooled.mean)), _scaled(saved(one.pooled.next)))
        for one in found if one.pooled
    ]  # fmt: skip
    return Section(
        heading, table=Columns(heads, list(map(_row, found)), 1) if found else None,
        body=_forest(key, rows, "mean", "one more program"),
    )  # fmt: skip


def _row(one: Expectation) -> Row:
    count = Cell(str(len(one.workloads)), title=plural(one.runs, "run"))
    if one.pooled is None:
        return [one.name, count, "–", "–", Cell(TOO_FEW, "dim"), "–", "–"]
    pooled = one.pooled
    return [
        one.name, count, _number(less_time(pooled.mean.value)), _bounds(saved(pooled.mean)),
        _bounds(saved(pooled.next)), f"{100 * pooled.tau:.1f}", f"{100 * pooled.share:.0f}",
    ]  # fmt: skip


def _scaled(one: Interval) -> Interval:
    """In percent."""
    return Interval(100 * one.value, 100 * one.low, 100 * one.high)


def _forest(key: str, rows: Sequence[ForestRow], inner: str, outer: str = "") -> list[Forest]:
    return [Forest(f"forest-{key}", rows, SAVED, inner, outer)] if rows else []


def _moderation(report: ImpactsReport) -> Section:
    heading = "Do gains go with the share of time in MPI?"
    found = report.moderation
    if found is None:
        told = f"{LEAST_MODERATED} programs with profiles, of several shares, are needed to say."
        return Section(heading, [told] if report.counted else [])
    return Section(heading, list(_moderated(found)))


def _moderated(found: Moderation) -> Iterator[str]:
    line = (
        f"By the line through {plural(found.n, 'program')} with profiles, one that is in MPI all the time gains "
        f"{_percents(saved(found.slope))} over one that never is"
    )
    if not found.proven:
        yield f"Not proven. {line}."
        return
    yield f"Yes. {line}; the share explains {100 * found.explained:.0f} % of the variance between programs (τ²)."
    at_none = f"at a share of 0 the line has {_percents(saved(found.intercept))}."
    yield (
        f"Nothing speaks against gains in proportion to it: {at_none}"
        if found.proportional
        else f"They are not in proportion to it: {at_none}"
    )


# The runs.


def _runs(report: ImpactsReport) -> Section:
    seen = sorted(report.counted, key=lambda one: (one.domain, one.application, one.run))
    owns = [own for one in seen if (own := _own(one)) is not None]  # all that count have one
    heads = ["application", "domain", "change", "saves, %", "95 %", "MPI, %"]
    rows: list[Row] = [
        [_application(one), one.domain, one.change, _number(own.value), _bounds(own), _share(one)]
        for one, own in zip(seen, owns, strict=True)
    ]
    drawn = [ForestRow(shortened(_name(one), DRAWN_NAME), _scaled(own)) for one, own in zip(seen, owns, strict=True)]
    table = Columns(heads, rows, 3, most=MOST_ROWS) if rows else None
    return Section("Every run", table=table, body=_forest("runs", drawn, "one run"))


def _name(one: RunImpact) -> str:
    """Its command line without the program's folder."""
    program, blank, rest = one.application.partition(" ")
    return program.rpartition("/")[2] + blank + rest


def _application(one: RunImpact) -> Cell:
    return Cell(shortened(_name(one), LONGEST_NAME), title=f"{one.application}, run {one.run}")


def _own(one: RunImpact) -> Interval | None:
    gain = one.gain
    if gain is None or gain.low is None or gain.high is None:
        return None
    return saved(Interval(gain.value, gain.low, gain.high))


def _share(one: RunImpact) -> str:
    return "–" if one.share is None else f"{100 * one.share:.0f}"


def _left_out(report: ImpactsReport) -> Section:
    rows: list[Row] = [[one.run, _application(one), one.why] for one in report.impacts if one.why]
    return Section("Runs that don't count", table=Columns(["run", "application", "why"], rows, 3) if rows else None)


# For programs.


def impacts_object(report: ImpactsReport) -> dict[str, Any]:
    """All gains as shares of the time saved."""
    found = report.moderation
    return {
        "runs": [_run_object(one) for one in report.impacts],
        "bad": [{"run": name, "why": why} for name, why in report.bad.items()],
        "all": _group_object(report.all),
        "by": {key: [_group_object(one) for one in some] for key, some in report.groups.items()},
        "mpi_share": None if found is None else {
            "programs": found.n, "slope": _saved_object(found.slope), "intercept": _saved_object(found.intercept),
            "explained": found.explained, "proven": found.proven, "proportional": found.proportional,
        },
        "mix": None if report.mix is None else _mix_object(report, report.mix),
    }  # fmt: skip


def _saved_object(gain: Interval) -> dict[str, float | None]:
    return interval_object(saved(gain))


def _run_object(one: RunImpact) -> dict[str, Any]:
    own = _own(one)
    return {
        "run": one.run, "application": one.application, "domain": one.domain, "change": one.change,
        "network": one.network, "saved": None if own is None else interval_object(own), "mpi_share": one.share,
        "counts": not one.why, "why": one.why or None,
    }  # fmt: skip


def _group_object(one: Expectation) -> dict[str, Any]:
    about = {"name": one.name, "programs": len(one.workloads), "runs": one.runs, "changes": list(one.changes)}
    return {**about, **_pooled_object(one.pooled)}


def _pooled_object(pooled: Pooled | None) -> dict[str, Any]:
    if pooled is None:
        return {"mean": None, "one_more": None, "tau": None, "i2": None, "p": None, "why": TOO_FEW}
    return {
        "mean": _saved_object(pooled.mean), "one_more": _saved_object(pooled.next), "tau": pooled.tau,
        "i2": pooled.share, "p": pooled.p, "why": None,
    }  # fmt: skip


def _mix_object(report: ImpactsReport, mix: MixGain) -> dict[str, Any]:
    return {
        "source": report.source, "core_hours": report.core_hours, "jobs": mix.jobs, "unknown": mix.unknown,
        "saved": None if mix.saved is None else interval_object(mix.saved),
        "more_jobs": None if mix.more_jobs is None else interval_object(mix.more_jobs),
        "parts": [
            {
                "name": part.load.name, "share": part.load.share, "jobs": part.load.jobs,
                "programs": len(part.expected.workloads) if part.expected else 0,
                "saved": None if part.saved is None else interval_object(part.saved),
            }
            for part in mix.parts
        ],
    }  # fmt: skip
