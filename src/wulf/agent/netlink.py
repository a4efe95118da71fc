"""Links, addresses, queueing disciplines and ethtool settings over netlink, by way of pyroute2.

Only this module imports pyroute2, from its submodules: its `__init__` loads all of it and would double the time to the
first fact. `pyroute2.netlink.generic.ethtool` knows rings but neither features, coalescing, channels nor pause;
their attributes are laid down here (linux/ethtool_netlink.h).
"""

from __future__ import annotations

import socket
from typing import Any

from pyroute2.iproute.linux import IPRoute
from pyroute2.netlink import NLM_F_REQUEST, genlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket
from pyroute2.netlink.generic.ethtool import ethtoolbitset, ethtoolheader

from wulf.agent.unknown import Unknown, refused

_SCOPE_GLOBAL = 0  # RT_SCOPE_UNIVERSE, linux/rtnetlink.h
_ROOT = 0xFFFFFFFF  # TC_H_ROOT, linux/pkt_sched.h
_UP = 0x1  # IFF_UP, linux/if.h


class _Message(genlmsg):  # type: ignore[misc]
    ethtoolheader = ethtoolheader
    ethtoolbitset = ethtoolbitset


def _attributes(*fields: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Attributes of an ethtool message in the kernel's order; the first two are the same in all."""
    return (("unspec", "none"), ("header", "ethtoolheader"), *fields)


def _numbers(names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "uint32") for name in names.split())


class _Features(_Message):
    nla_map = _attributes(
        ("hw", "ethtoolbitset"), ("wanted", "ethtoolbitset"), ("active", "ethtoolbitset"), ("nochange", "ethtoolbitset")
    )


class _Rings(_Message):
    nla_map = _attributes(*_numbers("rx_max rx_mini_max rx_jumbo_max tx_max rx rx_mini rx_jumbo tx"))


class _Channels(_Message):
    nla_map = _attributes(*_numbers("rx_max tx_max other_max combined_max rx tx other combined"))


class _Coalesce(_Message):
    nla_map = _attributes(
        *_numbers("rx_usecs rx_frames rx_usecs_irq rx_frames_irq tx_usecs tx_frames tx_usecs_irq tx_frames_irq"),
        ("stats_usecs", "uint32"),
        ("adaptive_rx", "uint8"),
        ("adaptive_tx", "uint8"),
    )


class _Pause(_Message):
    nla_map = _attributes(("autoneg", "uint8"), ("rx", "uint8"), ("tx", "uint8"))


_TOPICS = {  # topic: number of the GET command, its message, what it is in words
    "features": (11, _Features, "offloads"),
    "rings": (15, _Rings, "ring sizes"),
    "channels": (17, _Channels, "channels"),
    "coalesce": (19, _Coalesce, "interrupt coalescing"),
    "pause": (21, _Pause, "flow control"),
}


class Netlink:
    """Read-only questions over netlink sockets that live as long as the object."""

    def __init__(self) -> None:
        self._route = IPRoute()

    def close(self) -> None:
        self._route.close()

    def _links(self) -> list[Any]:
        try:
            return list(self._route.get_links())
        except NetlinkError as error:
            raise refused(OSError(error.code, str(error)), "links") from error

    def _link(self, interface: str) -> Any:
        for link in self._links():
            if link.get_attr("IFLA_IFNAME") == interface:
                return link
        raise Unknown(f"no interface {interface}", absent=True)

    def qdisc(self, interface: str) -> str:
        """Root queueing discipline; where that only fans out to queues (mq), also those below it: 'mq fq_codel'."""
        link = self._link(interface)
        root = str(link.get_attr("IFLA_QDISC"))
        below = {
            str(qdisc.get_attr("TCA_KIND"))
            for qdisc in self._route.get_qdiscs(index=link["index"])
            if qdisc["parent"] != _ROOT and qdisc["index"] == link["index"]
        }
        return " ".join([root, *sorted(below)]) if root in {"mq", "mqprio"} else root

    def addresses(self) -> list[dict[str, Any]]:
        """Addresses of global scope on interfaces that are up: interface, address, prefix, family (inet, inet6)."""
        up = {link["index"]: link.get_attr("IFLA_IFNAME") for link in self._links() if link["flags"] & _UP}
        found = []
        for entry in self._route.get_addr():
            if entry["scope"] != _SCOPE_GLOBAL or entry["index"] not in up:
                continue
            # IFA_LOCAL is ours; IFA_ADDRESS is the peer's on a point-to-point link, and all that IPv6 has.
            address = entry.get_attr("IFA_LOCAL") or entry.get_attr("IFA_ADDRESS")
            family = "inet" if entry["family"] == socket.AF_INET else "inet6"
            row = {"interface": up[entry["index"]], "address": address, "prefix": entry["prefixlen"], "family": family}
            found.append(row)
        return found

    def ethtool(self, topic: str, interface: str) -> dict[str, Any]:
        """Settings of an interface under one of the topics above: numbers by name; for features, booleans by name."""
        command, message_class, words = _TOPICS[topic]
        try:
            answer = _ethtool_request(command, message_class, interface)
        except NetlinkError as error:
            raise refused(OSError(error.code, str(error)), words) from error
        if topic == "features":
            active = _bits(answer, "active")
            return {name: name in active for name in sorted(_bits(answer, "hw") | active) if name}
        return {name: value for name, value in answer["attrs"] if isinstance(value, int)}


def _ethtool_request(command: int, message_class: type[_Message], interface: str) -> Any:
    socket_ = GenericNetlinkSocket()
    try:
        socket_.bind("ethtool", message_class)
        message = message_class()
        message["cmd"] = command
        message["version"] = 1
        message["attrs"].append(("header", {"attrs": [["ETHTOOL_A_HEADER_DEV_NAME", interface]]}))
        (answer,) = socket_.nlm_request(message, msg_type=socket_.prid, msg_flags=NLM_F_REQUEST)
        return answer
    finally:
        socket_.close()


def _bits(answer: Any, name: str) -> set[str]:
    """Names of the bits that a bitset lists: 'hw' lists all that the kernel knows, 'active' those that are on."""
    bitset = answer.get_attr(name)
    bits = bitset.get_attr("ETHTOOL_A_BITSET_BITS") if bitset is not None else None
    if bits is None:
        return set()
    return {str(bit.get_attr("ETHTOOL_A_BITSET_BIT_NAME")) for bit in bits.get_attrs("ETHTOOL_A_BITSET_BITS_BIT")}
