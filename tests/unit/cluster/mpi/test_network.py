"""The network that MPI is told to use, where nodes have several."""

import pytest

from tests.unit.sessions import Answering
from wulf.cluster.inventory import Inventory, Node
from wulf.cluster.mpi.network import common_network
from wulf.cluster.mpi.reach import host_of


def agent(*addresses):
    """Of a node with these: "eth0 10.0.0.1/24"."""
    rows = [text.replace("/", " ").split() for text in addresses]
    return Answering(
        {
            "addresses": [
                {"interface": name, "address": address, "prefix": int(prefix), "family": "inet"}
                for name, address, prefix in rows
            ]
        }
    )


def found(agents, network=None, given=None):
    nodes = tuple(Node(name, address=(given or {}).get(name)) for name in agents)
    return common_network(Inventory(nodes, network=network), nodes, agents)


def test_one_network_need_not_be_named():
    assert found({"n1": agent("eth0 10.0.0.1/24"), "n2": agent("eth0 10.0.0.2/24")}) == (None, None)


def test_the_given_network_and_its_interface():
    agents = {"n1": agent("eth0 10.0.0.1/24", "ib0 10.1.0.1/16"), "n2": agent("eth0 10.0.0.2/24", "ib0 10.1.0.2/16")}
    assert found(agents, "10.1.0.0/16") == ("10.1.0.0/16", "ib0")
    agents["n2"] = agent("ib1 10.1.0.2/16")
    assert found(agents, "10.1.0.0/16") == ("10.1.0.0/16", None)


def test_a_bridge_of_containers_is_not_a_network_between_nodes():
    agents = {
        "n1": agent("eth0 10.0.0.1/24", "docker0 172.17.0.1/16"),
        "n2": agent("eth0 10.0.0.2/24", "docker0 172.17.0.1/16"),
    }
    assert found(agents) == ("10.0.0.0/24", "eth0")


def test_of_two_networks_the_one_of_the_given_addresses():
    agents = {"n1": agent("eth0 10.0.0.1/24", "ib0 10.1.0.1/16"), "n2": agent("eth0 10.0.0.2/24", "ib0 10.1.0.2/16")}
    assert found(agents) == (None, None)  # MPI may use both
    assert found(agents, given={"n1": "10.1.0.1", "n2": "10.1.0.2"}) == ("10.1.0.0/16", "ib0")
    assert found(agents, given={"n1": "a-name", "n2": "10.1.0.2"}) == ("10.1.0.0/16", "ib0")


@pytest.mark.parametrize(
    ("node", "host"),
    [
        (Node("n1"), "n1"),
        (Node("n1", ssh="root@n1.cluster"), "n1.cluster"),
        (Node("n1", ssh="ssh://root@n1.cluster:2222"), "n1.cluster"),
        (Node("n1", ssh="ssh://10.0.0.1:2222"), "10.0.0.1"),
    ],
)
def test_what_other_nodes_call_a_node(node, host):
    assert host_of(node) == host
