"""Faults on real kernels: a survey names the sender, the receiver, the node behind a firewall, or the link."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import address, ssh
from wulf import lab as labs
from wulf.core.findings import Finding, Severity
from wulf.store.run import Run, read_run

pytestmark = [pytest.mark.lab, pytest.mark.full]

RATE = "200mbit"
"""What the busiest machine's CPUs can carry, so that the faults are the slowest part."""


@pytest.fixture
def lab(request: pytest.FixtureRequest, netns: None) -> Iterator[labs.Lab]:
    """One for each test, as its nodes are changed for good: by default four nodes with links at `RATE`."""
    with labs.up(**{"nodes": 4, "rate": RATE, "keep": False} | getattr(request, "param", {})) as made:
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


FAST = pytest.param({"rate": None}, id="fast", marks=pytest.mark.alone)
"""Links as fast as the machine: what costs the CPU time is felt, that of others beside it too."""

EMULATED = {"rate": None, "link": {"delay": "0"}}
"""Links that wulf-link carries, all alike until a test makes one worse."""

SHAPED = "tc qdisc replace dev eth0 root tbf rate 20mbit burst 16kb latency 20ms"
"""What a node sends goes through a bucket that is refilled at a tenth of `RATE`."""

RULES = 2000
"""So many that what a packet costs is seen beside the rest of a round trip."""


def change(lab: labs.Lab, node: str, command: str) -> None:
    done = ssh(lab, node, command)
    assert done.returncode == 0, done.stderr


def filtered(lab: labs.Lab, node: str, hook: str, *rules: str) -> None:
    """A firewall of its own on a node, which accepts what none of these rules holds for."""
    chain = f"add chain inet site {hook} {{ type filter hook {hook} priority 0; policy accept; }}"
    script = "\n".join(["add table inet site", chain, *(f"add rule inet site {hook} {rule}" for rule in rules)])
    words = ["ssh", "-F", str(lab.ssh_config), node, "nft -f -"]
    subprocess.run(words, input=script, text=True, capture_output=True, timeout=60, check=True)


def blamed(run: Run) -> dict[str, Finding]:
    return {f.subject: f for f in run.findings if f.kind in ("node", "link") and f.severity is Severity.BAD}


def way(finding: Finding) -> str:
    return str(finding.evidence[0].way)


def causes(finding: Finding) -> set[str]:
    return {one.metric for one in finding.evidence}


