"""Connecting: what is opened at the same time, and what after the other."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Event, Lock
from typing import Any

import pytest

from tests.unit.workflow.simulating import reach
from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Opened
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.workflow.engine import connect as connecting


class Recording(NullLauncher):
    """Says what was opened, and how many programs were being opened at once at most."""

    def __init__(self, *given: Any, together: int) -> None:
        super().__init__(*given)
        self.order: list[str] = []
        self._lock, self._there, self._together = Lock(), Event(), together

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        with self._lock:
            self.order.append(program.name)
            if len(self.order) >= self._together:
                self._there.set()
        assert self._there.wait(5), f"{program.name} was waited for alone"
        return super().open(nodes, program, timeout)


@pytest.mark.parametrize(("abreast", "together"), [(256, 2), (1, 1)])
def test_facts_are_read_while_the_probe_is_started_unless_there_are_many_nodes(
    monkeypatch: pytest.MonkeyPatch, abreast: int, together: int
) -> None:
    monkeypatch.setattr(connecting, "ABREAST", abreast)
    inventory = Inventory.from_nodeset("n[1-2]", launcher="null")
    launcher = Recording(inventory, SimulatedCluster(inventory.names), together=together)
    reach(monkeypatch, lambda _: launcher)
    with access_to(inventory) as access, connecting.connect(access, programs=("node",)) as connected:
        assert list(connected.sessions) == ["n1", "n2"]
        assert list(connected.others["node"]) == ["n1", "n2"]
        assert set(connected.fingerprint) == {"n1", "n2"}
    assert sorted(launcher.order) == ["wulf-agent", "wulf-net", "wulf-node"]
    if together == 1:
        assert launcher.order[0] == "wulf-agent"


def test_the_agents_that_read_the_facts_are_there_until_all_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    inventory = Inventory.from_nodeset("n[1-2]", launcher="null")
    launcher = Recording(inventory, SimulatedCluster(inventory.names), together=1)
    reach(monkeypatch, lambda _: launcher)
    with access_to(inventory) as access, connecting.connect(access) as connected:
        with access.every_agent() as agents:
            connected.settled()
            assert all(agent.alive for agent in agents.values())
        assert not any(agent.alive for agent in agents.values())
        assert all(session.alive for session in connected.sessions.values())
    assert sorted(launcher.order) == ["wulf-agent", "wulf-net"]
