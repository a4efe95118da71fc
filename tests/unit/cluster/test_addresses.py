"""Where the probes meet: the order in which addresses are chosen."""

import socket
import threading
from pathlib import Path

import pytest

from tests.unit.sessions import Answering
from wulf.cluster.addresses import data_addresses
from wulf.cluster.inventory import Inventory, Node
from wulf.core.errors import NodeError, UsageError


def agent_with(*addresses):
    rows = [{"interface": "eth0", "address": a, "prefix": 24, "family": "inet"} for a in addresses]
    return Answering({"ok": True, "addresses": rows})


@pytest.fixture(autouse=True)
def names(monkeypatch):
    known = {"n1": ["192.0.2.1"], "lo": ["127.0.1.1"], "n1-ib": ["10.9.0.1"], "six": ["fe80::1%2", "fd00::6"]}

    def getaddrinfo(name, port, type=0):
        if name not in known:
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", (address, 0)) for address in known[name]]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def address(node, agent=None, **fields):
    inventory = Inventory((node,), **fields)
    return data_addresses(inventory, {node.name: agent} if agent else None)[node.name]


AGENT = agent_with("127.0.0.1", "fe80::2", "fd00::2", "172.16.0.2", "10.0.0.2")


def test_what_the_inventory_gives_comes_first():
    assert address(Node("n1", "10.1.1.1"), AGENT, network="10.0.0.0/24") == "10.1.1.1"
    assert address(Node("n1", "n1-ib"), AGENT) == "10.9.0.1"


def test_then_the_network_of_the_cluster():
    assert address(Node("n1"), AGENT, network="10.0.0.0/24") == "10.0.0.2"
    assert address(Node("n1"), AGENT, network="fd00::/64") == "fd00::2"
    assert address(Node("n1"), network="192.0.2.0/24") == "192.0.2.1"


def test_then_the_name_unless_it_is_loopback():
    assert address(Node("n1"), AGENT) == "192.0.2.1"
    assert address(Node("lo"), AGENT) == "172.16.0.2"


def test_then_the_first_global_address():
    assert address(Node("unknown"), AGENT) == "172.16.0.2"
    assert address(Node("unknown"), agent_with("fe80::2", "fd00::2")) == "fd00::2"


def test_a_link_local_address_is_of_no_use():
    assert address(Node("six")) == "fd00::6"


def test_nodes_that_are_this_machine_meet_on_loopback():
    assert address(Node("n1"), AGENT, launcher="local") == "127.0.0.1"
    assert address(Node("n1"), AGENT, launcher="lab") == "127.0.0.1"
    assert address(Node("n1"), launcher="lab", ssh_config=Path("x")) == "192.0.2.1"
    assert address(Node("n1", "127.0.0.9"), launcher="lab") == "127.0.0.9"


def test_no_address():
    with pytest.raises(UsageError, match="unknown: no address for the probes") as caught:
        address(Node("unknown"))
    assert "[node.unknown] address" in caught.value.next_step
    with pytest.raises(UsageError, match=r"n1: .* 10\.8\.0\.0/16; .* 172\.16\.0\.2, 10\.0\.0\.2"):
        address(Node("n1"), AGENT, network="10.8.0.0/16")
    with pytest.raises(UsageError, match=r"n1: .*'n1-x' is no IP address"):
        address(Node("n1", "n1-x"))


def test_an_agent_that_fails_matters_only_where_nothing_else_is_known():
    broken = Answering(NodeError("n1", "netlink is out of order"))
    assert address(Node("n1"), broken) == "192.0.2.1"
    with pytest.raises(UsageError, match="netlink is out of order"):
        address(Node("unknown"), broken)


def test_an_agent_that_says_nothing_is_told():
    with pytest.raises(UsageError, match="asking its agent failed: no answer"):
        address(Node("unknown"), Answering(TimeoutError()))


def test_a_node_that_is_down_takes_nobody_with_it():
    inventory = Inventory((Node("n1"), Node("down"), Node("far", "10.0.0.9")))
    assert data_addresses(inventory, {"n1": AGENT}) == {"n1": "192.0.2.1", "far": "10.0.0.9"}
    assert data_addresses(inventory, {}) == {"n1": "192.0.2.1", "far": "10.0.0.9"}


def test_names_are_resolved_side_by_side(monkeypatch):
    """Each of two lookups waits until the other has begun: one after the other, neither would end."""
    both = threading.Barrier(2, timeout=60)

    def getaddrinfo(name, port, type=0):
        both.wait()
        return [(0, 0, 0, "", ("192.0.2.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert data_addresses(Inventory.from_nodeset("n[1-2]")) == {"n1": "192.0.2.7", "n2": "192.0.2.7"}
