"""The programs that the hardware lab takes from the system, and what to install where they are missing."""

from __future__ import annotations

from pathlib import Path

from wulf.core.errors import LabError
from wulf.lab import tools

INSTALL = {
    "qemu-system-x86_64": "`apt install --no-install-recommends qemu-system-x86` (Debian, Ubuntu), "
    "`dnf install qemu-system-x86-core` (Fedora), `zypper install qemu-x86` (openSUSE)",
    "qemu-img": "`apt install qemu-utils` (Debian, Ubuntu), `dnf install qemu-img` (Fedora), "
    "`zypper install qemu-img` (openSUSE)",
    "mmdebstrap": "`apt install mmdebstrap` (Debian, Ubuntu), `dnf install mmdebstrap` (Fedora)",
    "mke2fs": "`apt install e2fsprogs` (Debian, Ubuntu), `dnf install e2fsprogs` (Fedora), "
    "`zypper install e2fsprogs` (openSUSE)",
    "ssh": "`apt install openssh-client` (Debian, Ubuntu), `dnf install openssh-clients` (Fedora), "
    "`zypper install openssh-clients` (openSUSE)",
}


def require(name: str) -> Path:
    """Absolute path of a program; LabError with the package to install when it is nowhere."""
    path = tools.find(name)
    if path is None:
        raise LabError(f"a lab of virtual machines needs {name}, not installed here", f"Install it: {INSTALL[name]}.")
    return path
