"""What is measured now, and on which nodes. Pure.

First nodes whose figures stand out and are to be confirmed, then those that are due, then the ones that are likeliest
to have changed for what it costs to look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wulf.core.durations import DAY
from wulf.sentry.belief import Beliefs, weighed
from wulf.sentry.plan import Measure, SentryPlan
from wulf.sentry.state import Sign, Watched
from wulf.stats.samples import Floats

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

CONFIRM, DUE, LIKELIEST = "confirm", "due", "likeliest"

HASTE = 3.0
"""Times the day's mean that may be spent in one hour: nodes are not idle at the same rate all day long."""


@dataclass(frozen=True)
class Choice:
    """What to measure on which nodes, and why these."""

    measure: str
    nodes: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Candidates:
    """One measure's; arrays over nodes.

    Attributes
    ----------
    chance
        That the node has changed.
    age
        Seconds since it was measured last; infinite: never.
    free
        Whether it may be measured now.
    suspect
        Whether its figures stand out, and are to be confirmed.
    """

    chance: Floats
    age: Floats
    free: Bools
    suspect: Bools


def ranked(of: Candidates, every: float, confirm: float, rest: float) -> list[tuple[str, Ints]]:
    """Which nodes to measure, in order, by why; seconds as in the plan."""
    confirming = of.free & of.suspect & (of.age >= confirm)
    due = of.free & ~confirming & (of.age >= every)
    others = of.free & ~confirming & ~due & (of.age >= rest)
    return [
        (CONFIRM, _ordered(confirming, of.chance)),
        (DUE, _ordered(due, np.minimum(of.age, 1e12))),
        (LIKELIEST, _ordered(others, of.chance)),
    ]


def _ordered(chosen: Bools, by: Floats) -> Ints:
    """The chosen ones, the greatest first."""
    places = np.flatnonzero(chosen)
    return places[np.argsort(-by[places], kind="stable")]


def allowance(plan: SentryPlan, spent_day: float, spent_hour: float) -> float:
    """Node-seconds that may be spent now, after what the last 24 hours and the last one took."""
    day = plan.budget.node_minutes * 60.0
    return max(0.0, min(day - spent_day, HASTE * day / 24.0 - spent_hour))


def beliefs_of(nodes: Sequence[Watched]) -> Beliefs:
    """What is believed of nodes, as arrays."""
    return Beliefs(
        *(np.array([getattr(one, name) for one in nodes]) for name in ("chance", "faults", "since", "as_of"))
    )


@dataclass(frozen=True)
class Known:
    """What the state knows of the nodes of a plan.

    Attributes
    ----------
    nodes
        All that are watched.
    last
        (Node, measure) → when it last was.
    measuring
        Nodes that are being measured.
    signs
        Since each node was believed anything of: only those after its `as_of` count.
    suspects
        Nodes whose figures stand out: `judging.suspects`.
    seconds
        Measure → what it takes a node, where that is known.
    """

    nodes: Sequence[Watched]
    last: Mapping[tuple[str, str], float]
    measuring: Collection[str] = ()
    signs: Sequence[Sign] = ()
    suspects: Collection[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


def choose(plan: SentryPlan, known: Known, now: float, *, idle: Collection[str], left: float) -> list[Choice]:
    """What to measure now, in order.

    Parameters
    ----------
    idle
        Nodes that no job has.
    left
        Node-seconds: `allowance`. What was never measured, or is confirmed, goes first.
    """
    if not known.nodes:
        return []
    names = [one.name for one in known.nodes]
    chance, free = with_signs(known.nodes, known.signs, now), ~_those(names, known.measuring)
    is_idle, suspect = _those(names, idle), _those(names, known.suspects)
    ranks: dict[str, list[tuple[Measure, Ints]]] = {CONFIRM: [], DUE: [], LIKELIEST: []}
    for measure in plan.measure:
        alone = measure.nodes_at_once == 1
        age = now - np.array([known.last.get((name, measure.name), -np.inf) for name in names])
        of = Candidates(chance, age, free & is_idle if measure.on == "idle" else free, suspect & alone)
        for why, places in ranked(of, measure.every, plan.alarm.confirm, plan.budget.rest):
            if alone or why == DUE:  # several together are measured when they are due
                ranks[why].append((measure, places))
    found: list[Choice] = []
    taken: set[str] = set()
    for why, measure, places in _in_order(ranks):
        chosen = tuple(names[place] for place in places)
        cost = known.seconds.get(measure.name, measure.seconds) * len(chosen)
        if cost <= left and not taken.intersection(chosen):
            left -= cost
            taken.update(chosen)
            found.append(Choice(measure.name, chosen, why))
    return found


def _in_order(ranks: Mapping[str, Sequence[tuple[Measure, Ints]]]) -> Iterator[tuple[str, Measure, Ints]]:
    for why, own in ranks.items():
        for measure, places in own:
            for part in _parted(places, measure.nodes_at_once):
                yield why, measure, part


def with_signs(nodes: Sequence[Watched], signs: Sequence[Sign], now: float) -> Floats:
    """The chance of each node to have changed, now."""
    beliefs = beliefs_of(nodes)
    place = {one.name: number for number, one in enumerate(nodes)}
    odds = np.ones(len(nodes))
    for sign in signs:
        number = place.get(sign.node)
        if number is not None and sign.at > nodes[number].as_of:
            odds[number] *= sign.odds
    return weighed(beliefs.at(now), odds)


def _those(names: Sequence[str], wanted: Collection[str]) -> Bools:
    own = frozenset(wanted)
    return np.fromiter((name in own for name in names), bool, len(names))


def _parted(places: Ints, at_once: int) -> Iterator[Ints]:
    """In runs of so many nodes; of two at least where they are measured between one another."""
    if at_once == 0:
        if len(places) > 1:
            yield places
        return
    for start in range(0, len(places), at_once):
        part = places[start : start + at_once]
        if len(part) > 1 or at_once == 1:
            yield part


def after(
    nodes: Sequence[Watched], evidence: Mapping[str, float], changed: Collection[str], now: float
) -> list[Watched]:
    """What is believed of the nodes of a run after it; those without evidence are left as they were.

    Parameters
    ----------
    nodes
        All that are watched: what happened to the others says how often nodes change.
    evidence
        `judging.Judgement.evidence`.
    changed
        Nodes of which it told a change for the worse.
    """
    beliefs = beliefs_of(nodes)
    tested = np.array([number for number, one in enumerate(nodes) if one.name in evidence], dtype=np.intp)
    if not len(tested):
        return []
    of = np.array([evidence[nodes[number].name] for number in tested])
    beliefs.test(tested, of, np.array([nodes[number].name in changed for number in tested]), now)
    return [
        replace(nodes[number], chance=float(beliefs.chance[number]), faults=float(beliefs.faults[number]), as_of=now)
        for number in tested
    ]


def monthly_tests(plan: SentryPlan, nodes: int, metrics: int) -> float:
    """Tests of single metrics in one direction that the plan asks for in 30 days."""
    return 2.0 * metrics * nodes * sum(30 * DAY / one.every for one in plan.measure)
