"""A small catalogue, readings and facts, for tests of audits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wulf.agent.mechanism import Mechanism
from wulf.tune.setting import Setting


def setting(name: str = "nic.mtu", **more: Any) -> Setting:
    """An entry with what it has to have, and what a test asks for."""
    least = {
        "title": "Largest packet", "what": "Bytes.", "why": "Fewer packets.", "type": "int", "mechanism": "sysctl",
        "target": {"key": name}, "scope": "host", "tested": "recorded",
    }  # fmt: skip
    return Setting.model_validate({"name": name, **least, **more})


def advised(value: Any, **more: Any) -> dict[str, Any]:
    """Advice for latency."""
    return {"advice": {"latency": {"value": value, "why": "Measured elsewhere.", **more}}}


def read(value: Any, startup: Any = None) -> dict[str, Any]:
    """A reading, with what a reboot would give if that is known."""
    return {"value": value, **({"startup": startup} if startup is not None else {"startup_reason": "no file says"})}


ABSENT = {"value": None, "reason": "no such interface", "absent": True}
REFUSED = {"value": None, "reason": "needs root"}


def readings(name: str, *each: Mapping[str, Any], place: str = "") -> dict[str, dict[str, dict[str, Any]]]:
    """n1, n2, … with one reading of one setting each."""
    return {f"n{i}": {name: {place: dict(reading)}} for i, reading in enumerate(each, 1)}


def fact(value: Any) -> dict[str, Any]:
    return {"value": value, "provenance": "reported"}


CATALOGUE = {
    one.name: one
    for one in (
        setting("cpu.mitigations", title="Mitigations", type="word", security="weakens", **advised("off")),
        setting("irq.balance", title="irqbalance", type="bool", mechanism="service", target={"unit": "irqbalance"},
                **advised(False)),
        setting("firewall.bypass", title="Bypass", type="bool", mechanism="nftables", target={"what": "bypass"},
                security="weakens", **advised(True)),
        setting("firewall.drops", title="Rules that drop", type="int", access="report", mechanism="nftables",
                target={"what": "drops"}),
        setting("nic.adaptive_rx", title="Adaptive moderation", type="bool", mechanism="ethtool", scope="nic",
                target={"topic": "coalesce", "field": "adaptive_rx"}, **advised(False)),
        setting("nic.mtu", scope="nic", unit="B", low=68, high=65535, mechanism="link", target={"attribute": "mtu"},
                advice={"throughput": {"sweep": [1500, 9000], "why": "It depends."}}),
        setting("nic.rx_usecs", title="Delay of interrupts", type="float", unit="s", scope="nic", mechanism="ethtool",
                target={"topic": "coalesce", "field": "rx_usecs"}, masked_by={"nic.adaptive_rx": True}, **advised(0)),
        setting("tcp.autocorking", title="Autocorking", type="bool", **advised(False)),
        setting("tcp.low_latency", title="Low latency", type="bool", kernels={"inert_since": "4.14"}, **advised(True)),
    )
}  # fmt: skip
"""Names stand for kinds: one that weakens security, one inert, one masked, one to be swept, …"""


MECHANISMS = {one.mechanism: Mechanism() for one in CATALOGUE.values()}
"""Whatever the agent of the day has: these are simulated."""


def facts_of(_node: str = "n1") -> dict[str, dict[str, Any]]:
    """A node with one card, whose driver is the kernel's own and gathers interrupts."""
    return {
        "kernel.release": fact("6.1.0-18-amd64"),
        "kernel.boot_id": fact(_node),
        "cpu.model": fact("Xeon"),
        "nic.interfaces": fact("eth0"),
        "nic.eth0.bus": fact("pci"),
        "nic.eth0.driver": fact("e1000e"),
        "nic.eth0.driver_version": fact("6.1.0-18-amd64"),
        "nic.eth0.driver_in_tree": fact(True),
        "nic.eth0.coalescing.adaptive_rx": fact(True),
        "nic.eth0.coalescing.rx_delay": fact(3e-6),
        "software.irqbalance": fact(True),
    }


def settings_of(_node: str = "n1") -> dict[str, dict[str, dict[str, Any]]]:
    """What such a node's settings are: in order for a node that nobody has tuned."""
    return {
        "cpu.mitigations": {"": read("auto")},
        "irq.balance": {"": read(True, True)},
        "firewall.bypass": {"": read(False, False)},
        "firewall.drops": {"": read(0)},
        "nic.adaptive_rx": {"eth0": read(True)},
        "nic.mtu": {"eth0": read(1500, 1500)},
        "nic.rx_usecs": {"eth0": read(3e-6)},
        "tcp.autocorking": {"": read(True, True)},
        "tcp.low_latency": {"": read(False, False)},
    }
