"""What all commands on one pair of nodes share: the two nodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wulf.cli.options import inventory_of

if TYPE_CHECKING:
    from wulf.cluster.inventory import Inventory


@contextmanager
def pair_inventory(client: str, server: str, where: dict[str, Any]) -> Iterator[Inventory]:
    """The two nodes; where nothing says where they are, ssh knows them by these names."""
    if not any(where.get(source) for source in ("nodes", "inventory_file", "hostfile", "lab")):
        where["nodes"] = f"{client},{server}"
    with inventory_of(**where) as inventory:
        yield replace(inventory, nodes=inventory.pick(dict.fromkeys((client, server))))
