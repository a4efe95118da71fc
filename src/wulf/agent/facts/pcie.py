"""PCI Express links of devices that are no network card: graphics and other accelerators, disks (NVMe), InfiniBand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.fact import Topic
from wulf.agent.hardware import pcie
from wulf.agent.machine import shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from wulf.agent.machine import Machine

topic = Topic("pcie")

_KINDS = {"0x03": "graphics", "0x0108": "nvme", "0x0207": "infiniband", "0x0b40": "accelerator", "0x12": "accelerator"}
"""Beginning of a device's class code (PCI Code and ID Assignment Specification) → what it is."""


@shared
def _devices(machine: Machine) -> dict[str, str]:
    """Address → kind, of devices with a link of their own."""
    found = {}
    for address in machine.names(pcie.DEVICES):
        code = machine.text(f"{pcie.DEVICES}/{address}/class")
        kind = next((word for start, word in _KINDS.items() if code.startswith(start)), "")
        if kind and pcie.has_link(machine, f"{pcie.DEVICES}/{address}"):
            found[address] = kind
    return found


def _addresses(machine: Machine) -> list[str]:
    return sorted(_devices(machine))


@topic.each("*.device", _addresses, "Kind, vendor and device number of what is at an address of the PCI bus")
def device(machine: Machine, address: str) -> str:
    numbers = (machine.text(f"{pcie.DEVICES}/{address}/{part}") for part in ("vendor", "device"))
    return f"{_devices(machine)[address]} {':'.join(numbers)}"


# Not uniform: a graphics card slows its lanes down while it is idle.
def _add(name: str, read_link: Callable[[Machine, str, str], float], which: str, unit: str, help: str) -> None:
    @topic.each(f"*.{name.replace('pcie_', '')}", _addresses, help, unit, uniform=name != "pcie_speed")
    def read(machine: Machine, address: str) -> float:
        return read_link(machine, f"{pcie.DEVICES}/{address}", which)


for _name, _read, _which, _unit, _help in pcie.FACTS:
    _add(_name, _read, _which, _unit, _help)
