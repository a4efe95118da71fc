"""The papers' checklist (Garabato, Moré, Rosales: 1a to 2e), answered for every node from its facts and settings.

Pure. An answer is yes, no, or unknown with the reason; nothing is looked up outside the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from wulf.tune.audit.answers import Answer, Facts, Node, Said, service, switch, together
from wulf.tune.audit.firewall import firewall_off, firewall_off_at_startup, since_boot
from wulf.tune.setting import Setting

NO_INTERFACE = "no interface of the node is known to carry the cluster's traffic"


OLD_DAYS = 365
"""After which a kernel has no latest drivers: Linux is released every 9 or 10 weeks (Documentation/process/2.Process),
and distributions build theirs anew for fixes many times a year."""


def latest(node: Node) -> Said:
    """1a: a driver that comes with the kernel is as new as that, and no newer; which is the latest nobody looks up."""
    return together([_latest(node, interface) for interface in node.interfaces], NO_INTERFACE)


def _latest(node: Node, interface: str) -> Said:
    driver, reason = node.fact(f"nic.{interface}.driver")
    found, _ = node.fact(f"nic.{interface}.driver_version")
    own, why_not = node.fact(f"nic.{interface}.driver_in_tree")
    kernel, _ = node.fact("kernel.release")
    firmware, _ = node.fact(f"nic.{interface}.firmware")
    told = f", firmware {firmware}" if firmware is not None else ""
    if driver is None:
        return Said(Answer.UNKNOWN, f"{interface}: {reason}")
    if own or (found is not None and found == kernel):
        answer, age = _kernels_age(node)
        return Said(answer, f"{interface}: {driver} comes with the running kernel, {kernel}, {age}{told}")
    if own is None:
        return Said(Answer.UNKNOWN, f"{interface}: whether {driver} is the latest is not known: {why_not}")
    shown = f"{driver} {found or ''}".rstrip()
    words = f"is no part of the kernel, {kernel}: its maker knows which is the latest"
    return Said(Answer.UNKNOWN, f"{interface}: {shown} {words}{told}")


def _kernels_age(node: Node) -> tuple[Answer, str]:
    """Whether a kernel's own drivers may be the latest, by the day it was built on."""
    built, why_not = node.fact("kernel.built")
    try:
        days = (date.fromisoformat(str(node.date)) - date.fromisoformat(str(built))).days
    except ValueError:
        return Answer.UNKNOWN, f"and how old that is is not known{f': {why_not}' if built is None else ''}"
    if days > OLD_DAYS:
        return Answer.NO, f"which was built on {built}: there have been newer ones since"
    return Answer.YES, f"which was built on {built}"


def moderation_off(node: Node) -> Said:
    """1c: interrupts are raised at once: nothing adapts, no delay, no gathering of packets."""
    return together([_moderation(node, interface) for interface in node.interfaces], NO_INTERFACE)


def _moderation(node: Node, interface: str) -> Said:
    known: dict[str, Any] = {}
    reason = ""
    for name in ("adaptive_rx", "adaptive_tx", "rx_delay", "tx_delay"):
        value, why_not = node.fact(f"nic.{interface}.coalescing.{name}")
        if value is None:
            reason = reason or why_not
        else:
            known[name] = value
    on = [f"{name} is {_coalescing(value)}" for name, value in known.items() if value]
    if on:
        return Said(Answer.NO, f"{interface}: {', '.join(on)}")
    if "rx_delay" in known:
        return Said(Answer.YES, f"{interface}: {', '.join(f'{name} is {_coalescing(known[name])}' for name in known)}")
    return Said(Answer.UNKNOWN, f"{interface}: {reason}")


def _coalescing(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value * 1e6:g} µs" if isinstance(value, int | float) else str(value)


def irqbalance_stopped(node: Node) -> Said:
    """2d: by its service, or else by the processes."""
    running, why_not = switch(service(node, "irqbalance", "value"), "value")
    if running is None:
        running, why_not = node.fact("software.irqbalance")
    if running is None:
        return Said(Answer.UNKNOWN, why_not)
    return Said(Answer.NO, "irqbalance runs") if running else Said(Answer.YES, "irqbalance does not run")


