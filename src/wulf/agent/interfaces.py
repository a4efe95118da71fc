"""Which interfaces carry the node's traffic, so that facts and findings speak of those alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

NET = "sys/class/net"


@shared
def own_sysfs(machine: Machine) -> bool:
    """True if /sys shows this process's network namespace; else raises Unknown.

    A process that entered a network namespace without mounting /sys anew sees the interfaces of another one there,
    perhaps with the same names: names and indices are compared with what the kernel says of ours. /sys is listed
    before and after, since a container that starts meanwhile makes an interface.
    """
    before = _shown(machine)
    ours = machine.ask("interfaces")
    if ours != before and ours != _shown(machine):
        raise Unknown("/sys shows another network namespace than this process is in: mount sysfs in the namespace")
    return True


def _shown(machine: Machine) -> dict[str, int]:
    """Index of every interface that /sys shows; beside them lies a file of the bonding driver."""
    names = [name for name in machine.names(NET) if machine.exists(f"{NET}/{name}/ifindex")]
    return {name: machine.integer(f"{NET}/{name}/ifindex") for name in names}


@shared
def interfaces(machine: Machine) -> list[str]:
    """Interfaces that carry the node's traffic, sorted.

    Those with a device behind them, and those that lie over one (bonds, VLANs, bridges with a card as port). Where
    there is none (a container, a node of the lab) those that are up and hang under no other: docker0, its veths,
    virbr0, dummies and lo never count on a machine that has a card.
    """
    own_sysfs(machine)
    every = [name for name in _shown(machine) if name != "lo"]
    real = {name for name in every if machine.exists(f"{NET}/{name}/device")}
    if not real:
        return [name for name in every if _stands_alone(machine, name)]
    over = set(real)
    while True:
        more = {name for name in every if name not in over and over & set(_lower(machine, name))}
        if not more:
            return sorted(over)
        over |= more


def _lower(machine: Machine, name: str) -> list[str]:
    """Interfaces that `name` lies over: sysfs has a link 'lower_eth0' for each."""
    return [entry[len("lower_") :] for entry in machine.names(f"{NET}/{name}") if entry.startswith("lower_")]


def _stands_alone(machine: Machine, name: str) -> bool:
    """Up, no bridge, and port of none: the end of a container's or lab node's own link."""
    folder = f"{NET}/{name}"
    part = any(machine.exists(f"{folder}/{mark}") for mark in ("bridge", "master", "bonding_slave"))
    return not part and machine.text(f"{folder}/operstate") in ("up", "unknown")


def identity(machine: Machine, name: str) -> str:
    """What tells an interface from a later one of its name: 'ifindex 2, 52:54:00:…'; '' where it is none."""
    if not name or not machine.exists(f"{NET}/{name}/ifindex"):
        return ""
    own_sysfs(machine)
    index = f"ifindex {machine.integer(f'{NET}/{name}/ifindex')}"
    try:
        return f"{index}, {machine.text(f'{NET}/{name}/address')}"
    except Unknown:  # a tunnel without a hardware address
        return index
