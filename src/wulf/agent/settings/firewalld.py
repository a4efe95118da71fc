"""Networks in a zone of firewalld: its own way to trust a cluster's network, beside which nothing is stopped.

Only firewalld's running rules are written; what a boot gives is its permanent configuration, which is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.mechanism import Mechanism
from wulf.agent.net import networks
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_PROGRAM = "firewall-cmd"


class Firewalld(Mechanism):
    help = (
        "networks in a zone of firewalld: zone = 'trusted'; networks = ['10.0.0.0/24']; true if all are in it, false "
        "if none, else those that are"
    )
    words = ("zone",)
    optional = ("networks",)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return _among(target, _sources(machine, target))

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        """Put networks into the zone, and take the target's others out of it; sources of others' are left alone."""
        wanted = _wanted(target)
        if not wanted:
            raise Unknown("no networks are named that the zone should hold: target needs networks = […]")
        kept = (wanted if value else []) if isinstance(value, bool) else _texts(str(value).split())
        there = set(_sources(machine, target))
        changes = [("add", network) for network in kept if network not in there]
        changes += [("remove", network) for network in wanted if network in there and network not in kept]
        for verb, network in changes:
            machine.tell("program", _PROGRAM, f"--zone={target['zone']}", f"--{verb}-source={network}")

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return _among(target, _sources(machine, target, "--permanent"))


def _texts(of: Any) -> list[str]:
    return [str(network) for network in networks.parse(of)]


def _wanted(target: Mapping[str, Any]) -> list[str]:
    return _texts(target.get("networks", ()))


def _among(target: Mapping[str, Any], sources: list[str]) -> bool | str:
    """True if all of the target's networks are among the sources, False if none is, else those that are."""
    wanted = _wanted(target)
    found = [network for network in wanted if network in sources]
    if len(found) == len(wanted):
        return bool(sources) if not wanted else True
    return " ".join(found) or False


def _sources(machine: Machine, target: Mapping[str, Any], *options: str) -> list[str]:
    said = machine.ask("output", _PROGRAM, *options, f"--zone={target['zone']}", "--list-sources")
    if said["status"] != 0:
        words = " ".join((said["err"] or said["out"]).split())
        raise Unknown(f"firewall-cmd says of zone {target['zone']}: {words}", absent="not running" in words)
    return [word for word in said["out"].split() if word[0] in "0123456789abcdef:"]  # not 'ipset:…', nor MAC addresses


mechanism = Firewalld()