def irqbalance_disabled(node: Node) -> Said:
    """2e: whether its service is enabled."""
    nothing = "nobody read whether irqbalance's service is enabled"
    enabled, why_not = switch(service(node, "irqbalance", "startup"), "startup", nothing)
    if enabled is None:
        return Said(Answer.UNKNOWN, why_not)
    words = "start-up starts irqbalance" if enabled else "start-up does not start irqbalance"
    return Said(Answer.NO if enabled else Answer.YES, words)


@dataclass(frozen=True)
class Question:
    """One line of the checklist; `ask` is None where it is about nodes beside each other."""

    key: str
    text: str
    ask: Callable[[Node], Said] | None
    step: str


QUESTIONS = (
    Question(
        "1a", "Network driver the latest?", latest,
        "boot a current kernel; for a driver from elsewhere ask the card's maker",
    ),
    Question("1b", "The same driver on all nodes?", None, "install one kernel, driver and firmware on all nodes"),
    Question(
        "1c", "Interrupt moderation in HPC mode?", moderation_off,
        "`wulf tune --aim latency` measures what switching it off buys, and what it costs in CPU time",
    ),
    Question(
        "2a", "Firewall off, or bypassed, for the cluster?", firewall_off,
        "leave the firewall on; a bypass spares the cluster's network: `wulf tune --settings firewall.bypass`",
    ),
    Question(
        "2b", "Also at start-up?", firewall_off_at_startup,
        "keep the bypass in a file: `wulf tune export` writes one",
    ),
    Question(
        "2c", "Since the last boot?", since_boot, "reboot when it suits, then audit again"
    ),
    Question(
        "2d", "irqbalance stopped?", irqbalance_stopped,
        "let it leave the cluster's card alone (its ban list) rather than stop it",
    ),
    Question("2e", "Also at start-up?", irqbalance_disabled, "see 2d; its configuration file is what start-up reads"),
)  # fmt: skip


def answers(
    facts: Mapping[str, Facts], said: Mapping[str, Any], settings: Mapping[str, Setting]
) -> dict[str, dict[str, Said]]:
    """Question → node → answer, for all nodes that have facts.

    Parameters
    ----------
    said
        As settings.json has it: interfaces, addresses, roles and readings, by node; `date`, the day of the audit.
    """
    interfaces, addresses, readings = said["interfaces"], said["addresses"], said["readings"]
    nodes = {
        name: Node(
            own,
            interfaces.get(name, ()),
            readings.get(name, {}),
            settings,
            addresses.get(name, ()),
            said.get("date", ""),
        )
        for name, own in facts.items()
    }
    alike = same_drivers(nodes, said["roles"])
    return {
        question.key: alike if question.ask is None else {name: question.ask(node) for name, node in nodes.items()}
        for question in QUESTIONS
    }


def same_drivers(nodes: Mapping[str, Node], roles: Mapping[str, str]) -> dict[str, Said]:
    """1b: driver, its version and the firmware of the cluster's interfaces, against most nodes of the role."""
    drivers = {name: _drivers(node) for name, node in nodes.items()}
    said: dict[str, Said] = {}
    for role in dict.fromkeys(roles.get(name, "") for name in nodes):
        members = [name for name in nodes if roles.get(name, "") == role]
        counts = Counter(drivers[name] for name in members if drivers[name])
        usual, count = counts.most_common(1)[0] if counts else ("", 0)
        majority = 2 * count > counts.total()
        said |= {name: _same_driver(drivers[name], usual if majority else "", len(counts)) for name in members}
    return {name: said[name] for name in nodes}


def _drivers(node: Node) -> str:
    """The drivers in words; empty where one is not known."""
    words = []
    for interface in node.interfaces:
        driver, _ = node.fact(f"nic.{interface}.driver")
        if driver is None:
            return ""
        found = [node.fact(f"nic.{interface}.{what}")[0] for what in ("driver_version", "firmware")]
        words.append(" ".join([str(driver), *(str(part) for part in found if part is not None)]))
    return ", ".join(words)


def _same_driver(own: str, usual: str, kinds: int) -> Said:
    if not own:
        return Said(Answer.UNKNOWN, "its drivers could not be read")
    if kinds == 1:
        return Said(Answer.YES, own)
    if not usual:
        return Said(Answer.NO, f"{own}; the nodes differ, none of their drivers has a majority")
    return Said(Answer.YES, own) if own == usual else Said(Answer.NO, f"{own}; most nodes have {usual}")
