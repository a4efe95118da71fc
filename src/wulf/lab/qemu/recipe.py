"""What an image is made of, read from recipe.toml, and the commands that make it: pure functions of both."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wulf.core.places import user_folder

from . import archive

HERE = Path(__file__).resolve().parent
MIRROR = "WULF_LAB_MIRROR"
"""Environment variable: the Debian mirror to build from, where the recipe's can't be reached."""


@dataclass(frozen=True)
class Recipe:
    """recipe.toml, and the files that go into the image. Sizes in bytes."""

    suite: str
    mirror: str
    packages: tuple[str, ...]
    leave_out: tuple[str, ...]
    enable: tuple[str, ...]
    disable: tuple[str, ...]
    mask: tuple[str, ...]
    disk_bytes: int
    memory_bytes: int
    sockets: int
    files: bytes
    key: str


def read(environment: Mapping[str, str] = os.environ) -> Recipe:
    """The recipe that comes with wulf; `key` is the digest of all that the image depends on."""
    text = (HERE / "recipe.toml").read_bytes()
    data = tomllib.loads(text.decode())
    debian, machine = data["debian"], data["machine"]
    files = archive.pack(archive.tree(HERE / "image"))
    key = hashlib.sha256(text + files).hexdigest()[:12]
    words: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in debian.items()}
    words["mirror"] = environment.get(MIRROR) or debian["mirror"]
    return Recipe(**words, **machine, files=files, key=key)


def cache(environment: Mapping[str, str] = os.environ) -> Path:
    """Where images and the nodes' disks lie: wulf's folder in XDG_CACHE_HOME, or ~/.cache."""
    return user_folder("cache", environment) / "lab"


APART = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
"""In root's mode mmdebstrap mounts /proc, /sys, /dev in the folder that it fills. Killed, it would leave them on this
host, and whoever then removes the folder removes what is in them: so they, and all processes, end with the build."""


def debian_command(program: Path, recipe: Recipe, files: Path, target: Path) -> list[str]:
    """mmdebstrap(1): a Debian in the folder `target`, with the archive `files` unpacked in it.

    Its mounts and processes are its own and end with whoever started it, and no service is started. The files come
    before the packages: the kernel's package makes the initramfs, as they say.
    """
    command = [*APART, str(program), "--mode=root", "--variant=minbase", "--format=directory"]
    command += [f"--include={','.join(recipe.packages)}"]
    command += [f"--dpkgopt=path-exclude={pattern}" for pattern in recipe.leave_out]
    command += [f"--essential-hook=tar-in {files} /"]
    for verb in ("enable", "disable", "mask"):
        units = " ".join(getattr(recipe, verb))
        command += [f'--customize-hook=chroot "$1" systemctl {verb} {units}']
    # Keys of its own would be the same on all nodes; a name here would stand before what the lab gives.
    command += ['--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/hostname "$1"/etc/resolv.conf']
    return [*command, recipe.suite, str(target), recipe.mirror]


def disk_command(program: Path, recipe: Recipe, tree: Path, image: Path) -> list[str]:
    """mke2fs(8): an ext4 of the recipe's size with what is in `tree`, without any mount."""
    blocks = recipe.disk_bytes // 1024
    return [str(program), "-q", "-t", "ext4", "-L", "lab", "-m", "0", "-d", str(tree), str(image), f"{blocks}k"]
