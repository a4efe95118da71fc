"""Virtual machines: booted, tuned, booted anew, cut from power, gone. Minutes where the host has no KVM."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.lab.machines import ask, await_boot, boot_id, run
from wulf import lab
from wulf.core.errors import LabError

pytestmark = [pytest.mark.lab, pytest.mark.full, pytest.mark.timeout(3600)]


def test_nodes_are_machines_with_a_real_card_and_services(machines: lab.Lab) -> None:
    assert [node.address for node in machines.nodes] == ["10.77.0.1", "10.77.0.2"]
    assert len({boot_id(machines, node.name) for node in machines.nodes}) == 2
    assert run(machines, "n1", "hostname; cat /etc/hostname; uname -n").split() == ["n1"] * 3
    assert "driver: e1000e" in run(machines, "n1", "ethtool -i eth0")
    assert "driver: virtio_net" in run(machines, "n1", "ethtool -i mgmt0")
    assert run(machines, "n1", "systemctl is-active irqbalance ssh systemd-networkd").split() == ["active"] * 3
    assert run(machines, "n1", "systemctl is-enabled tuned || true") == "disabled"
    assert "10.77.0.1/24" in run(machines, "n1", "ip -o addr show eth0")


def test_nodes_reach_one_another_and_are_reached_by_both_networks(machines: lab.Lab) -> None:
    run(machines, "n1", "ping -c 2 -w 60 n2")
    run(machines, "n1", "ping -c 2 -w 60 fd77::2")
    assert run(machines, "n1", "ssh n2 hostname") == "n2"
    assert run(machines, "n2-cluster", "hostname") == "n2"


def test_interrupt_throttling_rings_and_offloads_are_set_and_kept_by_the_card(machines: lab.Lab) -> None:
    for usecs in (0, 1000, 3):
        run(machines, "n1", f"ethtool -C eth0 rx-usecs {usecs}")
        assert run(machines, "n1", "ethtool -c eth0 | grep ^rx-usecs:").split() == ["rx-usecs:", str(usecs)]
    run(machines, "n1", "ethtool -G eth0 rx 512; ethtool -K eth0 gro off; ip link set eth0 mtu 4000")
    assert run(machines, "n1", "ethtool -g eth0 | grep ^RX: | tail -1").split() == ["RX:", "512"]
    assert "generic-receive-offload: off" in run(machines, "n1", "ethtool -k eth0")
    assert "mtu 4000" in run(machines, "n1", "ip link show eth0")


def test_jumbo_frames_pass_the_switch_whole(machines: lab.Lab) -> None:
    for node in ("n1", "n2"):
        run(machines, node, "ip link set eth0 mtu 9000")
    run(machines, "n1", "ping -4 -c 2 -w 60 -M do -s 8972 n2")


def test_reboot_brings_a_node_back_with_its_disk_and_without_what_was_not_written(machines: lab.Lab) -> None:
    before = boot_id(machines, "n1")
    run(machines, "n1", "echo kept > /var/lib/kept; sysctl -qw net.ipv4.tcp_sack=0")
    machines.exec("n1", ["systemctl", "reboot"])
    await_boot(machines, "n1", before)
    assert run(machines, "n1", "cat /var/lib/kept; sysctl -n net.ipv4.tcp_sack").split() == ["kept", "1"]


def test_power_cut_loses_what_was_not_flushed_and_power_on_brings_the_node_back(machines: lab.Lab) -> None:
    before = boot_id(machines, "n2")
    run(machines, "n2", "echo kept > /var/lib/kept; sync /var/lib/kept /var/lib")
    machines.kill_node("n2")
    assert [machines.is_up(name) for name in ("n1", "n2")] == [True, False]
    assert ask(machines, "n1", "ping -c 1 -w 3 n2").returncode != 0
    with pytest.raises(LabError, match="n2: the node is down"):
        machines.exec("n2", ["true"])
    machines.power_on("n2", boot_line="isolcpus=1", say=print)
    assert machines.is_up("n2")
    assert boot_id(machines, "n2") not in ("", before)
    assert run(machines, "n2", "cat /var/lib/kept") == "kept"
    assert run(machines, "n2", "cat /sys/devices/system/cpu/isolated") == "1"
    with pytest.raises(LabError, match="n2: it is on already"):
        machines.power_on("n2")


def test_ping_pong_runs_over_the_clusters_network(machines: lab.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WULF_LAB", machines.name)
    words = [sys.executable, "-m", "wulf.cli.main", "net", "pingpong", "n1", "n2", "--lab", "--quick", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["metric"] for record in records if record["metric"] == "rtt"]
