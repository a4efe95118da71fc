"""Where the probes of one node reach another."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from wulf.cluster.inventory import Inventory, Node, parse_network
from wulf.cluster.session import Session
from wulf.core.errors import NodeError, UsageError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LOOKUPS = 32
"""Names that are resolved at the same time: a name server that knows none of a thousand names may take seconds each."""

ANSWER_TIMEOUT = 30.0
"""Seconds for the agents to list their nodes' addresses."""


def data_addresses(inventory: Inventory, sessions: Mapping[str, Session] | None = None) -> dict[str, str]:
    """The IP address of each node on the network that is to be measured.

    In this order: what the inventory gives; the node's own address within the inventory's network; what its name
    resolves to on this machine, unless that is loopback; the node's first global address. Nodes that are all this
    machine meet at 127.0.0.1.

    Parameters
    ----------
    sessions
        The agent's sessions, by node name, which are asked for the nodes' addresses.

    Returns
    -------
    dict
        Address by node name. With ``sessions``, a node that has none is left out where it has no address either: it
        is probably down.

    Raises
    ------
    UsageError
        A node that is up has no address that others could reach it at.
    """
    asked = {name: session.call("addresses") for name, session in (sessions or {}).items()}

    def one(node: Node) -> str | None:
        answer = asked.get(node.name)
        own, trouble = _own_addresses(answer) if answer else ([], "")
        try:
            return str(_address_of(node, inventory, own))
        except UsageError as error:
            if sessions is None or answer is not None:
                raise UsageError(error.what + trouble, error.next_step) from error
            return None

    with ThreadPoolExecutor(LOOKUPS) as pool:
        found = zip(inventory.names, pool.map(one, inventory.nodes), strict=True)
        return {name: address for name, address in found if address is not None}


def _own_addresses(answer: Future[dict[str, Any]]) -> tuple[list[Address], str]:
    """The usable ones of what the agent lists, IPv4 first; or none, and why."""
    try:
        listed = [_parse(entry["address"]) for entry in answer.result(ANSWER_TIMEOUT)["addresses"]]
    except (NodeError, TimeoutError) as error:
        return [], f"; asking its agent failed: {str(error) or 'no answer'}"
    usable = [a for a in listed if not (a.is_loopback or a.is_link_local or a.is_multicast)]
    return sorted(usable, key=lambda address: address.version), ""


def _address_of(node: Node, inventory: Inventory, own: list[Address]) -> Address:
    if node.address is not None:
        return _given(node, node.address)
    if inventory.launcher == "local" or (inventory.launcher == "lab" and inventory.ssh_config is None):
        return ipaddress.IPv4Address("127.0.0.1")
    if inventory.network is not None:
        return _within(node, inventory.network, own)
    for candidate in (*(a for a in _resolve(node.name) if not a.is_loopback), *own):
        return candidate
    raise UsageError(
        f"{node}: no address for the probes: its name does not resolve here, and the node has no global address",
        f"give it in cluster.toml: [node.{node}] address = …, or network = …",
    )


def _given(node: Node, text: str) -> Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        for address in _resolve(text):
            return address
    raise UsageError(f"{node}: its address {text!r} is no IP address and does not resolve here", "check its spelling")


def _within(node: Node, network: str, own: list[Address]) -> Address:
    wanted = parse_network(network)
    for address in own or _resolve(node.name):
        if address in wanted:
            return address
    has = ", ".join(map(str, own)) or "none that is known"
    raise UsageError(f"{node}: no address within {network}; it has {has}", "is that the network of the cluster?")


def _resolve(name: str) -> list[Address]:
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the latter: between two dots there are more letters than 63
        return []
    # a link-local address means nothing without its interface
    return [address for answer in answers if not (address := _parse(str(answer[4][0]))).is_link_local]


def _parse(text: str) -> Address:
    return ipaddress.ip_address(text.partition("%")[0])  # without an IPv6 scope
