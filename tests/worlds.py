"""Ranks over an inventory that nothing else has access to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.cluster.mpi import World, WorldSpec, open_world


@contextmanager
def world_of(inventory: Inventory, spec: WorldSpec, say: Callable[[str], None] = lambda _: None) -> Iterator[World]:
    """The ranks, for the length of the block."""
    with access_to(inventory) as access, open_world(access, spec, say) as world:
        yield world
