"""Faults on real kernels: a survey names the sender, the receiver, the node behind a firewall, or the link."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import ssh
from wulf import lab as labs
from wulf.core.findings import Finding, Severity
from wulf.store.run import Run, read_run

pytestmark = [pytest.mark.lab, pytest.mark.full]

RATE = "200mbit"
"""What the busiest machine's CPUs can carry, so that the faults are the slowest part."""


@pytest.fixture
def lab(request: pytest.FixtureRequest, netns: None) -> Iterator[labs.Lab]:
    """One for each test, as its nodes are changed for good; its links at `RATE`, or with None as they are."""
    rate = getattr(request, "param", RATE)
    rates = dict.fromkeys(("n1", "n2", "n3", "n4"), rate) if rate else None
    with labs.up(4, keep=False, rates=rates) as made:
        yield made


@pytest.fixture
def survey(lab: labs.Lab, tmp_path: Path) -> Callable[[], Run]:
    def surveyed() -> Run:
        command = [sys.executable, "-m", "wulf.cli.main", "survey", "--lab", "--quick", "--out", str(tmp_path / "run")]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=400, check=False, env=os.environ | {"WULF_LAB": lab.name}
        )
        assert done.returncode in (1, 3), done.stdout + done.stderr
        return read_run(tmp_path / "run")

    return surveyed


def change(lab: labs.Lab, node: str, command: str) -> None:
    done = ssh(lab, node, command)
    assert done.returncode == 0, done.stderr


def blamed(run: Run) -> dict[str, Finding]:
    return {f.subject: f for f in run.findings if f.kind in ("node", "link") and f.severity is Severity.BAD}


def way(finding: Finding) -> str:
    return str(finding.evidence[0].way)


@pytest.mark.parametrize("lab", [None], indirect=True)
def test_a_small_receive_buffer_makes_a_slow_receiver(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Where others take segments of 64 KiB at once, a window of a few waits for acknowledgements."""
    change(lab, "n3", "sysctl -w net.ipv4.tcp_rmem='4096 8192 8192' net.ipv4.tcp_moderate_rcvbuf=0")
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "receive"
    assert "sysctl.net.ipv4.tcp_rmem" in {one.metric for one in found["n3"].evidence}


def test_a_shaper_on_what_a_node_sends_makes_a_slow_sender(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    change(lab, "n3", "tc qdisc replace dev eth0 root tbf rate 20mbit burst 16kb latency 20ms")
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "send"


def test_a_firewall_that_blocks_the_measuring_ports_is_one_finding(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Servers get an ephemeral port (ip_local_port_range); ssh's lies below."""
    rules = (
        "add table inet site; add chain inet site input { type filter hook input priority 0; policy accept; }; "
        "add rule inet site input tcp dport >= 32768 ct state new reject with tcp reset; "
        "add rule inet site input udp dport >= 32768 ct state new drop"
    )
    change(lab, "n3", f"nft '{rules}'")
    run = survey()
    found = blamed(run)
    assert set(found) == {"n3"}
    assert "can't be reached on its measuring ports" in found["n3"].text
    assert "firewall.drops" in {one.metric for one in found["n3"].evidence}
    assert not [f for f in run.findings if f.kind == "failed"]


def test_one_way_of_a_link_that_is_slow(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """What n1 sends to n3 alone goes through a class of 20 Mbit/s; the way back and all other links are as before."""
    address = next(node.address for node in lab.nodes if node.name == "n3")
    for command in (
        "tc qdisc delete dev eth0 root",
        "tc qdisc add dev eth0 root handle 1: htb default 10",
        f"tc class add dev eth0 parent 1: classid 1:10 htb rate {RATE}",
        "tc class add dev eth0 parent 1: classid 1:20 htb rate 20mbit burst 16kb",
        f"tc filter add dev eth0 parent 1: protocol ip u32 match ip dst {address} flowid 1:20",
    ):
        change(lab, "n1", command)
    found = blamed(survey())
    assert set(found) == {"n1>n3"}
    assert way(found["n1>n3"]) == "send"
