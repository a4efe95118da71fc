"""Configuration in drop-in folders, in the order in which a boot applies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wulf.agent.machine import Machine

_FOLDERS = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
"""The first one that has a file of some name has the say for that name: sysctl.d(5), modprobe.d(5), systemd.link(5)."""


def files(machine: Machine, folder: str, ending: str) -> list[str]:
    """Files of a drop-in folder ('sysctl.d', '.conf') in the order in which they are applied: by name alone."""
    found: dict[str, str] = {}
    for parent in _FOLDERS:
        path = f"{parent}/{folder}"
        for name in machine.names(path) if machine.exists(path) else []:
            if name.endswith(ending):
                found.setdefault(name, f"{path}/{name}")
    return [found[name] for name in sorted(found)]


def lines(machine: Machine, path: str, comments: str = "#;") -> Iterator[str]:
    """Lines of a configuration file that say something, continued ones (a backslash at the end) joined."""
    for line in contents(machine, path).replace("\\\n", " ").splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in comments:
            yield stripped


def contents(machine: Machine, path: str) -> str:
    """Text of a file; '' where it is empty (or a link to /dev/null, which masks others of its name)."""
    try:
        return machine.text(path)
    except Unknown as unknown:
        if unknown.absent:
            return ""
        raise


def sections(machine: Machine, path: str) -> dict[str, dict[str, list[str]]]:
    """Sections of a unit file: every value of every word; one that is set empty forgets those before it."""
    found: dict[str, dict[str, list[str]]] = {}
    here: dict[str, list[str]] = {}
    for line in lines(machine, path):
        if line.startswith("["):
            here = found.setdefault(line.strip("[]"), {})
            continue
        word, _, text = (part.strip() for part in line.partition("="))
        here[word] = [*here.get(word, []), text] if text else []
    return found
