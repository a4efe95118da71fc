"""What the catalogue says is written in network namespaces, written there: read back, undone, and unseen by the host.

And the other way round: what it says reaches beyond a network namespace does, and what it says does not, can't.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.mechanism_node import Node
from wulf.agent.machine import Machine
from wulf.agent.settings import mechanisms
from wulf.agent.unknown import Unknown
from wulf.tune.catalogue import catalogue
from wulf.tune.setting import Setting, Value
from wulf.tune.values import same

SETTINGS = catalogue()
WRITTEN = [setting for setting in SETTINGS.values() if setting.tested == "netns" and setting.access == "write"]
SYSCTLS = [setting for setting in SETTINGS.values() if setting.mechanism == "sysctl"]

# Where neither advice, choices nor a switch give another value than the one that is likely there.
OTHERS: dict[str, Value] = {
    "firewall.bypass": True,
    "net.somaxconn": 1024,
    "nic.channels_rx": 2,
    "nic.channels_tx": 2,
    "nic.gro_max_size": 20000,
    "nic.gso_max_size": 20000,
    "nic.napi_defer_hard_irqs": 2,
    "nic.qdisc": "pfifo_fast",
    "nic.rps_cpus": "0",
    "nic.rps_flow_cnt": 256,
    "nic.rx_frames": 32,
    "nic.txqueuelen": 500,
    "tcp.congestion_control": "reno",
    "tcp.ecn": 1,
    "tcp.limit_output_bytes": 262144,
    "tcp.max_syn_backlog": 512,
    "tcp.port_range": "20000 60999",
    "tcp.notsent_lowat": 131072,
    "tcp.rto_min": 0.1,
    "tcp.tso_rtt_log": 4,
}
BYPASSED = {"networks": ["10.77.0.0/24"]}


def words(setting: Setting) -> dict[str, Any]:
    return setting.target | (BYPASSED if setting.name == "firewall.bypass" else {})


def where(node: Node, setting: Setting) -> tuple[str, Any]:
    """The first place where the setting is, and what it is there."""
    reasons = []
    for place in node.ask("places", setting.mechanism, words(setting)):
        try:
            return place, node.ask("read", setting.mechanism, words(setting), place)
        except Unknown as unknown:
            reasons.append(unknown.reason)
    raise Unknown("; ".join(reasons))


def another(setting: Setting, now: Any) -> Value:
    if setting.name in OTHERS:
        return OTHERS[setting.name]
    if setting.type == "bool":
        return not now
    tried = (value for advice in setting.advice.values() for value in (advice.value, *advice.sweep))
    return next(value for value in (*tried, *setting.choices) if value is not None and not same(value, now))


def on_the_host(setting: Setting) -> Any:
    with Machine() as machine:
        try:
            return mechanisms()[setting.mechanism].read(machine, setting.target, "")
        except Unknown as unknown:
            return unknown.reason


@pytest.mark.parametrize("setting", WRITTEN, ids=[setting.name for setting in WRITTEN])
def test_it_is_written_read_back_and_undone(setting: Setting, node: Node) -> None:
    assert not setting.global_in_netns
    try:
        place, before = where(node, setting)
    except Unknown as unknown:
        pytest.skip(f"not in this namespace: {unknown.reason}")
    host = on_the_host(setting) if setting.mechanism == "sysctl" else None
    value = another(setting, before)
    assert not same(value, before)
    node.ask("write", setting.mechanism, words(setting), place, value)
    try:
        assert same(node.ask("read", setting.mechanism, words(setting), place), value)
        assert setting.mechanism != "sysctl" or on_the_host(setting) == host, "it reaches beyond its namespace"
    finally:
        node.ask("write", setting.mechanism, words(setting), place, before)
    assert same(node.ask("read", setting.mechanism, words(setting), place), before)


def mode(node: Node, setting: Setting) -> str:
    """Permissions of the file within the namespace; empty where there is none."""
    path = Path("/proc/sys", str(setting.target["key"]).replace(".", "/"))
    status, said, _ = node.ask("run", "stat", "--format=%A", str(path))
    return said.strip() if status == 0 else ""


@pytest.mark.parametrize("setting", SYSCTLS, ids=[setting.name for setting in SYSCTLS])
def test_a_namespace_shows_what_its_scope_says(setting: Setting, node: Node) -> None:
    """No file, or one that nobody may write, for what is the host's; one to be written for what is everybody's."""
    permissions = mode(node, setting)
    if setting.global_in_netns:
        assert permissions in ("", "-rw-r--r--", "-r--r--r--"), "read-only where the hardware has nothing to be set"
    elif setting.scope == "host":
        assert "w" not in permissions, "it can be written within a network namespace: its own, or the host's?"
    else:
        assert permissions in ("", "-rw-r--r--"), "no such file in a namespace: it is the host's"
    exists = Path("/proc/sys", str(setting.target["key"]).replace(".", "/")).exists()
    assert permissions or setting.scope == "host" or not exists, "the host has it, and the namespace has not"
