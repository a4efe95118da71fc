"""Which CPUs serve the interrupts of network cards."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Any

from wulf.agent.boot.dropins import contents
from wulf.agent.interfaces import NET, interfaces
from wulf.agent.machine import shared
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown
from wulf.agent.values import from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_MANAGED = ": the kernel spreads the interrupts of this device by itself"
_KIND = {"kind": "cpus"}
_FILES = {"affinity": "smp_affinity_list", "effective": "effective_affinity_list"}


class Irq(Mechanism):
    help = (
        "CPUs of each interrupt of a card: what = 'affinity', or 'effective' (what the hardware made of it; read only)"
    )
    optional = ("what",)

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        found = sorted(_by_place(machine), key=_natural)
        if not found:
            raise Unknown("no interface has an interrupt of its own here: virtual ones have none", absent=True)
        return found

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return from_text(machine.text(_path(machine, target, place)), _KIND)

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        if target.get("what", "affinity") != "affinity":
            raise Unknown("the effective affinity follows from the one that is asked for: write that one")
        try:
            machine.put(_path(machine, target, place), to_text(value, _KIND))
        except Unknown as unknown:
            managed = os.strerror(errno.EIO) in unknown.reason
            raise Unknown(unknown.reason + _MANAGED * managed) from unknown

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        raise Unknown("the driver and irqbalance decide at boot")


def _path(machine: Machine, target: Mapping[str, Any], place: str) -> str:
    number = _by_place(machine).get(place)
    if number is None:
        raise Unknown(f"no interrupt {place}", absent=True)
    what = target.get("what", "affinity")
    if what not in _FILES:
        raise Unknown(f"an interrupt has no '{what}'; it has {', '.join(_FILES)}")
    return f"proc/irq/{number}/{_FILES[what]}"


@shared
def _by_place(machine: Machine) -> dict[str, int]:
    """Interrupts that are in use: 'eth0-rx-0 of eth0' → 45. Numbers change from boot to boot, names hardly do."""
    found: dict[str, int] = {}
    named = _actions(machine)
    for nic in interfaces(machine):
        numbers = [number for number in _numbers(machine, nic) if named.get(number)]
        numbers = numbers or [number for number, action in named.items() if nic in re.split(r"[-@:, ]", action)]
        for number in sorted(numbers):
            place = f"{named[number]} of {nic}"
            found[f"{number} {place}" if place in found else place] = number
    return found


def _numbers(machine: Machine, nic: str) -> list[int]:
    """Message-signalled interrupts of the device behind an interface; of a virtio device those of its PCI function."""
    for device in (f"{NET}/{nic}/device", f"{NET}/{nic}/device/.."):
        if machine.exists(f"{device}/msi_irqs"):
            return [int(name) for name in machine.names(f"{device}/msi_irqs")]
    line = contents(machine, f"{NET}/{nic}/device/irq")  # a card without MSI shares one line
    return [int(line)] if line not in ("", "0") else []


@shared
def _actions(machine: Machine) -> dict[int, str]:
    """What /proc/interrupts calls each numbered interrupt: the words behind counts, chip and line."""
    rows = machine.text("proc/interrupts").splitlines()
    cpus = len(rows[0].split())
    found = {}
    for row in rows[1:]:
        number, _, rest = row.partition(":")
        if number.strip().isdigit():
            words = rest.split()[cpus:]
            action = [word for word in words[1:] if not re.fullmatch(r"\d+(-\w+)?|Level|Edge", word)]
            found[int(number)] = " ".join(action)
    return found


def _natural(place: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", place)]


mechanism = Irq()
