"""Containers of systemd-nspawn: Debian's own user land, and a systemd that lives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import wulf
from tests import caches
from tests.lab.conftest import skip_or_fail
from wulf.lab.qemu.recipe import APART

NSPAWN = ("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network")
REBOOTS = 133
"""Exit status by which a container asks to be started again."""
WULF = """\
#!/usr/bin/python3
import sys
from wulf.cli.main import main

sys.exit(main())
"""
"""What a package would install as /usr/bin/wulf; its modules are found by a path file of Python's."""
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


@contextmanager
def switched_on(folder: Path, program: str, files: Mapping[str, str], *units: str) -> Iterator[Path]:
    """A container with this wulf and these units, from its start until its power goes off: what it left in /out.

    Parameters
    ----------
    folder
        Where it may have its root, which is removed after the block.
    program
        Where wulf is installed in it.
    """
    python = subprocess.run(
        ["chroot", str(debian("bookworm", SYSTEMD)), "python3", "-c", "import sys; print(*sys.version_info[:2])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    if tuple(map(int, python.stdout.split())) != sys.version_info[:2]:
        skip_or_fail(f"its Python is {python.stdout.strip()}: our packages are made for another one")
    out, root = folder / "out", folder / "root"
    out.mkdir()
    found_by = {program: WULF, "/usr/lib/python3/dist-packages/wulf.pth": "/opt/src\n/opt/packages\n"}
    copy_of_debian(root, {**found_by, **files})
    enable(root, *units)
    binds = [
        f"--bind={out}:/out",
        f"--bind-ro={Path(wulf.__file__).parents[1]}:/opt/src",
        f"--bind-ro={sysconfig.get_paths()['purelib']}:/opt/packages",
    ]
    run_until_power_off(root, folder / "console", *binds)
    yield out
    shutil.rmtree(root)
