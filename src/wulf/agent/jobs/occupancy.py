"""Whether somebody uses this node: its load, and who is logged in."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

LOADAVG, UTMP, SESSIONS = "proc/loadavg", "run/utmp", "run/systemd/sessions"

_UTMP = struct.Struct("=hxxi32s4s32s256shhiii16s20x")
"""utmp(5) of glibc on 64-bit Linux: type, process, line, id, user, host, …"""

_USER_PROCESS = 7


def occupancy(root: Any = "/") -> dict[str, Any]:
    """{"op": "occupancy"}: load of a minute, CPUs that are on, users who are logged in."""
    at = Path(str(root))
    return {
        "load": float((at / LOADAVG).read_text(encoding="ascii").split()[0]),
        "cpus": max(1, _cpus((at / "proc/stat").read_text(encoding="ascii"))),
        "users": sorted(set(_by_utmp(at / UTMP)) | set(_by_logind(at / SESSIONS))),
    }


def _cpus(stat: str) -> int:
    """CPUs that are on: /proc/stat has a line of each."""
    return sum(line[:3] == "cpu" and line[3:4].isdigit() for line in stat.splitlines())


def _by_utmp(path: Path) -> list[str]:
    """Who is logged in; nobody where there is no such file, as where systemd-logind alone knows."""
    try:
        content = path.read_bytes()
    except OSError:
        return []
    whole = len(content) // _UTMP.size * _UTMP.size
    found = []
    for kind, _pid, _line, _id, user, *_ in _UTMP.iter_unpack(content[:whole]):
        if kind == _USER_PROCESS:
            found.append(user.rstrip(b"\0").decode(errors="replace"))
    return found


def _by_logind(folder: Path) -> list[str]:
    """Sessions of people, on a terminal; a program that came over ssh, as we do, has none."""
    found = []
    for path in folder.glob("*[0-9c]"):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:  # it has ended
            continue
        said = dict(line.split("=", 1) for line in lines if "=" in line)
        if said.get("CLASS") == "user" and said.get("TTY") and said.get("STATE") != "closing":
            found.append(said.get("USER", "?"))
    return found
