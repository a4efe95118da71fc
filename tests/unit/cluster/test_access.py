"""A command's access to its nodes: one agent a node, however many parts of it ask."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from wulf.cluster import access as accessing
from wulf.cluster.access import Access
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.launcher import Opened
from wulf.cluster.launchers.null import NullLauncher
from wulf.cluster.programs import Program
from wulf.cluster.simulated.cluster import SimulatedCluster
from wulf.core.errors import NodeError


class Recording(NullLauncher):
    """Says on which nodes a program was opened, time by time."""

    def __init__(self, inventory: Inventory, cluster: SimulatedCluster) -> None:
        super().__init__(inventory, cluster)
        self.opened: list[list[str]] = []

    def open(self, nodes: Iterable[Node], program: Program, timeout: float = 30.0) -> Opened:
        asked = list(nodes)
        self.opened.append([node.name for node in asked])
        return super().open(asked, program, timeout)


@pytest.fixture
def access(monkeypatch: pytest.MonkeyPatch) -> Access:
    monkeypatch.setattr(accessing, "agent_program", lambda: Program("wulf-agent", Path("x"), "0" * 64, python=True))
    inventory = Inventory.from_nodeset("n[1-3]", launcher="null")
    return Access(inventory, Recording(inventory, SimulatedCluster(inventory.names, unreachable={"n3": "is down"})))


def opened(access: Access) -> list[list[str]]:
    assert isinstance(access.launcher, Recording)
    return access.launcher.opened


def test_an_agent_is_shared_and_ends_with_the_last_that_has_it(access: Access) -> None:
    with access.agents() as first:
        assert (list(first.sessions), list(first.failed)) == (["n1", "n2"], ["n3"])
        with access.pick(["n2"]).agents() as second:
            assert second.sessions == {"n2": first.sessions["n2"]}
        assert all(session.alive for session in first.sessions.values())
    assert not any(session.alive for session in first.sessions.values())
    assert opened(access) == [["n1", "n2", "n3"]]
    with access.pick(["n2"]).agents() as third:
        assert third.sessions["n2"].alive
    assert opened(access)[1:] == [["n2"]]


def test_one_that_died_is_started_again(access: Access) -> None:
    few = access.pick(["n1", "n2"])
    with few.every_agent() as first:
        first["n1"].kill()
        assert first["n1"].wait_ended(5)
        with few.every_agent() as second:
            assert second["n2"] is first["n2"]
            assert second["n1"].alive
        assert not second["n1"].alive
        assert first["n2"].alive
    assert opened(access) == [["n1", "n2"], ["n1"]]


def test_where_every_node_is_needed_one_without_an_agent_is_named_and_none_is_left(access: Access) -> None:
    with pytest.raises(NodeError, match="n3"), access.every_agent():
        pass
    with access.pick(["n1"]).agents() as again:
        assert again.sessions["n1"].alive
    assert opened(access) == [["n1", "n2", "n3"], ["n1"]]
