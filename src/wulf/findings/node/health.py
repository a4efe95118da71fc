"""What can be wrong with a node: one function a kind of check, from a machine's files and its baseline to words.

Each returns what is wrong, empty where nothing is; what can't be told is `Untold`, and no fault of the node.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

from wulf.agent.facts import read
from wulf.agent.machine import Machine
from wulf.agent.unknown import Unknown
from wulf.core.places import user_folder

NETWORKED = ("nfs", "nfs4", "lustre", "beegfs", "gpfs", "cifs", "ceph", "9p", "pvfs2", "orangefs", "panfs", "afs")
"""File systems whose source need neither be a device nor have a colon."""

Params = Mapping[str, Any]


class Untold(Exception):  # noqa: N818 - not a fault: the check could not be made
    """Why a check could not say anything."""


def _write(path: str) -> None:
    with tempfile.NamedTemporaryFile(dir=path, prefix=".wulf-check-") as file:
        file.write(b"wulf")
        file.flush()
        os.fsync(file.fileno())


@dataclass(frozen=True)
class Host:
    """The node as the checks see it.

    Parameters
    ----------
    machine
        Its files: the live machine or a recorded tree.
    facts, mounts, rates
        Of the baseline: fact → its value; mount point → {"source", "type", "writable"}; check → {"low", "high", "n"}.
        None where there is none.
    statvfs, write
        What a file system holds; a file made, written, and removed in a directory: injected by tests.
    """

    machine: Machine
    facts: Mapping[str, Any] | None = None
    mounts: Mapping[str, Mapping[str, Any]] | None = None
    rates: Mapping[str, Mapping[str, float]] | None = None
    statvfs: Callable[[str], os.statvfs_result] = os.statvfs
    write: Callable[[str], None] = _write


def mounts_of(machine: Machine) -> dict[str, dict[str, Any]]:
    """The file systems that lie on a device or a server; the last one mounted at a point is the one that is seen."""
    found: dict[str, dict[str, Any]] = {}
    for line in machine.text("proc/self/mounts").splitlines():
        source, point, kind, options = (_unescaped(word) for word in line.split()[:4])
        found.pop(point, None)
        if source.startswith("/") or ":" in source or kind in NETWORKED:
            found[point] = {"source": source, "type": kind, "writable": "rw" in options.split(",")}
    return found


def _unescaped(word: str) -> str:
    """A field of /proc/mounts: blanks and backslashes stand as octal numbers (getmntent(3))."""
    for escaped, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        word = word.replace(escaped, plain)
    return word


def facts_of(machine: Machine, patterns: Sequence[str]) -> dict[str, Any]:
    """The values of the facts that match; those that this machine does not tell are left out."""
    prefixes = sorted({pattern.partition("*")[0].rstrip(".") for pattern in patterns})
    found = read(machine, prefixes)
    return {
        name: fact["value"]
        for name, fact in found.items()
        if fact.get("value") is not None and any(fnmatch(name, pattern) for pattern in patterns)
    }


def same(host: Host, params: Params) -> str:
    """Facts that differ from the baseline's, or are gone. What the baseline lacks is asked of nobody."""
    patterns = params["facts"]
    if host.facts is None:
        raise Untold("there is no baseline: `wulf check --save` writes one while the node is well")
    wanted = {name: value for name, value in host.facts.items() if any(fnmatch(name, one) for one in patterns)}
    if not wanted:
        raise Untold(f"the baseline has none of {', '.join(patterns)}")
    here = facts_of(host.machine, patterns)
    differing = [name for name, value in wanted.items() if here.get(name) != value]
    return "; ".join(f"{name} is {here.get(name, 'not there')}, and was {wanted[name]}" for name in differing)


