"""What a cluster costs: a bill computed by hand, steps of switches, racks and circuits, who builds it, its years."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from wulf.model.cost import KWH, YEAR
from wulf.model.design.prices import Build, CostStep, Fabric, Node, Running, Site, Switch, bill_of, switches_for


def over(*nodes: float) -> np.ndarray:
    return np.array(nodes, dtype=float)


def test_switches_come_in_steps() -> None:
    """One to as many nodes as it has ports; then half of the ports lead up: 9 nodes on 8 ports need 3 below and 2."""
    assert switches_for(over(1, 2, 8, 9, 16, 17, 32, 33, 128), 8).tolist() == [0, 1, 1, 5, 6, 8, 12, 23, 80]


def test_a_switch_level_has_the_ports_that_its_links_need() -> None:
    """Uplinks of all lower switches fit into the ports of the level above: at full bisection, for every number."""
    for ports in (4, 8, 24, 36):
        for nodes in range(ports + 1, ports**2 // 2 + 1):
            lower, upper = -(-nodes // (ports // 2)), -(-nodes // ports)
            assert lower * (ports // 2) <= upper * ports
            assert switches_for(over(nodes), ports)[0] == lower + upper


def test_more_nodes_never_need_fewer_switches() -> None:
    nodes = np.arange(1.0, 20_001.0)
    for ports in (4, 8, 48, 64):
        counts = switches_for(nodes, ports)
        finite = counts[np.isfinite(counts)]
        assert (np.diff(finite) >= 0).all()
        assert np.isfinite(counts[: finite.size]).all()


def test_the_cheapest_kind_of_switch_counts_and_its_watts() -> None:
    fabric = Fabric("f", switches=(Switch(8, 100.0, 20.0), Switch(24, 400.0, 60.0)))
    prices, watts = fabric.switching(over(1, 8, 9, 24))
    assert prices.tolist() == [0.0, 100.0, 400.0, 400.0]
    assert watts.tolist() == [0.0, 20.0, 60.0, 60.0]


def test_switches_that_connect_too_few_are_no_design_even_for_nothing() -> None:
    prices, _ = Fabric("f", switches=(Switch(4, 0.0),)).switching(over(512, 513))
    assert prices.tolist() == [0.0, inf]


def test_a_bill_by_hand() -> None:
    """Ten nodes: two racks of eight, 1,120 W on circuits of 500, one file server."""
    site = Site(
        (CostStep("server", 800.0), CostStep("racks", 300.0, nodes=8), CostStep("circuits", 50.0, watts=500.0)),
        (Build("own", price=200.0, node=30.0), Build("turn-key", share=0.1)),
        Running(years=3.0, use=0.5, joule=0.2 / KWH, cooling=1.5, yearly=100.0, node=10.0),
    )
    fabric = Fabric("f", port=40.0, watts=2.0, switches=(Switch(16, 250.0, 100.0),))
    bill = bill_of(Node("n", 1000.0, 100.0), fabric, site, over(10))
    assert {name: float(part[0]) for name, part in bill.parts.items()} == {
        "nodes": 10_000.0, "ports": 400.0, "switches": 250.0, "server": 800.0, "racks": 600.0, "circuits": 150.0,
    }  # fmt: skip
    assert bill.watts.tolist() == [1120.0]
    assert {name: float(one[0]) for name, one in bill.builds.items()} == {"own": 500.0, "turn-key": 1220.0}
    assert bill.price.tolist() == [12_700.0]
    energy = 1120 * 1.5 * 0.5 * 3 * YEAR / KWH * 0.2
    assert bill.running[0] == pytest.approx(energy + 3 * (100 + 10 * 10))
    assert bill.owned[0] == pytest.approx(12_700 + bill.running[0])


def test_a_single_node_has_no_network() -> None:
    bill = bill_of(Node("n", 1000.0), Fabric("f", 40.0, 5.0, (Switch(8, 99.0),)), Site(), over(1, 2))
    assert bill.price.tolist() == [1000.0, 2179.0]
    assert bill.watts.tolist() == [0.0, 10.0]


def test_whoever_is_cheaper_builds_it() -> None:
    """Own labour of 400 at once, or a tenth of all: the same at four nodes of 1,000."""
    site = Site(builds=(Build("own", price=400.0), Build("turn-key", share=0.1)))
    bill = bill_of(Node("n", 1000.0), Fabric("f"), site, over(3, 4, 5))
    assert bill.building.tolist() == [300.0, 400.0, 400.0]
