"""A metric over many runs, in a terminal: a line of bars a series, its changes marked, and what changed with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from wulf.core.names import plural, printable, subject_text
from wulf.core.records import Record
from wulf.core.units import scale_for, show_in
from wulf.findings.history import CoincidentChange, JudgedSeries, MetricHistory, SeriesStep
from wulf.report.kit.figures import cell_name, metric_name
from wulf.report.kit.printing import say
from wulf.stats.series.changes import Change
from wulf.store.history import Series

MAX_CHANGED = 20
MAX_UNCHANGED = 12
MAX_CHANGES = 12
MAX_FACTS = 8
MAX_UNREAD = 5
MAX_DOUBTS = 3

_BARS = "▁▂▃▄▅▆▇█"
_STYLES = {"worse": "bold red", "better": "green", "spread": "yellow", "candidate": "yellow"}


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


def sparkline(values: Sequence[float], width: int, marks: Sequence[int] = ()) -> tuple[str, str]:
    """The series as bars, the median of so many runs each, and below it the changes' numbers.

    The scale ends at the 2nd and 98th percentile, so that one odd run does not flatten the others.

    Returns
    -------
    tuple
        `(bars, marks)`: of equal length at most.
    """
    x = np.asarray(values, dtype=float)
    columns = min(width, x.size)
    edges = np.arange(columns + 1) * x.size // columns
    heights = np.array([np.median(x[start:stop]) for start, stop in pairwise(edges)])
    low, high = np.quantile(x, [0.02, 0.98])
    span = high - low
    scaled = np.clip((heights - low) / span, 0, 1) if span > 0 else np.full(columns, 0.5)
    bars = "".join(_BARS[min(len(_BARS) - 1, int(height * len(_BARS)))] for height in scaled)
    below = [" "] * columns
    for number, at in enumerate(marks, 1):
        column = min(columns - 1, int(np.searchsorted(edges, at, side="right")) - 1)
        below[column] = str(number) if number < 10 and below[column] == " " else "+"
    return bars, "".join(below).rstrip()


def print_history(history: MetricHistory, console: Console) -> None:
    """Print a history: series with changes first, the worst of them first."""
    say(console, Text(headline(history), style="bold"))
    for told in history.changed[:MAX_CHANGED]:
        console.print()
        _print_series(told, console)
    _rest(len(history.changed) - MAX_CHANGED, "changed series", "changed series", console)
    same = [told for told in history.told if not told.steps]
    if same:
        console.print()
        if history.changed:
            say(console, Text("Without a change", style="bold"))
        for told in same[:MAX_UNCHANGED]:
            say(console, _title(told.series), indent=2)
            _print_bars(told, console, indent=4)
        _rest(len(same) - MAX_UNCHANGED, "series without a change", "series without a change", console)
    said = notes(history)
    console.print()
    for note in said:
        say(console, Text(f"! {printable(note)}", style="yellow"))
    say(console, Text(method(history), style="dim"))


def _rest(count: int, one: str, many: str, console: Console) -> None:
    if count > 0:
        say(console, f"and {plural(count, f'more {one}', f'more {many}')}", indent=2)


def _title(series: Series) -> Text:
    count = plural(len(series.points), "run")
    left = f", {series.left_out:,} left out" if series.left_out else ""
    return Text.assemble((series_name(series), "bold"), (f"  {count}{left}", "dim"))


def _print_series(told: JudgedSeries, console: Console) -> None:
    say(console, _title(told.series))
    _print_bars(told, console, indent=2)
    for number, step in list(enumerate(told.steps, 1))[-MAX_CHANGES:]:
        change, verdict = step.change, told.verdict(step)
        word = {"spread": "other spread"}.get(verdict, verdict)
        head = Text.assemble(
            (f"{number} ", "bold"), (word, _STYLES.get(verdict, "")),
            f"  {move(change, told.series.unit)}, {amount(change, told.series.unit)}, p {change.p:.2g}",
        )  # fmt: skip
        say(console, head, indent=2, hang=2)
        run = told.first_run(step)
        where = place_text(step)
        say(console, f"from {when(run.started)}, {run.id}{f', {where}' if where else ''}", indent=4, hang=2)
        texts = fact_texts(step.facts)
        for text in texts[:MAX_FACTS]:
            say(console, f"with {text}", indent=4, hang=2)
        _rest_of_facts(len(texts) - MAX_FACTS, console)
        if not texts:
            say(console, Text("no recorded fact changed there", style="dim"), indent=4)
    earlier = len(told.steps) - MAX_CHANGES
    if earlier > 0:
        say(console, f"and {plural(earlier, 'earlier change')}", indent=2)


def _rest_of_facts(count: int, console: Console) -> None:
    if count > 0:
        say(console, f"and {plural(count, 'more fact')}", indent=4)


def _print_bars(told: JudgedSeries, console: Console, indent: int) -> None:
    values = [point.value for point in told.series.points]
    if not values:
        say(console, Text("no usable value", style="dim"), indent=indent)
        return
    low, high = np.quantile(values, [0.02, 0.98])
    divisor, unit = scale_for(float(max(abs(low), abs(high))), told.series.unit)
    scale = f"{show_in(float(low), divisor)}–{show_in(float(high), divisor)} {unit}".rstrip()
    room = max(4, console.width - indent - len(scale) - 2)
    bars, marks = sparkline(values, room, [step.change.at for step in told.steps])
    say(console, Text.assemble(bars, "  ", (scale, "dim")), indent=indent)
    if marks:
        console.print(Text(" " * indent + marks, style="bold"), highlight=False, soft_wrap=True)


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
