"""A command's access to the nodes: one launcher, and one agent a node, shared by all parts of the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Launcher, Opened, close_sessions
from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import agent_program
from wulf.cluster.session import Session


@dataclass
class _Agent:
    """A node's agent, and how many blocks have it."""

    session: Session
    users: int = 0


@dataclass(frozen=True)
class Access:
    """The nodes of an inventory, as one command reaches them. Not for several threads at once.

    Attributes
    ----------
    inventory
        The nodes.
    launcher
        Starts programs there, and ends them with the command.
    """

    inventory: Inventory
    launcher: Launcher
    _agents: dict[str, _Agent] = field(default_factory=dict)

    def pick(self, names: Iterable[str]) -> Access:
        """The same access, to some of the nodes."""
        return replace(self, inventory=replace(self.inventory, nodes=self.inventory.pick(names)))

    def on(self, network: str) -> Access:
        """The same access, to the nodes' addresses in that network; raises as `Inventory.on`."""
        return replace(self, inventory=self.inventory.on(network))

    @contextmanager
    def agents(self, nodes: Sequence[Node] | None = None) -> Iterator[Opened]:
        """An agent on each of these nodes, or on all, for the length of the block.

        One that runs already is shared; it ends with the last block that has it.
        """
        asked = self.inventory.nodes if nodes is None else nodes
        lacking = [node for node in asked if not self._runs(node.name)]
        opened = self.launcher.open(lacking, agent_program()) if lacking else Opened()
        self._agents.update({name: _Agent(session) for name, session in opened.sessions.items()})
        had = {node.name: self._agents[node.name] for node in asked if node.name not in opened.failed}
        for agent in had.values():
            agent.users += 1
        try:
            yield replace(opened, sessions={name: agent.session for name, agent in had.items()})
        finally:
            for agent in had.values():
                agent.users -= 1
            close_sessions(agent.session for agent in had.values() if not agent.users)

    def _runs(self, name: str) -> bool:
        agent = self._agents.get(name)
        return agent is not None and agent.session.alive

    @contextmanager
    def every_agent(self, nodes: Sequence[Node] | None = None) -> Iterator[dict[str, Session]]:
        """As `agents`, node → session. Raises NodeError where one can't be reached."""
        with self.agents(nodes) as opened:
            for error in opened.failed.values():
                raise error
            yield opened.sessions


@contextmanager
def access_to(inventory: Inventory) -> Iterator[Access]:
    """Access to an inventory's nodes; what was started there ends with the block."""
    with make_launcher(inventory) as launcher:
        yield Access(inventory, launcher)
