"""How a kept setting comes back when the node starts: a line of one of the files that the start of a node reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from wulf.tune.export.entry import Entry
from wulf.tune.export.live import NOT_OF_A_NODE, Inexpressible, live, sysctl_key, sysfs_path, text_of, unit_name
from wulf.tune.export.words import directive

KERNELS_NAME = re.compile(r"(eth|ib|wlan|usb)\d+$")
"""Interfaces that udev did not rename: a .link file finds one by the kernel's name, and knows no other."""


@dataclass(frozen=True)
class Boot:
    """One line."""

    kind: str
    """As `persist` of a setting has it: sysctl, link, udev, …"""
    key: str
    text: str
    device: str = ""
    """The interface, where it belongs to one."""


def boot(entry: Entry) -> Boot:
    """The line that brings it back.

    Raises
    ------
    Inexpressible
        No such file can hold it.
    """
    persist = dict[str, str](entry.setting.persist.items())
    for kind, make in KINDS.items():
        name = persist.get(kind)
        if name is not None and (line := make(entry, name)) is not None:
            return line
    return _by_mechanism(entry)


def _text(entry: Entry) -> str:
    return text_of(entry, entry.kept.value)


def _sysctl(entry: Entry, name: str) -> Boot:
    return Boot("sysctl", sysctl_key(entry) if "key" in entry.setting.target else name, _text(entry))


def _link(entry: Entry, name: str) -> Boot | None:
    place = entry.kept.place
    return Boot("link", name, directive(name, entry.kept.value), place) if KERNELS_NAME.fullmatch(place) else None


def _udev(entry: Entry, name: str) -> Boot:
    device = entry.kept.place.rpartition(" of ")[2]
    if "path" in entry.setting.target:
        name = sysfs_path(entry).removeprefix(f"/sys/class/net/{device}/")
    return Boot("udev", name, _text(entry), device)


def _ethtool(entry: Entry, _name: str) -> Boot:
    return _by_mechanism(entry)


def _tmpfiles(entry: Entry, name: str) -> Boot:
    return Boot("tmpfiles", sysfs_path(entry) if "path" in entry.setting.target else name, _text(entry))


def _modprobe(entry: Entry, name: str) -> Boot:
    return Boot("modprobe", name, _text(entry))


def _bootline(entry: Entry, name: str) -> Boot:
    value = entry.kept.value
    if value is False:
        raise Inexpressible(f"a file of words for the kernel adds some, and takes none away: remove {name} by hand")
    return Boot("bootline", name if value is True else f"{name}={value}", "")


def _service(entry: Entry, _name: str) -> Boot | None:
    return Boot("service", unit_name(entry), _started(entry)) if "unit" in entry.setting.target else None


def _started(entry: Entry) -> str:
    return "on" if entry.kept.value in (True, "enabled") else "off"


KINDS: dict[str, Callable[[Entry, str], Boot | None]] = {
    "sysctl": _sysctl, "link": _link, "udev": _udev, "ethtool": _ethtool, "tmpfiles": _tmpfiles,
    "modprobe": _modprobe, "bootline": _bootline, "service": _service,
}  # fmt: skip
"""Preferred first: what says itself what is to be before what runs a command."""


def _by_mechanism(entry: Entry) -> Boot:
    """What the catalogue names no file for, by how a shell would set it."""
    if entry.setting.mechanism in NOT_OF_A_NODE:
        raise Inexpressible(NOT_OF_A_NODE[entry.setting.mechanism])
    if entry.setting.mechanism == "sysctl":
        return Boot("sysctl", sysctl_key(entry), _text(entry))
    words = live(entry)
    if words.kind in COMMANDS:
        command = COMMANDS[words.kind].format(*words.arguments)
        return Boot("run", f"{command} {words.after}", "", words.arguments[0])
    if words.kind in OF_UNITS:
        return Boot(words.kind, "", words.after)
    if words.kind in ("active", "enabled"):
        return Boot("service", words.arguments[0], _started(entry))
    path, device = words.arguments[0], entry.kept.place.rpartition(" of ")[2]
    within = f"/sys/class/net/{device}/"
    if path.startswith(within):
        return Boot("udev", path.removeprefix(within), words.after, device)
    return Boot("tmpfiles", path, words.after)


COMMANDS = {
    "ethtool": "/usr/sbin/ethtool {2} {0} {3}", "adaptive": "/usr/sbin/ethtool -C {0} adaptive-{1}",
    "eee": "/usr/sbin/ethtool --set-eee {0} eee", "ip": "/usr/sbin/ip link set dev {0} {1}",
    "qdisc": "/usr/sbin/tc qdisc replace dev {0} root",
}  # fmt: skip
"""What a udev rule runs when the interface appears, by the shell's kind; the value comes last."""

OF_UNITS = ("latency", "bypass")
"""Kinds that a unit of systemd of our own brings back."""
