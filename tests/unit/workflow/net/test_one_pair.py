"""Two configurations of a pair: over two of the nodes' networks, each cell has its server's address there."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.sessions import Answering
from wulf.cluster.access import Access
from wulf.cluster.inventory import Inventory
from wulf.core.errors import UsageError
from wulf.measure.engine.plan import Cell
from wulf.measure.engine.probes import Metric, Probe
from wulf.stats.comparison import versus_rule
from wulf.workflow.engine.connect import Connected
from wulf.workflow.engine.effort import Effort
from wulf.workflow.engine.study import Conditions
from wulf.workflow.net.one_pair import Versus

FIRST = {"n1": "10.0.0.1", "n2": "10.0.0.2"}
PROBE: Any = Probe


def addresses_of(node: str) -> Answering:
    """An agent of a node with two interfaces."""
    own = [{"address": f"10.{net}.0.{node[1:]}"} for net in (0, 1)]
    return Answering(lambda op, **_: {"ok": True, "addresses": own})


def cells(network: str | None, answered: Mapping[str, str] = FIRST) -> list[Cell]:
    inventory = Inventory.from_nodeset("n[1-2]")
    given = Conditions(inventory, Effort(), SimpleNamespace(), 1)  # type: ignore[arg-type]
    arm = Cell(0, "n1", "n2", "tcp", "stream", {}, (Metric("throughput", "B/s"),), "A")
    study = Versus(given, (arm, arm), versus_rule(), network)
    sessions: Any = {node: addresses_of(node) for node in answered}
    access = Access(inventory, SimpleNamespace())  # type: ignore[arg-type]
    access._agents.update({node: SimpleNamespace(session=one, users=1) for node, one in sessions.items()})
    connected = Connected(sessions, dict(answered))
    with study.attach(connected, access):
        return list(study.cells(connected, PROBE))


def test_each_arm_is_measured_at_its_networks_address() -> None:
    made = cells("10.1.0.0/24")
    assert [cell.address for cell in made] == ["10.0.0.2", "10.1.0.2"]
    assert [cell.about for cell in made] == [{"address": "10.0.0.2"}, {"address": "10.1.0.2"}]


def test_without_a_second_network_all_is_as_before() -> None:
    assert [(cell.address, cell.about) for cell in cells(None)] == [(None, {}), (None, {})]


def test_one_network_twice_and_one_that_the_nodes_lack_are_refused() -> None:
    with pytest.raises(UsageError, match=r"n2 is reached at 10\.0\.0\.2 in both"):
        cells("10.0.0.0/24")
    with pytest.raises(UsageError, match=r"no address within 10\.7\.0\.0/24"):
        cells("10.7.0.0/24")
