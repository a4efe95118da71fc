"""The system programs a lab needs, and what to install where they are missing."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from wulf.core.errors import LabError

SYSROOT = "WULF_SYSROOT"
"""Environment variable: a directory into which a set-up without root unpacked the system's packages."""

_FOLDERS = ("usr/sbin", "usr/bin", "sbin", "bin")


def find(name: str) -> Path | None:
    """Absolute path of a program: in PATH, the system's folders (sshd is often outside PATH), WULF_SYSROOT; or None."""
    found = shutil.which(name)
    if found:
        return Path(found).absolute()
    roots = [Path("/")] + ([Path(os.environ[SYSROOT]).absolute()] if os.environ.get(SYSROOT) else [])
    for root in roots:
        for folder in _FOLDERS:
            path = root / folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return path
    return None


def require(name: str) -> Path:
    """As `find`; LabError with the packages to install when it is nowhere."""
    path = find(name)
    if path is None:
        raise LabError(
            f"a lab needs {name}, and it is neither in PATH nor in /usr/sbin",
            "Install it: `apt install openssh-server openssh-client` (Debian, Ubuntu), "
            "`dnf install openssh-server openssh-clients` (Fedora, RHEL), "
            "`zypper install openssh` (openSUSE); or use `--backend loopback`.",
        )
    return path


def missing() -> list[str]:
    """Which of the programs a lab of namespaces needs are not installed."""
    return [name for name in ("sshd", "ssh", "ssh-keygen") if find(name) is None]


def environment(program: Path) -> dict[str, str]:
    """What `program` needs to start: a system's PATH, and for one from WULF_SYSROOT, that tree's libraries."""
    variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)  # Python itself may need them
    root = os.environ.get(SYSROOT)
    if root and program.is_relative_to(Path(root).absolute()):
        base = Path(root).absolute() / "usr"
        libraries = [f"{base}/lib/{platform.machine()}-linux-gnu", f"{base}/lib64", f"{base}/lib", *libraries]
    if any(libraries):
        variables["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    return variables
