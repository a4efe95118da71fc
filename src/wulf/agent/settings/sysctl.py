"""Kernel parameters under /proc/sys, by sysctl(8)'s names; what a boot gives them, by sysctl.d(5)."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from wulf.agent.boot import bootline, dropins
from wulf.agent.interfaces import interfaces
from wulf.agent.machine import shared
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown
from wulf.agent.values import WORDS, below, from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_PLACE = "{place}"
_PROGRAMS = ("usr/lib/systemd/systemd-sysctl", "lib/systemd/systemd-sysctl")


class Sysctl(Mechanism):
    help = """kernel parameter: key = "net.core.rmem_max", one of each interface with {place} in it"""
    words = ("key",)
    optional = WORDS

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        return interfaces(machine) if _PLACE in target["key"] else [""]

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        return from_text(machine.text(_file(target, place)), target)

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        machine.put(_file(target, place), to_text(value, target))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        path = _path(target, place)
        text = _configured(_assignments(machine), path)
        if text is None:
            text = _booted(machine, path)
        if text is None:
            raise Unknown("no file of sysctl.d and no word of the kernel's command line sets it: the kernel's default")
        return from_text(text, target)


def _file(target: Mapping[str, Any], place: str) -> str:
    return below("proc/sys", "proc/sys/" + _path(target, place))


def _path(target: Mapping[str, Any], place: str) -> str:
    return _slashed(str(target["key"])).replace(_PLACE, place)


def _slashed(key: str) -> str:
    """A key as a path below /proc/sys. The separator that comes first separates: 'net/ipv4/conf/eth0.1/mtu'."""
    first = re.search(r"[./]", key)
    return key if first and first[0] == "/" else key.translate(str.maketrans("./", "/."))


@shared
def _assignments(machine: Machine) -> list[tuple[str, str | None]]:
    """(path or pattern, value) in the order in which a boot writes them; None: patterns don't reach this path."""
    paths = dropins.files(machine, "sysctl.d", ".conf")
    if not any(map(machine.exists, _PROGRAMS)):  # procps reads this one last; systemd only by a link in sysctl.d
        paths += ["etc/sysctl.conf"] * machine.exists("etc/sysctl.conf")
    found: list[tuple[str, str | None]] = []
    for path in paths:
        for line in dropins.lines(machine, path):
            key, equals, value = (part.strip() for part in line.partition("="))
            if equals or key.startswith("-"):
                found.append((_slashed(key.lstrip("-").strip()), value if equals else None))
    return found


def _configured(assignments: list[tuple[str, str | None]], path: str) -> str | None:
    """The value that the files give a path: one that names it counts before patterns, and of equals the last."""
    exact = [value for key, value in assignments if key == path]
    if exact:
        return exact[-1]
    by_pattern = [value for key, value in assignments if value is not None and _reaches(key, path)]
    return by_pattern[-1] if by_pattern else None


def _reaches(pattern: str, path: str) -> bool:
    """As glob(7): a '*' does not reach over a slash."""
    parts, names = pattern.split("/"), path.split("/")
    return len(parts) == len(names) and all(map(fnmatchcase, names, parts))


def _booted(machine: Machine, path: str) -> str | None:
    """What the kernel sets before any file does, by 'sysctl.KEY=VALUE' on its command line."""
    for word in bootline.running(machine) if machine.exists("proc/cmdline") else []:
        key, equals, text = word.partition("=")
        if equals and key.startswith("sysctl.") and _slashed(key[len("sysctl.") :]) == path:
            return text
    return None


mechanism = Sysctl()
