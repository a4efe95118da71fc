"""Attributes of network interfaces, over rtnetlink: MTU, length of the send queue, sizes of GRO and GSO, up or down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.boot import linkfile, networkfiles
from wulf.agent.interfaces import interfaces
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown
from wulf.agent.values import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_IPV6_MTU = 1280
"""The least MTU that IPv6 works with (RFC 8200, section 5)."""

_AT_BOOT = {
    "mtu": "MTUBytes",
    "txqueuelen": "TransmitQueueLength",
    "gso_max_size": "GenericSegmentOffloadMaxBytes",
    "gso_max_segs": "GenericSegmentOffloadMaxSegments",
}
"""An attribute's word in a .link file."""


class Link(Mechanism):
    help = (
        "attribute of an interface: mtu, txqueuelen, gro_max_size, gso_max_size, gso_max_segs, gro_ipv4_max_size, "
        "gso_ipv4_max_size, up (going down loses routes and IPv6 addresses)"
    )
    words = ("attribute",)

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        return interfaces(machine)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        attributes = machine.ask("link", place)
        if target["attribute"] not in attributes:
            raise Unknown(f"this kernel's links have no {target['attribute']}", absent=True)
        return attributes[target["attribute"]]

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        self.read(machine, target, place)
        if target["attribute"] == "mtu":
            _keep_addresses(machine, place, whole(value))
        machine.tell("link", place, target["attribute"], whole(value))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        if target["attribute"] not in _AT_BOOT:
            raise Unknown("the driver and the network's own service decide at boot")
        by_service = networkfiles.mtu(machine, place) if target["attribute"] == "mtu" else None
        if by_service is not None:
            return by_service
        return linkfile.size(linkfile.startup(machine, place, _AT_BOOT[target["attribute"]]))


def _keep_addresses(machine: Machine, nic: str, mtu: int) -> None:
    """Raise Unknown for an MTU with which the kernel would forget the interface's IPv6 addresses: no undo has them."""
    if mtu >= _IPV6_MTU:
        return
    lost = [row["address"] for row in machine.ask("addresses") if (row["interface"], row["family"]) == (nic, "inet6")]
    if lost:
        raise Unknown(f"an MTU below {_IPV6_MTU} takes {', '.join(lost)} from {nic}, which nothing would put back")


mechanism = Link()
