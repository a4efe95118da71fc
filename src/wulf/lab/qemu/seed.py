"""What a virtual machine gets from the lab at its first boot: its name, addresses and keys, as an archive of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wulf.lab import login
from wulf.lab.login import Node

from . import archive
from .archive import File

CLUSTER, MANAGEMENT = "eth0", "mgmt0"
"""A node's cards, as it names them: an e1000e, and a virtio card that measurements leave alone."""
USER, HOME = "root", "root"
OTHER_WAY = "-cluster"
"""`ssh -F … n1-cluster` reaches n1 over the cluster's network; plain n1, over the management's."""


@dataclass(frozen=True)
class Address:
    """A node under one of its names, as `wulf.lab.login` wants it."""

    name: str
    address: str
    address6: str | None = None


@dataclass(frozen=True)
class Keys:
    """What opens nodes, as ssh-keygen writes it: the nodes' own common key, and who may log in."""

    node: str
    allowed: str
    known_hosts: str


def management_address(number: int) -> str:
    """Address of node `number` on the management's network."""
    return f"10.78.0.{number}"


def prepare(state: Path, nodes: Sequence[Node]) -> None:
    """Write keys, known hosts and each node's seed below `state`, before anything starts."""
    (state / "nodes").mkdir(mode=0o700)
    for node in nodes:
        (state / "nodes" / node.name).mkdir(mode=0o700)
    publics = [login.make_key(state / name) for name in ("id", "node_id")]
    hosts = {node.name: login.make_key(state / "nodes" / node.name / "host_key") for node in nodes}
    known = "".join(f"{name},{name}{OTHER_WAY} {key}" for name, key in hosts.items())
    (state / "known_hosts").write_text(known)
    keys = Keys((state / "node_id").read_text(), "".join(publics), known)
    for number, node in enumerate(nodes, 1):
        folder = state / "nodes" / node.name
        host_key = (folder / "host_key").read_text()
        (folder / "seed").write_bytes(archive.pack(files(number, node, nodes, keys, host_key)))


def ways(nodes: Sequence[Node]) -> list[Address]:
    """Every name that ssh knows: a node's own leads over the management's network, the other over the cluster's."""
    by_management = [Address(node.name, management_address(number)) for number, node in enumerate(nodes, 1)]
    return by_management + [Address(node.name + OTHER_WAY, node.address) for node in nodes]


def files(number: int, node: Node, nodes: Sequence[Node], keys: Keys, host_key: str) -> dict[str, File]:
    """The files of one node, by path."""
    networks = [(CLUSTER, [f"{node.address}/24", *([f"{node.address6}/64"] if node.address6 else [])])]
    networks += [(MANAGEMENT, [f"{management_address(number)}/24"])]
    texts = {f"etc/systemd/network/70-lab-{name}.network": network(name, held) for name, held in networks}
    texts |= {"etc/hostname": f"{node.name}\n", "etc/hosts": hosts(nodes)}
    texts |= {f"{HOME}/.ssh/known_hosts": keys.known_hosts}
    texts |= {f"{HOME}/.ssh/config": login.peers_config(nodes, USER, f"/{HOME}/.ssh")}
    secret = {f"{HOME}/.ssh/authorized_keys": keys.allowed, f"{HOME}/.ssh/node_id": keys.node}
    secret |= {"etc/ssh/lab_host_key": host_key}
    plain = {name: File(text.encode()) for name, text in texts.items()}
    return plain | {name: File(text.encode(), 0o600) for name, text in secret.items()}


def network(device: str, addresses: Sequence[str]) -> str:
    """systemd.network(5). Addresses stay when a driver takes its link down for a moment, to set a ring or an MTU."""
    lines = ["[Match]", f"Name={device}", "", "[Network]", *(f"Address={address}" for address in addresses)]
    lines += ["LinkLocalAddressing=ipv6", "IPv6AcceptRA=no", "ConfigureWithoutCarrier=yes", "IgnoreCarrierLoss=yes"]
    return "\n".join(lines) + "\n"


def hosts(nodes: Sequence[Node]) -> str:
    """/etc/hosts: nodes know one another by their addresses on the cluster's network."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{node.address} {node.name}" for node in nodes]
    lines += [f"{node.address6} {node.name}" for node in nodes if node.address6]
    return "\n".join(lines) + "\n"
