"""Programs started over ssh, from a private cache on each node.

A normal start is one connection: the node checks its machine and the digest of its copy, and becomes the program.
Where the copy is missing, a second connection brings it, once per node and version. Nothing is taken from the
environment or the arguments that a key could be read from, and no check of ssh is weakened.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launchers.base import Launcher, Opened, ProcessLauncher
from wulf.cluster.node_scripts import FALLBACK, HOME, NEEDS_COPY, NO_PLACE, WRONG_ARCH, NodeCommand
from wulf.cluster.programs import Program
from wulf.cluster.session import Session, SessionLost
from wulf.cluster.ssh_words import SSH_FAILED, arch_of, explain_copy, explain_ssh
from wulf.core.errors import NodeError, UsageError

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


class SshLauncher(ProcessLauncher):
    """OpenSSH, with the user's configuration or the inventory's."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        config = ("-F", str(inventory.ssh_config)) if inventory.ssh_config else ()
        self._ssh = ("ssh", *config, *OPTIONS, "--")

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        if shutil.which("ssh") is None:
            raise UsageError("this machine has no ssh", "install OpenSSH's client: apt install openssh-client")
        return super().open(nodes, program, timeout)

    async def connect(self, node: Node, program: Program) -> Session:
        try:
            return await self._start(node, program)
        except SessionLost as lost:
            if lost.end.status == WRONG_ARCH and (other := program.for_arch(arch_of(lost.stderr))):
                return await self.connect(node, other)
            if lost.end.status != NEEDS_COPY:
                raise
        await self._copy(node, program)
        return await self._start(node, program)

    async def _start(self, node: Node, program: Program) -> Session:
        argv = (*self._ssh, node.destination, NodeCommand(program).start)
        return await self.launch(node, program, argv, explain_ssh(node, program))

    async def _copy(self, node: Node, program: Program) -> None:
        """Bring the program into the node's cache; into /tmp where its home can't take it."""
        end, stderr = await self._copy_to(HOME, node, program)
        if end.status == NO_PLACE:
            in_home, _ = explain_copy(end, program, stderr)
            end, stderr = await self._copy_to(FALLBACK, node, program)
            if end.status == NO_PLACE:
                what, next_step = explain_copy(end, program, stderr)
                raise NodeError(node.name, f"{program.name} has no place there: {in_home}; and {what}", next_step)
            if end.status == 0:
                self.notes[node.name] = f"{program.name} is kept in /tmp there: {in_home}"
        if end.status == SSH_FAILED:
            raise NodeError(node.name, *explain_ssh(node, program)(end, stderr, False))
        if end.status != 0:
            raise NodeError(node.name, *explain_copy(end, program, stderr))

    async def _copy_to(self, place: str, node: Node, program: Program) -> tuple[Exit, list[str]]:
        argv = (*self._ssh, node.destination, NodeCommand(program).copy(place))
        end, _, stderr = await self.complete(argv, program.path)
        return end, stderr


def LAUNCHER(inventory: Inventory) -> Launcher:  # noqa: N802 - the name that every launcher's module has
    """Directly, or by way of the inventory's gateways."""
    if inventory.gateways:
        from wulf.cluster.tree import TreeLauncher

        return TreeLauncher(inventory)
    return SshLauncher(inventory)
