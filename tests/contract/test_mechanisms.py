"""One suite over every mechanism: what can be written is read back, and is undone by writing what was there before.

On the live kernel, in namespaces made for the test; what belongs to the whole host (PM QoS, interrupts, services) is
shown on files and programs of its own in tests/unit/agent/settings.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import skip_or_fail
from tests.contract.mechanism_node import Node
from wulf.agent import settings
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown

# mechanism, target, place, a value that it hardly has
WRITABLE: tuple[tuple[str, dict[str, Any], str, Any], ...] = (
    ("link", {"attribute": "mtu"}, "eth0", 9000),
    ("link", {"attribute": "mtu"}, "tap0", 1280),
    ("link", {"attribute": "txqueuelen"}, "eth0", 777),
    ("link", {"attribute": "gro_max_size"}, "eth0", 20000),
    ("link", {"attribute": "gso_max_size"}, "eth0", 20000),
    ("link", {"attribute": "up"}, "tap0", False),
    ("ethtool", {"topic": "features", "field": "rx-gro"}, "eth0", "other"),
    ("ethtool", {"topic": "features", "field": "rx-gro"}, "tap0", "other"),
    ("ethtool", {"topic": "features", "field": "tx-tcp-segmentation"}, "eth0", "other"),
    ("ethtool", {"topic": "features", "field": "tx-generic-segmentation"}, "tap0", "other"),
    ("ethtool", {"topic": "channels", "field": "rx"}, "eth0", 3),
    ("ethtool", {"topic": "channels", "field": "tx"}, "eth0", 2),
    ("ethtool", {"topic": "coalesce", "field": "rx_frames"}, "tap0", 32),
    ("qdisc", {}, "eth0", "pfifo_fast"),
    ("qdisc", {}, "eth0", "mq pfifo_fast"),
    ("qdisc", {}, "tap0", "pfifo"),
    ("sysctl", {"key": "net.ipv4.tcp_timestamps", "kind": "bool"}, "", "other"),
    ("sysctl", {"key": "net.ipv4.tcp_rmem"}, "", "4096 65536 1048576"),
    ("sysctl", {"key": "net.ipv4.tcp_notsent_lowat"}, "", 16384),
    ("sysctl", {"key": "net.ipv4.conf.{place}.arp_ignore"}, "eth0", 1),
    ("sysfs", {"path": "sys/class/net/{nic}/threaded", "kind": "bool"}, "eth0", "other"),
    ("sysfs", {"path": "sys/class/net/{nic}/napi_defer_hard_irqs"}, "eth0", 7),
    ("sysfs", {"path": "sys/class/net/{nic}/gro_flush_timeout", "scale": 1e-9}, "eth0", 5e-5),
    ("sysfs", {"path": "sys/class/net/{nic}/queues/{rx}/rps_cpus", "kind": "mask"}, "rx-0 of eth0", "0"),
    ("sysfs", {"path": "sys/class/net/{nic}/queues/{tx}/xps_cpus", "kind": "mask"}, "tx-1 of eth0", "0"),
    ("sysfs", {"path": "sys/class/net/{nic}/queues/{rx}/rps_flow_cnt"}, "rx-1 of eth0", 256),
)
BYPASS = {"what": "bypass", "networks": ["10.77.0.0/24", "fd00:77::/64"]}

FOREIGN = """\
table ip guard {
  set friends { type ipv4_addr; elements = { 192.0.2.1, 192.0.2.2 } }
  chain input {
    type filter hook input priority filter; policy accept;
    ip saddr @friends counter accept
    ct state established,related accept
    tcp dport 23 reject
  }
}
table inet wulf_of_somebody_else {
  chain c {
    counter
  }
}
"""

WATCHING = """\
table ip watch {
  chain input {
    type filter hook input priority filter; policy accept;
    ip daddr { 10.77.0.1, 127.0.0.1 } ct state untracked counter comment "untracked"
    ip daddr { 10.77.0.1, 127.0.0.1 } ct state new counter comment "new"
  }
}
"""


@pytest.fixture
def nft(node: Node) -> Iterator[str]:
    """nft's path; with tables of somebody else's in place, and none at all afterwards."""
    program = shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin:" + (os.environ.get("PATH") or ""))
    if program is None:
        skip_or_fail("no nft here: apt install nftables")
    yield program
    node.run(program, "flush", "ruleset")  # of the private namespace


def state(node: Node) -> dict[str, Any]:
    """Everything that the suite writes, and what the tools of the system say of it."""
    wanted = [
        {"name": f"{mechanism} {target}", "mechanism": mechanism, "target": target}
        for mechanism, target, *_ in WRITABLE
    ]
    found: dict[str, Any] = node.ask("read_all", wanted)
    found["ip"] = node.run("ip", "-details", "link", "show") + node.run("ip", "-4", "addr", "show", "eth0")
    found["tc"] = node.run("tc", "qdisc", "show")
    return found


@pytest.fixture(scope="module")
def untouched(node: Node) -> dict[str, Any]:
    """The node's state before any test wrote to it; each leaves it so."""
    return state(node)


