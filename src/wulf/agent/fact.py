"""What a fact is, and the topics that hold them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine


@dataclass(frozen=True)
class Fact:
    """A read-only observation of a node.

    Parameters
    ----------
    name
        Dotted; a `*` stands for the instance: 'nic.*.mtu' is read as 'nic.eth0.mtu'.
    help
        What it says, and in whose words.
    unit
        SI base unit, '1' for a count or ratio, None where the value is no quantity.
    uniform
        Whether the nodes of a run should agree on it: if not, the odd node is a finding.
    """

    name: str
    help: str
    unit: str | None = None
    uniform: bool = True

    def matches(self, name: str) -> bool:
        """Whether `name` is this fact, or an instance of it. Instances may hold dots: eth0.100."""
        head, star, tail = self.name.partition("*")
        if not star:
            return name == head
        return name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail)

    def describe(self) -> dict[str, Any]:
        return asdict(self)


Read = Callable[["Machine"], Any]
ReadInstance = Callable[["Machine", str], Any]
Instances = Callable[["Machine"], "list[str]"]


@dataclass(frozen=True)
class _Entry:
    fact: Fact
    read: ReadInstance
    instances: Instances | None = None


class Topic:
    """The facts of one module.

    Parameters
    ----------
    name
        First part of the facts' names: 'cpu'.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: list[_Entry] = []

    @property
    def facts(self) -> list[Fact]:
        return [entry.fact for entry in self._entries]

    def fact(self, name: str, help: str, unit: str | None = None, uniform: bool = True) -> Callable[[Read], Read]:
        """Decorator: the function reads one fact of a machine."""

        def register(read: Read) -> Read:
            fact = Fact(f"{self.name}.{name}", help, unit, uniform)
            self._entries.append(_Entry(fact, lambda machine, _: read(machine)))
            return read

        return register

    def each(
        self, name: str, instances: Instances, help: str, unit: str | None = None, uniform: bool = True
    ) -> Callable[[ReadInstance], ReadInstance]:
        """Decorator: the function reads one fact of every instance; `name` holds a `*`."""

        def register(read: ReadInstance) -> ReadInstance:
            self._entries.append(_Entry(Fact(f"{self.name}.{name}", help, unit, uniform), read, instances))
            return read

        return register

    def read(self, machine: Machine, wanted: Callable[[str], bool]) -> dict[str, dict[str, Any]]:
        """Every wanted fact: {"value": ..., "provenance": "reported"}, or {"value": None, "reason": ...}."""
        found = {}
        for entry in self._entries:
            for name, instance in _names(entry, machine):
                if wanted(name):
                    found[name] = _reading(entry, machine, instance)
        return found


def _names(entry: _Entry, machine: Machine) -> list[tuple[str, str]]:
    """Names of an entry's facts on this machine. A family that can't be listed has none: its listing is a fact too."""
    if entry.instances is None:
        return [(entry.fact.name, "")]
    try:
        return [(entry.fact.name.replace("*", instance), instance) for instance in entry.instances(machine)]
    except Unknown:
        return []


def _reading(entry: _Entry, machine: Machine, instance: str) -> dict[str, Any]:
    reading: dict[str, Any] = {}
    try:
        value = entry.read(machine, instance)
        if value is None or value in ("", [], {}):
            raise Unknown("the kernel's answer is empty", absent=True)
        reading.update(value=value, provenance="reported")
    except Unknown as unknown:
        reading.update(value=None, reason=unknown.reason)
        if unknown.absent:
            reading["absent"] = True
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        # One odd file, on a kernel that we have not met, must not cost all the other facts.
        reading.update(value=None, reason=f"unexpected contents: {type(error).__name__}: {error}")
    if entry.fact.unit is not None:
        reading["unit"] = entry.fact.unit
    return reading
