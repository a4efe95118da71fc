"""A metric over many runs: each series with its changes marked, and what changed with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from wulf.core.names import plural, printable, subject_text
from wulf.core.records import Record
from wulf.core.units import scale_for, show, show_in, show_interval
from wulf.findings.history import CoincidentChange, JudgedSeries, MetricHistory, SeriesStep
from wulf.report.kit.figures import cell_name, metric_name
from wulf.report.kit.trends import LevelChange, Trend
from wulf.report.kit.view import Callout, Cell, Columns, Element, Fold, Note, Row, Section, View
from wulf.stats.series.changes import Change
from wulf.stats.stopping import settled_median
from wulf.store.history import Series

MAX_CHANGED = 20
"""Series with changes that a terminal shows, too."""

MAX_DRAWN = 40
"""Series with changes that a page draws; all of them stand in its table."""

MAX_UNCHANGED = 12
MAX_CHANGES = 12
MAX_FACTS = 8
MAX_UNREAD = 5
MAX_DOUBTS = 3
MAX_ROWS = 400

ENDING = 200
"""Runs of a long series' end that are shown by themselves where the latest change is among them."""

WORDS = {"spread": "other spread"}
"""Verdict → what people read, where that is another word."""

SIGNS = {
    "worse": ("bad", "▲"), "better": ("good", "●"), "changed": ("warn", "◆"), "spread": ("warn", "◆"),
    "candidate": ("warn", "?"),
}  # fmt: skip
"""Verdict → the style of a callout, and its sign."""

READING = (
    "A point is a run, in the order started; lines are the medians between changes, bands say where each change may "
    "lie. Point at a run, or tap it, for its figure. Of long series the extremes of each stretch are drawn."
)


def headline(history: MetricHistory) -> str:
    """The answer in a sentence."""
    changed, worse = [told for told in history.changed if not told.doubt], len(history.worse_now)
    candidates = len(history.changed) - len(changed)
    of = plural(len(history.told), "series", "series")
    name, over = metric_name(history.metric), f"over {plural(history.runs, 'run')}"
    maybe = f"; {candidates} more may have changed" if candidates else ""
    if not changed:
        return f"No {'sure ' if candidates else ''}change of the {name} in {of} {over}{maybe.replace(' more', '')}"
    what = f"The {name} changed in {len(changed)} of {of} {over}"
    return f"{what}; {worse} {'is' if worse == 1 else 'are'} worse now than before{maybe}" if worse else what + maybe


def notes(history: MetricHistory) -> list[str]:
    """What was left out, and why."""
    found = [f"{name} could not be read: {why}" for name, why in history.unread[:MAX_UNREAD]]
    if len(history.unread) > MAX_UNREAD:
        found.append(f"and {plural(len(history.unread) - MAX_UNREAD, 'more run')} could not be read")
    if history.torn:
        lines = sum(count for _, count in history.torn)
        first = history.torn[0][0]
        more = f" and {len(history.torn) - 1} more" if len(history.torn) > 1 else ""
        found.append(f"{plural(lines, 'torn line')} skipped, in {first}{more}")
    left_out = sum(told.series.left_out for told in history.told)
    if left_out:
        found.append(f"{plural(left_out, 'record')} without a usable value (failed or unresolved) left out")
    doubted = [told for told in history.changed if told.doubt]
    found += [f"{series_name(told.series)}: {told.doubt}: its changes are candidates" for told in doubted[:MAX_DOUBTS]]
    if len(doubted) > MAX_DOUBTS:
        found.append(f"and {plural(len(doubted) - MAX_DOUBTS, 'more series', 'more series')} with candidates")
    if any(told.steps and not told.series.better for told in history.told):
        found.append("no plan of these runs says which way is better, so no change is called worse")
    return found


