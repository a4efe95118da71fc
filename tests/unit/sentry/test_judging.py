"""Judging runs with the state's own detectors, and that the simulated year judges just so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import pytest

from wulf.core.durations import DAY, HOUR
from wulf.core.findings import Severity
from wulf.selftest.fleet.nodes import Fleet, Habits, Ints
from wulf.selftest.fleet.watched import Watch
from wulf.sentry.choosing import monthly_tests
from wulf.sentry.incident import Kind, Observation, State, closed, seen
from wulf.sentry.judging import Judgement, accept, judged, suspects
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.rows import Real, Reals, Text, Whole
from wulf.sentry.state import Figure, MetricInfo, SentryState
from wulf.stats.series.detector import Limits

PLAN = SentryPlan(measure=(Measure(name="node", command=("node",), every=DAY),))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SentryState]:
    with SentryState(tmp_path / "sentry.db") as made:
        yield made


def started(state: SentryState, nodes: int, *metrics: MetricInfo) -> list[str]:
    names = [f"n{number}" for number in range(nodes)]
    state.watch(dict.fromkeys(names, "a"), 0.0, 0.001)
    for one in metrics:
        state.metric(one)
    return names


def taken(state: SentryState, figures: list[Figure], at: float) -> Judgement:
    number = state.claim("node", sorted({one.node for one in figures}), "due", at, {})
    assert number is not None
    with state.transaction():
        state.add(number, figures)
        found = judged(state, PLAN, figures, at)
        state.finish(number, "done", at, 60.0)
    return found


RATE, TIME = MetricInfo("rate", "B/s", "higher"), MetricInfo("time", "s", "lower")


def days(state: SentryState, names: list[str], first: int, last: int, slow: dict[str, float]) -> list[Judgement]:
    random, found = np.random.default_rng(first), []
    for day in range(first, last):
        for place, name in enumerate(names):
            scatter = random.normal(0.0, 0.01, 2)
            worse = slow.get(name, 0.0)
            at = day * DAY + place
            rate, time = 1e9 * exp(scatter[0] - worse), 1e-6 * exp(scatter[1])
            figures = [Figure(name, "rate", at, rate), Figure(name, "time", at, time)]
            found.append(taken(state, figures, at))
    return found


def test_a_slow_node_is_told_with_time_and_size_and_mended_when_it_is(state: SentryState) -> None:
    names = started(state, 6, RATE, TIME)
    assert all(not one.observations for one in days(state, names, 0, 20, {}))
    bad = [one for each in days(state, names, 20, 30, {"n2": 0.15}) for one in each.observations]
    assert [(one.kind, one.node, one.metric, one.severity) for one in bad] == [
        (Kind.CHANGED, "n2", "rate", Severity.BAD)
    ]
    (one,) = bad
    assert one.since == 19 * DAY + 2
    assert one.until == 20 * DAY + 2
    assert one.low is not None and one.high is not None and one.ratio is not None
    assert one.low <= exp(-0.15) <= one.high
    assert 0.8 < one.low < one.high < 0.93
    assert one.before == pytest.approx(1e9, rel=0.02)
    assert one.now == pytest.approx(1e9 * one.ratio, rel=0.02)
    after = [key for each in days(state, names, 30, 45, {}) for key in each.mended]
    assert after == [("changed", "n2", "rate")]


def test_a_node_that_stands_out_is_to_be_confirmed(state: SentryState) -> None:
    names = started(state, 6, RATE, TIME)
    days(state, names, 0, 20, {})
    assert suspects(state, PLAN) == set()
    found = days(state, names, 20, 21, {"n4": 0.3})
    assert suspects(state, PLAN) == {"n4"}
    assert found[-2].evidence["n4"] > 2 > found[-1].evidence["n5"]


def test_a_faster_node_is_good_to_know(state: SentryState) -> None:
    names = started(state, 6, RATE, TIME)
    days(state, names, 0, 20, {})
    good = [one for each in days(state, names, 20, 30, {"n2": -0.15}) for one in each.observations]
    assert [(one.severity, one.node) for one in good] == [(Severity.INFO, "n2")]


def test_what_all_nodes_do_is_told_of_their_class_and_of_none_of_them(state: SentryState) -> None:
    names, random = started(state, 20, RATE), np.random.default_rng(1)
    told: list[Observation] = []
    for day in range(50):
        figures = [
            Figure(name, "rate", day * DAY, 1e9 * exp(random.normal(-0.15 if day >= 20 else 0.0, 0.01)))
            for name in names
        ]
        told += taken(state, figures, day * DAY).observations
    assert {(one.kind, one.node, one.metric) for one in told} == {(Kind.COMMON, "@a", "rate")}
    assert told[0].severity is Severity.BAD
    assert told[0].ratio == pytest.approx(exp(-0.15), abs=0.02)


def test_what_somebody_accepts_is_the_level_from_then_on(state: SentryState) -> None:
    names = started(state, 6, RATE, TIME)
    days(state, names, 0, 20, {})
    told = [one for each in days(state, names, 20, 30, {"n2": 0.15}) for one in each.observations]
    incident = state.keep(seen(None, told[0], 30 * DAY)[0], None, 30 * DAY)
    accept(state, incident)
    state.keep(closed(incident, 30 * DAY), None, 30 * DAY)
    after = days(state, names, 30, 50, {"n2": 0.15})
    assert not [one for each in after for one in each.observations]
    assert not [key for each in after for key in each.mended]


def test_figures_of_others_and_without_a_logarithm_are_left_alone(state: SentryState) -> None:
    started(state, 2, RATE)
    found = judged(state, PLAN, [Figure("gone", "rate", 1.0, 5.0), Figure("n1", "rate", 1.0, 0.0)], 1.0)
    assert found == Judgement()


def kept(state: SentryState) -> tuple[object, object]:
    """What the detectors know."""
    levels = state.rows("SELECT * FROM level", (), Whole, Text, Reals, *[Real | None] * 8, Reals)
    return levels, state.rows("SELECT * FROM pool", (), Whole, Text, Reals)


def test_a_run_that_is_rolled_back_leaves_the_detectors_as_they_were(state: SentryState) -> None:
    names = started(state, 3, RATE, TIME)
    days(state, names, 0, 10, {})
    before = kept(state)
    with pytest.raises(KeyError), state.transaction():
        judged(state, PLAN, [Figure("n1", "rate", 1.0, 5.0)], 10 * DAY)
        raise KeyError
    assert kept(state) == before


def in_turn(watch: Watch, now: float) -> Ints:
    """One node an hour: runs of one node, as the state takes them in."""
    return np.array([int(now // HOUR) % watch.fleet.nodes])


@pytest.mark.full
def test_the_simulated_year_judges_as_the_state_does(state: SentryState) -> None:
    habits = replace(Habits(), scatter=(0.01, 0.03), tails=(4.0, 3.0), faults_a_year=30.0)
    limits = Limits(monthly_tests(PLAN, 6, 2) / PLAN.alarm.false_alarms, PLAN.alarm.least)
    watch = Watch(Fleet(6, 60, habits, 3), PLAN, limits, in_turn)
    metrics = [MetricInfo("0", "B/s", "higher"), MetricInfo("1", "B/s", "higher")]
    started(state, 6, *metrics)
    kept = watch.fleet.figures
    told: set[tuple[str, str]] = set()

    def figures(nodes: Ints, at: float) -> np.ndarray:
        """Each figure goes to both."""
        drawn = kept(nodes, at)
        own = [Figure(f"n{nodes[0]}", str(metric), at, exp(value)) for metric, value in enumerate(drawn[0])]
        told.update((one.node, one.metric) for one in taken(state, own, at).observations if one.kind is Kind.CHANGED)
        return drawn

    watch.fleet.figures = figures  # type: ignore[method-assign]
    watch.run()
    assert told == {(f"n{node}", str(metric)) for node, metric in watch.incidents}
    assert len(told) >= 3
    shifted = {
        (node, name): value
        for node, name, value in state.rows("SELECT node, name, shifted FROM level JOIN metric ON id = metric "
                                            "WHERE shifted IS NOT NULL AND node NOT LIKE '@%'", (), Text, Text, Real)
    }  # fmt: skip
    simulated = {
        (f"n{node}", str(metric)): float(watch.tracks[metric].shifted[node])
        for (node, metric), one in watch.incidents.items() if one.state is State.OPEN
    }  # fmt: skip
    assert shifted == pytest.approx(simulated, rel=1e-3)
