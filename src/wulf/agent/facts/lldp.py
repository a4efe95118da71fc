"""What is at the other end of each interface's link: switch and port, by LLDP, where lldpd runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from wulf.agent.fact import Topic
from wulf.agent.hardware.lldp import neighbours
from wulf.agent.interfaces import interfaces
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.hardware.lldp import Neighbour
    from wulf.agent.machine import Machine

topic = Topic("lldp")

Value = TypeVar("Value", str, int)


def _neighbour(machine: Machine, nic: str) -> Neighbour:
    found = neighbours(machine).get(nic)
    if found is None:
        raise Unknown("lldpd has heard nothing from the other end of this link")
    return found


def _known(value: Value | None, what: str) -> Value:
    if not value:
        raise Unknown(f"the other end does not say {what}")
    return value


@topic.each("*.switch", interfaces, "Name of the switch at the other end", uniform=False)
def switch(machine: Machine, nic: str) -> str:
    return _known(_neighbour(machine, nic).system, "what it is called")


@topic.each("*.port", interfaces, "Port at the other end, as the switch calls it", uniform=False)
def port(machine: Machine, nic: str) -> str:
    return _known(_neighbour(machine, nic).port, "what its port is called")


@topic.each("*.frame", interfaces, "Largest frame that the port at the other end takes", unit="B")
def frame(machine: Machine, nic: str) -> int:
    return _known(_neighbour(machine, nic).frame, "how large its frames may be")


@topic.each("*.medium", interfaces, "What the port at the other end runs at: '1000BaseTFD'")
def medium(machine: Machine, nic: str) -> str:
    return _known(_neighbour(machine, nic).medium, "what its port runs at")
