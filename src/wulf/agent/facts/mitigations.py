"""What the kernel does against the processors' vulnerabilities, in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.cpulist import CPU
from wulf.agent.fact import Topic

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("mitigations")

_FOLDER = f"{CPU}/vulnerabilities"


def _vulnerabilities(machine: Machine) -> list[str]:
    return machine.names(_FOLDER)


@topic.fact("known", "Vulnerabilities that the kernel reports on", unit="1")
def known(machine: Machine) -> int:
    return len(_vulnerabilities(machine))


@topic.each("*", _vulnerabilities, "State of one vulnerability: 'Not affected', 'Vulnerable', 'Mitigation: ...'")
def state(machine: Machine, name: str) -> str:
    return machine.text(f"{_FOLDER}/{name}")
