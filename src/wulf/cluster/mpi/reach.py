"""Whether the first node reaches the others by ssh, as an MPI's launcher does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ClusterShell.NodeSet import NodeSet

from wulf.cluster.inventory import Node
from wulf.cluster.session import Session, last_words
from wulf.core.errors import NodeError

REACH_TIMEOUT = 300.0
"""Seconds for the first node to try all others; each may take 30 s, 32 of them at the same time."""

_DESTINATION = re.compile(r"(?:ssh://)?(?:[^@/]*@)?([^/]+?)(?::\d+)?$")


def host_of(node: Node) -> str:
    """What other nodes call a node: its ssh destination without user and port."""
    match = _DESTINATION.match(node.destination)
    return match[1] if match and match[1].count(":") == 0 else node.name


def check_reach(first: Session, others: Sequence[Node]) -> None:
    """Try ssh from the first node to all others.

    Raises
    ------
    NodeError
        It does not reach some of them without a password.
    """
    by_host = {host_of(node): node.name for node in others}
    failed: dict[str, Any] = first.request("mpi_reach", REACH_TIMEOUT, hosts=list(by_host))["failed"]
    if not failed:
        return
    names = [by_host[host] for host in failed]
    why = next(iter(failed.values()))
    raise NodeError(
        first.node.name,
        f"mpirun runs there and starts the other ranks by ssh, which does not reach {NodeSet.fromlist(names)}"
        f"{last_words(why['stderr'])}",
        f"on {first.node} this must work without a password: ssh -oBatchMode=yes {next(iter(failed))} true; "
        "or start the ranks with srun",
    )
