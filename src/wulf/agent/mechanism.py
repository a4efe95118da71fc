"""What a mechanism is: one way in which settings are read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.interfaces import identity
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine


class Mechanism:
    """Reads and writes settings of one kind. Methods raise Unknown where the node has no such thing or refuses.

    `target` are the mechanism's own words of the setting; `place` is one of `places`. Values are JSON: bool, number in
    SI base units, or text as the kernel has it. What was written reads back as the same JSON value where the
    kernel took it whole. Only the live machine is written.
    """

    help: str = ""
    """What it reads and writes, for a person: `wulf-agent --describe` shows it."""
    words: tuple[str, ...] = ()
    """Keys that a target has to have."""
    optional: tuple[str, ...] = ()
    """Keys that it may have."""
    survives_reboot = False
    """What is written is there after a reboot, too, so that undoing it is due then as well: a service disabled."""

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        """Where it exists here: [''] for the whole node, else interfaces, CPUs, …; Unknown rather than none."""
        return [""]

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        """What it is now."""
        raise NotImplementedError

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        """Make it so, or raise Unknown with the kernel's reason. Whether it took is seen by reading it again."""
        raise Unknown("this kind of setting can only be read")

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        """What it will be after a reboot."""
        raise Unknown("what a reboot would give is not known")

    def identity(self, machine: Machine, place: str) -> str:
        """What tells this place from a later one of its name: 'ifindex 2, 52:54:…'; '' for what has no interface."""
        return identity(machine, place.rpartition(" of ")[2])

    def describe(self, name: str) -> dict[str, Any]:
        """Its line in `wulf-agent --describe`."""
        return {"name": name, "help": self.help, "words": list(self.words), "optional": list(self.optional)}
