"""The network that MPI's TCP is told to use. Left alone, Open MPI tries every interface, and waits for ever for an
answer from one that leads nowhere: a bridge of containers has the same address on every node.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

from wulf.cluster.inventory import Inventory, Node, parse_network
from wulf.cluster.session import Session

ASK_TIMEOUT = 30.0

Rows = Sequence[Mapping[str, Any]]


def common_network(
    inventory: Inventory, nodes: Sequence[Node], agents: Mapping[str, Session]
) -> tuple[str | None, str | None]:
    """The network that all nodes have in common, as CIDR, and its interface; each None where nothing need be said."""
    pending = {node.name: agents[node.name].call("addresses") for node in nodes}
    rows = {name: future.result(ASK_TIMEOUT)["addresses"] for name, future in pending.items()}
    given = {node.name: node.address for node in nodes}
    network = inventory.network or _deduced(rows, given)
    if network is None:
        return None, None
    interfaces = {_interface_in(each, network) for each in rows.values()}
    return network, interfaces.pop() if len(interfaces) == 1 else None


def _deduced(rows: Mapping[str, Rows], given: Mapping[str, str | None]) -> str | None:
    """Where nodes have several networks: the one of the addresses that the inventory gives, or the only common one."""
    if all(len(_networks(each)) <= 1 for each in rows.values()):
        return None
    candidates = [
        {net for net in _networks(each) if given[name] is None or _contains(net, given[name])}
        for name, each in rows.items()
    ]
    common = set.intersection(*candidates)
    # the same address on two nodes is nobody's: a bridge that every node has for itself
    unique = [net for net in common if _distinct_addresses(rows, net)]
    return unique[0] if len(unique) == 1 else None


def _networks(rows: Rows) -> set[str]:
    return {
        str(ipaddress.ip_interface(f"{row['address']}/{row['prefix']}").network)
        for row in rows
        if row["family"] == "inet"
    }


def _contains(network: str, address: str | None) -> bool:
    try:
        return ipaddress.ip_address(address or "") in ipaddress.ip_network(network)
    except ValueError:  # a name: which network it is on is not known here
        return True


def _distinct_addresses(rows: Mapping[str, Rows], network: str) -> bool:
    own = [row["address"] for each in rows.values() for row in each if _contains(network, row["address"])]
    return len(set(own)) == len(own)


def _interface_in(rows: Rows, network: str) -> str | None:
    wanted = parse_network(network)
    return next((row["interface"] for row in rows if ipaddress.ip_address(row["address"]) in wanted), None)
