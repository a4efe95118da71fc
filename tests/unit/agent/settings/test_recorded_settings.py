"""Settings of a recorded machine: what they are, and what a reboot would give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.machines import tree
from wulf.agent import settings
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

NIC = "ens1f0np0"
ASYNC, COMP0, COMP1 = (f"mlx5_{name}@pci:0000:5e:00.0 of {NIC}" for name in ("async0", "comp0", "comp1"))


@pytest.fixture(scope="module")
def xeon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with Machine(str(tree.unpack("xeon-2-sockets", tmp_path_factory.mktemp("xeon")))) as machine:
        yield machine


def read(machine: Machine, mechanism: str, target: dict[str, Any]) -> dict[str, dict[str, Any]]:
    wanted = {"name": "it", "mechanism": mechanism, "target": target}
    settings.check(wanted)
    return settings.read_all(machine, [wanted])["it"]


CASES: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (  # mechanism, target, place: (value, at start-up)
    ("sysctl", {"key": "net.core.rmem_max"}, {"": (16777216, 33554432)}),  # 95 after 90, wherever they lie
    ("sysctl", {"key": "net.core.busy_poll", "scale": 1e-6}, {"": (5e-05, 5e-05)}),
    ("sysctl", {"key": "net.ipv4.tcp_rmem"}, {"": ("4096 131072 6291456", "4096 131072 16777216")}),
    ("sysctl", {"key": "net.ipv4.conf.{place}.arp_ignore"}, {NIC: (1, 1)}),  # by name counts before a pattern
    ("sysctl", {"key": "vm.swappiness"}, {"": (60, 1)}),  # sysctl.conf, by its link in sysctl.d
    ("link", {"attribute": "mtu"}, {NIC: (9000, 9216)}),
    ("ethtool", {"topic": "rings", "field": "rx"}, {NIC: (1024, 8192)}),
    ("ethtool", {"topic": "coalesce", "field": "rx_usecs", "scale": 1e-6}, {NIC: (8e-06, 5e-06)}),
    ("ethtool", {"topic": "coalesce", "field": "adaptive_rx"}, {NIC: (True, False)}),
    ("ethtool", {"topic": "features", "field": "rx-lro"}, {NIC: (False, True)}),
    ("ethtool", {"topic": "pause", "field": "autoneg"}, {NIC: (False, "no RxFlow|does not set AutoNegotiationFlowC")}),
    ("qdisc", {}, {NIC: ("mq fq_codel", "the kernel's default")}),
    (
        "sysfs",
        {"path": "/sys/class/net/{nic}/queues/{rx}/rps_cpus", "kind": "mask"},
        {f"rx-0 of {NIC}": ("none", "nothing that is read"), f"rx-1 of {NIC}": ("none", "nothing that is read")},
    ),
    (
        "sysfs",
        {"path": "sys/class/net/{place}/threaded", "glob": "/sys/class/net/*", "kind": "bool"},
        {NIC: (False, "nothing that is read")},
    ),
    ("sysfs", {"path": "sys/kernel/mm/transparent_hugepage/defrag", "choose": True}, {"": ("madvise", "never")}),
    (
        "sysfs",
        {"path": "sys/kernel/mm/transparent_hugepage/enabled", "kind": "choice", "boot": "transparent_hugepage"},
        {"": ("always", "never")},
    ),
    ("module", {"module": "mlx5_core", "option": "prof_sel"}, {"": (2, 2)}),
    ("bootline", {"word": "isolcpus", "kind": "text"}, {"": ("3", "3")}),
    ("bootline", {"word": "mitigations"}, {"": ("off", False)}),
    ("irq", {}, {ASYNC: ("0-3", "irqbalance"), COMP0: ("0-1", "irqbalance"), COMP1: ("1", "irqbalance")}),
    ("irq", {"what": "effective"}, {ASYNC: ("0", "irqb"), COMP0: ("0", "irqb"), COMP1: ("1", "irqb")}),
    ("service", {"unit": "irqbalance"}, {"": (True, False)}),  # started by hand: a reboot ends it
    ("service", {"unit": "irqbalance", "what": "enabled"}, {"": ("disabled", "disabled")}),
    ("nftables", {"what": "drops"}, {"": (1, "not known")}),
    ("nftables", {"what": "tracks"}, {"": (True, "not known")}),
    ("nftables", {"what": "bypass"}, {"": (False, False)}),
    ("fact", {"fact": "nic.*.driver"}, {NIC: ("mlx5_core", "observed")}),
    ("fact", {"fact": "limits.locked_memory"}, {"": ("unlimited", "observed")}),
)


@pytest.mark.parametrize(("mechanism", "target", "expected"), CASES, ids=lambda part: str(part)[:60])
def test_a_setting_now_and_after_a_reboot(
    mechanism: str, target: dict[str, Any], expected: dict[str, tuple[Any, Any]], xeon: Machine
) -> None:
    found = read(xeon, mechanism, target)
    assert list(found) == list(expected)
    for place, (value, startup) in expected.items():
        assert found[place]["value"] == value
        if "startup" in found[place]:
            assert (found[place]["startup"], type(found[place]["startup"])) == (startup, type(startup))
        else:
            assert any(words in found[place]["startup_reason"] for words in startup.split("|"))


@pytest.mark.parametrize(
    ("mechanism", "target", "reason", "absent"),
    [
        ("service", {"unit": "tuned"}, "systemd knows no unit tuned.service", True),
        ("module", {"module": "e1000e", "option": "InterruptThrottleRate"}, "the module e1000e is not loaded", True),
        ("ethtool", {"topic": "coalesce", "field": "sample_interval"}, "does not report 'sample_interval'", True),
        ("sysfs", {"path": "sys/devices/system/cpu/{cpu}/warp"}, "no /sys/devices/system/cpu/*/warp", True),
        ("job", {"env": "UCX_TLS"}, "given to each job", True),
        ("pmqos", {}, "a recorded tree has none", False),
    ],
)
def test_what_is_not_there_is_told_from_what_is_not_known(
    mechanism: str, target: dict[str, Any], reason: str, absent: bool, xeon: Machine
) -> None:
    (reading,) = read(xeon, mechanism, target).values()
    assert reading["value"] is None
    assert reason in reading["reason"]
    assert reading.get("absent", False) is absent


def test_a_module_that_hides_its_option_still_says_what_a_reboot_gives(xeon: Machine) -> None:
    reading = read(xeon, "module", {"module": "mlx5_core", "option": "debug_mask"})[""]
    assert reading["value"] is None
    assert "does not show its option debug_mask" in reading["reason"]
    assert reading["startup"] == 7
    probe_vf = read(xeon, "module", {"module": "mlx5_core", "option": "probe_vf"})[""]
    assert probe_vf["startup"] == 0, "a file in /etc hides one of its name in /usr/lib"


def test_a_masked_file_gives_nothing(xeon: Machine) -> None:
    reading = read(xeon, "sysctl", {"key": "kernel.nmi_watchdog"})[""]
    assert "kernel's default" in reading["startup_reason"]


def test_a_recorded_machine_is_not_changed(xeon: Machine) -> None:
    for mechanism, target, place in (
        ("link", {"attribute": "txqueuelen"}, NIC),
        ("ethtool", {"topic": "rings", "field": "rx"}, NIC),
        ("qdisc", {}, NIC),
        ("service", {"unit": "irqbalance"}, ""),
        ("bootline", {"word": "quiet"}, ""),
    ):
        with pytest.raises(Unknown, match=r"can't be changed|only be read"):
            settings.mechanisms()[mechanism].write(xeon, target, place, 1)


def test_where_interrupts_and_firewall_would_be_hurt_nothing_is_begun(xeon: Machine) -> None:
    bypass = {"what": "bypass", "networks": ["10.0.0.0/24"]}
    with pytest.raises(Unknown, match=r"inet firewalld accepts .* established"):
        settings.mechanisms()["nftables"].write(xeon, bypass, "", True)
    with pytest.raises(Unknown, match="write that one"):
        settings.mechanisms()["irq"].write(xeon, {"what": "effective"}, COMP0, "1")
