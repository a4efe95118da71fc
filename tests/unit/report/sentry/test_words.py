"""What the sentry says of a watch: the first line answers, then incidents, what is next and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from wulf.core.durations import DAY
from wulf.core.findings import Severity
from wulf.report.sentry.words import (
    choice_words,
    cost_line,
    failed_words,
    headline,
    incident_lines,
    minutes,
    plan_lines,
    running_words,
)
from wulf.sentry.choosing import Choice
from wulf.sentry.incident import Incident, Kind, Observation, acknowledged, closed, seen
from wulf.sentry.plan import Budget, Measure, SentryPlan
from wulf.sentry.state import Measurement

AT = 1795921200.0
SLOW = Observation(
    Kind.CHANGED, "n3", "memory.copy", Severity.BAD, AT - DAY, AT, "n3: memory.copy fell to 0.88 times its level.",
    "`wulf node n3` measures it again", ratio=0.88,
)  # fmt: skip

Wording = Callable[..., None]


def opened(what: Observation = SLOW) -> Incident:
    return replace(seen(None, what, AT)[0], id=7)


def test_the_first_line_says_how_many_nodes_and_what_is_the_matter(wording: Wording) -> None:
    nodes = ["n1", "n2", "n3", "n4"]
    wording(headline(nodes, []), "well")
    wording(headline(nodes, [], 4), "new")
    wording(headline(nodes, [], 1), "begun")
    wording(headline(nodes, [opened()]), "one")
    wording(headline(nodes[:1], [opened(), opened()]), "two")
    for kind in (Kind.ILL, Kind.UNREACHABLE, Kind.BLAMED, Kind.COMMON):
        wording(headline(nodes, [opened(replace(SLOW, kind=kind, ratio=None))]), str(kind))


def test_an_incident_says_when_it_changed_and_what_to_do_while_it_is_open(wording: Wording) -> None:
    one = opened()
    wording("\n".join(incident_lines(one)), "open")
    wording("\n".join(incident_lines(acknowledged(one, AT, "ada", "module ordered"))), "acknowledged")
    wording("\n".join(incident_lines(closed(one, AT + DAY))), "closed")
    wording("\n".join(incident_lines(replace(one, openings=(1.0, 2.0, 3.0)))), "flapping")
    assert all(len(line) <= 80 for line in incident_lines(opened(replace(SLOW, text="word " * 60)))[1:])


def test_cost_is_in_node_minutes_and_a_plan_beyond_its_budget_is_said_to_be(wording: Wording) -> None:
    wording(cost_line(90.0, 86400.0, 43200.0), "within")
    wording(cost_line(90.0, 600.0, 43200.0), "beyond")
    assert [minutes(value) for value in (30.0, 600.0, 6e5)] == ["0.5", "10", "10,000"]


@pytest.mark.parametrize("budget", [1440.0, 10.0])
def test_a_plan_says_what_each_measure_costs(wording: Wording, budget: float) -> None:
    measures = (
        Measure(name="check", command=("check",), every=3600.0, seconds=2.0),
        Measure(name="node", command=("node", "--quick"), every=7 * DAY, seconds=30.0),
        Measure(name="odd", command=("links",), every=100.0, seconds=1.0),
    )
    plan = SentryPlan(measure=measures, budget=Budget(node_minutes=budget))
    wording("\n".join(plan_lines(plan, 64, {"node": 45.0})))


def test_what_is_next_and_what_failed(wording: Wording) -> None:
    one = Measurement(1, "node", ("n1", "n2"), "due", "failed", {}, AT, AT + 9, 9.0, "", "there is no probe")
    wording(choice_words(Choice("node", ("n1", "n2"), "confirm")), "next")
    wording(running_words(one, AT + 12.3), "now")
    wording(failed_words([one]), "failed")