def named(case: tuple[str, dict[str, Any], str, Any]) -> str:
    mechanism, target, place, value = case
    return " ".join(map(str, (mechanism, *target.values(), place, value))).replace("/", ":")


@pytest.mark.parametrize("case", WRITABLE, ids=named)
def test_what_is_written_is_read_back_and_undone(
    case: tuple[str, dict[str, Any], str, Any], node: Node, untouched: dict[str, Any]
) -> None:
    mechanism, target, place, value = case
    try:
        before = node.ask("read", mechanism, target, place)
    except Unknown as unknown:
        pytest.skip(f"this kernel: {unknown.reason}")
    wanted = (not before) if value == "other" else value
    assert place in node.ask("places", mechanism, target)
    assert wanted != before
    node.ask("write", mechanism, target, place, wanted)
    after = node.ask("read", mechanism, target, place)
    node.ask("write", mechanism, target, place, before)
    assert (after, type(after)) == (wanted, type(wanted))
    assert node.ask("read", mechanism, target, place) == before
    assert state(node) == untouched


def test_the_suite_writes_by_every_mechanism_that_writes_in_a_namespace() -> None:
    of_the_host = {"pmqos", "irq", "service", "module", "firewalld"}
    read_only = {"bootline", "job", "fact", "pci"}
    assert {case[0] for case in WRITABLE} | {"nftables"} | of_the_host | read_only == set(settings.mechanisms())


def test_a_clamped_value_is_seen_by_reading_it_back(node: Node) -> None:
    target = {"topic": "coalesce", "field": "rx_frames"}
    before = node.ask("read", "ethtool", target, "tap0")
    node.ask("write", "ethtool", target, "tap0", 4096)  # the kernel reports success
    after = node.ask("read", "ethtool", target, "tap0")
    node.ask("write", "ethtool", target, "tap0", before)
    assert after == 64  # NAPI_POLL_WEIGHT, drivers/net/tun.c


