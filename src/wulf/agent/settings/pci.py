"""What a card's PCI Express function is set to, from its configuration space. Read only.

Layout: PCI Express Base Specification, 7.5.1.1 (status, capabilities pointer), 7.5.3.4 (device control), 7.5.3.6 and
7.5.3.8 (link capabilities and status); the numbers are those of linux/pci_regs.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.interfaces import NET, interfaces
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wulf.agent.machine import Machine

_STATUS, _HAS_CAPABILITIES, _FIRST_CAPABILITY = 0x06, 0x10, 0x34
_EXPRESS, _EXPRESS_BYTES = 0x10, 0x14
_DEVICE_CONTROL, _LINK_CAPABILITIES, _LINK_STATUS = 0x08, 0x0C, 0x12
_UNPRIVILEGED = 64
"""Bytes of configuration space that a user without root's rights is shown."""
_RATES = {1: 2.5e9, 2: 5e9, 3: 8e9, 4: 16e9, 5: 32e9, 6: 64e9}
"""Transfers a second of a lane, by the code of its generation."""
_FIELDS: dict[str, tuple[int, int, int, Callable[[int], Any]]] = {  # field: register, lowest bit, bits, what they say
    "max_payload": (_DEVICE_CONTROL, 5, 0x7, lambda code: 128 << code),
    "max_read_request": (_DEVICE_CONTROL, 12, 0x7, lambda code: 128 << code),
    "link_speed": (_LINK_STATUS, 0, 0xF, _RATES.get),
    "link_width": (_LINK_STATUS, 4, 0x3F, lambda lanes: lanes or None),
    "link_speed_max": (_LINK_CAPABILITIES, 0, 0xF, _RATES.get),
    "link_width_max": (_LINK_CAPABILITIES, 4, 0x3F, lambda lanes: lanes or None),
}


class Pci(Mechanism):
    help = (
        "PCI Express of a card, read only: field = 'max_read_request', 'max_payload' (bytes), 'link_speed' (a lane's "
        "transfers/s), 'link_width' (lanes), 'link_speed_max', 'link_width_max' (what the card could)"
    )
    words = ("field",)

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        found = [nic for nic in interfaces(machine) if _config(machine, nic) is not None]
        if not found:
            raise Unknown("no interface is a PCI device here", absent=True)
        return found

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        if target["field"] not in _FIELDS:
            raise Unknown(f"nothing is known of '{target['field']}' of a PCI device, but of {', '.join(_FIELDS)}")
        path = _config(machine, place)
        if path is None:
            raise Unknown(f"{place} is no PCI device", absent=True)
        register, shift, bits, said = _FIELDS[target["field"]]
        space = machine.binary(path)
        at = _express(space, path) + register
        value = said(int.from_bytes(space[at : at + 2], "little") >> shift & bits)
        if value is None:
            raise Unknown(f"the card reports no {target['field']}: it sits on no link of its own", absent=True)
        return value

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        raise Unknown("the firmware and the kernel decide at boot")


def _config(machine: Machine, nic: str) -> str | None:
    """Configuration space of the device behind an interface; of a virtio device that of its PCI function."""
    for path in (f"{NET}/{nic}/device/config", f"{NET}/{nic}/device/../config"):
        if machine.exists(path):
            return path
    return None


def _express(space: bytes, path: str) -> int:
    """Where the PCI Express capability begins."""
    if len(space) <= _UNPRIVILEGED:
        raise Unknown(f"no permission to read /{path} beyond its first {_UNPRIVILEGED} bytes")
    at = space[_FIRST_CAPABILITY] & ~3 if space[_STATUS] & _HAS_CAPABILITIES else 0
    seen: set[int] = set()
    while at and at not in seen and at + _EXPRESS_BYTES <= len(space):
        if space[at] == _EXPRESS:
            return at
        seen.add(at)
        at = space[at + 1] & ~3
    raise Unknown(f"/{path} has no PCI Express capability: an older bus, or a virtual device", absent=True)


mechanism = Pci()
