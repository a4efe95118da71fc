"""Programs started over ssh: directly, or by way of the inventory's gateways."""

from __future__ import annotations

from wulf.cluster.inventory import Inventory
from wulf.cluster.launcher import Launcher
from wulf.cluster.ssh.direct import SshLauncher


def LAUNCHER(inventory: Inventory) -> Launcher:  # noqa: N802 - the name that every launcher's module has
    """Directly, or by way of the inventory's gateways."""
    if inventory.gateways:
        from wulf.cluster.ssh.tree import TreeLauncher

        return TreeLauncher(inventory)
    return SshLauncher(inventory)