@pytest.mark.parametrize(
    ("mechanism", "target", "place", "value", "said"),
    [
        ("link", {"attribute": "mtu"}, "eth0", 66000, "mtu greater than device maximum"),
        ("link", {"attribute": "mtu"}, "eth0", 10, "mtu less than device minimum"),
        ("ethtool", {"topic": "channels", "field": "rx"}, "eth0", 500, "requested channel count exceeds maximum"),
        ("ethtool", {"topic": "features", "field": "rx-lro"}, "eth9", True, "no interface|no device"),
        ("ethtool", {"topic": "rings", "field": "rx"}, "eth0", 256, "does not support ring sizes|rings"),
        ("ethtool", {"topic": "features", "field": "warp-drive"}, "eth0", True, "does not report 'warp-drive'"),
        ("qdisc", {}, "eth0", "warp", "qdisc kind is unknown"),
        ("ethtool", {"topic": "warp", "field": "x"}, "eth0", True, "has no topic 'warp'"),
        ("ethtool", {"topic": "channels", "field": "rx"}, "eth0", "many", "'many' is no number"),
        ("link", {"attribute": "mtu"}, "eth0", "large", "'large' is no number"),
        ("link", {"attribute": "mtu"}, "eth0", float("inf"), "inf is no number"),
        ("link", {"attribute": "warp"}, "eth0", 1, "links have no warp"),
        ("sysctl", {"key": "net.ipv4.tcp_congestion_control"}, "", "warp", "refused 'warp'"),
        ("sysctl", {"key": "net.ipv4.tcp_warp"}, "", 1, "no /proc/sys/net/ipv4/tcp_warp"),
        ("sysfs", {"path": "sys/class/net/{nic}/queues/{rx}/rps_cpus", "kind": "mask"}, "rx-0 of eth0", "x", "no list"),
        ("sysfs", {"path": "sys/class/net/{nic}/ifindex"}, "eth0", 5, "no permission|refused"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(
    mechanism: str, target: dict[str, Any], place: str, value: Any, said: str, node: Node, untouched: dict[str, Any]
) -> None:
    with pytest.raises(Unknown, match=said):
        node.ask("write", mechanism, target, place, value)
    assert state(node) == untouched


def test_an_mtu_that_would_cost_addresses_is_refused(node: Node, untouched: dict[str, Any]) -> None:
    node.run("ip", "addr", "add", "fd00:77::1/64", "dev", "eth0", "nodad")
    with pytest.raises(Unknown, match="MTU below 1280 takes fd00:77::1 from eth0"):
        node.ask("write", "link", {"attribute": "mtu"}, "eth0", 1279)
    node.ask("write", "link", {"attribute": "mtu"}, "eth0", 1280)
    assert "fd00:77::1" in node.run("ip", "-6", "addr", "show", "eth0")
    node.ask("write", "link", {"attribute": "mtu"}, "eth0", 1500)
    node.run("ip", "addr", "del", "fd00:77::1/64", "dev", "eth0")
    node.ask("write", "link", {"attribute": "mtu"}, "eth0", 1000)
    node.ask("write", "link", {"attribute": "mtu"}, "eth0", 1500)
    assert state(node) == untouched


def test_without_the_right_to_nothing_is_changed(node: Node, untouched: dict[str, Any]) -> None:
    if not Path("/").stat().st_mode & stat.S_IXOTH:
        skip_or_fail("/ is closed to all but its owner here: others see no /proc at all")
    for mechanism, target, value in (
        ("link", {"attribute": "mtu"}, 9000),
        ("ethtool", {"topic": "channels", "field": "rx"}, 2),
        ("ethtool", {"topic": "features", "field": "rx-gro"}, False),
        ("qdisc", {}, "pfifo_fast"),
        ("sysctl", {"key": "net.ipv4.conf.{place}.arp_ignore"}, 1),
        ("sysfs", {"path": "sys/class/net/{nic}/threaded", "kind": "bool"}, True),
    ):
        with pytest.raises(Unknown, match=r"no permission to (set|write)"):
            node.ask("unprivileged", mechanism, target, "eth0", value)
    assert state(node) == untouched


def test_a_queueing_discipline_with_parameters_of_somebodys_is_left_alone(node: Node) -> None:
    node.run("tc", "qdisc", "add", "dev", "tap0", "root", "handle", "5:", "pfifo", "limit", "17")
    before = node.run("tc", "qdisc", "show", "dev", "tap0")
    with pytest.raises(Unknown, match="handle 5:"):
        node.ask("write", "qdisc", {}, "tap0", "noqueue")
    assert node.run("tc", "qdisc", "show", "dev", "tap0") == before
    assert "limit 17" in before
    node.run("tc", "qdisc", "del", "dev", "tap0", "root")


def test_a_place_that_is_made_anew_is_another_one(node: Node) -> None:
    first = node.ask("identity", "link", "rx-0 of eth0")
    assert first == node.ask("identity", "link", "eth0")
    assert first.startswith("ifindex ")
    node.run("ip", "link", "add", "gone0", "type", "veth", "peer", "name", "gone1")
    gone = node.ask("identity", "link", "gone0")
    node.run("ip", "link", "del", "gone0")
    assert node.ask("identity", "link", "gone0") == "" != gone
    assert node.ask("identity", "sysfs", "cpu0") == ""


def load(node: Node, nft: str, path: Path, rules: str) -> str:
    path.write_text(rules)
    node.run(nft, "flush", "ruleset")
    node.run(nft, "-f", str(path))
    return node.run(nft, "list", "ruleset")


def test_our_table_comes_and_goes_and_others_stay_byte_by_byte(node: Node, nft: str, tmp_path: Path) -> None:
    before = load(node, nft, tmp_path / "rules", FOREIGN.replace("tcp dport 23 reject", ""))
    assert "192.0.2.2" in before
    assert node.ask("read", "nftables", BYPASS, "") is False
    for _ in range(2):  # written twice is the same as once
        node.ask("write", "nftables", BYPASS, "", True)
        assert node.ask("read", "nftables", BYPASS, "") is True
    ours = node.run(nft, "list", "table", "inet", "wulf")
    assert ours.count("notrack") == 4
    assert "priority raw" in ours
    assert node.run(nft, "list", "ruleset").replace(ours, "") == before
    node.ask("write", "nftables", BYPASS, "", False)
    assert node.run(nft, "list", "ruleset") == before
    assert node.ask("read", "nftables", BYPASS, "") is False


def test_packets_of_the_networks_pass_untracked_and_others_tracked(node: Node, nft: str, tmp_path: Path) -> None:
    def seen(address: str) -> dict[str, bool]:
        load(node, nft, tmp_path / "rules", WATCHING)
        if bypassed:
            node.ask("write", "nftables", BYPASS, "", True)
        node.run("bash", "-c", f"echo hello >/dev/udp/{address}/9")
        rules = node.run(nft, "list", "chain", "ip", "watch", "input").splitlines()
        return {
            word: " packets 0 " not in rule for word in ("untracked", "new") for rule in rules if f'"{word}"' in rule
        }

    bypassed = False
    assert seen("10.77.0.1") == {"untracked": False, "new": True}
    bypassed = True
    assert seen("10.77.0.1") == {"untracked": True, "new": False}
    assert seen("127.0.0.1") == {"untracked": False, "new": True}


def test_another_bypass_reads_as_its_networks_and_can_be_put_back(node: Node, nft: str) -> None:
    other = {**BYPASS, "networks": ["10.99.0.0/16"]}
    node.ask("write", "nftables", other, "", True)
    before = node.ask("read", "nftables", BYPASS, "")
    assert before == "10.99.0.0/16"
    node.ask("write", "nftables", BYPASS, "", True)
    assert node.ask("read", "nftables", BYPASS, "") is True
    node.ask("write", "nftables", BYPASS, "", before)
    assert node.ask("read", "nftables", other, "") is True


def test_presence_of_rules_of_others(node: Node, nft: str, tmp_path: Path) -> None:
    presence = [{"what": what} for what in ("drops", "tracks", "rules")]
    assert [node.ask("read", "nftables", target, "") for target in presence] == [0, False, 0]
    node.ask("write", "nftables", BYPASS, "", True)
    assert [node.ask("read", "nftables", target, "") for target in presence] == [0, False, 0], "ours does not count"
    load(node, nft, tmp_path / "rules", FOREIGN)
    assert [node.ask("read", "nftables", target, "") for target in presence] == [1, True, 4]


def test_a_bypass_that_would_cut_the_node_off_is_refused(node: Node, nft: str, tmp_path: Path) -> None:
    before = load(node, nft, tmp_path / "rules", FOREIGN)
    with pytest.raises(Unknown, match=r"table ip guard accepts .* drops others"):
        node.ask("write", "nftables", BYPASS, "", True)
    assert node.run(nft, "list", "ruleset") == before
    for admits in ("ct state untracked accept", "ip saddr { 10.77.0.0/24, 192.0.2.0/24 } accept"):
        load(
            node,
            nft,
            tmp_path / "rules",
            FOREIGN.replace("ct state established", f"{admits}\n    ct state established"),
        )
        node.ask("write", "nftables", BYPASS, "", True)
        assert node.ask("read", "nftables", BYPASS, "") is True


@pytest.mark.parametrize(
    ("networks", "said"),
    [([], "no networks are named"), (["0.0.0.0/0"], "every address"), (["10.0.0.0/24; flush ruleset"], "10.0.0.0/24")],
)
def test_a_bypass_is_of_networks_alone(networks: list[str], said: str, node: Node, nft: str) -> None:
    with pytest.raises(Unknown, match=said):
        node.ask("write", "nftables", {**BYPASS, "networks": networks}, "", True)
    assert node.run(nft, "list", "ruleset") == ""


@pytest.mark.parametrize(
    ("mechanism", "target", "place"),
    [
        ("sysfs", {"path": "/etc/hostname"}, ""),
        ("sysfs", {"path": "sys/../etc/hostname"}, ""),
        ("sysfs", {"path": "sys/class/net/{nic}/mtu"}, ""),
        ("sysfs", {"path": "sys/class/net/{nic}/mtu"}, "mtu of eth0"),
        ("sysfs", {"path": "sys/class/net/{nic}/mtu"}, "../../../proc/version"),
        ("sysctl", {"key": "net/../../version"}, ""),
        ("sysctl", {"key": "net.ipv4.conf.{place}.arp_ignore"}, "../../../version"),
        ("module", {"module": "../../proc", "option": "x"}, ""),
        ("module", {"module": "x", "option": "../../../../etc/hostname"}, ""),
    ],
)
def test_nothing_is_reached_but_what_the_mechanism_is_for(
    mechanism: str, target: dict[str, Any], place: str, tmp_path: Path
) -> None:
    for path in ("etc/hostname", "proc/version", "proc/sys/net/ipv4/conf/x", "sys/module/x/parameters/y"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("as it was")
    with Machine(str(tmp_path)) as machine:
        for act in (settings.mechanisms()[mechanism].read, settings.mechanisms()[mechanism].write):
            with pytest.raises(Unknown, match=r"not below|no place|not loaded"):
                act(machine, target, place, *(["changed"] if act.__name__ == "write" else []))
    assert (tmp_path / "etc/hostname").read_text() == (tmp_path / "proc/version").read_text() == "as it was"


@pytest.mark.parametrize("name", sorted(settings.mechanisms()))
def test_on_a_machine_without_anything_every_mechanism_says_why(name: str, tmp_path: Path) -> None:
    mechanism = settings.mechanisms()[name]
    assert mechanism.help
    target = dict.fromkeys(mechanism.words, "x")
    with Machine(str(tmp_path)) as machine:
        readings = settings.read_all(machine, [{"name": name, "mechanism": name, "target": target}])[name]
        assert [reading["value"] for reading in readings.values()] == [None] * len(readings)
        assert all(reading["reason"] for reading in readings.values())
        with pytest.raises(Unknown):
            mechanism.write(machine, target, "eth0", "1")