def method(history: MetricHistory) -> str:
    """How changes were found, in a sentence or two."""
    return (
        f"Changes are found by E-divisive with permutation tests at a level of {history.level:.3g}, over all splits "
        f"and series together; intervals are of {100 * (1 - history.level):.3g} %. A fact that changed with the metric "
        "is a suspect, not a proof."
    )


def series_name(series: Series) -> str:
    """`n1 → n2, tcp pingpong, 1 B`."""
    words = cell_name(Record.model_construct(params=dict(series.params)))
    return subject_text(series.subject) + (f", {printable(words)}" if words else "")


def when(started: str) -> str:
    """A run's time to the minute, `2026-11-20 18:44`."""
    try:
        return f"{datetime.fromisoformat(started):%Y-%m-%d %H:%M}"
    except ValueError:
        return printable(started)


def move(change: Change, unit: str) -> str:
    """`18.5 → 24.9 µs`, both in one unit."""
    divisor, name = scale_for(max(abs(change.before), abs(change.after)), unit)
    return f"{show_in(change.before, divisor)} → {show_in(change.after, divisor)} {name}".rstrip()


def amount(change: Change, unit: str) -> str:
    """`+34.1 % (+31.2 to +37.0)`; as a difference where there is no ratio."""
    if change.ratio is not None:
        low, high = change.ratio_low, change.ratio_high
        if max(change.ratio, 1 / change.ratio) >= 10:
            bounds = f" ({low:.3g} to {high:.3g})" if low is not None and high is not None else ""
            return f"×{change.ratio:.3g}{bounds}"
        bounds = f" ({_percent(low)} to {_percent(high)})" if low is not None and high is not None else ""
        return f"{_percent(change.ratio)} %{bounds}"
    ends = [abs(end) for end in (change.shift, change.shift_low, change.shift_high) if end is not None]
    divisor, name = scale_for(max(ends), unit)
    low, high = change.shift_low, change.shift_high
    bounds = f" ({low / divisor:+.3g} to {high / divisor:+.3g})" if low is not None and high is not None else ""
    return f"{change.shift / divisor:+.3g} {name}".rstrip() + bounds


def _percent(ratio: float) -> str:
    percent = 100 * (ratio - 1)
    return f"{percent:+.0f}" if abs(percent) >= 99.5 else f"{percent:+.1f}"


def fact_text(fact: CoincidentChange) -> str:
    """`n1 kernel.release: 6.1.0-28 → 6.1.0-31`; a boot identifier says only that the node was rebooted."""
    who = f"{fact.node} " if fact.node else ""
    place = {0: ""}.get(fact.off, f" ({plural(abs(fact.off), 'run')} {'later' if fact.off > 0 else 'earlier'})")
    if fact.name == "kernel.boot_id":
        return printable(f"{who}was rebooted{place}")
    return printable(f"{who}{fact.name}: {_shown(fact.before)} → {_shown(fact.after)}{place}")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def fact_texts(facts: Sequence[CoincidentChange]) -> list[str]:
    """One text a fact; a fact that changed alike on both nodes once. The nearest to the change first."""
    groups: dict[tuple[str, str, int], list[CoincidentChange]] = {}
    for fact in facts:
        values = "" if fact.name == "kernel.boot_id" else f"{fact.before!r}>{fact.after!r}"
        groups.setdefault((fact.name, values, fact.off), []).append(fact)
    merged = [replace(group[0], node=" and ".join(fact.node for fact in group)) for group in groups.values()]
    texts = []
    for fact in sorted(merged, key=lambda fact: abs(fact.off)):
        text = fact_text(fact)
        texts.append(text.replace(" was rebooted", " were rebooted") if " and " in fact.node else text)
    return texts


def place_text(step: SeriesStep) -> str:
    """How surely the change lies there; empty where it is sure to the run."""
    change = step.change
    earlier, later = change.at - change.earliest, change.latest - change.at
    if not earlier and not later:
        return ""
    words = [f"{plural(count, 'run')} {word}" for count, word in ((earlier, "earlier"), (later, "later")) if count > 0]
    return f"or up to {' or '.join(words)}" if words else ""


