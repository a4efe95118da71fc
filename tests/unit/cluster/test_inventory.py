"""Inventories: from node sets, labs, this machine; picking nodes; what is refused."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from wulf.cluster.inventory import Inventory, Node, parse_network, parse_networks
from wulf.core.errors import UsageError


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("n[1-4]", ["n1", "n2", "n3", "n4"]),
        ("n[01-03]", ["n01", "n02", "n03"]),
        ("a1,b[2-3]", ["a1", "b2", "b3"]),
        ("n[1-4]!n3", ["n1", "n2", "n4"]),
        ("rack[1-2]n[1-2]", ["rack1n1", "rack1n2", "rack2n1", "rack2n2"]),
        ("n1,n1", ["n1"]),
    ],
)
def test_node_sets(pattern, names):
    inventory = Inventory.from_nodeset(pattern)
    assert list(inventory.names) == names
    assert inventory.launcher == "ssh"


def test_pick_keeps_the_order_asked_for():
    inventory = Inventory.from_nodeset("n[1-4]")
    assert [str(node) for node in inventory.pick(["n3", "n1"])] == ["n3", "n1"]


def test_unknown_nodes_are_all_named_with_what_is_spelt_alike():
    with pytest.raises(UsageError, match="not in the inventory: nx3, zebra") as caught:
        Inventory.from_nodeset("node[1-4]").pick(["node1", "nx3", "zebra"])
    assert caught.value.next_step == "there are node[1-4]"
    with pytest.raises(UsageError, match="not in the inventory: nde1") as caught:
        Inventory.from_nodeset("node[1-4]").pick(["nde1"])
    assert caught.value.next_step.startswith("did you mean node1")


def test_no_node_and_a_node_twice():
    with pytest.raises(UsageError, match="has no nodes"):
        Inventory(())
    with pytest.raises(UsageError, match="more than once in the inventory: n1"):
        Inventory((Node("n1"), Node("n2"), Node("n1")))


@pytest.mark.parametrize("name", ["", "-oProxyCommand=x", "n1>n2", "n 1", "n1;reboot", "$(x)", "ü"])
def test_names_that_are_none(name):
    with pytest.raises(UsageError, match="is not a node name"):
        Node(name)


@pytest.mark.parametrize("destination", ["-oProxyCommand=x", "", "a b"])
def test_ssh_destinations_that_are_none(destination):
    with pytest.raises(UsageError, match=r"n1: .* is not an ssh destination"):
        Node("n1", ssh=destination)


def test_the_destination_is_the_name_unless_given():
    assert Node("n1").destination == "n1"
    assert Node("n1", ssh="admin@n1.example").destination == "admin@n1.example"


def test_networks():
    assert str(parse_network("10.0.0.7/24")) == "10.0.0.0/24"
    assert str(parse_network("fd00::/64")) == "fd00::/64"
    with pytest.raises(UsageError, match=r"'10\.0\.0\.0/40' is not a network"):
        Inventory((Node("n1"),), network="10.0.0.0/40")


@dataclass
class Lab:
    """As `wulf.lab.Lab` appears to an inventory."""

    backend: str
    name: str = "wulf-1"
    ssh_config: Path | None = Path("/state/ssh_config")
    nodes: tuple = field(default_factory=lambda: (Node("n1", "10.7.0.1"), Node("n2", "10.7.0.2")))


def test_a_lab_is_reached_with_its_own_ssh_configuration():
    inventory = Inventory.from_lab(Lab("netns"))
    assert (inventory.launcher, inventory.lab) == ("lab", "wulf-1")
    assert inventory.ssh_config == Path("/state/ssh_config")
    assert inventory.nodes == (Node("n1", "10.7.0.1"), Node("n2", "10.7.0.2"))


def test_a_loopback_lab_needs_no_ssh():
    assert Inventory.from_lab(Lab("loopback")).ssh_config is None


def test_this_machine(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "head.example.org")
    inventory = Inventory.this_machine()
    assert (inventory.names, inventory.launcher) == (("head",), "local")


def test_the_same_nodes_over_another_network():
    cluster = Inventory((Node("n1", address="10.0.0.1", ssh="u@n1"), Node("n2")), network="10.0.0.0/24")
    other = cluster.on("10.1.0.7/24")
    assert other.network == "10.1.0.0/24" and [node.address for node in other.nodes] == [None, None]
    assert other.names == cluster.names and other.nodes[0].ssh == "u@n1"
    for here in (Inventory.this_machine(), Inventory((Node("n1"),), launcher="lab")):
        with pytest.raises(UsageError, match="processes of this machine"):
            here.on("10.1.0.0/24")


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["10.0.0.0/24"], "1 networks"),
        (["10.0.0.0/24", "ten"], "'ten' is not a network"),
        (["10.0.0.0/24", "10.0.0.0/16"], "overlap"),
        (["10.0.0.1/24", "10.0.0.2/24"], "overlap"),
    ],
)
def test_networks_that_can_not_be_compared(texts, why):
    assert parse_networks(["10.0.0.1/24", "fd00::/64"]) == ("10.0.0.0/24", "fd00::/64")
    with pytest.raises(UsageError, match=why):
        parse_networks(texts)
