"""ssh in two steps: to a few gateways, and from each to the nodes of its branch.

The controller then holds one connection a gateway rather than one a node, and the programs are copied once to each
gateway, which hands them on. ClusterShell's TreeWorker runs commands in this way, but keeps what they say until they
end: a session is a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from threading import Lock

from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Ended, Opened, Turn, close_sessions, ended
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
        self._handed: dict[tuple[str, str], Future[None]] = {}
        self._once = Lock()  # sessions may be opened on several threads

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        with self._once:
            if self._gateways is None:
                opened = super().open(self._heads, agent_program(), timeout)
                self._gateways = {name: Gateway(session) for name, session in opened.sessions.items()}
                self._without = {name: error.what for name, error in opened.failed.items()}
        return super().open(nodes, program, timeout)

    def _gateway(self, node: Node) -> Gateway | None:
        """Of a node; None where it is reached directly."""
        head = self._head.get(node.name, "")
        gateway = (self._gateways or {}).get(head)
        if head and gateway is None and self._gateways is not None:
            self.notes[node.name] = f"reached directly, since its gateway can't be used: {self._without.get(head)}"
        return gateway

    def _start(self, node: Node, program: Program, turn: Turn) -> Session:
        gateway = self._gateway(node)
        if gateway is None:
            return super()._start(node, program, turn)
        channel = gateway.channel((*self._onward, node.destination, NodeCommand(program).start))
        return self.launch(node, program, channel, self.explanation(node, program), turn)

    def _copy_to(self, place: str, node: Node, program: Program, turn: Turn) -> Ended:
        gateway = self._gateway(node)
        if gateway is None:
            return super()._copy_to(place, node, program, turn)
        self._hand_over(gateway.session.node, program, turn)
        argv = (*self._onward, node.destination, NodeCommand(program).copy(place))
        return ended(gateway.channel(argv, f"{program.name}-{program.digest}"), turn)

    def _hand_over(self, head: Node, program: Program, turn: Turn) -> None:
        """Have a program in a gateway's cache: the first node of its branch that needs it brings it there."""
        mine: Future[None] = Future()
        with self._once:
            handed = self._handed.setdefault((head.name, program.digest), mine)
        if handed is not mine:
            turn.wait(handed, lambda: None)
            return
        try:
            self._bring(head, program, turn)
        except BaseException as error:
            del self._handed[head.name, program.digest]  # the next one tries again
            mine.set_exception(error)
            raise
        mine.set_result(None)

    def _bring(self, head: Node, program: Program, turn: Turn) -> None:
        """To be handed on: it is not tried there, where it may not run at all."""
        file = replace(program, python=True)
        for place in (HOME, FALLBACK):
            copied = super()._copy_to(place, head, file, turn)
            if copied.end.status != NO_PLACE:
                break
        if copied.end.status != 0:
            what, next_step = explain_copy(copied.end, program, copied.stderr)
            raise NodeError(head.name, f"as a gateway: {what}", next_step)

    def close(self, grace: float = 2.0) -> None:
        """The branches first: a gateway that is gone takes its branch with it, unasked."""
        heads = {id(gateway.session) for gateway in (self._gateways or {}).values()}
        close_sessions([session for session in self._sessions if id(session) not in heads], grace)
        self._gateways = None
        super().close(grace)