def mounted(host: Host, _params: Params) -> str:
    """File systems of the baseline that are gone, are another, or can't be written any more."""
    if host.mounts is None:
        raise Untold("there is no baseline: `wulf check --save` writes one while the node is well")
    here = mounts_of(host.machine)
    faults = []
    for point, was in host.mounts.items():
        now = here.get(point)
        if now is None:
            faults.append(f"{point} not mounted")
        elif (now["source"], now["type"]) != (was["source"], was["type"]):
            faults.append(f"{point} is {now['source']} ({now['type']}), and was {was['source']} ({was['type']})")
        elif was["writable"] and not now["writable"]:
            faults.append(f"{point} is mounted read-only")
    return "; ".join(faults)


def room(host: Host, params: Params) -> str:
    """File systems without blocks or inodes left for those who are not root."""
    least, faults = float(params["least"]), []
    for path in params["paths"]:
        try:
            found = host.statvfs(path)
        except OSError as error:
            faults.append(f"{path}: {error.strerror}")
            continue
        for what, free, total in (
            ("space", found.f_bavail, found.f_blocks),
            ("inodes", found.f_favail, found.f_files),
        ):
            if total and free / total < least:
                faults.append(f"{path} has {free / total:.1%} of its {what} free, less than {least:.1%}")
    return "; ".join(faults)


def writable(host: Host, params: Params) -> str:
    """Directories in which no file can be written and brought to disk."""
    faults = []
    for path in params["paths"]:
        try:
            host.write(path)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM) and os.geteuid() != 0:
                raise Untold(f"{path}: {error.strerror}; root could tell") from error
            faults.append(f"{path} can't be written: {error.strerror}")
    return "; ".join(faults)


def load(host: Host, params: Params) -> str:
    """The load of the last 15 minutes."""
    value = float(host.machine.text("proc/loadavg").split()[2])
    most = float(params["most_per_cpu"]) * _cpus(host)
    return f"load {value:.1f} over 15 minutes, more than {most:g}" if value > most else ""


def tasks(host: Host, params: Params) -> str:
    """Too many processes in a state: zombies, or uninterruptible."""
    states = params["states"]
    seen = [_state(host, number) for number in host.machine.names("proc") if number.isdecimal()]
    count = sum(state in states for state in seen)
    most = float(params["most_per_cpu"]) * _cpus(host) if "most_per_cpu" in params else float(params.get("most", 0))
    return f"{count} processes in state {' or '.join(states)}, more than {most:g}" if count > most else ""


def _state(host: Host, number: str) -> str:
    try:
        return host.machine.text(f"proc/{number}/stat").rpartition(")")[2].split()[0]
    except (Unknown, IndexError):  # it has ended since
        return ""


def _cpus(host: Host) -> int:
    """CPUs that are there and switched on."""
    return int(facts_of(host.machine, ["cpu.threads"]).get("cpu.threads", 1))


def spare(host: Host) -> float:
    """The load per CPU of the last minute: whether rates can be measured without being in anybody's way."""
    return float(host.machine.text("proc/loadavg").split()[0]) / _cpus(host)


Kind = Callable[[Host, Params], str]


class Facts(TypedDict):
    """What a row of `same` says: patterns of facts' names."""

    facts: list[str]


class Nothing(TypedDict):
    """Its kind alone."""


class Room(TypedDict):
    """What a row of `room` says: file systems by a path in each, and the least share that must be free."""

    paths: list[str]
    least: float


class Folders(TypedDict):
    """What a row of `writable` says."""

    paths: list[str]


class Load(TypedDict):
    """What a row of `load` says."""

    most_per_cpu: float


class Tasks(TypedDict):
    """What a row of `tasks` says: states as /proc has them, and how many processes may be in one."""

    states: list[str]
    most: NotRequired[float]
    most_per_cpu: NotRequired[float]


KINDS: dict[str, tuple[Kind, type]] = {
    "same": (same, Facts),
    "mounted": (mounted, Nothing),
    "room": (room, Room),
    "writable": (writable, Folders),
    "load": (load, Load),
    "tasks": (tasks, Tasks),
}
"""Kind → its function, and what a row of the table says for it."""


def default_places() -> tuple[Path, Path]:
    """Where a baseline is kept: the machine's, and the user's own."""
    return Path("/var/lib/wulf/check.json"), user_folder("cache") / "check.json"
