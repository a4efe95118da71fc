"""What a boot gives an interface by systemd's .link files: systemd.link(5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from wulf.agent.boot import dropins
from wulf.agent.interfaces import NET
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from wulf.agent.machine import Machine

_ETHERNET = "1"  # ARPHRD_ETHER, linux/if_arp.h
_RENAMED = "4"  # NET_NAME_RENAMED, linux/netdevice.h
_SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SPANS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "ns": 1e-9}


def startup(machine: Machine, nic: str, word: str) -> str:
    """What the .link file of an interface says under a word of its [Link] section ('MTUBytes').

    Raises Unknown where none is said: the driver's own value, or what a network service gives, is not known before.
    """
    path = _applied(machine, nic)
    said = dropins.sections(machine, path).get("Link", {}).get(word, []) if path else []
    if not said or not said[-1]:
        where = f"/{path} does not set {word}" if path else f"no .link file applies to {nic}"
        raise Unknown(f"{where}: a reboot gives what the driver or the network's own service chooses")
    return said[-1]


def size(text: str) -> int:
    """Bytes of '9000' or '16K' (to the base 1024)."""
    factor = _SIZES.get(text[-1:].upper())
    digits = text if factor is None else text[:-1]
    try:
        return int(digits) * (factor or 1)
    except ValueError:
        raise Unknown(f"'{text}' in the network's configuration is no number") from None


def span(text: str) -> float:
    """Seconds of a time span such as '5us', '1ms 500us' or '3' (systemd.time(7))."""
    total = 0.0
    for part in text.split():
        digits = part.rstrip("abcdefghijklmnopqrstuvwxyzµ")
        unit = part[len(digits) :]
        if unit not in _SPANS:
            raise Unknown(f"'{text}' is no time span that is understood")
        total += float(digits or "nan") * _SPANS[unit]
    return float(f"{total:.12g}")


def _applied(machine: Machine, nic: str) -> str | None:
    """The first file, by name, that matches the interface: only that one counts."""
    for path in dropins.files(machine, "systemd/network", ".link"):
        sections = dropins.sections(machine, path)
        conditions = sections.get("Match", {})
        if sections and all(_holds(machine, nic, path, name, said) for name, said in conditions.items()):
            return path
    return None


def _holds(machine: Machine, nic: str, path: str, name: str, said: list[str]) -> bool:
    patterns = " ".join(said).split()
    if name == "OriginalName":
        return _original_name(machine, nic, path, patterns)
    if name not in _CONDITIONS:
        raise Unknown(f"/{path} matches interfaces by {name}=, which is not evaluated here")
    answers = {_matches(text, patterns) for text in _CONDITIONS[name](machine, nic)}
    if len(answers) > 1:
        raise Unknown(f"/{path} matches interfaces by {name}=, which can't be told of {nic} here")
    return answers.pop()


def _original_name(machine: Machine, nic: str, path: str, patterns: list[str]) -> bool:
    """The name that the kernel gave; where udev has renamed since, only '*' can be told."""
    if patterns == ["*"]:
        return True
    if dropins.contents(machine, f"{NET}/{nic}/name_assign_type") == _RENAMED:
        raise Unknown(f"/{path} matches by the kernel's own name of the interface, which {nic} no longer has")
    return _matches(nic, patterns)


def _matches(text: str, patterns: list[str]) -> bool:
    """Any of the shell patterns, in any case of letters; a leading '!' negates the whole list. '' matches none."""
    negated = bool(patterns) and patterns[0].startswith("!")
    words = [patterns[0][1:], *patterns[1:]] if negated else patterns
    return (text != "" and any(fnmatchcase(text.lower(), word.lower()) for word in words)) != negated


def _driver(machine: Machine, nic: str) -> list[str]:
    return [str(machine.ask("drvinfo", nic)["driver"])]


def _address(machine: Machine, nic: str) -> list[str]:
    return [machine.text(f"{NET}/{nic}/address")]


def _permanent(machine: Machine, nic: str) -> list[str]:
    if dropins.contents(machine, f"{NET}/{nic}/addr_assign_type") != "0":  # NET_ADDR_PERM, linux/netdevice.h
        raise Unknown(f"the permanent address of {nic} is not the one that it has")
    return _address(machine, nic)


def _bus(machine: Machine, nic: str) -> str:
    """Where a card sits on its bus, in its driver's words; '' for a virtual interface."""
    return str(machine.ask("drvinfo", nic)["bus"]).replace("N/A", "")


def _path(machine: Machine, nic: str) -> list[str]:
    """What udev may call the card's place (ID_PATH): known of one on PCI; a virtual interface has none."""
    bus = _bus(machine, nic)
    if bus and not re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", bus):
        raise Unknown(f"udev's name for the place of {nic} ({bus}) is not known")
    if not bus:
        return [""]
    either = [f"virtio-pci-{bus}"] if _driver(machine, nic) == ["virtio_net"] else []  # by the version of udev
    return [f"pci-{bus}", *either]


def _kind(machine: Machine, nic: str) -> list[str]:
    if not _bus(machine, nic):
        raise Unknown(f"which kind of virtual interface {nic} is, is not read")
    return [""]  # only virtual interfaces have one


def _type(machine: Machine, nic: str) -> list[str]:
    """DEVTYPE, where the kernel says one; else that of its hardware addresses."""
    said = dict(line.partition("=")[::2] for line in dropins.contents(machine, f"{NET}/{nic}/uevent").splitlines())
    if "DEVTYPE" not in said and dropins.contents(machine, f"{NET}/{nic}/type") != _ETHERNET:
        raise Unknown(f"which type of interface {nic} is, is not known")
    return [said.get("DEVTYPE", "ether")]


_CONDITIONS: dict[str, Callable[[Any, str], list[str]]] = {
    "MACAddress": _address,
    "PermanentMACAddress": _permanent,
    "Driver": _driver,
    "Path": _path,
    "Kind": _kind,
    "Type": _type,
}
"""What an interface has of each condition; several where it may be any of them."""
