"""What the sentry's state says to whoever asks, and what they tell it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from wulf.core.durations import DAY, HOUR
from wulf.core.errors import UsageError
from wulf.core.given import first_fault
from wulf.sentry import judging
from wulf.sentry.choosing import Choice, Known, allowance, choose, with_signs
from wulf.sentry.incident import Incident, What, acknowledged, closed, gravest
from wulf.sentry.messages import when
from wulf.sentry.plan import SentryPlan
from wulf.sentry.state import Measurement, SentryState
from wulf.workflow.sentry.channels import wanted
from wulf.workflow.sentry.watch import usual_seconds

NEXT = 5
"""Choices that are told."""


@dataclass(frozen=True)
class Status:
    """How a watch stands.

    Attributes
    ----------
    spent, budget
        Node-seconds of the last 24 hours, and of a day.
    needed
        Node-seconds a day that the plan's measures take when each is made as often as it should.
    coming
        What would be measured now if all nodes were idle.
    chances
        Node → that it has changed, the greatest first.
    unmeasured
        Nodes that no measure has anything of yet.
    failed
        The newest measurements that failed within the last 24 hours.
    """

    at: float
    nodes: list[str]
    open: list[Incident]
    running: list[Measurement]
    spent: float
    budget: float
    needed: float
    coming: list[Choice]
    chances: dict[str, float]
    unmeasured: int
    failed: list[Measurement]
    waiting: dict[str, int]


def plan_in(state: SentryState) -> SentryPlan:
    """The plan that is carried out.

    Raises
    ------
    UsageError
        None has been begun, or it can't be read.
    """
    text = state.text("plan")
    if text is None:
        raise UsageError(f"{state.path} holds no plan", "`wulf sentry once PLAN` begins one")
    try:
        return SentryPlan.model_validate_json(text, strict=False)
    except ValidationError as error:
        what = f"{state.path}: the plan that it holds can't be read: {first_fault(error)}"
        raise UsageError(what, "`wulf sentry once PLAN` renews it") from error


def status(state: SentryState, now: float, only: Collection[str] = ()) -> Status:
    """How the watch stands; of some nodes alone where they are named."""
    plan, nodes = plan_in(state), state.nodes()
    names = [one.name for one in nodes]
    running, seconds = state.running(), usual_seconds(state, plan)
    spent, last = state.spent(now - DAY, now), state.last_measured()
    known = Known(
        nodes, last, {name for one in running for name in one.nodes}, state.signs(now - 30 * DAY),
        judging.suspects(state, plan), seconds,
    )  # fmt: skip
    coming = choose(plan, known, now, idle=names, left=allowance(plan, spent, state.spent(now - HOUR, now)))
    chances = dict(zip(names, with_signs(nodes, known.signs, now).tolist(), strict=True)) if nodes else {}
    chosen = [name for name in names if not only or name in only]
    measured = {node for node, _ in last}
    return Status(
        now, chosen, [one for one in gravest(state.incidents(open_only=True)) if _is_of(one, only)],
        [one for one in running if not only or set(one.nodes) & set(only)], spent, plan.budget.node_minutes * 60.0,
        needed(plan, len(nodes), seconds),
        [one for one in coming if not only or set(one.nodes) & set(only)][:NEXT],
        {name: chances[name] for name in sorted(chosen, key=lambda name: -chances[name])},
        sum(name not in measured for name in chosen),
        [one for one in state.measurements(now - DAY) if one.state == "failed"], state.waiting(),
    )  # fmt: skip


def _is_of(one: Incident, only: Collection[str]) -> bool:
    return not only or one.what.node in only


def needed(plan: SentryPlan, nodes: int, seconds: dict[str, float]) -> float:
    """Node-seconds a day that a plan's measures take; `seconds`: for a node, where they are known."""
    return sum(one.day(nodes, seconds) for one in plan.measure)


def acknowledge(path: Path, number: int, by: str, note: str, now: float) -> Incident:
    """Take an incident on.

    Raises
    ------
    UsageError
        There is no such incident, or it is closed.
    """
    with SentryState(path) as state, state.transaction():
        one = _open_one(state, number)
        return state.keep(acknowledged(one, now, by, note), What.ACKNOWLEDGED, now)


def close(path: Path, number: int, note: str, now: float) -> Incident:
    """Close an incident by hand: what its node does now is as it should be. Raises as `acknowledge`."""
    with SentryState(path) as state, state.transaction():
        one = _open_one(state, number)
        judging.accept(state, one)
        return state.keep(closed(one, now, note), What.CLOSED, now, wanted(plan_in(state).tell))


def _open_one(state: SentryState, number: int) -> Incident:
    one = state.incident(number)
    if one is None:
        raise UsageError(f"there is no incident {number}", "`wulf sentry incidents --all` lists them")
    if not one.is_open:
        raise UsageError(f"incident {number} was closed {when(one.closed_at or 0.0)}", "nothing is left to be done")
    return one