def history_view(history: MetricHistory) -> View:
    """Series with changes first, the worst of them first, then the longest; the page's table holds all of them."""
    same = sorted((told for told in history.told if not told.steps), key=lambda told: -len(told.series.points))
    sections = [_changed(history), _unchanged(same), _all(history, [*history.changed, *same])]
    return View(
        title=f"wulf history {history.metric}",
        headline=headline(history),
        sections=[section for section in sections if section.body],
        notes=notes(history),
        method=method(history),
        header=_header(history),
    )


def _header(history: MetricHistory) -> list[tuple[str, str]]:
    points = [point.run.started for told in history.told for point in told.series.points]
    return [
        ("Runs", f"{history.runs:,}"),
        ("First", when(min(points)) if points else "–"),
        ("Last", when(max(points)) if points else "–"),
        ("Series", f"{len(history.told):,}"),
        ("With changes", f"{len(history.changed):,}"),
        ("Worse now than before", f"{len(history.worse_now):,}"),
    ]


def _changed(history: MetricHistory) -> Section:
    shown = [_series(told, f"series-{number}") for number, told in enumerate(history.changed[:MAX_DRAWN])]
    body: list[Element | str] = [Note(READING, reading=True), *shown[:MAX_CHANGED]] if shown else []
    if len(history.changed) > MAX_CHANGED:
        more = plural(len(history.changed) - MAX_CHANGED, "more changed series", "more changed series")
        undrawn = len(history.changed) - MAX_DRAWN
        rest = [Note(f"and {plural(undrawn, 'more', 'more')}, in the table of all series")] if undrawn > 0 else []
        body.append(Fold(more, [*shown[MAX_CHANGED:], *rest], printed=False, brief=f"and {more}", open=True))
    return Section("Over the runs", key="series", link="Changes", body=body)


def _unchanged(same: Sequence[JudgedSeries]) -> Section:
    shown = [_series(told, f"unchanged-{number}") for number, told in enumerate(same[:MAX_UNCHANGED])]
    more = len(same) - MAX_UNCHANGED
    rest = f"and {plural(more, 'more series', 'more series')} without a change"
    body: list[Element | str] = [*shown, *([rest] if more > 0 else [])]
    lines = [f"No change was found in {plural(len(same), 'series', 'series')}."] if same else []
    return Section("Without a change", lines, key="unchanged", link="Without a change", body=body)


def _all(history: MetricHistory, told: Sequence[JudgedSeries]) -> Section:
    """A row a series."""
    heads = ["Series", "Runs", "Now", "Interval", "Changes", "Latest change", "When"]
    table = Columns(heads, [_row(one) for one in told[:MAX_ROWS]], tail=2, key="all-series")
    more = [Note(f"and {plural(len(told) - MAX_ROWS, 'more series', 'more series')}")] if len(told) > MAX_ROWS else []
    body = [Fold(f"The {metric_name(history.metric)} now", [table, *more], printed=False, open=True)]
    return Section("All series", key="all", link="All series", body=body if told else [])


def _row(told: JudgedSeries) -> Row:
    series = told.series
    values = [point.value for point in series.points]
    last = told.steps[-1] if told.steps else None
    now = settled_median(values[last.change.at if last else 0 :])
    return (
        series_name(series), f"{len(values):,}", Cell(show(now.value, series.unit), "strong"),
        show_interval(now.low, now.high, series.unit), str(len(told.steps)),
        f"{WORDS.get(told.verdict(last), told.verdict(last))} {amount(last.change, series.unit)}" if last else "–",
        when(told.first_run(last).started) if last else "–",
    )  # fmt: skip


