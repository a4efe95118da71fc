"""The nodes of a lab: ssh with the lab's configuration. A loopback lab has no sshd; its nodes are this machine."""

from __future__ import annotations

from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers.base import Launcher
from wulf.cluster.launchers.local import LocalLauncher
from wulf.cluster.launchers.ssh import LAUNCHER as SSH


def LAUNCHER(inventory: Inventory) -> Launcher:  # noqa: N802 - the name that every launcher's module has
    """The launcher that reaches the lab's nodes."""
    return SSH(inventory) if inventory.ssh_config else LocalLauncher(inventory)
