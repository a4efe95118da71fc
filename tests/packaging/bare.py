"""Bare machines to install on: a small Debian in a folder, with Python and what a lab takes; no compiler, no pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.lab.containers import root_of

PACKAGES = ("python3", "ca-certificates", "iproute2", "openssh-client", "openssh-server")
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "cmake", "make")
NETWORK = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Files by which this machine reaches a package index."""
INTO = """
set -e
root=$1 && shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
hostname bare
exec chroot "$root" "$@"
"""
SYSTEM_PATH = "/root/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def tool(name: str) -> str | None:
    """A program of the system or of the virtual environment, as `make packages` finds it."""
    return shutil.which(name, path=f"{os.environ['PATH']}:{Path(sys.executable).parent}")


class Bare:
    """A bare machine, for one test or several; /tmp and /run are empty for each command."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *words: str, network: bool = False, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Run a command as root; by default where there is no network at all."""
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", *([] if network else ["--net"])]
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        kept.pop("PIP_FIND_LINKS", None)  # a folder of this machine
        return subprocess.run(
            [*apart, "sh", "-c", INTO, "sh", str(self.root), *words],
            env={**kept, "HOME": "/root", "LANG": "C.UTF-8", "PATH": SYSTEM_PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def must(self, *words: str, network: bool = False) -> str:
        """Run a command that has to succeed; return what it prints."""
        done = self.run(*words, network=network)
        assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def rpm(self, *words: str) -> None:
        """Debian's rpm on the folder, from outside: it knows of no package there, and it has to succeed."""
        base = ["rpm", "--root", str(self.root), "--dbpath", "/var/lib/rpm", "--force-debian"]
        subprocess.run([*base, *words], check=True)

    def put(self, file: Path, folder: str = "root") -> str:
        """Copy a file there; return where it is, as the machine sees it."""
        shutil.copy2(file, self.root / folder / file.name)
        return f"/{folder}/{file.name}"

    def files(self) -> set[str]:
        """All that is there, but for what is the system's own memory of what was done: logs, caches, dpkg's lists."""
        told = self.must(
            "find", "/", "-xdev", "(", "-path", "/var/log", "-o", "-path", "/var/cache", "-o", "-path", "/var/lib/dpkg",
            "-o", "-path", "/var/lib/rpm", "-o", "-path", "/var/lib/apt", "-o", "-path", "/root", ")", "-prune",
            "-o", "-print",
        )  # fmt: skip
        return set(told.splitlines())


@contextmanager
def bare(suite: str) -> Iterator[Bare]:
    """A bare machine of a release of Debian, thrown away afterwards."""
    made = root_of(f"bare-{suite}", suite, PACKAGES)
    with TemporaryDirectory(prefix="wulf-bare-") as folder:
        root = Path(folder) / "root"
        subprocess.run(["cp", "-a", str(made), str(root)], check=True)
        for name in NETWORK:
            if Path(name).exists():
                shutil.copy2(name, root / name.lstrip("/"))
        yield Bare(root)
