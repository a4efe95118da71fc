"""Links, addresses and queueing disciplines over netlink, by way of pyroute2.

Only this module and `ethtool` import pyroute2, from its submodules: its `__init__` loads all of it and would double the
time to the first fact.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyroute2.iproute.linux import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from wulf.agent.unknown import Unknown, refused

_SCOPE_GLOBAL = 0  # RT_SCOPE_UNIVERSE, linux/rtnetlink.h
_ROOT = 0xFFFFFFFF  # TC_H_ROOT, linux/pkt_sched.h
_UP = 0x1  # IFF_UP, linux/if.h
_OURS = 0x7756 << 16
"""Handle of the root queueing disciplines that we put up (major 7756:), by which they are told from others'."""

_ATTRIBUTES = {  # our word: the kernel's attribute (linux/if_link.h), pyroute2's word when it is set
    "mtu": ("IFLA_MTU", "mtu"),
    "txqueuelen": ("IFLA_TXQLEN", "txqlen"),
    "gro_max_size": ("IFLA_GRO_MAX_SIZE", "gro_max_size"),
    "gso_max_size": ("IFLA_GSO_MAX_SIZE", "gso_max_size"),
    "gso_max_segs": ("IFLA_GSO_MAX_SEGS", "gso_max_segs"),
    "gro_ipv4_max_size": ("IFLA_GRO_IPV4_MAX_SIZE", "gro_ipv4_max_size"),
    "gso_ipv4_max_size": ("IFLA_GSO_IPV4_MAX_SIZE", "gso_ipv4_max_size"),
}


class Netlink:
    """Questions and requests over netlink sockets that live as long as the object."""

    def __init__(self) -> None:
        self._route = IPRoute(ext_ack=True)

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

    def link(self, interface: str) -> dict[str, Any]:
        """What can be set of a link: its attributes by our words, and whether it is `up` (administratively)."""
        link = self._link(interface)
        found = {word: link.get_attr(attribute) for word, (attribute, _) in _ATTRIBUTES.items()}
        known = {word: value for word, value in found.items() if value is not None}
        return {**known, "up": bool(link["flags"] & _UP)}

    def set_link(self, interface: str, attribute: str, value: int) -> None:
        """Set one of `link`'s attributes."""
        index = self._link(interface)["index"]
        state = {"state": "up" if value else "down"}
        words = state if attribute == "up" else {_ATTRIBUTES[attribute][1]: value}
        with _saying(f"{attribute} of {interface}"):
            self._route.link("set", index=index, **words)

    def set_qdisc(self, interface: str, kind: str) -> None:
        """Make `kind` ('fq', 'noqueue', 'mq fq') the root queueing discipline, as `qdisc` would say it.

        Only what the kernel put up by itself, or we, is replaced: another's has parameters that could not be restored.
        """
        link = self._link(interface)
        if self.qdisc(interface) == kind:
            return
        handle = self._root_handle(link)
        if handle not in (0, _OURS):
            raise Unknown(
                f"the queueing discipline of {interface} was put up by somebody with parameters of its own "
                f"(handle {handle >> 16:x}:), which could not be restored: it is left alone"
            )
        if handle:  # without ours the kernel puts up its own again, which may be what is wanted
            self._route.tc("del", index=link["index"], parent=_ROOT)
            if self.qdisc(interface) == kind:
                return
        with _saying(f"queueing discipline of {interface}"):
            self._put_qdisc(link, *kind.split())

    def _root_handle(self, link: Any) -> int:
        """Handle of the root queueing discipline; 0 for one that the kernel put up."""
        roots = [
            int(qdisc["handle"])
            for qdisc in self._route.get_qdiscs(index=link["index"])
            if qdisc["parent"] == _ROOT and qdisc["index"] == link["index"]
        ]
        return roots[0] if roots else 0

    def _put_qdisc(self, link: Any, root: str, below: str | None = None) -> None:
        self._route.tc("replace", root, link["index"], handle=_OURS, parent=_ROOT)
        if below is not None:
            for queue in range(1, link.get_attr("IFLA_NUM_TX_QUEUES") + 1):
                self._route.tc("replace", below, link["index"], parent=_OURS | queue)


@contextmanager
def _saying(what: str) -> Iterator[None]:
    """Turn the kernel's refusal into an Unknown with its own words."""
    try:
        yield
    except NetlinkError as error:
        raise refused(OSError(error.code, ""), what, said=str(error.args[1]), verb="set") from error