@pytest.mark.parametrize("lab", [FAST], indirect=True)
def test_a_small_receive_buffer_makes_a_slow_receiver(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Where others take segments of 64 KiB at once, a window of a few waits for acknowledgements."""
    change(lab, "n3", "sysctl -w net.ipv4.tcp_rmem='4096 8192 8192' net.ipv4.tcp_moderate_rcvbuf=0")
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "receive"
    assert "sysctl.net.ipv4.tcp_rmem" in causes(found["n3"])


def test_a_shaper_on_what_a_node_sends_makes_a_slow_sender(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    change(lab, "n3", SHAPED)
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "send"


def test_a_firewall_that_blocks_the_measuring_ports_is_one_finding(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Servers get an ephemeral port (ip_local_port_range); ssh's lies below."""
    rules = ("tcp dport >= 32768 ct state new reject with tcp reset", "udp dport >= 32768 ct state new drop")
    filtered(lab, "n3", "input", *rules)
    run = survey()
    found = blamed(run)
    assert set(found) == {"n3"}
    assert "can't be reached on its measuring ports" in found["n3"].text
    assert "firewall.drops" in causes(found["n3"])
    assert not [f for f in run.findings if f.kind == "failed"]


def slow_to(lab: labs.Lab, node: str, other: str) -> None:
    """What a node sends to one other alone goes through a class of 20 Mbit/s; all else is as before."""
    for command in (
        "tc qdisc delete dev eth0 root",
        "tc qdisc add dev eth0 root handle 1: htb default 10",
        f"tc class add dev eth0 parent 1: classid 1:10 htb rate {RATE}",
        "tc class add dev eth0 parent 1: classid 1:20 htb rate 20mbit burst 16kb",
        f"tc filter add dev eth0 parent 1: protocol ip u32 match ip dst {address(lab, other)} flowid 1:20",
    ):
        change(lab, node, command)


def test_one_way_of_a_link_that_is_slow(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    slow_to(lab, "n1", "n3")
    found = blamed(survey())
    assert set(found) == {"n1>n3"}
    assert way(found["n1>n3"]) == "send"


@pytest.mark.parametrize("lab", [{"nodes": 6}], indirect=True)
def test_two_faults_at_once_are_two_findings(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """A link that is slow one way, and a node that sends slowly to all."""
    slow_to(lab, "n1", "n3")
    change(lab, "n5", SHAPED)
    found = blamed(survey())
    assert {name: way(one) for name, one in found.items()} == {"n1>n3": "send", "n5": "send"}


def test_a_link_on_which_nothing_arrives(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """n1's answers to n3 go astray, too: neither can measure the other, and both reach everybody else."""
    filtered(lab, "n1", "output", f"ip daddr {address(lab, 'n3')} drop")
    run = survey()
    found = blamed(run)
    assert set(found) == {"n1>n3"}
    assert "firewall.drops" in causes(found["n1>n3"])
    assert not [finding for finding in run.findings if finding.kind in ("failed", "fact")]


@pytest.mark.parametrize("lab", [FAST], indirect=True)
def test_a_sender_without_offloads(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """It makes a packet of each 1,448 bytes where the others hand over 64 KiB."""
    off = ("tx-tcp-segmentation", "tx-generic-segmentation")
    code = "; ".join(f"write('features', 'eth0', '{one}', 0)" for one in off)
    assert lab.exec("n3", [sys.executable, "-c", f"from wulf.agent.net.ethtool import write; {code}"]) == 0
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "send"
    assert "nic.eth0.offload.tso" in causes(found["n3"])


@pytest.mark.parametrize("lab", [FAST], indirect=True)
def test_a_firewall_of_thousands_of_rules(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Each packet that comes in is held against every one of them."""
    filtered(lab, "n3", "input", *(f"ip saddr 198.51.{i // 250}.{i % 250} drop" for i in range(RULES)))
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert {"firewall.drops", "firewall.rules"} <= causes(found["n3"])


@pytest.mark.parametrize(
    ("lab", "fault"),
    [
        # At a rate that CPUs carry beside another lab: where they are the limit, all senders are as slow as by losses.
        pytest.param(EMULATED | {"rate": RATE}, {"loss": "20%"}, id="loss"),
        # Frames that come twice slow a link as far as its relay lacks CPU: not so beside another lab, where all do.
        pytest.param(EMULATED, {"duplicate": "100%"}, id="duplicates", marks=pytest.mark.alone),
    ],
    indirect=["lab"],
)
def test_frames_that_are_lost_or_come_twice(lab: labs.Lab, survey: Callable[[], Run], fault: dict[str, str]) -> None:
    lab.set_link("n3", fault, direction="out")
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "send"


def test_a_link_that_swallows_what_is_long(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Round trips from n1 to n3 are as everywhere, streams never get through: unequal MTUs on a way do this."""
    filtered(lab, "n1", "output", f"ip daddr {address(lab, 'n3')} meta length > 600 drop")
    found = blamed(survey())
    assert set(found) == {"n1>n3"}
    assert "firewall.drops" in causes(found["n1>n3"])


@pytest.mark.parametrize("lab", [EMULATED], indirect=True)
def test_a_node_with_a_smaller_mtu(lab: labs.Lab, survey: Callable[[], Run]) -> None:
    """Of a link that carries frame by frame, both ways."""
    lab.set_link("n3", {"mtu": "600"})
    found = blamed(survey())
    assert set(found) == {"n3"}
    assert way(found["n3"]) == "both"
    assert "nic.eth0.mtu" in causes(found["n3"])
