"""Whether the processors' own meters of energy can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

topic = Topic("power")

_POWERCAP = "sys/class/powercap"


@topic.fact("rapl", "Energy meters (RAPL) that this user can read, by name: 'dram package-0'; else why not")
def rapl(machine: Machine) -> str:
    # 'intel-rapl:0' is a package, 'intel-rapl:0:1' a part of it; AMD's carry the same name (Linux 5.8 on).
    zones = [name for name in _zones(machine) if name.startswith("intel-rapl:")]
    if not zones:
        raise Unknown(f"no intel-rapl in /{_POWERCAP}: the driver is not loaded", absent=True)
    for zone in zones:
        # Only root may read this since Linux 5.10 (CVE-2020-8694), so that the refusal is the usual answer.
        machine.text(f"{_POWERCAP}/{zone}/energy_uj")
    return " ".join(sorted(machine.text(f"{_POWERCAP}/{zone}/name") for zone in zones))


def _zones(machine: Machine) -> list[str]:
    if not machine.exists(_POWERCAP):
        raise Unknown(f"no /{_POWERCAP}: a virtual machine, or a kernel without power capping", absent=True)
    return machine.names(_POWERCAP)
