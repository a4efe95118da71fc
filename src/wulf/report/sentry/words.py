"""What `wulf sentry` says of a watch, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from time import gmtime, strftime

from wulf.core.durations import DAY
from wulf.core.names import fold, plural
from wulf.sentry.choosing import Choice
from wulf.sentry.incident import Incident, Kind, State
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.state import Measurement

COLUMNS = 80


def headline(nodes: Sequence[str], open_ones: Sequence[Incident], unmeasured: int = 0) -> str:
    """The answer in a line: how many nodes, how many of them were not measured yet, and what is the matter."""
    watched = f"{plural(len(nodes), 'node')} watched"
    if nodes and unmeasured == len(nodes) and not open_ones:
        return f"{watched}, nothing measured yet"
    watched += f", {unmeasured} of them not measured yet" if unmeasured else ""
    if not open_ones:
        return f"{watched}, nothing is wrong with what was measured"
    more = f", and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
    return f"{watched}, {plural(len(open_ones), 'incident')} open: {brief(open_ones[0])}{more}"


def brief(one: Incident) -> str:
    """An incident in a few words."""
    own = one.what
    if own.ratio is not None:
        return f"{own.node}: {own.metric} is {own.ratio:.3g} times what it was"
    words = {
        Kind.ILL: f"is ill: {own.metric}",
        Kind.UNREACHABLE: "can't be measured",
        Kind.BLAMED: f"is blamed by {own.metric}",
    }
    return f"{own.node} {words.get(own.kind, f'has changed: {own.metric}')}"


def incident_lines(one: Incident) -> list[str]:
    """An incident: number, state, times and text, and what to do."""
    state = "flapping" if one.is_flapping and one.is_open else str(one.state)
    by = f" by {one.by}" if one.by and one.state is State.ACKNOWLEDGED else ""
    note = f": {one.note}" if one.note else ""
    lines = [f"{one.id:>4}  {state}{by}{note}  {change_time(one)}", *_wrapped(one.what.text)]
    return [*lines, *_wrapped(one.what.next_step, "→ ")] if one.what.next_step and one.is_open else lines


def _wrapped(text: str, mark: str = "") -> list[str]:
    return wrap(text, COLUMNS, initial_indent=f"      {mark}", subsequent_indent=f"      {' ' * len(mark)}")


def change_time(one: Incident) -> str:
    """When it changed, and when it was closed."""
    since, until = minute(one.what.since), minute(one.what.until)
    changed = f"changed {until}" if since == until else f"changed between {since} and {until}"
    return changed + (f", closed {minute(one.closed_at)}" if one.closed_at is not None else "")


def minute(at: float) -> str:
    """A time for people, in UTC."""
    return strftime("%Y-%m-%d %H:%M UTC", gmtime(at))


def cost_line(spent: float, budget: float, needed: float) -> str:
    """What was spent of the budget, and what the plan would take."""
    words = f"{minutes(spent)} of {minutes(budget)} node-minutes spent in the last 24 hours; "
    words += f"the plan takes {minutes(needed)} a day"
    return words + (", which is more than the budget: measures come late" if needed > budget else "")


def minutes(seconds: float) -> str:
    """Node-minutes."""
    value = seconds / 60.0
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


_WHY = {"confirm": "to be confirmed", "due": "due", "likeliest": "likeliest to have changed"}


def choice_words(one: Choice) -> str:
    """What comes next."""
    return f"{one.measure} on {fold(one.nodes)}, {_WHY.get(one.why, one.why)}"


def running_words(one: Measurement, now: float) -> str:
    """What is measured."""
    return f"{one.measure} on {fold(one.nodes)}, for {now - one.began:.0f} s"


def failed_words(some: Sequence[Measurement]) -> str:
    """What failed lately."""
    last = f"{some[0].measure} on {fold(some[0].nodes)}: {some[0].reason}"
    return f"{plural(len(some), 'measurement')} failed in the last 24 hours, the last: {last}"


def plan_lines(plan: SentryPlan, nodes: int, seconds: Mapping[str, float]) -> list[str]:
    """What a plan measures, and what that costs a day."""
    lines = []
    total = 0.0
    for one in plan.measure:
        cost = one.day(nodes, seconds)
        total += cost
        lines.append(f"{one.name}: wulf {' '.join(one.command)}, {_often(one)}, {minutes(cost)} node-minutes a day")
    budget = plan.budget.node_minutes * 60.0
    first = f"{plural(nodes, 'node')}, {plural(len(plan.measure), 'measure')}: {minutes(total)} node-minutes a day"
    share = total / (nodes * DAY)
    verdict = (
        f", within the budget of {minutes(budget)}"
        if total <= budget
        else f", above the budget of {minutes(budget)}: measures will come late"
    )
    return [f"{first} ({share:.2%} of all nodes' time){verdict}", *lines]


def _often(one: Measure) -> str:
    for size, name in ((DAY, "day"), (3600.0, "hour"), (60.0, "minute")):
        if one.every >= size and one.every % size == 0:
            count = int(one.every / size)
            return f"every {name}" if count == 1 else f"every {count} {name}s"
    return f"every {one.every:g} s"
