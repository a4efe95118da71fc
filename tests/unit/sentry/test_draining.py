"""Orders for Slurm: ours alone, at most so many, each once."""

from __future__ import annotations

import pytest

from wulf.core.findings import Severity
from wulf.sentry.draining import SlurmNode, orders
from wulf.sentry.incident import Incident, Kind, Observation, State
from wulf.sentry.messages import incident_in, reason


def incident(number: int, node: str, state: State = State.OPEN, severity: Severity = Severity.BAD,
             kind: Kind = Kind.CHANGED) -> Incident:  # fmt: skip
    own = Observation(kind, node, "m", severity, 1.0, 2.0, f"{node} is slower.")
    return Incident(number, own, state, float(number), float(number), (float(number),))


def idle(*names: str) -> dict[str, SlurmNode]:
    return {name: SlurmNode(name, "idle") for name in names}


def ours(one: Incident) -> SlurmNode:
    return SlurmNode(one.what.node, "drained", reason(one))


def test_nodes_that_are_worse_are_drained_with_our_reason_and_at_most_so_many() -> None:
    some = [incident(1, "n1"), incident(2, "n2"), incident(3, "n3")]
    given = orders(some, idle("n1", "n2", "n3"), set(), 2)
    assert [(one.node, one.incident, one.opening) for one in given] == [("n1", 1, 1.0), ("n2", 2, 2.0)]
    assert all(incident_in(one.reason) == one.incident for one in given)
    assert orders(some[1:], idle("n2") | {"n1": ours(some[0])}, {("n1", 1, 1.0)}, 1) == []


@pytest.mark.parametrize(
    "one",
    [
        incident(1, "n1", severity=Severity.INFO), incident(1, "n1", kind=Kind.UNREACHABLE),
        incident(1, "@a", kind=Kind.COMMON), incident(1, "n1", State.CLOSED), incident(1, "n8"),
    ],
)  # fmt: skip
def test_what_is_no_reason_drains_nothing(one: Incident) -> None:
    assert orders([one], idle("n1"), set(), 9) == []


@pytest.mark.parametrize("state", ["drained", "draining", "down*", "drained*", "maint", "fail"])
def test_what_others_drained_is_left_alone_whatever_becomes_of_the_incident(state: str) -> None:
    nodes = {"n1": SlurmNode("n1", state, "fan broken")}
    assert orders([incident(1, "n1")], nodes, set(), 9) == []
    assert orders([incident(1, "n1", State.CLOSED)], nodes, {("n1", 1, 1.0)}, 9) == []


def test_ours_is_resumed_once_its_incident_is_closed() -> None:
    one = incident(1, "n1")
    nodes = {"n1": ours(one)}
    assert orders([one], nodes, {("n1", 1, 1.0)}, 9) == []
    (order,) = orders([incident(1, "n1", State.CLOSED)], nodes, {("n1", 1, 1.0)}, 9)
    assert (order.node, order.reason) == ("n1", "")


def test_another_sentry_s_node_is_not_resumed() -> None:
    assert orders([incident(1, "n1", State.CLOSED)], {"n1": ours(incident(1, "n1"))}, set(), 9) == []


def test_a_second_incident_keeps_the_node_drained_with_its_own_reason() -> None:
    first, second = incident(1, "n1", State.CLOSED), incident(2, "n1")
    (order,) = orders([first, second], {"n1": ours(first)}, {("n1", 1, 1.0)}, 1)
    assert (order.incident, incident_in(order.reason)) == (2, 2)


def test_who_resumed_a_node_by_hand_is_not_overruled() -> None:
    one = incident(1, "n1")
    assert orders([one], idle("n1"), {("n1", 1, 1.0)}, 9) == []
    again = Incident(1, one.what, State.OPEN, 1.0, 9.0, (1.0, 9.0))
    assert [order.opening for order in orders([again], idle("n1"), {("n1", 1, 1.0)}, 9)] == [9.0]


@pytest.mark.parametrize(("text", "number"), [("wulf: incident 7: slow", 7), ("wulf: disk full", None), ("fan", None)])
def test_a_reason_is_ours_by_the_incident_that_it_names(text: str, number: int | None) -> None:
    assert incident_in(text) == number
