"""Which nodes a request means, and how they are reached."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from wulf.cluster import cluster_toml, hostfile
from wulf.cluster.inventory import Inventory, expand


def nodes_meant(
    nodes: str | None, inventory_file: Path | None = None, host_list: Path | None = None, **how: Any
) -> Inventory:
    """The nodes of a set, a cluster.toml or an MPI hostfile; those of both that the set names; none: this machine.

    Parameters
    ----------
    how
        Fields of the inventory in the place of what the file says: launcher, network, ssh_config.

    Raises
    ------
    UsageError
        The set or a file can't be read, or the file lacks a node of the set.
    """
    if inventory_file is not None:
        chosen = cluster_toml.read(inventory_file)
    elif host_list is not None:
        chosen = hostfile.read(host_list)
    else:
        return replace(Inventory.from_nodeset(nodes) if nodes else Inventory.this_machine(), **how)
    if nodes is not None:
        how["nodes"] = chosen.pick(expand(nodes))
    return replace(chosen, **how)
