"""Which nodes Slurm is to drain or to resume for incidents. Pure.

It follows from what Slurm says of them now: a lost order is given again, and one given twice does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from wulf.core.findings import Severity
from wulf.sentry.incident import Incident, Kind
from wulf.sentry.messages import incident_in, reason

DRAINING_KINDS = frozenset({Kind.CHANGED, Kind.ILL, Kind.BLAMED})
"""Of one node, and seen on it: who can't be reached is down for Slurm by itself, and a class is no node."""


@dataclass(frozen=True)
class SlurmNode:
    """A node as sinfo shows it: its state, as `idle` or `drained*`, and the reason that somebody gave."""

    name: str
    state: str
    reason: str = ""

    @property
    def is_idle(self) -> bool:
        """Whether a job could begin there now."""
        return self.state == "idle"

    @property
    def is_empty(self) -> bool:
        """Whether it is drained, and its last job has ended."""
        return self.state == "drained"

    @property
    def is_drained(self) -> bool:
        """Whether no job begins there, for whatever reason."""
        word = self.state.rstrip("*~#!%$@^-+").partition("+")[0]
        return word in ("drained", "draining", "drng", "drain", "down", "fail", "failing", "maint", "reserved")


@dataclass(frozen=True)
class Order:
    """What Slurm is asked: to drain a node for an incident, or to resume it (`reason` is empty)."""

    node: str
    incident: int
    opening: float
    reason: str = ""


def orders(
    incidents: Iterable[Incident], nodes: Mapping[str, SlurmNode], given: Collection[tuple[str, int, float]], most: int
) -> list[Order]:
    """What is to be asked of Slurm now.

    Parameters
    ----------
    incidents
        All that are known, closed ones too.
    given
        (Node, incident, opening) that Slurm was asked to drain for before: not twice, for somebody may have resumed it.
    most
        Nodes that may be drained by us at the same time.
    """
    known = {one.id: one for one in incidents}
    ours = {name: number for name, node in nodes.items() if (number := _drained_for(node)) is not None}
    asked = {(node, number) for node, number, _ in given}
    found = []
    for name, number in ours.items():
        if (name, number) not in asked or number not in known or known[number].is_open:
            continue  # another sentry's, or not over
        rest = next((one for one in known.values() if _drains(one) and one.what.node == name), None)
        found.append(_order(rest) if rest else Order(name, number, known[number].openings[-1]))
    left = most - len(ours) + sum(not one.reason for one in found)
    for one in sorted(filter(_drains, known.values()), key=lambda one: one.opened_at):
        node = nodes.get(one.what.node)
        if node is None or node.is_drained or any(order.node == node.name for order in found):
            continue
        if (node.name, one.id, one.openings[-1]) in given or left <= 0:
            continue
        left -= 1
        found.append(_order(one))
    return found


def _drained_for(node: SlurmNode) -> int | None:
    return incident_in(node.reason) if node.is_drained else None


def _drains(one: Incident) -> bool:
    return one.is_open and one.what.severity is Severity.BAD and one.what.kind in DRAINING_KINDS


def _order(one: Incident) -> Order:
    return Order(one.what.node, one.id, one.openings[-1], reason(one))
