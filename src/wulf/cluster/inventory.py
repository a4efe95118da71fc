"""Which nodes there are, and how they are reached."""

from __future__ import annotations

import difflib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from wulf.core.errors import UsageError
from wulf.core.nodeset import names_in

if TYPE_CHECKING:
    from wulf.lab import Lab

# No ">" (it separates the nodes of a pair), no leading "-" (ssh would take it for an option), nothing for a shell.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:%-]*")
_DESTINATION = re.compile(r"[^\s-]\S*")


@dataclass(frozen=True)
class Node:
    """A host.

    Parameters
    ----------
    name
        What records and messages call it; the ssh destination unless ``ssh`` says otherwise.
    address
        Where the probes of other nodes reach it: an IP address or a host name. None: found by `data_addresses`.
    ssh
        Destination for ssh, as its manual page has it: ``host``, ``user@host`` or ``ssh://user@host:port``.
    """

    name: str
    address: str | None = None
    ssh: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"{self.name!r} is not a node name: letters, digits, '.', '_', '-' and ':' only")
        if self.ssh is not None and not _DESTINATION.fullmatch(self.ssh):
            raise UsageError(f"{self.name}: {self.ssh!r} is not an ssh destination (host, user@host, ssh://…)")

    def __str__(self) -> str:
        return self.name

    @property
    def destination(self) -> str:
        """What ssh is asked to connect to."""
        return self.ssh or self.name


@dataclass(frozen=True)
class Inventory:
    """The nodes of a cluster and how to reach them.

    Parameters
    ----------
    nodes
        Each name once.
    launcher
        Name of a module in `wulf.cluster.launchers`.
    network
        The network that the probes use, as CIDR ("10.0.0.0/24"); None where the nodes have only one.
    ssh_config
        Given to ssh with ``-F`` in place of the user's own configuration.
    lab
        Name of the lab that the nodes belong to.
    job
        The Slurm job whose nodes they are; None: the one that this process runs in, if any.
    slurm
        Options for a job to be asked for, as salloc takes them: {"partition": "main"}.
    gateways
        Hosts by way of which ssh reaches the other nodes, a share of them each; none: all directly.
    gateway_ssh_config
        A file on the gateways, which their ssh is given with ``-F`` in place of the user's own configuration there.
    roles
        Node → what it is there for ("compute"); nodes of one role should have the same settings.

    Raises
    ------
    UsageError
        No node, a node twice, a name or network that is none.
    """

    nodes: tuple[Node, ...]
    launcher: str = "ssh"
    network: str | None = None
    ssh_config: Path | None = None
    lab: str | None = None
    job: str | None = None
    slurm: Mapping[str, str] = field(default_factory=dict)
    gateways: tuple[str, ...] = ()
    gateway_ssh_config: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.nodes:
            raise UsageError("the inventory has no nodes", "name some: --nodes 'n[1-4]'")
        twice = sorted(name for name, times in Counter(self.names).items() if times > 1)
        if twice:
            raise UsageError(f"more than once in the inventory: {', '.join(twice)}", "name each node once")
        if self.network is not None:
            parse_network(self.network)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)

    def pick(self, names: Iterable[str]) -> tuple[Node, ...]:
        """The nodes of these names, in the order asked for.

        Raises
        ------
        UsageError
            Names every node that the inventory lacks, with those it has that are spelt alike.
        """
        known = {node.name: node for node in self.nodes}
        wanted = list(names)
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise UsageError(f"not in the inventory: {', '.join(unknown)}", did_you_mean(unknown, list(known)))
        return tuple(known[name] for name in wanted)

    def on(self, network: str) -> Self:
        """The same nodes, measured over the addresses that they have in that network (CIDR).

        Raises
        ------
        UsageError
            It is none, or the nodes have no network of their own: they are processes of this machine.
        """
        wanted = str(parse_network(network))
        if self.launcher == "local" or (self.launcher == "lab" and self.ssh_config is None):
            raise UsageError(
                f"{wanted} can't be chosen: the nodes are processes of this machine, which meet at 127.0.0.1",
                "name nodes that have it: --nodes 'n[1-4]'",
            )
        return replace(self, network=wanted, nodes=tuple(replace(node, address=None) for node in self.nodes))

    @classmethod
    def from_nodeset(cls, pattern: str, launcher: str = "ssh", **fields: Any) -> Self:
        """From ClusterShell's syntax: ``n[1-4,7]``, ``a1,b[2-3]``, ``@group``, ``n[1-9]!n3``.

        ``fields`` are further fields of the inventory.
        """
        return cls(tuple(Node(name) for name in expand(pattern)), launcher=launcher, **fields)

    @classmethod
    def from_lab(cls, lab: Lab) -> Self:
        """The nodes of a running lab. A loopback lab has no sshd: its programs are started directly."""
        return cls(
            tuple(Node(node.name, address=node.address) for node in lab.nodes),
            launcher="lab",
            ssh_config=Path(lab.ssh_config) if lab.backend != "loopback" and lab.ssh_config else None,
            lab=lab.name,
        )

    @classmethod
    def this_machine(cls) -> Self:
        """The host that wulf runs on, alone, without ssh."""
        name = socket.gethostname().partition(".")[0]
        return cls((Node(name if _NAME.fullmatch(name) else "localhost"),), launcher="local")


def expand(pattern: str) -> list[str]:
    """The names that a pattern in ClusterShell's syntax stands for, in its order.

    Raises
    ------
    UsageError
        The pattern can't be parsed, names an unknown group, or stands for nothing, or for too many.
    """
    try:
        names = names_in(pattern)
    except ValueError as error:
        raise UsageError(f"{pattern!r} is not a node set: {error}", "examples: n[1-4]   a1,b[2-3]   @rack1") from error
    if not names:
        raise UsageError(f"the node set {pattern!r} is empty", "examples: n[1-4]   a1,b[2-3]   @rack1")
    return names


def parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """A network in CIDR; host bits are forgiven ("10.0.0.7/24" is 10.0.0.0/24)."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a network: {error}", "write it as 10.0.0.0/24") from error


def parse_networks(texts: Sequence[str]) -> tuple[str, str]:
    """Two networks to be compared, as CIDR.

    Raises
    ------
    UsageError
        They are not two, one is none, or they overlap.
    """
    if len(texts) != 2:
        raise UsageError(f"{len(texts)} networks can't be compared", "give two: --networks 10.0.0.0/24 10.1.0.0/24")
    first, second = (parse_network(text) for text in texts)
    if first.version == second.version and first.overlaps(second):
        raise UsageError(
            f"{first} and {second} overlap", "name two networks in which the nodes have different addresses"
        )
    return str(first), str(second)


def did_you_mean(unknown: Sequence[str], known: Sequence[str]) -> str:
    """The known names that are spelt like the unknown ones; or all known names, folded."""
    close = {match: None for name in unknown for match in difflib.get_close_matches(name, known, n=3)}
    if close:
        return f"did you mean {', '.join(close)}?"
    from ClusterShell.NodeSet import NodeSet

    return f"there are {NodeSet.fromlist(known)}"
