"""Programs started over ssh, from a private cache on each node (`cached`).

Nothing is taken from the environment or the arguments that a key could be read from, and no check of ssh is weakened.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Opened
from wulf.cluster.programs import Program
from wulf.cluster.session import Explain
from wulf.cluster.ssh.cached import CachedLauncher
from wulf.cluster.ssh.words import SSH_FAILED, explain_ssh
from wulf.core.errors import UsageError

CONNECT_TIMEOUT = 10
"""Seconds until a node that does not answer counts as unreachable."""

# Options given here come before the user's ssh_config. None of them touches StrictHostKeyChecking or the keys.
OPTIONS = (
    "-T",
    "-oBatchMode=yes",  # nobody is there to be asked
    f"-oConnectTimeout={CONNECT_TIMEOUT}",
    "-oServerAliveInterval=5",  # a node that loses power says nothing: noticed after 15 s
    "-oServerAliveCountMax=3",
    "-oForwardAgent=no",
    "-oForwardX11=no",
    "-oClearAllForwardings=yes",
    "-oControlMaster=no",  # use a connection that is there already, but leave none behind
    "-oLogLevel=INFO",  # why a connection ended is told at this level
)


class SshLauncher(CachedLauncher):
    """OpenSSH, with the user's configuration or the inventory's."""

    patience: tuple[str, ...] = ()
    """Options of ssh for nodes that are slower than any other: the first one given counts (ssh(1))."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        config = ("-F", str(inventory.ssh_config)) if inventory.ssh_config else ()
        self._ssh = ("ssh", *config, *self.patience, *OPTIONS, "--")

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        if shutil.which("ssh") is None:
            raise UsageError("this machine has no ssh", "install OpenSSH's client: apt install openssh-client")
        return super().open(nodes, program, timeout)

    def remote(self, node: Node, command: str) -> Sequence[str]:
        return (*self._ssh, node.destination, command)

    def explanation(self, node: Node, program: Program) -> Explain:
        return explain_ssh(node, program)

    def way_failed(self, end: Exit) -> bool:
        return end.status == SSH_FAILED
