"""Neighbours by LLDP (IEEE 802.1AB): what lldpd has heard from the other end of each link.

`lldpctl -f json` prints a list as its one element where it has but one; a chassis and an interface stand under their
names. Management addresses and chassis identifiers are not read: they tell nothing of speed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wulf.agent.hardware import printable
from wulf.agent.machine import shared
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

MOST_NEIGHBOURS = 4096
"""Beyond these an answer is no answer: a port has one neighbour, a hub's port a few."""

_NUMBER = re.compile("[0-9]{1,7}")


@dataclass(frozen=True)
class Neighbour:
    """What is at the other end of a link; '' and None for what it does not say.

    Attributes
    ----------
    system
        Its name: the switch's.
    bridge
        Whether it says that it works as one.
    port
        The port as the switch calls it.
    frame
        Bytes of the largest frame that the port takes.
    medium
        What the port runs at, as lldpd words it: '1000BaseTFD'.
    """

    system: str
    bridge: bool
    port: str
    frame: int | None
    medium: str


@shared
def neighbours(machine: Machine) -> dict[str, Neighbour]:
    """The neighbour of each interface that has one; of several the bridge. Raises Unknown where lldpd does not say."""
    try:
        said = machine.ask("neighbours")
    except Unknown as unknown:  # never absent: whoever can't hear its neighbours has some all the same
        raise Unknown(unknown.reason) from unknown
    return parsed(said)


def parsed(text: str) -> dict[str, Neighbour]:
    """What `lldpctl -f json` printed, perhaps after a warning. Raises Unknown where it is not that."""
    try:
        content, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
        every = list(_entries(content["lldp"]))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Unknown(f"lldpctl's answer is not as expected: {type(error).__name__}") from error
    found: dict[str, Neighbour] = {}
    for interface, one in every:
        if interface not in found or (one.bridge and not found[interface].bridge):
            found[interface] = one
    return found


def _entries(content: Any) -> Iterator[tuple[str, Neighbour]]:
    for number, entry in enumerate(_list(content.get("interface", []))):
        if number >= MOST_NEIGHBOURS:
            raise ValueError(number)
        for interface, said in entry.items():
            yield str(interface), _neighbour(said)


def _neighbour(said: Any) -> Neighbour:
    chassis, port = said.get("chassis", {}), said.get("port", {})
    system = "" if "id" in chassis else next(iter(chassis), "")  # one without a name stands there as it is
    roles = _list(chassis.get(system, chassis).get("capability", []))
    name = port.get("id", {})
    own = name.get("value", "") if name.get("type") == "ifname" else port.get("descr", "")
    frame, medium = str(port.get("mfs", "")), str(port.get("auto-negotiation", {}).get("current", ""))
    return Neighbour(
        printable(system), any(one.get("type") == "Bridge" and one.get("enabled") is True for one in roles),
        printable(str(own)), int(frame) if _NUMBER.fullmatch(frame) else None,
        printable(medium.partition(" - ")[0]) if "base" in medium.lower() else "",
    )  # fmt: skip


def _list(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]
