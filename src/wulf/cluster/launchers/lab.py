"""The nodes of a lab: ssh with the lab's configuration. A loopback lab has no sshd; its nodes are this machine."""

from __future__ import annotations

from collections.abc import Iterable

from wulf import lab
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Launcher, Opened
from wulf.cluster.launchers.local import LocalLauncher
from wulf.cluster.launchers.ssh import LAUNCHER as SSH
from wulf.cluster.programs import Program
from wulf.cluster.ssh.direct import SshLauncher

MACHINES_START_S = 300.0
"""As long as an emulated processor on a busy host may take for a login, three megabytes of program, and its start."""


class MachinesLauncher(SshLauncher):
    """Virtual machines, which are given their time."""

    patience = ("-oConnectTimeout=60", "-oServerAliveInterval=20")

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = MACHINES_START_S) -> Opened:
        return super().open(nodes, program, timeout)


def LAUNCHER(inventory: Inventory) -> Launcher:  # noqa: N802 - the name that every launcher's module has
    """The launcher that reaches the lab's nodes."""
    if not inventory.ssh_config:
        return LocalLauncher(inventory)
    made = lab.find(inventory.lab)
    return MachinesLauncher(inventory) if made and made.backend == "qemu" else SSH(inventory)
