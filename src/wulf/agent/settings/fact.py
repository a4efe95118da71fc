"""Facts as settings that can only be read: driver, firmware, limits, what no mechanism changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent import facts
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine


class Fact(Mechanism):
    help = "fact of the node, read only: fact = 'clock.source', of each interface 'nic.*.driver'"
    words = ("fact",)

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        return sorted(_readings(machine, target["fact"]))

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        reading = _readings(machine, target["fact"]).get(place)
        if reading is None:
            raise Unknown(f"no {target['fact']} of '{place}'", absent=True)
        if reading["value"] is None:
            raise Unknown(reading["reason"], absent=reading.get("absent", False))
        return reading["value"]

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        raise Unknown("a fact is observed, not configured")


def _readings(machine: Machine, pattern: str) -> dict[str, dict[str, Any]]:
    """Readings of a fact by place: what its '*' stands for, or ''."""
    return machine.once(f"settings.fact {pattern}", lambda machine: _read(machine, pattern))


def _read(machine: Machine, pattern: str) -> dict[str, dict[str, Any]]:
    fact = next((fact for fact in facts.all_facts() if fact.name == pattern), None)
    if fact is None:
        raise Unknown(f"this version reads no fact {pattern}")
    head, _, tail = pattern.partition("*")
    found = facts.readings(machine, fact)
    by_place = {name[len(head) : len(name) - len(tail)]: reading for name, reading in found.items()}
    return by_place or {"": {"value": None, "reason": f"the node has no {pattern}", "absent": True}}


mechanism = Fact()
