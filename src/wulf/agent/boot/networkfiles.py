"""The MTU that a node's network service gives an interface at boot, from that service's own files.

It comes after udev and its .link files, and so has the last word: ifupdown's interfaces(5), NetworkManager's keyfiles
(nm-settings-keyfile(5)), the older ifcfg files, systemd.network(5). Netplan writes files of the last two kinds.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from wulf.agent.boot import dropins, linkfile
from wulf.agent.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wulf.agent.machine import Machine

_NM_FOLDERS = ("etc/NetworkManager/system-connections", "run/NetworkManager/system-connections")


def mtu(machine: Machine, nic: str) -> int | None:
    """The MTU by the first of the services' files that names the interface and an MTU; None where none does."""
    found = next((text for source in _SOURCES for text in source(machine, nic)), None)
    return None if found is None else linkfile.size(found)


def _interfaces(machine: Machine, nic: str) -> Iterator[str]:
    """/etc/network/interfaces: lines `mtu N` of the stanzas `iface NIC …`."""
    folder = "etc/network/interfaces.d"
    more = [f"{folder}/{name}" for name in machine.names(folder)] if machine.exists(folder) else []
    for path in ("etc/network/interfaces", *more):
        ours = False
        for line in dropins.lines(machine, path, comments="#"):
            word, *rest = line.split()
            if word in ("iface", "auto", "mapping", "source", "source-directory") or word.startswith("allow-"):
                ours = word == "iface" and rest[:1] == [nic]
            elif ours and word == "mtu" and rest:
                yield rest[0]


def _network_manager(machine: Machine, nic: str) -> Iterator[str]:
    """Keyfiles whose [connection] has interface-name=NIC."""
    for folder in _NM_FOLDERS:
        for name in machine.names(folder) if machine.exists(folder) else []:
            said = dropins.sections(machine, f"{folder}/{name}")
            if said.get("connection", {}).get("interface-name") == [nic]:
                yield from said.get("ethernet", {}).get("mtu", [])[-1:]


def _ifcfg(machine: Machine, nic: str) -> Iterator[str]:
    path = f"etc/sysconfig/network-scripts/ifcfg-{nic}"
    for line in dropins.lines(machine, path, comments="#") if machine.exists(path) else []:
        name, equals, text = line.partition("=")
        if equals and name.strip() == "MTU":
            yield text.strip().strip("'\"")


def _networkd(machine: Machine, nic: str) -> Iterator[str]:
    """The first .network file that matches; one that matches by more than a name is not judged."""
    for path in dropins.files(machine, "systemd/network", ".network"):
        said = dropins.sections(machine, path)
        match = said.get("Match", {})
        names = " ".join(match.get("Name", [])).split()
        if set(match) - {"Name"} and said.get("Link", {}).get("MTUBytes"):
            raise Unknown(f"/{path} sets an MTU and matches by {', '.join(match)}, which is not evaluated here")
        if any(fnmatchcase(nic, name) for name in names):
            yield from said.get("Link", {}).get("MTUBytes", [])[-1:]
            return


_SOURCES: tuple[Callable[[Machine, str], Iterator[str]], ...] = (_interfaces, _network_manager, _ifcfg, _networkd)
