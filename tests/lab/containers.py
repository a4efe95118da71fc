"""Containers of systemd-nspawn: Debian's own user land, and a systemd that lives."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import caches
from tests.lab.conftest import skip_or_fail
from wulf.lab.qemu.recipe import APART

NSPAWN = ("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network")
REBOOTS = 133
"""Exit status by which a container asks to be started again."""
SYSTEMD = ("ca-certificates", "systemd", "systemd-sysv", "dbus", "python3")


def debian(suite: str, packages: Sequence[str]) -> Path:
    """The root of a small Debian with these packages, made once. Skips, or fails, where it can't be had."""
    if shutil.which("systemd-nspawn") is None:
        skip_or_fail("systemd-nspawn is not installed")
    return root_of(f"debian-{suite}", suite, packages)


def root_of(name: str, suite: str, packages: Sequence[str]) -> Path:
    """The same under a name of its own, for whom systemd-nspawn is not needed."""
    if shutil.which("mmdebstrap") is None:
        skip_or_fail("mmdebstrap is not installed")
    if os.geteuid() != 0:
        skip_or_fail("a root folder of Debian needs root")
    root = caches.CACHE / name
    with caches.one_at_a_time(root.name):
        if not root.exists():
            made = root.with_name(f"{root.name}.new")
            shutil.rmtree(made, ignore_errors=True)
            words = [
                "mmdebstrap",
                "--mode=root",
                "--variant=minbase",
                f"--include={','.join(packages)}",
                suite,
                str(made),
            ]
            done = subprocess.run([*APART, *words], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                skip_or_fail(f"mmdebstrap: {done.stderr.strip()[-500:]}")
            made.rename(root)
    return root


def copy_of_debian(root: Path, files: Mapping[str, str]) -> None:
    """A root of its own for a container with systemd, with these files; what lies in a folder bin is a program."""
    subprocess.run(["cp", "-a", str(debian("bookworm", SYSTEMD)), str(root)], check=True)
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if path.parent.name == "bin" else 0o644)


def run_inside(root: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a container without a boot: in `folder`, the one thing that it can change for good."""
    words = [*NSPAWN, "-D", str(root), "--volatile=overlay", f"--bind={folder}:/given", "--chdir=/given"]
    return subprocess.run([*words, *command], capture_output=True, text=True, timeout=300, check=False)


def enable(root: Path, *units: str) -> None:
    """Have its boot start units."""
    subprocess.run(["systemctl", f"--root={root}", "enable", *units], check=True)


def run_until_power_off(root: Path, console: Path, *binds: str) -> None:
    """Boot a container, as often as it reboots, until it powers off; its console goes to a file."""
    with console.open("w") as said:

        def booted() -> int:
            words = [*NSPAWN, "-D", str(root), *binds, "--boot"]
            return subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=900, check=False
            ).returncode

        while (status := booted()) == REBOOTS:
            pass
    assert status == 0, console.read_text()[-2000:]
