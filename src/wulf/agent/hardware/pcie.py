"""PCI Express links: what a device and its slot agreed on, and the most that the device can do.

From /sys/bus/pci (Documentation/ABI/testing/sysfs-bus-pci): the files are there for devices with a link alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

DEVICES = "sys/bus/pci/devices"

CURRENT, MOST = "current", "max"


def has_link(machine: Machine, device: str) -> bool:
    """Whether the device in that folder has a link of its own: a virtual function shares one."""
    return machine.exists(f"{device}/max_link_width") and not machine.exists(f"{device}/physfn")


def width(machine: Machine, device: str, which: str) -> int:
    """Lanes of the link."""
    _need_link(machine, device)
    lanes = machine.integer(f"{device}/{which}_link_width")
    if not 1 <= lanes <= 32:  # 0 and 255 where the device has none: drivers/pci/pci-sysfs.c
        raise Unknown(f"the kernel does not know the link's width ({lanes})", absent=True)
    return lanes


def speed(machine: Machine, device: str, which: str) -> float:
    """Transfers a second of each lane: '8.0 GT/s PCIe' in the file, '8 GT/s' before Linux 5.8."""
    _need_link(machine, device)
    text = machine.text(f"{device}/{which}_link_speed")
    number, _, unit = text.partition(" ")
    if not unit.startswith("GT/s"):
        raise Unknown(f"the kernel does not know the link's speed ('{text[:40]}')", absent=True)
    return float(number) * 1e9


def _need_link(machine: Machine, device: str) -> None:
    if machine.exists(f"{device}/physfn"):
        raise Unknown("a virtual function of a card: the link is the card's", absent=True)
    if not has_link(machine, device):
        raise Unknown("the device has no PCI Express link", absent=True)


FACTS = (
    ("pcie_width", width, CURRENT, "1", "Lanes of the PCI Express link"),
    ("pcie_width_max", width, MOST, "1", "Most lanes of the PCI Express link that the device can have"),
    ("pcie_speed", speed, CURRENT, "T/s", "Speed of a lane of the PCI Express link"),
    ("pcie_speed_max", speed, MOST, "T/s", "Highest speed of a lane of the PCI Express link that the device can have"),
)
"""Name, reader, which of its files, unit, and what it is."""
