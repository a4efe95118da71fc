"""Files under /sys: of the node, of its interfaces and their queues, of its CPUs and their sleep states."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from wulf.agent.boot import bootline, dropins
from wulf.agent.interfaces import NET, interfaces
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown
from wulf.agent.values import WORDS, below, from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_FIELDS = {
    "nic": "*",
    "rx": "rx-*",
    "tx": "tx-*",
    "cpu": "cpu[0-9]*",
    "policy": "policy[0-9]*",
    "state": "state[0-9]*",
    "node": "node[0-9]*",
    "pages": "hugepages-*",
    "place": "*",
}
"""What stands in braces in a path, and which names it stands for; {nic}: the interfaces that carry traffic."""


class Sysfs(Mechanism):
    help = (
        "file under /sys: path = 'sys/class/net/{nic}/queues/{rx}/rps_cpus'; {place} with a glob of the folder; "
        "boot: the word of the kernel's command line that sets it"
    )
    words = ("path",)
    optional = ("glob", "boot", "choose", *WORDS)

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        found = [_place(names) for path, names in _found(machine, target) if machine.exists(path)]
        if not found:
            raise Unknown(f"no /{re.sub('{[a-z]+}', '*', _template(target))}", absent=True)
        return sorted(found, key=_natural)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        text = machine.text(_path(target, place))
        if text == "Unknown":  # as drivers/pci/pci-sysfs.c says of a link's speed
            raise Unknown(f"the kernel does not know what /{_path(target, place)} should say")
        return from_text(text, _kind(target))

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        machine.put(_path(target, place), to_text(value, _kind(target)))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        path = _path(target, place)
        text = _tmpfiles(machine, path)
        if text is not None:
            return from_text(text, _kind(target))
        if "boot" in target:
            said = bootline.next_value(machine, target["boot"])
            if said is not False:
                return from_text("1" if said is True else str(said), _kind(target))
        raise Unknown("nothing that is read here (tmpfiles.d, the kernel's command line) sets it at boot")


def _kind(target: Mapping[str, Any]) -> Mapping[str, Any]:
    """The target; {choose: true} is another way to say {kind: "choice"}."""
    return {**target, "kind": "choice"} if target.get("choose") else target


def _template(target: Mapping[str, Any]) -> str:
    return str(target["path"]).lstrip("/")


def _found(machine: Machine, target: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Paths of the template that may be there, and the names that its fields have in each."""
    parts = _template(target).split("/")
    globs = str(target.get("glob", "")).lstrip("/").split("/")
    found: list[tuple[str, list[str]]] = [("", [])]
    for at, part in enumerate(parts):
        if not part.startswith("{"):
            found = [(f"{path}/{part}".lstrip("/"), names) for path, names in found]
            continue
        pattern = globs[at] if at < len(globs) and globs[at] else _FIELDS.get(part.strip("{}"), "*")
        found = [(f"{path}/{name}", [*names, name]) for path, names in found for name in _names(machine, path, pattern)]
    return found


def _names(machine: Machine, folder: str, pattern: str) -> list[str]:
    if folder == NET:
        return [name for name in interfaces(machine) if fnmatchcase(name, pattern)]
    names = machine.names(folder) if machine.exists(folder) else []
    return [name for name in names if fnmatchcase(name, pattern)]


def _place(names: list[str]) -> str:
    """'rx-0 of eth0' from ['eth0', 'rx-0']."""
    return " of ".join(reversed(names))


def _path(target: Mapping[str, Any], place: str) -> str:
    names = place.split(" of ") if place else []
    parts = _template(target).split("/")
    fields = [at for at, part in enumerate(parts) if part.startswith("{")]
    if len(names) != len(fields):
        raise Unknown(f"'{place}' is no place of /{_template(target)}", absent=True)
    for at, name in zip(fields, reversed(names)):
        parts[at] = name
    return below("sys", "/".join(parts))


def _natural(place: str) -> list[Any]:
    """cpu2 before cpu10."""
    return [
        [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)] for name in place.split(" of ")
    ]


def _tmpfiles(machine: Machine, path: str) -> str | None:
    """What tmpfiles.d(5) writes into a file at boot: lines 'w PATH - - - - TEXT'; the first of a path counts."""
    for file in dropins.files(machine, "tmpfiles.d", ".conf"):
        for line in dropins.lines(machine, file, comments="#"):
            kind, _, rest = line.partition(" ")
            fields = rest.split(None, 5)
            if kind.rstrip("+!-=~^$") == "w" and len(fields) == 6 and fnmatchcase("/" + path, fields[0]):
                return fields[5]
    return None


mechanism = Sysfs()
