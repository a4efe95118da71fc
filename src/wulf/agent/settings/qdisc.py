"""The root queueing discipline of an interface, as tc(8) names it; below mq also that of the queues: 'mq fq'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.interfaces import interfaces
from wulf.agent.mechanism import Mechanism
from wulf.agent.settings.sysctl import mechanism as sysctl
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_DEFAULT = {"key": "net.core.default_qdisc", "kind": "text"}
_FANNING = {"mq", "mqprio"}


class Qdisc(Mechanism):
    help = "root queueing discipline of an interface: fq, fq_codel, pfifo_fast, noqueue, 'mq fq', …"

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        return interfaces(machine)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return machine.ask("qdisc", place)

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        machine.tell("qdisc", place, str(value))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        """Interfaces get the default of their boot; those without a queue of their own (veth, bridge) get none."""
        root = str(machine.ask("qdisc", place)).split()[0]
        if root == "noqueue":
            return root
        default = sysctl.startup(machine, _DEFAULT, "")
        if not isinstance(default, str):
            raise Unknown(f"net.core.default_qdisc would be '{default}' after a reboot, no name of a discipline")
        return f"{root} {default}" if root in _FANNING else default


mechanism = Qdisc()
