"""A launch tree in a lab: two gateways, and two nodes that are reached through them alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.conftest import ssh
from tests.processes import wait_until
from wulf import lab
from wulf.cluster.access import access_to
from wulf.cluster.inventory import Inventory
from wulf.cluster.launchers import make_launcher
from wulf.cluster.programs import find_program
from wulf.workflow.engine.connect import connect

pytestmark = pytest.mark.lab

CONFIG = "/run/home/ssh_config"
HEADS = ("n1", "n2")


def put(made: lab.Lab, node: str, path: str, content: str) -> None:
    command = ["ssh", "-F", str(made.ssh_config), node, f"umask 077; cat >{path}"]
    subprocess.run(command, input=content, text=True, check=True, timeout=60)


def onward(made: lab.Lab) -> str:
    """A configuration for the gateways: as this machine's, with their own key, and without its ProxyCommand."""
    lines = Path(made.ssh_config or "").read_text().splitlines()
    kept = [line for line in lines if not line.strip().startswith(("Proxy", "IdentityFile", "UserKnownHostsFile"))]
    return "\n".join(kept) + "\nHost *\n  IdentityFile /run/home/id\n  UserKnownHostsFile /run/home/known\n"


@pytest.fixture(scope="module")
def four(netns: None) -> Iterator[lab.Lab]:
    """A lab of their own: two nodes become gateways, with keys and a configuration that stay."""
    with lab.up(4, keep=False) as made:
        yield made


@pytest.fixture(scope="module")
def tree(four: lab.Lab) -> Iterator[Inventory]:
    """The lab's inventory with two gateways; the way from here to the other nodes is cut."""
    state = Path(four.ssh_config or "").parent
    for head in HEADS:
        put(four, head, "/run/home/id", (state / "id").read_text())
        put(four, head, "/run/home/known", (state / "known_hosts").read_text())
        put(four, head, CONFIG, onward(four))
    cut = state / "ssh_config_of_heads"
    cut.write_text("Host n3 n4\n  ProxyCommand false\n" + Path(four.ssh_config or "").read_text())
    yield replace(Inventory.from_lab(four), gateways=HEADS, gateway_ssh_config=CONFIG, ssh_config=cut)


def connections(made: lab.Lab, node: str) -> list[str]:
    """The ssh processes on a gateway."""
    # in square brackets, so that the command does not find itself
    return ssh(made, node, "ps -eo args | grep '^[s]sh .*wulf'").stdout.splitlines()


def test_two_gateways_bring_the_programs_and_the_answers_of_all_four(four: lab.Lab, tree: Inventory) -> None:
    with access_to(tree) as access, connect(access) as connected:
        assert connected.failed == {}
        assert list(connected.sessions) == ["n1", "n2", "n3", "n4"]
        hosts = {node: session.greeting["host"] for node, session in connected.sessions.items()}
        assert hosts == {node: node for node in hosts}, "each answers for itself"
        assert [("cpu.threads" in facts) for facts in connected.fingerprint.values()] == [True] * 4
        connected.settled()
        assert [len(connections(four, head)) for head in HEADS] == [1, 1], "n3 behind n1, n4 behind n2"
        key = "0" * 32
        served = connected.sessions["n4"].request("serve", transport="tcp", address=connected.addresses["n4"], key=key)
        answer = connected.sessions["n3"].request(
            "run", pattern="pingpong", transport="tcp", address=served["address"], port=served["port"], key=key,
            params={"bytes": 1, "seconds": 0.01},
        )  # fmt: skip
        assert answer["metrics"]["rtt"]["value"] > 0
    assert all(wait_until(lambda head=head: connections(four, head) == [], 30) for head in HEADS), "nothing is left"


@pytest.mark.full
def test_a_gateway_that_dies_takes_its_branch_alone(four: lab.Lab, tree: Inventory) -> None:
    with make_launcher(tree) as launcher:
        opened = launcher.open(tree.nodes, find_program("wulf-net"))
        assert opened.failed == {}
        launcher._gateways["n1"].session.kill()  # type: ignore[attr-defined]
        assert opened.sessions["n3"].wait_ended(60)
        assert opened.sessions["n4"].request("ping")["ok"]
        assert opened.sessions["n1"].request("ping")["ok"], "its own program has its own connection"
    assert all(wait_until(lambda head=head: connections(four, head) == [], 30) for head in HEADS)


def test_a_gateway_that_can_not_be_used_is_passed_over_and_said(four: lab.Lab, tree: Inventory) -> None:
    inventory = replace(tree, gateways=("nowhere", "n2"), ssh_config=Path(four.ssh_config or ""))
    with make_launcher(inventory) as launcher:
        opened = launcher.open(inventory.nodes, find_program("wulf-net"))
    assert (list(opened.sessions), opened.failed) == (["n1", "n2", "n3", "n4"], {})
    assert list(opened.notes) == ["n1", "n3"]
    assert "nowhere: the name nowhere can't be resolved" in opened.notes["n3"]


def test_a_node_that_its_gateway_can_not_reach_is_named_with_the_reason(four: lab.Lab, tree: Inventory) -> None:
    put(four, "n2", CONFIG, "Host n4\n  Port 1\n" + onward(four))
    try:
        with make_launcher(tree) as launcher:
            opened = launcher.open(tree.nodes, find_program("wulf-net"))
        assert list(opened.sessions) == ["n1", "n2", "n3"]
        assert "n4: it refused the ssh connection" in opened.failed["n4"].what
    finally:
        put(four, "n2", CONFIG, onward(four))