def _series(told: JudgedSeries, key: str) -> Section:
    """The series over its runs, its end by itself where the latest change is too near to it, and every change."""
    series, count = told.series, len(told.series.points)
    left = f", {series.left_out:,} left out" if series.left_out else ""
    body: list[Element | str] = [_trend(told, key)] if count else ["No run has a usable value."]
    if count > 3 * ENDING and told.steps and told.steps[-1].change.at > count - ENDING:
        body += [f"The latest {ENDING} of these runs:", _trend(told, f"{key}-end", count - ENDING)]
    steps = [_step(told, number, step) for number, step in enumerate(told.steps, 1)]
    if earlier := steps[:-MAX_CHANGES]:
        said = plural(len(earlier), "earlier change")
        body.append(Fold(said, earlier, printed=False, brief=f"and {said}", paper=True))
    return Section(f"{series_name(series)}: {plural(count, 'run')}{left}", body=[*body, *steps[-MAX_CHANGES:]])


def _trend(told: JudgedSeries, key: str, first: int = 0) -> Trend:
    points = told.series.points
    days = [when(point.run.started) for point in points]
    return Trend(
        key, metric_name(told.series.metric), told.series.unit,
        values=[point.value for point in points],
        low=[point.low for point in points],
        high=[point.high for point in points],
        days=[day[:10] for day in days],
        names=[(day, point.run.id) for day, point in zip(days, points, strict=True)],
        changes=[
            LevelChange(str(number), one.change.at, one.change.earliest, one.change.latest, SIGNS[told.verdict(one)][0])
            for number, one in enumerate(told.steps, 1)
        ],
        first=first,
    )  # fmt: skip


def _step(told: JudgedSeries, number: int, step: SeriesStep) -> Callout:
    """A change, and the facts that changed there."""
    change, verdict, run = step.change, told.verdict(step), told.first_run(step)
    style, sign = SIGNS[verdict]
    where, facts = place_text(step), [f"with {text}" for text in fact_texts(step.facts)]
    lines = [f"from {when(run.started)}, {run.id}{f', {where}' if where else ''}", *facts[:MAX_FACTS]]
    more = plural(len(facts) - MAX_FACTS, "more fact")
    if not facts:
        lines.append("no recorded fact changed there")
    elif len(facts) > MAX_FACTS:
        lines.append(f"and {more}")
    return Callout(
        style, sign, f"{number} {WORDS.get(verdict, verdict)}",
        f"{move(change, told.series.unit)}, {amount(change, told.series.unit)}, p {change.p:.2g}", lines,
        body=[Fold(more, facts[MAX_FACTS:], paper=True)] if len(facts) > MAX_FACTS else [],
    )  # fmt: skip


def as_objects(history: MetricHistory) -> list[Mapping[str, Any]]:
    """What --json prints, one object a series."""
    return [_as_object(history, told) for told in history.told]


def _as_object(history: MetricHistory, told: JudgedSeries) -> Mapping[str, Any]:
    series = told.series
    return {
        "metric": series.metric,
        "subject": series.subject,
        "params": dict(series.params),
        "unit": series.unit,
        "better": series.better or None,
        "runs": len(series.points),
        "left_out": series.left_out,
        "level": history.level,
        "worse_now": told.worse_now,
        "doubt": told.doubt,
        "changes": [_change_object(told, step) for step in told.steps],
    }


def _change_object(told: JudgedSeries, step: SeriesStep) -> Mapping[str, Any]:
    change, run = step.change, told.first_run(step)
    points = told.series.points
    return {
        "run": run.id, "started": run.started, "at": change.at,
        "earliest_run": points[change.earliest].run.id, "latest_run": points[change.latest].run.id,
        "verdict": told.verdict(step), "p": change.p, "before": change.before, "after": change.after,
        "shift": change.shift, "shift_low": change.shift_low, "shift_high": change.shift_high,
        "ratio": change.ratio, "ratio_low": change.ratio_low, "ratio_high": change.ratio_high,
        "confidence": change.confidence,
        "facts": [
            {"node": fact.node or None, "fact": fact.name, "before": fact.before, "after": fact.after, "off": fact.off}
            for fact in step.facts
        ],
    }  # fmt: skip
