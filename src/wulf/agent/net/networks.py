"""Networks of a cluster, as a setting of the packet filter names them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Union

from wulf.agent.unknown import Unknown

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


def parse(texts: Iterable[str]) -> list[Network]:
    """Networks, sorted, each once. Raises Unknown for what is none; so nothing else gets into a firewall's commands."""
    try:
        found = {ipaddress.ip_network(text) for text in texts}
    except ValueError as error:
        raise Unknown(f"{error}: a network is written 10.0.0.0/24") from error
    wide = [network for network in found if network.prefixlen == 0]
    if wide:
        raise Unknown(f"{wide[0]} is every address there is: the cluster's own networks are to be named")
    return sorted(found, key=lambda network: (network.version, int(network.network_address), network.prefixlen))
