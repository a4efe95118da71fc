"""Rates: applied in both directions, right within a few percent, refused with the reason and without effect."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

import pytest

from tests.lab.conftest import address, ssh
from tests.lab.disturbance import best_share
from tests.running.tiers import first_of
from wulf import lab
from wulf.core.errors import LabError

pytestmark = pytest.mark.lab

RECEIVE = """
import socket, time
listener = socket.create_server(("", 5001))
print("ready", flush=True)
peer, _ = listener.accept()
start, received = time.perf_counter(), 0
while time.perf_counter() - start < 1.5:
    received += len(peer.recv(1 << 18))
print(received * 8 / (time.perf_counter() - start))
"""
SEND = """
import socket, sys
peer = socket.create_connection((sys.argv[1], 5001))
try:
    while True:
        peer.sendall(bytes(1 << 17))
except OSError:
    pass
"""


def throughput(made: lab.Lab, source: str, target: str) -> float:
    """bit/s that a TCP stream delivers."""
    python = ["ssh", "-F", str(made.ssh_config)]
    receive, send = f"{sys.executable} -c '{RECEIVE}'", f"{sys.executable} -c '{SEND}'"
    with subprocess.Popen([*python, target, receive], stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout.readline() == "ready\n"
        subprocess.run([*python, source, f"{send} {address(made, target)}"], check=True, timeout=30)
        return float(receiver.stdout.readline())


def share_of(made: lab.Lab, source: str, target: str, bits: float) -> float:
    """What a TCP stream delivers of so many bit/s."""
    return throughput(made, source, target) / bits


def queue(made: lab.Lab, node: str) -> list[str]:
    """Kinds of the node's own queues; not over ssh, which a rate of 1 kbit/s would keep waiting."""
    words = ["lab", "exec", "--name", made.name, node, "--", "tc", "-j", "qdisc", "show", "dev", "eth0"]
    shown = subprocess.run([sys.executable, "-m", "wulf.cli.main", *words], capture_output=True, text=True, check=True)
    return [entry["kind"] for entry in json.loads(shown.stdout)]


@pytest.mark.alone
@pytest.mark.parametrize("rate, bits", [("20mbit", 20e6), ("200mbit", 200e6)])
def test_tcp_gets_what_the_link_has(four_nodes: lab.Lab, rate: str, bits: float) -> None:
    four_nodes.set_rate("n3", rate)
    try:
        for source, target in (("n1", "n3"), ("n3", "n1")):
            # 1448 of 1514 B on the wire carry data: 95.6 %, and the burst adds a little.
            share, lost = best_share(partial(share_of, four_nodes, source, target, bits), 0.90)
            assert 0.90 - lost <= share <= 1.02, (share, lost)
        assert max(throughput(four_nodes, "n1", "n2") for _ in range(2)) > 2 * bits  # the others' links are not touched
    finally:
        four_nodes.set_rate("n3", "none")
    assert queue(four_nodes, "n3") == ["noqueue"]


@pytest.mark.parametrize(
    "rate", first_of(["fast", "0", "0mbit", "-1mbit", " ", "10parsec", "40gbit", "100bit", "1e999", "nan"])
)
def test_a_bad_rate_is_refused_and_the_link_stays(four_nodes: lab.Lab, rate: str) -> None:
    four_nodes.set_rate("n2", "300mbit")
    with pytest.raises(LabError, match=r"^n2: ") as caught:
        four_nodes.set_rate("n2", rate)
    assert caught.value.exit_code == 2
    assert four_nodes.nodes[1].rate == "300mbit"
    assert queue(four_nodes, "n2") == ["tbf"]
    four_nodes.set_rate("n2", None)


@pytest.mark.parametrize("rate", ["1kbit", "34gbit"])
def test_the_limits_themselves_are_accepted(four_nodes: lab.Lab, rate: str) -> None:
    four_nodes.set_rate("n4", rate)
    assert queue(four_nodes, "n4") == ["tbf"]
    four_nodes.set_rate("n4", "none")
    assert queue(four_nodes, "n4") == ["noqueue"]


@pytest.mark.alone
def test_a_refusal_by_the_kernel_restores_the_first_direction(four_nodes: lab.Lab) -> None:
    four_nodes.set_rate("n1", "20mbit")
    assert ssh(four_nodes, "n1", "ip link set eth0 name hidden").returncode == 0
    try:
        with pytest.raises(LabError, match=r"n1: .* 10mbit .*limits: 1kbit to 34gbit"):
            four_nodes.set_rate("n1", "10mbit")
    finally:
        assert four_nodes.exec("n1", ["ip", "link", "set", "hidden", "name", "eth0"]) == 0
    assert four_nodes.nodes[0].rate == "20mbit"
    share, lost = best_share(partial(share_of, four_nodes, "n2", "n1", 20e6), 0.85)
    assert 0.85 - lost <= share <= 1.02, (share, lost)  # the switch's side was put back, from half
    assert share > 0.55
    four_nodes.set_rate("n1", "none")


def test_unknown_node(four_nodes: lab.Lab) -> None:
    for act in (
        lambda: four_nodes.set_rate("n9", "1gbit"),
        lambda: four_nodes.exec("n9", ["true"]),
        lambda: four_nodes.kill_node("n9"),
    ):
        with pytest.raises(LabError, match="no node 'n9'") as caught:
            act()
        assert "n1 to n4" in str(caught.value)


def test_a_bad_rate_brings_nothing_up(lab_name: str) -> None:
    with pytest.raises(LabError, match=r"^n2: "):
        lab.up(2, name=lab_name, rates={"n2": "0"})
    with pytest.raises(LabError, match="no node 'n3'"):
        lab.up(2, name=lab_name, rates={"n3": "1gbit"})
    assert lab.find(lab_name) is None
