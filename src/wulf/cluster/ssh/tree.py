"""ssh in two steps: to a few gateways, and from each to the nodes of its branch.

The controller then holds one connection a gateway rather than one a node, and the programs are copied once to each
gateway, which hands them on. ClusterShell's TreeWorker runs commands in this way, but keeps what they say until they
end: a session is a conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from wulf.cluster.channel import Exit
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Opened, close_sessions, collected
from wulf.cluster.programs import Program, agent_program
from wulf.cluster.session import Session
from wulf.cluster.ssh.direct import OPTIONS, SshLauncher
from wulf.cluster.ssh.relay import Gateway
from wulf.cluster.ssh.scripts import FALLBACK, HOME, NO_PLACE, NodeCommand
from wulf.cluster.ssh.words import explain_copy
from wulf.core.errors import NodeError


class TreeLauncher(SshLauncher):
    """OpenSSH by way of the inventory's gateways, which reach the other nodes with their own configuration of ssh.

    A gateway that can't be used is passed over, with a note; the nodes of its branch are reached directly.
    """

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        known = {node.name: node for node in inventory.nodes}
        config = ("-F", inventory.gateway_ssh_config) if inventory.gateway_ssh_config else ()
        self._onward = ("ssh", *config, *OPTIONS, "--")
        self._heads = [known.get(name, Node(name)) for name in inventory.gateways]
        leaves = [node.name for node in inventory.nodes if node.name not in inventory.gateways]
        self._head = {name: self._heads[i * len(self._heads) // len(leaves)].name for i, name in enumerate(leaves)}
        self._gateways: dict[str, Gateway] | None = None
        self._without: dict[str, str] = {}
        self._handed: dict[tuple[str, str], asyncio.Task[None]] = {}

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        if self._gateways is None:
            opened = super().open(self._heads, agent_program(), timeout)
            self._gateways = {name: Gateway(session) for name, session in opened.sessions.items()}
            self._without = {name: error.what for name, error in opened.failed.items()}
        self._handed.clear()  # tasks belong to one loop; a second copy does no harm
        return super().open(nodes, program, timeout)

    def _gateway(self, node: Node) -> Gateway | None:
        """Of a node; None where it is reached directly."""
        head = self._head.get(node.name, "")
        gateway = (self._gateways or {}).get(head)
        if head and gateway is None and self._gateways is not None:
            self.notes[node.name] = f"reached directly, since its gateway can't be used: {self._without.get(head)}"
        return gateway

    async def _start(self, node: Node, program: Program) -> Session:
        gateway = self._gateway(node)
        if gateway is None:
            return await super()._start(node, program)
        channel = gateway.channel((*self._onward, node.destination, NodeCommand(program).start))
        launched = program.hello is not None
        explain = self.explanation(node, program)
        return await self.greeted(Session(node, program.speaker, channel, explain, launched=launched))

    async def _copy_to(self, place: str, node: Node, program: Program) -> tuple[Exit, Sequence[str]]:
        gateway = self._gateway(node)
        if gateway is None:
            return await super()._copy_to(place, node, program)
        head = gateway.session.node
        if (key := (head.name, program.digest)) not in self._handed:
            self._handed[key] = asyncio.create_task(self._hand_over(head, program))
        await asyncio.shield(self._handed[key])
        argv = (*self._onward, node.destination, NodeCommand(program).copy(place))
        end, _, stderr = await collected(gateway.channel(argv, f"{program.name}-{program.digest}"))
        return end, stderr

    async def _hand_over(self, head: Node, program: Program) -> None:
        """Bring a program into a gateway's cache, to be handed on: not tried there, where it may not run at all."""
        file = replace(program, python=True)
        for place in (HOME, FALLBACK):
            end, stderr = await super()._copy_to(place, head, file)
            if end.status != NO_PLACE:
                break
        if end.status != 0:
            what, next_step = explain_copy(end, program, stderr)
            raise NodeError(head.name, f"as a gateway: {what}", next_step)

    def close(self, grace: float = 2.0) -> None:
        """The branches first: a gateway that is gone takes its branch with it, unasked."""
        heads = {id(gateway.session) for gateway in (self._gateways or {}).values()}
        close_sessions([session for session in self._sessions if id(session) not in heads], grace)
        self._gateways = None
        super().close(grace)
